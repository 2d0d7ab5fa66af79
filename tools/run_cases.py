"""Runs the case programs under graphlens and under the backend inside it, and shows a table.

    python tools/run_cases.py                                 all of them, Inductor inside
    python tools/run_cases.py --inner eager --fork            quick: two minutes
    python tools/run_cases.py --only int_argument,list_grows

Each run is a process of its own, with a time limit. Results are kept in graphlens-out/cases.jsonl:
a run that was stopped goes on where it was, and a change of GraphLens, torch or a case makes its
results be measured again. Exit code 1: a case differs or is unclear, or its report has other facts
than its EXPECT.
"""

import argparse
import os
import queue
import sys
import tempfile
import threading
from importlib.metadata import version
from pathlib import Path

from casework import launch, results

KEPT = Path("graphlens-out/cases.jsonl")
DOCS_MARK = "<!-- results: written by tools/run_cases.py -->"


def main() -> int:
    arguments = _arguments()
    cases = _chosen(arguments.only)
    if not cases:
        print(f"There are no such cases in {launch.cases_folder()}; set GRAPHLENS_CASES.")
        return 2
    if arguments.again:
        KEPT.unlink(missing_ok=True)
    store = results.Store(KEPT, arguments.inner)
    _run(cases, store, arguments)
    found = [result for case in cases if (result := store.get(case))]
    print(results.summary(found))
    if arguments.markdown:
        _write(Path(arguments.markdown), found, arguments.inner)
    bad = [result for result in found if not results.is_good(result)]
    for result in bad:
        print(f"\n{result['case']}: {result['verdict']}")
        lines = [f"report: {fact}" for fact in result["facts"]]
        lines += [f"comparison: {text}" for text in result["inconsistent"]]
        for line in [*result["differences"], *lines]:
            print(f"  {line}")
    return int(bool(bad) or len(found) < len(cases))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--inner", default="inductor", help="what graphlens forwards to")
    parser.add_argument("--only", default="", help="names, separated by commas")
    parser.add_argument("--workers", type=int, default=1, help="runs at a time")
    parser.add_argument("--limit", type=int, default=600, help="seconds for each run")
    parser.add_argument("--fork", action="store_true", help="fork runs from one warm process")
    parser.add_argument("--again", action="store_true", help="forget earlier results")
    parser.add_argument("--markdown", help="write the table into this file")
    return parser.parse_args()


def _chosen(only: str) -> list[Path]:
    wanted = {name.strip().removesuffix(".py") for name in only.split(",") if name.strip()}
    every = sorted(launch.cases_folder().glob("*.py"))
    return [case for case in every if not wanted or case.stem in wanted]


def _run(cases: list[Path], store: results.Store, arguments: argparse.Namespace) -> None:
    waiting: queue.SimpleQueue[Path] = queue.SimpleQueue()
    for case in cases:
        if earlier := store.get(case):
            print(f"{case.stem}: {earlier['verdict']} (earlier)")
        else:
            waiting.put(case)
    writing = threading.Lock()
    with tempfile.TemporaryDirectory(prefix="graphlens-built-") as built:

        def work() -> None:
            with launch.Launcher(arguments.fork, Path(built)) as launcher:
                while not waiting.empty():
                    try:
                        case = waiting.get_nowait()
                    except queue.Empty:
                        return
                    result = results.judge(launcher, case, arguments.inner, arguments.limit)
                    result |= results.judge_facts(launcher, case, arguments.limit)
                    result |= results.judge_comparison(
                        launcher, case, arguments.inner, arguments.limit
                    )
                    with writing:
                        store.put(case, result)
                        seconds = " + ".join(f"{s or 0:.1f}" for s in result["seconds"])
                        facts = f"; facts differ: {len(result['facts'])}" * bool(result["facts"])
                        print(
                            f"{case.stem}: {result['verdict']}{facts} ({seconds} s); compared: "
                            f"{result['compared']} {result['origin']}",
                            flush=True,
                        )

        workers = [threading.Thread(target=work) for _ in range(arguments.workers)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()


def _write(path: Path, found: list[results.Result], inner: str) -> None:
    """Replaces what stands after the mark; the text before it is written by hand."""
    before = path.read_text().partition(DOCS_MARK)[0] if path.exists() else ""
    made = (
        f"torch {version('torch')}, Python {sys.version.split()[0]}, {os.cpu_count()} cores: "
        f"{results.summary(found)}.\n\n"
    )
    table = results.markdown(found, inner)
    path.write_text(f"{before}{DOCS_MARK}\n\n{made}{table}")


if __name__ == "__main__":
    sys.exit(main())
