"""Advice that was tried: each fix of a report, and then all that help, in captures of their own."""

import linecache
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

from graphlens.analysis.recompile_rewrites import loop_rewrites
from graphlens.analysis.report_parts import breaks_of, recompiles_of
from graphlens.analysis.rewrites import rewrites
from graphlens.analysis.rewrites.together import merged
from graphlens.analysis.source_code import SourceFile
from graphlens.analysis.trial_results import (
    break_trial,
    in_words,
    is_same,
    recompile_trial,
    together,
)
from graphlens.capture.fix_changes import change_for, joined
from graphlens.capture.isolated_capture import NO_CHANGE, Calls, Change
from graphlens.capture.program_copy import CannotCopy, with_new_source
from graphlens.capture.quiet import quiet
from graphlens.capture.shown_source import shown_source
from graphlens.model import Fix, GraphBreak, Note, Recompile, Report, Trial, Unavailable

# Captures for one report; each takes as long as the first.
MOST_TRIALS = 24
_TOO_MANY = Unavailable(f"not tried: {MOST_TRIALS} captures were made already")

Capture = Callable[[Callable[..., Any], Change], Report]


@dataclass(frozen=True)
class _Plan:
    """How fixes are tried: on which function, with what changed, and with which texts of files."""

    target: Callable[..., Any]
    change: Change
    texts: Mapping[str, str] = field(default_factory=dict)


class Trials:
    """Tries the fixes of one report.

    Args:
        report: Without any fix.
        target: The function or module it is of.
        calls: Of the target.
        capture: Captures a function with a change, as the report was.
    """

    def __init__(
        self, report: Report, target: Callable[..., Any], calls: Calls, capture: Capture
    ) -> None:
        self.report = report
        self._target = target
        self._calls = calls
        self._capture = capture
        self._made: dict[tuple[str, str], Report | Unavailable] = {}
        self._helping: dict[tuple[str, str], _Plan] = {}
        self._captures = 0
        self._obstacle: Unavailable | None = None

    def tried(self) -> Report:
        """The report with the result of each trial; fixes that do not help are left out."""
        self._obstacle = self._why_not()
        breaks = self.report.breaks
        if not isinstance(breaks, Unavailable):
            breaks = tuple(self._tried_break(found) for found in breaks)
        recompiles = self.report.recompiles
        if not isinstance(recompiles, Unavailable):
            recompiles = tuple(self._tried_recompile(one) for one in recompiles)
        report = msgspec.structs.replace(self.report, breaks=breaks, recompiles=recompiles)
        both = self._all_at_once()
        notes = (*report.notes, self._note(both))
        return msgspec.structs.replace(report, together=both, notes=notes)

    def _why_not(self) -> Unavailable | None:
        """Why no fix can be tried: the call must do the same each time, and leave no trace."""
        found = self.report
        fixes = [fix for one in breaks_of(found) for fix in one.fixes]
        fixes += [fix for again in recompiles_of(found) for fix in again.fixes]
        if not fixes:
            return None
        for note in found.notes:
            if note.code in ("parameters-changed", "optimizer-changed"):
                return Unavailable(f"not tried, as it would happen again: {note.message}")
        second = self._run(_Plan(self._target, NO_CHANGE))
        if isinstance(second, Unavailable):
            return Unavailable(f"not tried, as a second call did not work: {second.reason}")
        if not is_same(found, second):
            return Unavailable("not tried, as the function does something else when called again")
        return None

    def _tried_break(self, found: GraphBreak) -> GraphBreak:
        def judge(after: Report) -> Trial:
            return break_trial(found, self.report, after)

        fixes = tuple(self._results(found, judge))
        return msgspec.structs.replace(found, fixes=fixes)

    def _tried_recompile(self, one: Recompile) -> Recompile:
        def judge(after: Report) -> Trial:
            return recompile_trial(self.report, after)

        fixes = tuple(self._results(one, judge))
        return msgspec.structs.replace(one, fixes=fixes)

    def _results(
        self, found: GraphBreak | Recompile, judge: Callable[[Report], Trial]
    ) -> Iterator[Fix]:
        helps = False
        for fix in found.fixes:
            key = (fix.code, fix.diff)
            plan = self._obstacle or self._plan(fix, found)
            after = self._with_plan(key, plan)
            if isinstance(after, Unavailable):
                yield msgspec.structs.replace(fix, trial=after)
                continue
            trial = judge(after)
            if trial.helps:
                if not helps and isinstance(plan, _Plan):
                    self._helping.setdefault(key, plan)  # one for each finding
                helps = True
                yield msgspec.structs.replace(fix, trial=trial)

    def _plan(self, fix: Fix, found: GraphBreak | Recompile) -> _Plan | Unavailable:
        file = found.file
        if fix.kind != "rewrite":
            change = change_for(fix, file, self._target)
            return change if isinstance(change, Unavailable) else _Plan(self._target, change)
        lines = linecache.getlines(file)
        offered = (
            loop_rewrites(SourceFile(file, lines), found.line)
            if isinstance(found, Recompile)
            else rewrites("".join(lines), file, found.line, found.cause)
        )
        same = [one for one in offered if one.diff == fix.diff]
        if not same:
            return Unavailable("not tried: the file has changed since")
        return self._rewritten(self._target, file, same[0].source)

    def _rewritten(self, target: Callable[..., Any], file: str, source: str) -> _Plan | Unavailable:
        try:
            target = with_new_source(target, self._calls, file, source)
        except CannotCopy as error:
            return Unavailable(f"not tried: {error}")
        return _Plan(target, NO_CHANGE, {file: source})

    def _with_plan(self, key: tuple[str, str], plan: _Plan | Unavailable) -> Report | Unavailable:
        if isinstance(plan, Unavailable):
            return plan
        if key not in self._made:
            self._made[key] = self._run(plan) if self._captures < MOST_TRIALS else _TOO_MANY
        return self._made[key]

    def _run(self, plan: _Plan) -> Report | Unavailable:
        """A capture that does not write, and does not end the user's program."""
        self._captures += 1
        try:
            with quiet(), shown_source(plan.texts):
                return self._capture(plan.target, plan.change)
        except Exception as error:  # noqa: BLE001  the finding is that it does not work
            first = str(error).strip().partition("\n")[0]
            return Unavailable(f"tried, and the call failed: {type(error).__name__}: {first}")

    def _all_at_once(self) -> Trial | Unavailable:
        """What following all advice that helps gives; of each finding, the first fix that does."""
        plans = list(self._helping.values())
        if self._obstacle:
            return self._obstacle
        if not plans:
            return Unavailable("no fix was found to help by itself")
        change = joined([plan.change for plan in plans])
        target: Callable[..., Any] = self._target
        shown: dict[str, str] = {}
        for file in dict.fromkeys(file for plan in plans for file in plan.texts):
            texts = [plan.texts[file] for plan in plans if file in plan.texts]
            shown[file] = merged("".join(linecache.getlines(file)), texts)
            plan = self._rewritten(target, file, shown[file])  # a copy of the copy, for the next
            if isinstance(plan, Unavailable):
                return plan
            target = plan.target
        after = self._run(_Plan(target, change, shown))
        return after if isinstance(after, Unavailable) else together(self.report, after)

    def _note(self, both: Trial | Unavailable) -> Note:
        tried = self._captures
        if self._obstacle:
            return Note(code="advice-tried", message=f"Advice was {self._obstacle.reason}")
        if not tried:
            return Note(code="advice-tried", message="There is no advice that could be tried.")
        message = f"Advice was tried in {tried} capture{'' if tried == 1 else 's'} beside this one."
        if isinstance(both, Trial):
            message += f" With all of it that helps: {in_words(both)}."
        else:
            message += f" Together: {both.reason}."
        one_call = recompiles_of(self.report) == () and len(self._calls) < 2
        hint = "Recompiles show only with several calls." if one_call else ""
        return Note(code="advice-tried", message=message, hint=hint)
