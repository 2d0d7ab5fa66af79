"""Measures case programs of our own with torch itself, and writes EXPECT into them.

    python tools/measure_own_case.py tests/own_cases/*.py

Run it with torch 2.13 first; with another torch it writes only what is different, as an entry of
EXPECT["versions"]. ``measure_case.py``, which lies beside the folder of case programs, does the
measuring. What is written by hand (``kind``, ``notes``, ``cause``) stays.

Each case is measured twice: a number in a guard that differs becomes ``<value>``. Format the case
before: facts hold line numbers.
"""

import ast
import importlib
import multiprocessing
import os
import pprint
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path
from typing import Any

from casework import launch

BASE = "2.13"
MEASURE = launch.cases_folder().parent / "measure_case.py"
BY_HAND = ("kind", "notes", "cause")
MEASURED = (
    "graphs",
    "ops_per_graph",
    "break_count",
    "breaks",
    "recompile_count",
    "recompiles",
    "recompile_limit_hit",
)
PLACES = ("torch_points_to",)
SURROUNDINGS = {  # as launch.py has them
    "PYTHONHASHSEED": "0",
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
    "TORCH_DYNAMO_AUTOMATIC_DYNAMIC_LOCAL_PGO": "0",
}


def main() -> int:
    if not MEASURE.exists():
        print(f"There is no {MEASURE}; set GRAPHLENS_CASES to the folder beside it.")
        return 2
    if not SURROUNDINGS.items() <= os.environ.items():  # the hash seed is read at the start only
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **SURROUNDINGS})
    sys.path.insert(0, str(MEASURE.parent))
    importlib.import_module("measure_case")
    return int(sum(not _measure(Path(name)) for name in sys.argv[1:]) > 0)


def _measure(path: Path) -> bool:
    try:
        facts = _steady(_measured(path), _measured(path))
    except Exception as error:  # noqa: BLE001 the next case may be well
        print(f"{path.stem}: not measured: {type(error).__name__}: {error}")
        return False
    _write(path, facts)
    return True


def _measured(path: Path) -> dict[str, Any]:
    """Facts from a process of its own, forked from this one, which has compiled nothing."""
    context = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        return pool.submit(_measured_here, str(path.resolve())).result()


def _measured_here(path: str) -> dict[str, Any]:
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    found, _ = importlib.import_module("measure_case").measure(path, inductor=False)
    return {name: found[name] for name in MEASURED if name in found}


def _steady(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """The facts of two measurements, which may differ in values that guards hold.

    A long number in a guard is an address or a hash, and no value to expect either.
    """
    for a, b in zip(first["recompiles"], second["recompiles"], strict=True):
        changing = r"-?\d+(\.\d+)?(e-?\d+)?" if a["guard"] != b["guard"] else r"\b\d{9,}\b"
        a["guard"], b["guard"] = (re.sub(changing, "<value>", one["guard"]) for one in (a, b))
    if first != second:
        raise RuntimeError(f"two measurements differ:\n{first}\n{second}")
    return first


def _write(path: Path, facts: dict[str, Any]) -> None:
    before, _, written = path.read_text().partition("\nEXPECT = ")
    expect = ast.literal_eval(written) if written else {}
    minor = ".".join(version("torch").split(".")[:2])
    if minor == BASE:
        kept = {name: expect[name] for name in BY_HAND if name in expect}
        new = {"torch": version("torch"), "kind": kept.pop("kind", ""), **facts, **kept}
        new |= {"versions": expect["versions"]} if expect.get("versions") else {}
    else:
        changed = _changed(expect, facts)
        earlier = expect.get("versions", {}).get(minor, {})
        changed |= {name: earlier[name] for name in BY_HAND if name in earlier}
        versions = {**expect.get("versions", {}), minor: changed}
        new = {**expect, "versions": {name: v for name, v in sorted(versions.items()) if v}}
        new = {name: value for name, value in new.items() if name != "versions" or value}
    text = pprint.pformat(new, width=96, sort_dicts=False)
    path.write_text(f"{before}\nEXPECT = {text}\n")
    print(f"{path.stem}: {facts['graphs']} graphs, {facts['break_count']} breaks", flush=True)
    for one in facts["breaks"]:
        print(f"  line {one['line']}, {one['kind']}: {one['torch_reason']}")


def _changed(expect: dict[str, Any], facts: dict[str, Any]) -> dict[str, Any]:
    """Facts that are not as expected; the place torch names has library lines, and is none."""
    found = {name: facts.get(name, []) for name in MEASURED if name in facts or name in expect}
    return {
        name: value
        for name, value in found.items()
        if _without_places(value) != _without_places(expect.get(name))
    }


def _without_places(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [
        {k: v for k, v in entry.items() if k not in PLACES} if isinstance(entry, dict) else entry
        for entry in value
    ]


if __name__ == "__main__":
    sys.exit(main())
