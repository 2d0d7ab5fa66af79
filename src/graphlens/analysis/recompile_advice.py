"""What to do about a recompile, by the guard that failed."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from graphlens.analysis.guard_subjects import KEYWORDS, KIND_OF_TENSOR, POSITIONAL
from graphlens.analysis.guard_terms import NOT_THERE, kind_of_value
from graphlens.model import Difference, Fix, Frame, Recompile

_DIMENSION = re.compile(r"^argument `(?P<path>[^`]+)`, dimension (?P<index>\d+)$")
_ARGUMENT = re.compile(r"^argument `(?P<path>\w+(\[\d+\])?)`$")
DYNAMIC = Fix(
    kind="switch",
    title="Compile for any size and number at once",
    code="torch.compile(..., dynamic=True)",
    caution="Kernels for any size can be slower than those for one.",
)
UNSPECIALISED_INTS = Fix(
    kind="switch",
    title="Let whole numbers that are attributes of modules vary",
    code="torch._dynamo.config.allow_unspec_int_on_nn_module = True",
)


@dataclass(frozen=True)
class History:
    """All recompiles of one frame, counted.

    Attributes:
        kinds: Class of the guards on each subject.
        changes: How many differences each subject made.
        repeats: The same, sizes 0 and 1 aside.
    """

    kinds: Mapping[str, str]
    changes: Mapping[str, int]
    repeats: Mapping[str, int]

    @classmethod
    def of(cls, same_frame: Sequence[Recompile]) -> "History":
        """The history of a frame."""
        changes = [change for one in same_frame for change in one.differences]
        return cls(
            {cause.subject: cause.kind for one in same_frame for cause in one.causes},
            Counter(change.subject for change in changes),
            Counter(change.subject for change in changes if not _is_special(change)),
        )


@dataclass(frozen=True)
class _Case:
    """A recompile with what is needed to judge it."""

    kind: str
    change: Difference
    repeats: int
    entered: bool


Advice = tuple[tuple[str, ...], tuple[Fix, ...]]


def with_advice(
    recompile: Recompile, history: History, frame: Frame | None, *, entered: bool = True
) -> Recompile:
    """A recompile with advice and fixes.

    Args:
        recompile: Without them.
        history: Of its frame.
        frame: What became of the frame.
        entered: Whether the user's call enters the frame, and not compiled code: its arguments
            can be marked then.
    """
    case = _case(recompile, history, entered=entered)
    advice, fixes = _by_kind(case) if case else ((), ())
    if frame is not None and frame.outcome == "recompile_limit":
        kept = frame.limit if isinstance(frame.limit, int) else "a limited number of"
        advice += (
            f"torch keeps {kept} compilations of a function; what fits none of them runs eager. "
            "torch._dynamo.config.recompile_limit raises that, at the price of compiling each.",
        )
    return msgspec.structs.replace(recompile, advice=advice, fixes=fixes)


def _case(recompile: Recompile, history: History, *, entered: bool) -> _Case | None:
    if not recompile.differences:
        return None
    # Of several differences the last to go away counts: one that comes again and again.
    change = max(recompile.differences, key=lambda one: history.changes.get(one.subject, 0))
    kind = history.kinds.get(change.subject, "other")
    if kind == "other" or change.subject in (KEYWORDS, POSITIONAL):
        kind = _kind_by_subject(change.subject)
    if kind == "attribute_value" and _ARGUMENT.match(change.subject):
        kind = kind_of_value("", change.before)
    if change.after == NOT_THERE:
        kind = "attribute_presence"
    elif kind == "object_identity" and not change.subject.startswith("identity of"):
        kind = "enum_member"
    return _Case(kind, change, history.repeats.get(change.subject, 0), entered)


def _kind_by_subject(subject: str) -> str:
    for kind, part in (
        ("keywords", KEYWORDS),
        ("positional", POSITIONAL),
        ("tensor_keys", KIND_OF_TENSOR),
        ("tensor_size", ", dimension "),
        ("tensor_stride", ", stride "),
        ("tensor_dtype", ", dtype"),
        ("requires_grad", ", requires_grad"),
        ("tensor_rank", ", rank"),
        ("collection_length", "length of "),
        ("training_flag", "training mode of "),
        ("global_value", "global `"),
        ("attribute_value", "`self."),
    ):
        if part in subject:
            return kind
    return "other"


def _by_kind(case: _Case) -> Advice:
    return _RULES.get(case.kind, _nothing_known)(case)


def _size(case: _Case) -> Advice:
    found = _DIMENSION.match(case.change.subject)
    mark = None
    if found and case.entered:
        call = f"torch._dynamo.mark_dynamic({found['path']}, {found['index']})"
        mark = Fix(
            kind="annotation",
            title=f"Say beforehand that dimension {found['index']} of {found['path']} varies",
            code=call,
        )
    if _is_special(case.change):
        return (
            (
                "Sizes 0 and 1 always get a program of their own, since they broadcast; "
                "one compilation for each is normal. Pad the batch to avoid it.",
            ),
            (),
        )
    if case.repeats > 1:
        text = (
            f"This size was a constant of {case.repeats} compilations. Is dynamic=False set, or "
            "was the dimension marked static? Let torch compile for any size."
        )
        return (text,), (*((mark,) if mark else ()), DYNAMIC)
    text = (
        "torch makes a size that changed dynamic by itself from the second compilation on; "
        "saying so before the first call saves one compilation."
    )
    return (text,), (*((mark,) if mark else ()), DYNAMIC)


def _is_special(change: Difference) -> bool:
    """Whether sizes 0 and 1 made the difference: torch never makes them dynamic."""
    return change.after in ("0", "1") or change.before in ("at least 2", "0", "1")


def _number(case: _Case) -> Advice:
    found = _ARGUMENT.match(case.change.subject)
    name = found["path"] if found else "the number"
    if case.kind == "float_value":
        text = f"Pass {name} as a tensor, such as torch.tensor({name}): its value is no guard then."
        return (text,), (DYNAMIC,)
    text = (
        f"torch makes a whole number that changed symbolic by itself from the second compilation "
        f"on; dynamic=True does so from the first. Passing {name} as a tensor keeps it out of "
        "the guards."
    )
    return (text,), (DYNAMIC,)


def _attribute(case: _Case) -> Advice:
    is_module_int = re.fullmatch(r"`self\.[\w.\[\]]+`", case.change.subject) and re.fullmatch(
        r"-?\d+", case.change.before
    )
    if is_module_int:
        text = (
            f"{case.change.subject} is a whole number on a module, a constant of every "
            "compilation. Keep it as a tensor (register_buffer), or change it outside of forward."
        )
        return (text,), (UNSPECIALISED_INTS,)
    text = (
        f"{case.change.subject} is a constant of every compilation. Keep what changes in a "
        "tensor, or pass it as an argument."
    )
    return (text,), ()


def _global(case: _Case) -> Advice:
    if case.change.subject.startswith("environment variable"):
        return ("Read the environment once, outside of the compiled function.",), ()
    text = f"{case.change.subject} is a constant of every compilation."
    return (f"{text} Pass it as an argument, or keep it in a tensor.",), ()


def _crossed(case: _Case) -> Advice:
    return (
        f"This is {case.change.subject}: a Python number there is a constant of what follows. "
        "Remove that break, or keep the value a tensor.",
    ), ()


def _nothing_known(_: _Case) -> Advice:
    return (), ()


def _saying(text: str) -> Callable[[_Case], Advice]:
    return lambda _: ((text,), ())


_RULES: dict[str, Callable[[_Case], Advice]] = {
    "tensor_size": _size,
    "int_value": _number,
    "float_value": _number,
    "attribute_value": _attribute,
    "global_value": _global,
    "value_at_graph_break": _crossed,
    "tensor_stride": _saying(
        "Call the function with tensors of one memory layout, such as x.contiguous()."
    ),
    "tensor_dtype": _saying("Convert the input before the call, so that it has one dtype."),
    "tensor_rank": _saying(
        "Give inputs the same number of dimensions, such as by unsqueeze; else each number of "
        "dimensions is a program of its own."
    ),
    "tensor_device": _saying("Call the function with tensors of one device."),
    "requires_grad": _saying(
        "Inputs with and without requires_grad need programs of their own: one compilation for "
        "each is normal. Make it the same for all calls to avoid it."
    ),
    "global_state": _saying(
        "Call the function in one mode, or expect one compilation for each: grad mode, autocast "
        "and other settings of torch are part of what is compiled."
    ),
    "training_flag": _saying(
        "Training and evaluation are programs of their own: one compilation for each is normal."
    ),
    "container_length": _saying(
        "A list's length is a constant of every compilation. Keep the values in one tensor "
        "(torch.stack), or in a tensor of fixed size that is written in place."
    ),
    "collection_length": _saying(
        "Each length is a program of its own: that is normal for a few. Give the same number of "
        "values in every call."
    ),
    "keywords": _saying(
        "Give the same keyword arguments in every call; each set of them is a program of its own."
    ),
    "attribute_presence": _saying(
        "Set the same attributes and keys before every call; what is there is part of what is "
        "compiled."
    ),
    "positional": _saying(
        "Give as many positional arguments in every call; each number of them is a program of "
        "its own."
    ),
    "tensor_keys": _saying(
        "Call the function in one mode, inside torch.inference_mode() always or never."
    ),
    "enum_member": _saying("Each value is a program of its own: that is normal for a few."),
    "bool_value": _saying("Each of the two values is a program of its own: that is normal."),
    "string_value": _saying("Each text is a program of its own: that is normal for a few."),
    "none_or_value": _saying(
        "With and without the value are programs of their own: one compilation for each is normal."
    ),
    "object_identity": _saying(
        "The code is compiled for this very object. Pass tensors and numbers in place of objects "
        "that are made anew."
    ),
    "argument_type": _saying("Each type of argument is a program of its own."),
    "aliasing": _saying("Pass different tensors, or always the same one: both are compiled."),
    "backend": _saying("Make the backend once and use it again: a new object is another backend."),
}
