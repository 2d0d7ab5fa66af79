"""A finding as a good compiler tells it: place, line, caret, cause, what to do."""

from collections.abc import Iterator
from dataclasses import dataclass

from graphlens.renderers.findings import INTENDED, NOT_COMPARABLE, CodeLine, Finding, Remedy
from graphlens.renderers.fitting import shorten
from graphlens.renderers.wording import best_advice, first_sentence, wrapped

SAVE = 'report.save("report.html")'
MOST_FACTS = 10
MOST_WORST = 3
MOST_REASONS = 4
MOST_ADVICE = 2
MOST_DIFF = 12
_COLOURS = {
    "wrong": "31",
    "failed": "31",
    "eager": "31",
    "break": "33",
    "slower": "33",
    "never_pays": "31",
    "precision_changed": "35",
    "recompile": "35",
    "not_comparable": "36",
    "intended": "36",
}


def painted(text: str, code: str, colour: bool) -> str:
    """The text with an ANSI colour around it where colours are wanted."""
    return f"\x1b[{code}m{text}\x1b[0m" if colour else text


@dataclass(frozen=True)
class FindingText:
    """Findings as lines of text.

    Attributes:
        width: Columns of text; None for no limit. Places are never cut.
        colour: Whether to mark findings with ANSI colours.
    """

    width: int | None
    colour: bool

    def worst(self, found: tuple[Finding, ...]) -> list[str]:
        """The findings to begin with, a line each; nothing where they are all there is."""
        worst = [item for item in found if item.kind not in (INTENDED, NOT_COMPARABLE)][:MOST_WORST]
        if len(worst) < 2:
            return []
        lines = [self._paint("Most worth fixing", "1")]
        for number, item in enumerate(worst, 1):
            cost = f" ({item.cost})" if item.cost and "unavailable" not in item.cost else ""
            text = f"{item.place}: {item.label}: {item.title}{cost}"
            lines += wrapped(text, self.width, f"  {number}. ", "     ")
        return lines

    def whole(self, item: Finding) -> list[str]:
        cause = f" [{item.cause}]" if item.cause else ""
        first, *rest = wrapped(f"{item.label}{cause}: {item.title}", self.width)
        function = f" in {item.function}" if item.function else ""
        colour = f"1;{_COLOURS[item.kind]}"
        lines = [self._paint(first, colour), *rest, f"  --> {item.place}{function}"]
        lines += self._code(item.code, colour)
        for name, text in self._details(item):
            lines += wrapped(text, self.width, f"   = {name}: ", "     ")
        if item.remedies:
            lines += self._rewrite(item.remedies)
        return lines

    def _code(self, code: tuple[CodeLine, ...], colour: str) -> list[str]:
        """Lines as a compiler quotes them; lines left out between two are shown as dots."""
        lines: list[str] = []
        before = 0
        for one in code:
            if before and one.number > before + 1:
                lines.append("      ...")
            before = one.number
            lines += wrapped(one.text, self.width, f"{one.number:>5} | ", "      | ")
            fits = self.width is None or 8 + len(one.marks) <= self.width
            if one.marks and fits:
                marks = one.marks.lstrip()
                indent = " " * (len(one.marks) - len(marks))
                lines.append(f"      | {indent}{self._paint(marks, colour)}")
        return lines

    def _details(self, item: Finding) -> Iterator[tuple[str, str]]:
        for text in item.why[: max(MOST_REASONS, item.causes + 1)]:
            yield "why", first_sentence(text) if item.in_torchs_words else text
        if item.cost:
            yield "cost", item.cost
        yield from item.facts[:MOST_FACTS]
        if item.facts[MOST_FACTS:]:
            yield "more", f"{len(item.facts) - MOST_FACTS:,} like these: {SAVE}"
        if not item.in_torchs_words:
            yield from (("do", text) for text in item.advice[: max(MOST_ADVICE, item.causes)])
        elif item.advice:
            yield "do", best_advice(item.advice)
        for remedy in item.remedies:
            if remedy.code:
                yield "try", remedy.code + _in_brackets(remedy.tried)

    def _rewrite(self, remedies: tuple[Remedy, ...]) -> list[str]:
        """The first rewrite, whole where it is short."""
        rewrite = next((one for one in remedies if one.diff), None)
        if rewrite is None:
            return []
        text = rewrite.title + _in_brackets(rewrite.tried)
        lines = wrapped(text, self.width, "   = rewrite: ", "     ")
        shown = _tight(rewrite.diff)
        for line in shown[:MOST_DIFF]:
            colour = {"-": "31", "+": "32"}.get(line[:1], "")
            whole = (
                f"       {line}" if self.width is None else shorten(f"       {line}", self.width)
            )
            lines.append(self._paint(whole, colour) if colour else whole)
        if shown[MOST_DIFF:]:
            lines.append(f"       ... {len(shown) - MOST_DIFF} more lines: {SAVE}")
        if rewrite.caution:
            lines += wrapped(rewrite.caution, self.width, "   = note: ", "     ")
        return lines

    def _paint(self, text: str, code: str) -> str:
        return painted(text, code, self.colour)


def _tight(diff: tuple[str, ...]) -> list[str]:
    """A diff's lines without headers, and of what stays only what stands next to a change."""
    lines = [line for line in diff if not line.startswith("@@")]
    changed = [line[:1] in ("+", "-") for line in lines]
    return [
        line
        for number, line in enumerate(lines)
        if any(changed[max(0, number - 1) : number + 2]) and (changed[number] or line.strip())
    ]


def _in_brackets(text: str) -> str:
    return f" ({text})" if text else ""
