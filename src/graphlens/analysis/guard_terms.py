"""What a guard is about, read from torch's text of it.

The forms are those of ``torch/_dynamo/guards.py`` and of its C++ checks (torch 2.11, 2.13, 2.14).
"""

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

GuardKind = Literal[
    "tensor_size", "tensor_stride", "tensor_rank", "tensor_dtype", "tensor_device",
    "requires_grad", "aliasing", "container_length", "collection_length", "none_or_value",
    "object_identity", "argument_type", "attribute_presence", "attribute_value", "global_value",
    "value_at_graph_break", "training_flag", "bool_value", "int_value", "float_value",
    "string_value", "global_state", "backend", "other",
]  # fmt: skip


class GuardTerms(NamedTuple):
    """A guard, taken apart.

    Attributes:
        kind: Class of guard, as `GuardFailure` has it.
        source: The expression that is guarded, as torch writes it.
        aspect: What of it, such as ``dimension 1`` or ``length``; empty for its value.
        expected: What the compiled code is for; empty when the text does not say.
        actual: What came; empty when the text does not say.
    """

    kind: GuardKind
    source: str = ""
    aspect: str = ""
    expected: str = ""
    actual: str = ""


_LOCAL = re.compile(r"L\[\s*['\"](.*?)['\"]\s*\]")
_SAME_MATTER = {"identity": "", "keys": "length"}
# What came in place of an attribute or element that is gone.
NOT_THERE = "not there"
_TRAILER = re.compile(r"\s*\(HINT: .*\)$", re.S)
_NUMBER = r"-?(?:\d[\d_]*(?:\.\d*)?(?:e[-+]?\d+)?|inf|nan)"
_ASPECTS = {"size": "dimension", "stride": "stride"}
# Names of ``c10::ScalarType``, which torch's C++ writes.
_DTYPES = {
    "Byte": "uint8", "Char": "int8", "Short": "int16", "Int": "int32", "Long": "int64",
    "Half": "float16", "Float": "float32", "Double": "float64", "BFloat16": "bfloat16",
    "Bool": "bool", "ComplexHalf": "complex32", "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
}  # fmt: skip
_TENSOR_KINDS: dict[str, GuardKind] = {
    "size": "tensor_size",
    "stride": "tensor_stride",
    "rank": "tensor_rank",
    "dtype": "tensor_dtype",
    "device": "tensor_device",
    "device index": "tensor_device",
    "requires_grad": "requires_grad",
}


def without_local_scope(text: str) -> str:
    """``L['x']`` as ``x``, as torch writes guards in its messages."""
    return _LOCAL.sub(r"\1", text) if "L[" in text else text


def matter(terms: GuardTerms) -> tuple[str, str]:
    """The same for two guards of which one says all that there is to say."""
    aspect = _SAME_MATTER.get(terms.aspect, terms.aspect)
    return without_local_scope(terms.source), aspect


def guard_terms(guard: str) -> GuardTerms:
    """Takes a guard's text apart; what is not understood is ``other``, with no source."""
    text = guard.strip()
    if "(HINT: " in text:
        text = _TRAILER.sub("", text)
    for pattern, build in _FORMS:
        match = pattern.match(text)
        if match:
            return build(match)
    return GuardTerms("other")


def _tensor(match: re.Match[str]) -> GuardTerms:
    source, what, index, expected, actual = match.groups(default="")
    what = what.lower()
    aspect = f"{_ASPECTS.get(what, what)} {index}" if index else what
    if what == "size":
        actual = actual.partition(". Guard failed on a parameter")[0]
    elif what == "dtype":
        expected, actual = _DTYPES.get(expected, expected), _DTYPES.get(actual, actual)
    elif what == "requires_grad":
        expected = expected.removeprefix("requires_grad=")
        expected = {"0": "False", "1": "True"}.get(expected, expected)
        actual = actual or {"False": "True", "True": "False"}.get(expected, "")
    elif what == "dispatch key set":
        expected, actual = _keys_apart(expected, actual)
    return GuardTerms(_TENSOR_KINDS.get(what, "other"), source, aspect, expected, actual)


def _keys_apart(expected: str, actual: str) -> tuple[str, str]:
    """What each of two ``DispatchKeySet(CPU, ...)`` has that the other has not."""
    before, after = (re.findall(r"\w+", text)[1:] for text in (expected, actual))
    gone = ", ".join(key for key in before if key not in after)
    come = ", ".join(key for key in after if key not in before)
    return (
        f"with {gone}" if gone else f"without {come}",
        f"with {come}" if come else f"without {gone}",
    )


def _tensor_type(match: re.Match[str]) -> GuardTerms:
    return GuardTerms(
        "argument_type", match["source"], "type", _type_name(match["expected"]),
        _type_name(match["actual"]),
    )  # fmt: skip


def _type_name(text: str) -> str:
    named = re.search(r"<class '(.*?)'>", text)
    return named[1] if named else "a tensor" if "tensor type" in text else text.strip(" ,'")


def _global_state(match: re.Match[str]) -> GuardTerms:
    return GuardTerms("global_state", aspect=match["what"].strip().replace(" ", ", "))


def _size(match: re.Match[str]) -> GuardTerms:
    kind: GuardKind = "tensor_size" if match["what"] == "size" else "tensor_stride"
    aspect = f"{_ASPECTS[match['what']]} {match['index']}"
    return GuardTerms(kind, match["source"], aspect, _condition(match))


def _condition(match: re.Match[str]) -> str:
    """``2 <= x.size()[0]`` asks for ``at least 2``."""
    groups = match.groupdict()
    if not (groups.get("low") or groups.get("op")):
        return ""
    if groups.get("low"):
        strict = groups["lowop"] == "<"
        return f"more than {groups['low']}" if strict else f"at least {groups['low']}"
    words = {"==": "", "!=": "not ", "<=": "at most ", "<": "less than ", ">=": "at least ",
             ">": "more than "}  # fmt: skip
    return f"{words[groups['op']]}{groups['value'].strip()}"


def _length(match: re.Match[str]) -> GuardTerms:
    # Torch's check of a dict's length says what failed: ``len(d) != 2`` expects 2.
    expected = match["value"] if match["op"] == "!=" else _condition(match)
    return GuardTerms("container_length", match["source"], "length", expected)


def _keys(match: re.Match[str]) -> GuardTerms:
    expected = match["value"].strip("'\"")
    return GuardTerms("container_length", match["source"], "keys", expected)


def _gone(match: re.Match[str]) -> GuardTerms:
    return GuardTerms("attribute_presence", match["source"], actual=NOT_THERE)


def _empty(match: re.Match[str]) -> GuardTerms:
    return GuardTerms("container_length", match["source"], "length", "0")


def _filled(match: re.Match[str]) -> GuardTerms:
    return GuardTerms("container_length", match["source"], "length", "at least 1")


def _none(match: re.Match[str]) -> GuardTerms:
    expected = "not None" if match["negated"] else "None"
    return GuardTerms("none_or_value", match["source"], "", expected)


def _identity(match: re.Match[str]) -> GuardTerms:
    wanted = "another object than" if match["negated"] else "the same object as"
    return GuardTerms("object_identity", match["source"], "identity", f"{wanted} {match['other']}")


def _checked_id(match: re.Match[str]) -> GuardTerms:
    if match["what"] == "type":
        return GuardTerms("argument_type", match["source"], "type", _type_name(match["type"] or ""))
    return GuardTerms("object_identity", match["source"], "identity", "the same object")


def _presence(match: re.Match[str]) -> GuardTerms:
    absent = bool(match["negated"])
    name = match["name"].strip("'\"")
    aspect = f"`{name}` in it"
    return GuardTerms("attribute_presence", match["source"], aspect, _yes(not absent), _yes(absent))


def _has_attribute(match: re.Match[str]) -> GuardTerms:
    there = match["value"] != "False"
    aspect = f"`{match['name']}` in it"
    return GuardTerms("attribute_presence", match["source"], aspect, _yes(there), _yes(not there))


def _yes(there: bool) -> str:
    return "there" if there else NOT_THERE


def _value(match: re.Match[str]) -> GuardTerms:
    source, expected = match["source"].strip(), _condition(match)
    return GuardTerms(kind_of_value(source, match["value"].strip()), source, "", expected)


def _bounded(match: re.Match[str]) -> GuardTerms:
    source = match["source"].strip()
    return GuardTerms(kind_of_value(source, match["low"]), source, "", _condition(match))


def kind_of_value(source: str, value: str) -> GuardKind:
    """Class of a guard that compares a source, or what the user knows by a name, to a value."""
    plain = without_local_scope(source)
    if plain.endswith(".training"):
        return "training_flag"
    if plain.startswith("___stack"):
        return "value_at_graph_break"
    if plain.startswith("G["):
        return "global_value"
    if "." in plain or "[" in plain:
        return "attribute_value"
    if value in ("True", "False"):
        return "bool_value"
    if value.startswith(("'", '"')):
        return "string_value"
    if re.fullmatch(r"-?\d[\d_]*", value):
        return "int_value"
    return "float_value" if re.fullmatch(_NUMBER, value) else "other"


def _duplicates(match: re.Match[str]) -> GuardTerms:
    return GuardTerms("aliasing", match["sources"], "being one tensor", "different", "the same")


def _backend(_: re.Match[str]) -> GuardTerms:
    return GuardTerms("backend", aspect="backend")


_PLAIN = r"[\w.'\"\[\]]+"  # a source: names, attributes, keys
_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], GuardTerms]], ...] = tuple(
    (re.compile(pattern, re.S), build)
    for pattern, build in (
        (
            r"^tensor '(?P<source>.*?)' (?:Tensor )?(?P<what>[\w ]+?) mismatch"
            r"(?: at index (?P<index>\d+))?\. "
            r"expected (?P<expected>.*?)(?:, actual (?P<actual>.*))?$",
            _tensor,
        ),
        (
            r"^expected type of '(?P<source>.*?)' to be (?P<expected>.*?),? ?'? ?but found "
            r"(?P<actual>.*)$",
            _tensor_type,
        ),
        (r"^GLOBAL_STATE changed:(?P<what>.*)$", _global_state),
        (r"^Duplicate tensors? found: ?(?P<sources>.*)$", _duplicates),
        (r"^BACKEND_MATCH", _backend),
        (
            r"^___check_(?P<what>type|obj)_id\((?P<source>.*), \d+\)(?:, type=(?P<type>.*))?$",
            _checked_id,
        ),
        (rf"^(?:getattr failed on source|\w+Error on) (?P<source>{_PLAIN})", _gone),
        (r"^list\(dict\.keys\((?P<source>.*)\)\)\[\d+\] == (?P<value>.+)$", _keys),
        (
            r"^(?P<negated>not )?___dict_contains\((?P<name>.*?), (?P<source>.*)\)$",
            _presence,
        ),
        (
            r"^hasattr\((?P<source>.*), '(?P<name>\w+)'\)(?: == (?P<value>True|False))?$",
            _has_attribute,
        ),
        (
            rf"^(?:(?P<low>\d+) (?P<lowop><=?) )?(?P<source>{_PLAIN})\.(?P<what>size|stride)\(\)"
            rf"\[(?P<index>\d+)\](?: (?P<op>==|!=|<=|<|>=|>) (?P<value>.+))?$",
            _size,
        ),
        (rf"^len\((?P<source>{_PLAIN})\) (?P<op>==|!=|<=|<|>=|>) (?P<value>\d+)$", _length),
        (rf"^not (?P<source>{_PLAIN})$", _empty),
        (rf"^(?P<source>{_PLAIN}) is (?P<negated>not )?None$", _none),
        (rf"^(?P<source>{_PLAIN}) is (?P<negated>not )?(?P<other>{_PLAIN})$", _identity),
        (rf"^(?P<low>-?\d+) (?P<lowop><=?) (?P<source>{_PLAIN})$", _bounded),
        (rf"^(?P<source>{_PLAIN}) (?P<op>==|!=|<=|<|>=|>) (?P<value>.+)$", _value),
        (rf"^(?P<source>{_PLAIN})$", _filled),
    )
)
