"""Runs one case under a backend and under a reference, each in its own process, and compares.

    python tools/run_case.py CASE --backend graphlens --inner eager --reference eager

CASE is a file, or a name in the cases' folder. Values must be equal bit for bit, exceptions in
type and text; also compared are mutated arguments, buffers, gradients, what the case prints, files
it leaves in its folder, and the state of the random generators. Exit code 1: something differs.
"""

import argparse
import json
import sys
from pathlib import Path

from casework import compare, launch


def main() -> int:
    arguments = _arguments()
    case = Path(arguments.case)
    if not case.exists():
        case = launch.cases_folder() / f"{case.stem}.py"
    if not case.exists():
        print(
            f"There is no case {arguments.case}, nor {case}; set GRAPHLENS_CASES to their folder."
        )
        return 2
    reference = arguments.reference or arguments.inner
    options = launch.options_for(arguments.backend, arguments.inner) | arguments.options
    with launch.Launcher(fork=arguments.fork) as launcher:
        wanted = launcher.run(case, reference, {}, arguments.limit)
        got = launcher.run(case, arguments.backend, options, arguments.limit)
    verdict = compare.verdict(wanted, got)
    if arguments.json:
        print(json.dumps({"case": case.stem, "verdict": verdict, reference: wanted, "got": got}))
    else:
        print(f"{case.stem}: {verdict}")
        for line in compare.differences(wanted, got):
            print(f"  {line}")
    return int(verdict.startswith("differs"))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("case")
    parser.add_argument("--backend", default="graphlens")
    parser.add_argument("--inner", default="inductor", help="what graphlens forwards to")
    parser.add_argument("--reference", help="backend to compare with; the inner one by default")
    parser.add_argument("--options", type=json.loads, default={}, help="further ones, as JSON")
    parser.add_argument("--limit", type=int, default=600, help="seconds for each run")
    parser.add_argument("--fork", action="store_true", help="fork both from one process")
    parser.add_argument("--json", action="store_true", help="print both outcomes as JSON")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
