"""What a guard is about, in the user's terms."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

_HELD = re.compile(r"\._(?:modules|parameters|buffers)\['([^']+)'\]")
_GLOBAL = re.compile(r"^G\['(?P<name>\w+)'\](?P<rest>.*)$", re.S)
_ENVIRONMENT = re.compile(r"^G\['\w+'\]\.environ\._data\[b?'(?P<name>.*?)'\]$")
_NAME = re.compile(r"^(?P<name>\w+)(?P<rest>.*)$", re.S)
_KEYWORD = re.compile(r"^\['(?P<name>\w+)'\](?P<rest>.*)$", re.S)
_CELL = re.compile(r"\.__closure__\[\d+\]\.cell_contents")
KEYWORDS = "keyword arguments"
POSITIONAL = "number of positional arguments"
KIND_OF_TENSOR = "kind of tensor (such as inference mode)"
_STATES = {
    "grad_mode": "grad mode",
    "autocast_state.enabled": "autocast",
    "autocast_state.dtype": "autocast dtype",
    "default_dtype": "default dtype",
    "num_threads": "number of threads",
    "deterministic_algorithms": "deterministic algorithms",
}


@dataclass(frozen=True)
class Speaker:
    """What is known of a frame, to name its values as the user does.

    Attributes:
        names: Sources of a wrapper by the name that what it calls gives them.
        arguments: Names of the function's parameters.
        closure: Names of its free variables.
        crossed: What is known of a value that came out of a graph break, by ``___stack0``.
        positional: Name of the tuple of a wrapper that takes any arguments.
        keywords: Name of the dict that takes keyword arguments.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    arguments: Sequence[str] = ()
    closure: Sequence[str] = ()
    crossed: Mapping[str, str] = field(default_factory=dict)
    positional: str = ""
    keywords: str = ""
    _told: dict[tuple[str, str, str], str] = field(default_factory=dict, repr=False, compare=False)

    def subject(self, kind: str, source: str, aspect: str) -> str:
        """Such as ``argument `x`, dimension 1``; empty where the guard names nothing."""
        key = kind, source, aspect
        # Each recompile repeats the guards of the ones before.
        if key not in self._told:
            self._told[key] = self._subject(kind, source, aspect)
        return self._told[key]

    def _subject(self, kind: str, source: str, aspect: str) -> str:
        if kind == "global_state":
            return ", ".join(_STATES.get(part, part.replace("_", " ")) for part in _parts(aspect))
        if kind == "backend":
            return "the backend"
        if not source:
            return ""
        if source == self.keywords and (
            aspect in ("length", "keys") or kind == "attribute_presence"
        ):
            return KEYWORDS
        if source == self.positional and aspect == "length":
            return POSITIONAL
        if kind == "aliasing":
            return "arguments that are one tensor"
        if source.endswith(".training"):
            return f"training mode of {self.value(source.removesuffix('.training'))}"
        what = self.value(source)
        if aspect in ("length", "keys", "type", "identity"):
            return f"{aspect} of {what}"
        aspect = KIND_OF_TENSOR if aspect == "dispatch key set" else aspect
        return f"{what}, {aspect}" if aspect else what

    def value(self, source: str) -> str:
        """A guarded source, such as ``self._modules['drop']``, as the user would call it."""
        environment = _ENVIRONMENT.match(source)
        if environment:
            return f"environment variable `{environment['name']}`"
        keyword = self.keyword(source)
        if keyword[0]:
            name, rest = keyword
            return f"argument `{name}{plain_path(rest)}`"
        for wrapped in sorted(self.names, key=len, reverse=True):
            if source == wrapped or source.startswith((wrapped + ".", wrapped + "[")):
                rest = plain_path(source[len(wrapped) :])
                name = self.names[wrapped]
                if name == "self" and rest:
                    return f"`self{rest}`"
                return f"`{name}{rest}`" if wrapped == "fn" else f"argument `{name}{rest}`"
        outer = _GLOBAL.match(source)
        if outer:
            return f"global `{outer['name']}{plain_path(outer['rest'])}`"
        match = _NAME.match(source)
        if match is None:
            return f"`{source}`"
        name, rest = match["name"], plain_path(match["rest"])
        if name.startswith("___stack"):
            known = self.crossed.get(name, "a value that came out of a graph break")
            return f"{known}, at `{rest}`" if rest else known
        if name == "self" and rest:
            return f"`{name}{rest}`"
        role = "variable"
        if name in self.closure:
            role = "closure variable"
        elif name in self.arguments:
            role = "argument"
        return f"{role} `{name}{rest}`"

    def keyword(self, source: str) -> tuple[str, str]:
        """The keyword argument of ``kwargs['x'].y`` and what is taken of it."""
        rest = source.removeprefix(self.keywords) if self.keywords else source
        match = _KEYWORD.match(rest) if rest != source else None
        return (match["name"], match["rest"]) if match else ("", "")


def plain_path(rest: str) -> str:
    """``._modules['layer']._modules['0']`` as ``.layer[0]``."""
    rest = _CELL.sub("", rest)
    return _HELD.sub(lambda held: f"[{held[1]}]" if held[1].isdigit() else f".{held[1]}", rest)


def _parts(aspect: str) -> list[str]:
    return [part.strip() for part in aspect.split(",")]
