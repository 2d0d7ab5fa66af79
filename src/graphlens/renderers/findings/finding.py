"""One thing to act on, in the same words for all formats."""

from dataclasses import dataclass, field
from itertools import groupby

EAGER, FAILED, BREAK, RECOMPILE, INTENDED = "eager", "failed", "break", "recompile", "intended"
WRONG, PRECISION, NOT_COMPARABLE = "wrong", "precision_changed", "not_comparable"
SLOWER, NEVER_PAYS = "slower", "never_pays"
LABELS = {
    WRONG: "wrong result",
    EAGER: "runs eager",
    FAILED: "failed",
    BREAK: "graph break",
    RECOMPILE: "recompile",
    SLOWER: "slower",
    NEVER_PAYS: "never pays",
    PRECISION: "precision changed",
    NOT_COMPARABLE: "not comparable",
    INTENDED: "as intended",
}
# Outcomes of frames that are findings.
FRAME_KINDS = {"skipped": EAGER, "recompile_limit": EAGER, "failed": FAILED}


@dataclass(frozen=True)
class CodeLine:
    """A line of the user's file.

    Attributes:
        number: Its number.
        text: Its text, indented as the others of the same finding are to it.
        first: First marked column of the text; no column is marked where it is not before last.
        last: The column after the last marked one.
        more: Further parts that are marked, each as first column and the one after the last.
    """

    number: int
    text: str
    first: int = 0
    last: int = 0
    more: tuple[tuple[int, int], ...] = ()

    @property
    def marks(self) -> str:
        """Marks to stand below the text: ``^`` for the first part, ``~`` for the others."""
        marks = [" "] * max(self.last, *(last for _, last in self.more), 0)
        for first, last in self.more:
            marks[first:last] = "~" * (last - first)
        marks[self.first : self.last] = "^" * (self.last - self.first)
        return "".join(marks).rstrip()

    @property
    def pieces(self) -> tuple[tuple[str, bool], ...]:
        """The text in pieces, each with whether it is marked."""
        marks = self.marks.ljust(len(self.text))
        groups = groupby(zip(self.text, marks, strict=False), key=lambda pair: pair[1] != " ")
        return tuple(("".join(text for text, _ in group), marked) for marked, group in groups)


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """A fix, ready to be shown.

    Attributes:
        title: What it does.
        code: What to write; empty for a rewrite.
        diff: Lines of a unified diff, without its two header lines.
        file: The file it applies to, shortened.
        caution: What it changes besides.
        tried: What trying it gave, or why it was not tried; empty where that goes without saying.
    """

    title: str
    code: str = ""
    diff: tuple[str, ...] = ()
    file: str = ""
    caution: str = ""
    tried: str = ""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing to act on.

    Attributes:
        kind: ``wrong``, ``failed``, ``never_pays``, ``eager``, ``break``, ``slower``,
            ``precision_changed``, ``recompile``, ``not_comparable`` or ``intended``.
        title: What it is, in a few words, to stand after the label.
        cause: GraphLens's class of cause, or several; empty where there is none.
        causes: How many different ones there are.
        place: ``file:line`` of the user's line.
        line: The line's number.
        function: Function the line is in; empty when unknown.
        code: Lines of the user's file: where it stands, and the line itself last.
        why: Explanation, line by line.
        cost: What it costs, in a few words; empty when not known.
        weight: The cost as a number, to rank findings of one kind.
        seconds: What of a step it costs; 0 where no timed run says so.
        advice: What to do, best first.
        remedies: Advice that can be done as it stands, best first.
        facts: Further facts as (name, text), short ones.
        details: Facts for formats that have room.
        stack: The call chain down to the line as (place, code), outermost first.
        link: Torch's page on it; only an https address, else empty.
        in_torchs_words: Whether explanation and advice are torch's, which can be long.
    """

    kind: str
    title: str
    cause: str = ""
    causes: int = 1
    place: str
    line: int = 0
    function: str = ""
    code: tuple[CodeLine, ...] = ()
    why: tuple[str, ...] = ()
    cost: str = ""
    weight: float = 0
    seconds: float = 0
    advice: tuple[str, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    details: tuple[tuple[str, str], ...] = ()
    stack: tuple[tuple[str, str], ...] = field(default=())
    link: str = ""
    in_torchs_words: bool = False

    @property
    def label(self) -> str:
        """The kind in words."""
        return LABELS[self.kind]
