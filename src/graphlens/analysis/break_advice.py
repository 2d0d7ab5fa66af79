"""What to do about a graph break, by its cause: in words, as switches, as rewritten lines."""

from collections.abc import Callable

import msgspec

from graphlens.analysis.causes import called_name, of_numpy
from graphlens.analysis.places import is_library
from graphlens.analysis.rewrites import as_fix, rewrites
from graphlens.analysis.source_code import SourceFiles
from graphlens.model import Fix, GraphBreak

SCALARS = Fix(
    kind="switch",
    title="Keep numbers that come from tensors in the graph",
    code="torch._dynamo.config.capture_scalar_outputs = True",
    caution="Shapes made from such a number are then known only at run time.",
)
SHAPES = Fix(
    kind="switch",
    title="Keep operators whose output size depends on the data in the graph",
    code="torch._dynamo.config.capture_dynamic_output_shape_ops = True",
    caution="Sizes made from them are then known only at run time.",
)
AUTOGRAD = Fix(
    kind="switch",
    title="Trace the backward pass inside the function",
    code="torch._dynamo.config.trace_autograd_ops = True",
    caution="Not every use of autograd can be traced.",
)


def with_advice(found: GraphBreak, files: SourceFiles) -> GraphBreak:
    """A break with advice and fixes.

    Args:
        found: With its cause.
        files: The user's.
    """
    # The reason can have said what to do already: the line is then not what to change.
    if found.advice:
        switches = [] if _SWITCHES.get(found.cause) in (_printing, _logging) else _switches(found)
        return msgspec.structs.replace(found, fixes=tuple(switches))
    fixes = [*_rewritten(found, files), *_switches(found)]
    return msgspec.structs.replace(found, advice=tuple(_advice(found)), fixes=tuple(fixes))


def _rewritten(found: GraphBreak, files: SourceFiles) -> list[Fix]:
    source = files.file(found.file)
    if not source.lines:
        return []
    offered = rewrites(source.text, found.file, found.line, found.cause)
    return [as_fix(one) for one in offered]


def _switches(found: GraphBreak) -> list[Fix]:
    make = _SWITCHES.get(found.cause)
    return make(found) if make else []


def _advice(found: GraphBreak) -> list[str]:
    advice = [_WORDS[found.cause](found)] if found.cause in _WORDS else list(found.hints)
    if found.inside and (found.consequence == "frame_skipped" or found.rest_eager):
        advice.append(_out_of_block(found))
    return [text for text in advice if text]


def _out_of_block(found: GraphBreak) -> str:
    place = found.inside
    if place is None or is_library(place.file):
        return ""
    word = place.code.split(maxsplit=1)[0].rstrip(":") if place.code else "block"
    return (
        f"Move the line out of the `{word}` on line {place.line}, or the `{word}` into a function "
        "of its own that is not compiled: then only that part runs eager."
    )


def _printing(found: GraphBreak) -> list[Fix]:
    called = found.trigger.partition("(")[0].strip() or "print"
    return [
        Fix(
            kind="switch",
            title=f"Put {called} off to the end of the graph",
            code=f"torch._dynamo.config.reorderable_logging_functions.add({called})",
            caution="It is written after the graph has run, and not with values of that moment.",
        )
    ]


def _logging(found: GraphBreak) -> list[Fix]:
    called = found.trigger.partition("(")[0].strip()
    if not called:
        return []
    return [
        Fix(
            kind="switch",
            title=f"Leave {called} out of compiled code",
            code=f"torch._dynamo.config.ignore_logging_functions.add({called})",
            caution="The message is not written by compiled code.",
        )
    ]


_SWITCHES: dict[str, Callable[[GraphBreak], list[Fix]]] = {
    "tensor_to_python_number": lambda _: [SCALARS],
    "data_dependent_output_shape": lambda _: [SHAPES],
    "backward_call": lambda _: [AUTOGRAD],
    "autograd_inside": lambda _: [AUTOGRAD],
    "print_call": _printing,
    "warnings_call": _printing,
    "logging_call": _logging,
}


def _fake(found: GraphBreak) -> str:
    operator = called_name(found).removeprefix("torch.ops.").replace(".", "::", 1)
    return (
        f'Register what it gives with @torch.library.register_fake("{operator}"): a function of '
        "the same arguments that returns an empty tensor of the right shape and dtype."
    )


def _library(found: GraphBreak) -> str:
    if of_numpy(found) and ".random." in found.code:
        return "Draw random numbers with torch, such as torch.rand: it stays in the graph."
    return (
        f"Use torch's own operators in place of `{found.trigger or found.code}`, or put the call "
        "into a function marked with @torch.compiler.disable, so that it is one break and nothing "
        "of the library is traced; torch.library.custom_op keeps it in the graph."
    )


def _skipped(found: GraphBreak) -> str:
    return f"Call `{called_name(found) or found.trigger}` outside of the compiled function."


def _builtin(found: GraphBreak) -> str:
    name = called_name(found) or found.trigger
    if name.startswith("time."):
        return (
            "Measure time outside of the compiled function: the call breaks the graph, and what it "
            "gives becomes a constant or an input of what follows."
        )
    return f"Call `{name}` outside of the compiled function, and pass in what it gives."


_WORDS: dict[str, Callable[[GraphBreak], str]] = {
    "data_dependent_branch": lambda _: (
        "Compute both sides and choose with torch.where, or give both as functions to torch.cond "
        "(torch.while_loop for a loop)."
    ),
    "tensor_to_python_number": lambda _: (
        "Keep the value a tensor: a tensor of no dimensions works in arithmetic and torch.where."
    ),
    "data_dependent_output_shape": lambda _: (
        "Keep the size: set what is left out to a neutral value with torch.where(mask, x, 0)."
    ),
    "print_call": lambda _: (
        "Print outside of the compiled function, or only where it is not compiled: "
        "if not torch.compiler.is_compiling()."
    ),
    "logging_call": lambda _: (
        "Log outside of the compiled function, or only where it is not compiled: "
        "if not torch.compiler.is_compiling()."
    ),
    "warnings_call": lambda _: (
        "Warn before the compiled function is called, or only where it is not compiled: "
        "if not torch.compiler.is_compiling()."
    ),
    "untraceable_builtin": _builtin,
    "untraceable_library": _library,
    "custom_op_without_fake": _fake,
    "disabled_function": lambda _: (
        "Nothing, if it is meant to stay eager. Else remove torch.compiler.disable."
    ),
    "skipped_function": _skipped,
    "explicit_graph_break": lambda _: "Remove the call of torch._dynamo.graph_break().",
    "break_by_torch": lambda found: (
        f"Nothing in this line is wrong. Call `{found.trigger or found.code}` outside of the "
        "compiled function, or compile it by itself."
    ),
    "backward_call": lambda _: (
        "Compile the forward pass and the loss, and call backward outside: its graph is compiled "
        "all the same."
    ),
    "autograd_inside": lambda _: (
        "Take the gradient outside of the compiled function, or with torch.func.grad."
    ),
    "autograd_function": lambda found: (
        "Pass different tensors: give x.clone() where x is given twice."
        if "duplicate" in found.kind
        else "Write the same with torch's operators, or as torch.library.custom_op with "
        "register_autograd."
    ),
    "sparse_tensor": lambda _: (
        "Keep sparse work in a function of its own that is not compiled, such that the rest stays "
        "one graph before and one after."
    ),
    "torchscript_function": lambda _: (
        "Remove torch.jit.script: torch.compile traces the plain Python function."
    ),
    "user_exception": lambda _: (
        "Nothing for speed. If calls are refused often, check arguments before the compiled call."
    ),
    "exception_handling": lambda _: "Check the condition beforehand in place of try and except.",
    "context_manager": lambda _: "Enter the context manager outside of the compiled function.",
    "generator": lambda _: "Return a list in place of a generator.",
    "hook": lambda _: "Register the hook before compiling, and make it traceable.",
    "mutation": lambda _: "Make a new tensor in place of changing this one, or do it outside.",
    "side_effect": lambda _: "Return the new value, and store it outside of the compiled function.",
}
