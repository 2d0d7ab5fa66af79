"""Many cases: judging each, keeping the results in a file, showing them as a table."""

import hashlib
import json
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from casework import compare, versions
from casework.launch import Launcher, options_for

SOURCES = Path(__file__).resolve().parents[2] / "src" / "graphlens"
Result = dict[str, Any]


def judge(launcher: Launcher, case: Path, inner: str, limit: int = 600) -> Result:
    """Runs a case under ``inner`` and under graphlens around it, and compares.

    A reference that does not agree with itself proves nothing, so a difference is believed only
    when a second run of the reference repeats the first.
    """
    wanted = launcher.run(case, inner, {}, limit)
    got = launcher.run(case, "graphlens", options_for("graphlens", inner), limit)
    verdict = compare.verdict(wanted, got)
    if verdict.startswith("differs"):
        again = launcher.run(case, inner, {}, limit)
        if not compare.differences(again, got):
            verdict = compare.verdict(again, got)
        elif unsteady := compare.differences(wanted, again):
            verdict = f"unclear: {inner} differs from itself: {unsteady[0]}"
    return {
        "case": case.name,
        "reference": compare.described(wanted),
        "graphlens": compare.described(got),
        "verdict": verdict,
        "differences": compare.differences(wanted, got),
        "seconds": [wanted.get("seconds"), got.get("seconds")],
    }


def judge_facts(launcher: Launcher, case: Path, limit: int = 600) -> Result:
    """Captures a case, and holds what the report says of it against its ``EXPECT``.

    There is nothing to hold where torch itself is known to end the process, or the case needs a
    package that is missing.
    """
    answer = launcher.facts(case, limit)
    ended = answer["ended"]
    excused = ended.startswith("needs ") or versions.known_to_end(case, ended, version("torch"))
    differ = answer.get("differences", [] if excused else [f"no report: {ended}"])
    return {
        "breaks": answer.get("breaks", "–"),
        "recompiles": answer.get("recompiles", "–"),
        "facts": differ,
        "causes": answer.get("causes", []),
        "facts_missing": ended,
    }


def judge_comparison(launcher: Launcher, case: Path, inner: str, limit: int = 600) -> Result:
    """Compares a case with eager, and holds the verdict against its ``EXPECT`` and its notes."""
    if inner != "inductor":  # EXPECT is of Inductor
        return {"compared": "–", "origin": "", "said": "", "inconsistent": []}
    answer = launcher.compared(case, inner, limit)
    ended = answer["ended"]
    excused = ended.startswith("needs ") or versions.known_to_end(case, ended, version("torch"))
    return {
        "compared": answer.get("verdict", ended),
        "origin": answer.get("origin", ""),
        "said": answer.get("said", ""),
        "inconsistent": answer.get("inconsistent", [] if excused else [f"no verdict: {ended}"]),
    }


class Store:
    """Results in a file of JSON lines, so that a run that was stopped goes on where it was.

    Args:
        path: The file. Lines of another case text, GraphLens source, judging, torch or inner
            backend stay in it, and are not used.
        inner: What graphlens forwards to.
    """

    def __init__(self, path: Path, inner: str) -> None:
        self._path = path
        self._context = f"{inner} {version('torch')} {_hash(_sources())}"
        self._rows: dict[str, Result] = {}
        if path.exists():
            for line in path.read_text().splitlines():
                row = json.loads(line)
                self._rows[row["key"]] = row

    def get(self, case: Path) -> Result | None:
        """The result of a run before this one."""
        return self._rows.get(self._key(case))

    def put(self, case: Path, result: Result) -> None:
        """Adds a result to the file at once."""
        row = {"key": self._key(case), **result}
        self._rows[row["key"]] = row
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:
            file.write(json.dumps(row) + "\n")

    def _key(self, case: Path) -> str:
        return f"{case.name} {_hash([case])} {self._context}"


def summary(results: list[Result]) -> str:
    """One line: how many are the same, differ, are unclear or were skipped."""
    kinds = [result["verdict"].partition(":")[0].partition(",")[0] for result in results]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in sorted(set(kinds)))
    facts = sum(not result["facts"] for result in results)
    consistent = sum(not result["inconsistent"] for result in results)
    return (
        f"{len(results)} cases: {counts or 'none'}; {facts} with facts as expected; "
        f"{consistent} with a consistent comparison"
    )


def is_good(result: Result) -> bool:
    """Whether the outcome, the report's facts and the comparison are as they should be."""
    wrong = result["facts"] or result["inconsistent"]
    return not wrong and not result["verdict"].startswith(("differs", "unclear"))


def markdown(results: list[Result], inner: str) -> str:
    """The table of `docs/cases.md`, with every difference in full below it."""
    lines = [
        f"| case | under {inner} | under graphlens | same | breaks | recompiles "
        f"| facts as expected | seconds: {inner}, graphlens | compared with eager | begins in |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for result in results:
        facts = (
            f"{len(result['facts'])} differ"
            if result["facts"]
            else result["facts_missing"] or "yes"
        )
        same = "yes" if compare.agrees(result["verdict"]) else result["verdict"].partition(":")[0]
        seconds = ", ".join("–" if s is None else f"{s:.0f}" for s in result["seconds"])
        lines.append(
            f"| {result['case']} | {result['reference']} | {result['graphlens']} "
            f"| {same} | {result['breaks']} | {result['recompiles']} "
            f"| {facts} | {seconds} | {_compared(result)} | {result['origin'] or '–'} |"
        )
    for result in results:
        if not compare.agrees(result["verdict"]):
            lines += ["", f"{result['case']}: {result['verdict']}", ""]
            lines += [f"- {_escaped(text)}" for text in result["differences"]]
        if result["facts"]:
            lines += ["", f"{result['case']}: facts of the report", ""]
            lines += [f"- {_escaped(text)}" for text in result["facts"]]
        if result["inconsistent"]:
            lines += ["", f"{result['case']}: the comparison", ""]
            lines += [f"- {_escaped(text)}" for text in result["inconsistent"]]
    lines += ["", "What the comparison says of those that do not simply agree:", ""]
    lines += [
        f"- {result['case']}: {_escaped(result['said'])}" for result in results if result["said"]
    ]
    return "\n".join(lines) + "\n"


def _compared(result: Result) -> str:
    return result["compared"] + ", inconsistent" * bool(result["inconsistent"])


def _escaped(text: str) -> str:
    return text.replace("\n", " ").replace("|", "\\|").replace("<", "&lt;")


def _sources() -> list[Path]:
    """What a result depends on besides torch and the case: GraphLens, and what judges it."""
    return sorted([*SOURCES.rglob("*.py"), *Path(__file__).parent.glob("*.py")])


def _hash(paths: Iterable[Path]) -> str:
    content = hashlib.sha256()
    for path in paths:
        content.update(path.read_bytes())
    return content.hexdigest()[:12]
