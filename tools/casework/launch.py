"""Starts the processes that run cases, gives them equal surroundings and reads their outcomes."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

CHILD = Path(__file__).with_name("child.py")
LEAKS = (
    "GRAPHLENS_",
    "TORCH_COMPILE",
    "TORCH_LOGS",
    "TORCH_TRACE",
    "TORCHINDUCTOR_",
    "TORCHDYNAMO_",
)


def cases_folder() -> Path:
    """Where the cases lie: ``GRAPHLENS_CASES``, or ``shared/cases`` beside the checkout."""
    beside = Path(__file__).resolve().parents[3] / "shared" / "cases"
    return Path(os.environ.get("GRAPHLENS_CASES") or beside)


def options_for(backend: str, inner: str) -> dict[str, object]:
    """Options that make a GraphLens backend forward to ``inner`` and print nothing."""
    if backend != "graphlens":
        return {}
    return {"graphlens.inner": inner, "graphlens.show": "none"}


class Launcher:
    """Runs cases in processes of their own; use it in a ``with`` block.

    Args:
        fork: Fork each run from one process that has imported torch, in place of a new Python.
        built: Folder for the C++ programs that Inductor builds; one of its own if not given. A
            program is found there by a hash of its whole source, so sharing the folder between
            runs saves the compiler's time and hides no difference. Inductor's and AOTAutograd's
            own caches are off.
    """

    def __init__(self, fork: bool = False, built: Path | None = None) -> None:
        self._fork = fork
        self._server: subprocess.Popen[str] | None = None
        self._open = ExitStack()
        made = self._open.enter_context(tempfile.TemporaryDirectory(prefix="graphlens-cases-"))
        self._folder = Path(made)
        self._built = built or self._folder / "built"
        self._runs = 0

    def __enter__(self) -> "Launcher":
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def run(
        self, case: Path, backend: str, options: dict[str, object], limit: int = 600
    ) -> dict[str, Any]:
        """The outcome of one run; a crash and a run past the limit are outcomes too."""
        return self._run("outcome", case, backend, options, limit)

    def facts(self, case: Path, limit: int = 600) -> dict[str, Any]:
        """What a capture's report says of the case, beside what it should; see ``facts``."""
        return self._run("facts", case, "graphlens_eager", {}, limit)

    def compared(self, case: Path, inner: str, limit: int = 600) -> dict[str, Any]:
        """What a comparison with eager says of the case, and where that is inconsistent."""
        return self._run("compared", case, inner, {}, limit)

    def graphs(self, case: Path, limit: int = 600) -> dict[str, Any]:
        """The case's graphs, captured and lowered, as JSON; see ``graphs``."""
        return self._run("graphs", case, "graphlens_aot_eager", {}, limit)

    def _run(
        self, work: str, case: Path, backend: str, options: dict[str, object], limit: int
    ) -> dict[str, Any]:
        self._runs += 1
        out = self._folder / f"{self._runs}-{case.stem}.json"
        arguments = [work, str(case.resolve()), backend, json.dumps(options), str(limit), str(out)]
        code = self._request(arguments) if self._fork else self._start(arguments)
        if out.exists():
            return json.loads(out.read_text())
        return {"ended": _ending(code, limit, out), "calls": [], "written": [], "printed": ""}

    def _start(self, arguments: list[str]) -> int:
        command = [sys.executable, str(CHILD), *arguments]
        return subprocess.run(command, env=self._environment(), check=False).returncode

    def _request(self, arguments: list[str]) -> int:
        if self._server is None:
            server = subprocess.Popen(
                [sys.executable, str(CHILD), "--serve"],
                env=self._environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            self._server = self._open.enter_context(server)  # closing its input ends it
        if self._server.stdin is None or self._server.stdout is None:
            raise RuntimeError("the case server has no pipes")
        self._server.stdin.write(json.dumps(arguments) + "\n")
        self._server.stdin.flush()
        answer = self._server.stdout.readline()
        if not answer:
            raise RuntimeError(f"the case server ended with exit code {self._server.wait()}")
        return int(answer)

    def _environment(self) -> dict[str, str]:
        clean = {name: text for name, text in os.environ.items() if not name.startswith(LEAKS)}
        return clean | {
            "HF_HUB_OFFLINE": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "PYTHONHASHSEED": "0",
            "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
            "TORCHINDUCTOR_CACHE_DIR": str(self._built),
            "TORCHINDUCTOR_COMPILE_THREADS": "1",
            "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
            "TORCH_DYNAMO_AUTOMATIC_DYNAMIC_LOCAL_PGO": "0",
        }


def _ending(code: int, limit: int, out: Path) -> str:
    if code == -signal.SIGALRM:
        return f"no result after {limit} s"
    if code < 0:
        return f"crash ({signal.Signals(-code).name})"
    messages = out.with_suffix(".messages")
    lines = messages.read_text().strip().splitlines() if messages.exists() else []
    return f"exit code {code}: {lines[-1] if lines else 'no message'}"
