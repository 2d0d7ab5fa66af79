"""How new statements are written: on one line, or one argument a line where that is too long."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphlens.analysis.rewrites.program import Program
from graphlens.analysis.rewrites.text import Span

_WIDTH = 100


@dataclass(frozen=True)
class Call:
    """A call to write."""

    function: str
    arguments: tuple[str, ...]

    @property
    def text(self) -> str:
        return f"{self.function}({', '.join(self.arguments)})"


@dataclass(frozen=True)
class Style:
    """How the lines around a new one are written."""

    indent: str
    unit: str
    line_end: str

    def statement(self, head: str, calls: Sequence[Call]) -> str:
        """``head`` and the calls; the first line without its indentation."""
        line = head + ", ".join(call.text for call in calls)
        if len(self.indent) + len(line) <= _WIDTH or len(calls) != 1 or "\n" in line:
            return line
        call = calls[0]
        inner = [f"{self.indent}{self.unit}{argument}," for argument in call.arguments]
        return self.line_end.join([f"{head}{call.function}(", *inner, f"{self.indent})"])

    def block(self, statements: Iterable[str]) -> str:
        """Statements, one below the other; the first without its indentation."""
        return f"{self.line_end}{self.indent}".join(statements)


def loose_comments(program: Program, within: Span, kept: Iterable[Span]) -> list[str]:
    """Comments that would be lost with a piece of text, but for those in parts that are kept."""
    kept = list(kept)
    text = program.text
    return [
        text.source[start:end].rstrip()
        for start, end in text.comments
        if within[0] <= start < within[1] and not any(a <= start < b for a, b in kept)
    ]
