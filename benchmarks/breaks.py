"""Breaks found, and the time that takes: graphlens side by side with torch._dynamo.explain.

    python benchmarks/breaks.py                        all case programs, then BERT-base; 20 minutes
    python benchmarks/breaks.py --only print_in_loop   some cases; no times unless --rounds is given
    python benchmarks/breaks.py --markdown docs/benchmarks.md

Cases: what torch's explain says of the first call, what `graphlens.explain` finds in the same call,
and what `graphlens.record` finds over all calls, each in a process of its own, forked from one that
has imported torch and compiled nothing. The truth is the case's EXPECT: lines of the user's that
break, measured from torch's log over all calls. A tool is right about a case where it has as many.

Time: one explain of BERT-base (random weights, 1 x 128 tokens), each in a fresh process after one
of a trivial function with the same tool, in the order A B B A. Ratios are graphlens to torch.
"""

import argparse
import contextlib
import importlib
import json
import multiprocessing
import os
import platform
import re
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

import torch

import graphlens
from casework import facts, launch, outcome, versions
from graphlens.model import Report, Unavailable
from spread import Ratio, ratio

BEGIN = "<!-- breaks: written by benchmarks/breaks.py -->"
END = "<!-- breaks: end -->"
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
    "TORCH_DYNAMO_AUTOMATIC_DYNAMIC_LOCAL_PGO": "0",  # what one run learned would change the next
}
PRELOADED = ("torch._inductor.compile_fx", "graphlens.capture.explain")
TOOLS = ("torch", "explain", "record")
GOAL = 1.1

Answer = dict[str, Any]


def main() -> None:
    arguments = _arguments()
    os.environ.update(ENVIRONMENT)
    for name in PRELOADED:
        importlib.import_module(name)
    text = _cases_markdown(_selected(arguments.only), arguments.limit)
    rounds = arguments.rounds if arguments.rounds is not None else 0 if arguments.only else 9
    if rounds:
        text += "\n" + _time_markdown(rounds)
    print(text)
    if arguments.markdown:
        path = Path(arguments.markdown)
        path.write_text(with_section(path.read_text() if path.exists() else "", text))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="names of cases, with commas between")
    parser.add_argument("--rounds", type=int, help="pairs of timed processes; 0 for none")
    parser.add_argument("--limit", type=int, default=300, help="seconds for one case")
    parser.add_argument("--markdown", help="write the tables into this file, between the marks")
    return parser.parse_args()


def with_section(before: str, text: str) -> str:
    """A document with the text between the marks; at its end where it has none yet."""
    section = f"{BEGIN}\n\n{text}\n{END}"
    if BEGIN in before:
        return re.sub(f"{BEGIN}.*?{END}", lambda _: section, before, flags=re.DOTALL)
    return f"{before.rstrip()}\n\n{section}\n".lstrip()


def _selected(only: str) -> list[Path]:
    cases = sorted(launch.cases_folder().glob("*.py"))
    if not cases:
        sys.exit(f"There are no cases in {launch.cases_folder()}; set GRAPHLENS_CASES.")
    names = [name for name in only.split(",") if name]
    unknown = set(names) - {case.stem for case in cases}
    if unknown:
        sys.exit(f"There is no case {', '.join(sorted(unknown))}.")
    return [case for case in cases if not names or case.stem in names]


def in_own_process(work: Callable[..., Answer], *arguments: object, limit: int = 600) -> Answer:
    """What work returns in a process of its own; how that ended where it did not return."""
    with tempfile.TemporaryDirectory(prefix="graphlens-bench-") as folder:
        out = Path(folder) / "answer.json"
        context = multiprocessing.get_context("fork")
        process = context.Process(target=_work, args=(out, work, arguments))
        process.start()
        process.join(limit)
        if process.is_alive():
            process.kill()
            process.join()
            return {"ended": f"no answer after {limit} s"}
        if not out.exists():
            return {"ended": f"exit code {process.exitcode}"}
        return dict(json.loads(out.read_text()))


def _work(out: Path, work: Callable[..., Answer], arguments: tuple[object, ...]) -> None:
    warnings.simplefilter("ignore")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):  # what a case prints, and what torch logs
        os.dup2(nowhere, descriptor)
    os.chdir(out.parent)
    out.write_text(json.dumps(work(*arguments)))


def ask(case: Path, tool: str) -> Answer:
    """What a tool says of a case, in this process."""
    if tool == "record":
        report, _, ended = facts.capture(case)
        return {"ended": ended} if ended else _counted(report)
    module: Any = outcome.load(case)
    if hasattr(module, "compile_with"):
        return {"ended": "compiles several parts"}
    outcome._seed()
    target, calls = module.make()
    if hasattr(module, "before_call"):
        module.before_call(0, target)
    outcome._seed()
    explain: Callable[..., Any] = _torch_explain if tool == "torch" else _graphlens_explain
    answers: list[Answer] = []

    def explained(*args: object, **keywords: object) -> None:
        answers.append(explain(target, args, keywords))

    if hasattr(module, "call"):
        module.call(explained, calls[0])
    else:
        explained(*calls[0])
    return answers[0]


def _torch_explain(target: Any, args: Any, keywords: Any) -> Answer:
    try:
        found: Any = torch_explain()(target)(*args, **keywords)
    except Exception as error:  # noqa: BLE001  which one is the answer
        return {"ended": f"raises {type(error).__name__}"}
    return {"breaks": found.graph_break_count, "reasons": len(found.break_reasons)}


def torch_explain() -> Callable[..., Any]:
    """What GraphLens is compared with; imported late, as torch reads the environment then."""
    from torch._dynamo import explain  # noqa: TID251

    return explain


def _graphlens_explain(target: Any, args: Any, keywords: Any) -> Answer:
    try:
        return _counted(graphlens.explain(target)(*args, **keywords))
    except Exception as error:  # noqa: BLE001  the function's own, with the report so far
        report = getattr(error, "graphlens_report", None)
        if report is None:
            return {"ended": f"raises {type(error).__name__}"}
        return {**_counted(report), "raised": type(error).__name__}


def _counted(report: Report) -> Answer:
    if isinstance(report.breaks, Unavailable):
        return {"ended": str(report.breaks)}
    return {
        "lines": len({(one.file, one.line) for one in report.breaks}),
        "breaks": len(report.breaks),
        "records": sum(one.records for one in report.breaks),
        "eager": sum(frame.outcome in ("skipped", "recompile_limit") for frame in report.frames),
    }


def truth(case: Path) -> Answer:
    """How many of the user's lines break, and in how many records of torch's log."""
    module: Any = outcome.load(case)
    expect = versions.expected(case, module.EXPECT, torch.__version__)
    lines = {group["line"] for group in expect["breaks"]}
    return {"lines": len(lines), "records": expect["break_count"]}


def is_right(answer: Answer, wanted: Answer, tool: str) -> bool:
    """Whether a tool has as many breaks as there are; torch counts no lines, only breaks."""
    return bool(answer.get("breaks" if tool == "torch" else "lines") == wanted["lines"])


def _cases_markdown(cases: Iterable[Path], limit: int) -> str:
    rows, right, asked = [], dict.fromkeys(TOOLS, 0), dict.fromkeys(TOOLS, 0)
    for case in cases:
        wanted = in_own_process(truth, case, limit=limit)
        if "ended" in wanted:
            print(f"{case.stem}: left out, {wanted['ended']}", file=sys.stderr)
            continue
        answers = {tool: in_own_process(ask, case, tool, limit=limit) for tool in TOOLS}
        for tool, answer in answers.items():
            right[tool] += is_right(answer, wanted, tool)
            asked[tool] += answer.get("ended") != "compiles several parts"
        rows.append(_row(case.stem, wanted, answers))
        print(rows[-1], file=sys.stderr, flush=True)
    head = [
        "| case | lines that break | torch's explain, first call | graphlens.explain, first call "
        "| eager frames | graphlens.record, all calls |",
        "|---|---|---|---|---|---|",
    ]
    summary = (
        f"\nAs many breaks as the user's lines that break, over all calls: torch's explain in "
        f"{right['torch']} of {asked['torch']} cases, graphlens.explain (first call as well) in "
        f"{right['explain']} of {asked['explain']}, graphlens.record in {right['record']} of "
        f"{asked['record']}.\n"
    )
    return "\n".join([*head, *rows, summary])


def _row(name: str, wanted: Answer, answers: dict[str, Answer]) -> str:
    torch_says, explained, recorded = (answers[tool] for tool in TOOLS)
    cells = [
        name,
        f"{wanted['lines']} ({_records(wanted)})" if wanted["records"] else "0",
        torch_says.get("ended") or str(torch_says["breaks"]),
        _found(explained),
        str(explained.get("eager", "")),
        _found(recorded),
    ]
    marks = [
        " " + ("✓" if is_right(answer, wanted, tool) else "✗") if "ended" not in answer else ""
        for tool, answer in answers.items()
    ]
    for column, mark in zip((2, 3, 5), marks, strict=True):
        cells[column] += mark
    return f"| {' | '.join(cells)} |"


def _found(answer: Answer) -> str:
    if "ended" in answer:
        return str(answer["ended"])
    if not answer["records"]:
        return "0"
    more = "" if answer["breaks"] == answer["lines"] else f"{answer['breaks']} breaks, "
    return f"{answer['lines']} ({more}{_records(answer)})"


def _records(answer: Answer) -> str:
    return f"{answer['records']} record{'s'[: answer['records'] != 1]}"


def time_explain(tool: str) -> Answer:
    """Seconds of one explain of BERT-base, on the wall and of the processor."""
    from transformers import BertConfig, BertModel

    torch.set_num_threads(1)
    torch.manual_seed(0)
    model: Any = BertModel(BertConfig())
    model.eval()
    tokens = torch.randint(0, 30_000, (1, 128))
    explain = graphlens.explain if tool == "graphlens" else torch_explain()
    with torch.no_grad():
        explain(_trivial)(tokens)
        model(tokens)
        began, used = time.perf_counter(), time.process_time()
        explain(model)(tokens)
        return {"wall": time.perf_counter() - began, "cpu": time.process_time() - used}


def _trivial(x: torch.Tensor) -> torch.Tensor:
    return x + 1


def _time_markdown(rounds: int) -> str:
    importlib.import_module("transformers.models.bert.modeling_bert")
    runs: dict[str, list[Answer]] = {"torch": [], "graphlens": []}
    for i in range(rounds):
        for tool in ("torch", "graphlens") if i % 2 == 0 else ("graphlens", "torch"):
            runs[tool].append(in_own_process(time_explain, tool))
    lines = [
        f"torch {version('torch')}, Python {platform.python_version()}, {platform.machine()}, "
        f"{os.cpu_count()} cores, load {os.getloadavg()[1]:.1f}. Goal: at most {GOAL} times.",
        "",
        "| explain of BERT-base, 1 x 128 tokens | torch | graphlens | ratio | 95 % interval "
        "| quartiles | pairs |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, key in (("seconds", "wall"), ("CPU seconds", "cpu")):
        first, second = ([run[key] for run in runs[tool]] for tool in runs)
        lines.append(_time_row(name, first, second, ratio(first, second)))
    return "\n".join(lines) + "\n"


def _time_row(name: str, first: list[float], second: list[float], found: Ratio) -> str:
    return (
        f"| {name} | {statistics.median(first):.2f} | {statistics.median(second):.2f} "
        f"| {found.median:.3f} | {found.low:.3f} to {found.high:.3f} "
        f"| {found.quartiles[0]:.3f} and {found.quartiles[1]:.3f} | {found.pairs} |"
    )


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
