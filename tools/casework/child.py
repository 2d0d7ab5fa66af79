"""The process that runs cases; started by ``launch``, not by hand.

    child.py WORK CASE BACKEND OPTIONS_AS_JSON LIMIT OUT   runs one, what it gives going to OUT
    child.py --serve                                       forks a process for each request it reads

WORK is ``outcome`` (what the case does), ``facts`` (what a report says of it), ``compared``
(what a comparison with eager says) or ``graphs`` (its graphs as JSON).
The server saves most of the time of short runs: it has imported torch, but compiled nothing, so
that a forked process begins as a new one would. A request is a JSON list of the arguments above;
the answer is one line with the exit status. A run past its limit of seconds is ended by SIGALRM.
"""

import importlib
import json
import os
import signal
import sys
import tempfile
import traceback
from pathlib import Path

PRELOADED = ("torch", "torch._dynamo", "torch._inductor.compile_fx")


def main(arguments: list[str]) -> None:
    """Runs one case or serves."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    if arguments == ["--serve"]:
        for name in PRELOADED:
            importlib.import_module(name)
        for line in sys.stdin:
            print(json.dumps(_fork(json.loads(line))), flush=True)
    else:
        _run(*arguments)


def _run(work: str, case: str, backend: str, options: str, limit: str, out: str) -> None:
    signal.alarm(int(limit))
    _redirect(Path(out))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        found = importlib.import_module(f"casework.{work}").run(
            Path(case), backend, json.loads(options)
        )
        os.chdir("/")
    sys.stdout.flush()
    found["printed"] = Path(out).with_suffix(".printed").read_text()
    Path(out).write_text(json.dumps(found))


def _redirect(out: Path) -> None:
    """Gives the case no input, and a file each for what it prints and for its messages."""
    for descriptor, path, mode in (
        (0, Path(os.devnull), "r"),
        (1, out.with_suffix(".printed"), "w"),
        (2, out.with_suffix(".messages"), "w"),
    ):
        with path.open(mode) as file:
            os.dup2(file.fileno(), descriptor)


def _fork(arguments: list[str]) -> int:
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    code = 1
    try:
        _run(*arguments)
        code = 0
    except BaseException:  # noqa: BLE001 the parent's only news of it is the exit code
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main(sys.argv[1:])
