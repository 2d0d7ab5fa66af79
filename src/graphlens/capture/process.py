"""The process-wide recorder behind ``backend="graphlens"``, and ``record()`` blocks."""

import fcntl
import os
import threading
from collections.abc import Callable
from typing import Any

from graphlens.capture.recorder import Recorder
from graphlens.errors import UsageError
from graphlens.model import Note, Report
from graphlens.model.presentation import presenter

RECORD_OPTIONS = ("out",)

_lock = threading.Lock()
_recorder: Recorder | None = None
# Add to the process-wide report what takes work, when it is asked for.
_finishers: list[Callable[[Report], Report]] = []
# The folders this process writes to, by the path it was given, each with its lock's descriptor.
_folders: dict[str, tuple[str, int]] = {}


def process_recorder() -> Recorder:
    """The recorder of this process; started at the first call."""
    global _recorder
    with _lock:
        if _recorder is None:
            _recorder = Recorder()
            _recorder.start()
        return _recorder


def stop_process_recorder() -> None:
    """Stops and forgets the process-wide recorder; the next use starts a new one."""
    global _recorder
    with _lock:
        if _recorder is not None:
            _recorder.stop()
            _recorder = None
        _finishers.clear()


def add_finisher(finish: Callable[[Report], Report]) -> None:
    """Has the process-wide report completed by a function, each time it is asked for."""
    with _lock:
        if finish not in _finishers:
            _finishers.append(finish)


def process_report() -> Report:
    """What the process-wide recorder has seen; with a note where it never ran."""
    if _recorder is not None:
        report = _recorder.report()
        for finish in _finishers:
            report = finish(report)
        return report
    hint = "Use torch.compile(..., backend='graphlens'), or `with graphlens.record() as lens:`."
    note = Note(code="nothing-recorded", message="No GraphLens backend was used yet.", hint=hint)
    empty = Recorder().report()
    return Report(environment=empty.environment, notes=(note, *empty.notes))


def process_folder(out: str) -> str:
    """The folder that this process writes to when the user asks for ``out``; makes it.

    It is ``out`` itself, but no two processes of a run may share it, since the last would replace
    what the others wrote. So a rank that torchrun started gets ``rank<RANK>`` below it, and a
    process that finds the folder taken by one that still runs gets ``process-<pid>`` below it.

    Returns:
        An absolute path: the program may change its current folder before the report is written.

    Raises:
        OutputError: The folder cannot be written.
    """
    folder = os.path.abspath(out)
    rank = os.environ.get("RANK", "")
    if rank.isdecimal() and os.environ.get("WORLD_SIZE", "1") != "1":
        folder = os.path.join(folder, f"rank{rank}")
    with _lock:
        if folder not in _folders:
            presenter().check_folder(folder)
            descriptor = _claim(folder)
            if descriptor is None:
                own = os.path.join(folder, f"process-{os.getpid()}")
                presenter().check_folder(own)
                _folders[folder] = (own, -1)
            else:
                _folders[folder] = (folder, descriptor)
        return _folders[folder][0]


def _claim(folder: str) -> int | None:
    """Locks a folder until this process ends; None where another process has.

    The system gives a lock back however a process ends, so none is ever left over from a crash,
    and a lock on the folder itself needs no file.
    """
    descriptor = -1
    try:
        descriptor = os.open(folder, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError:  # a file system without locks: as if there were no other process
        pass
    return descriptor


def _after_fork() -> None:
    """A child holds none of its parent's folders, and no lock that a parent's thread held."""
    global _lock
    _lock = threading.Lock()
    for _, descriptor in _folders.values():
        if descriptor >= 0:
            os.close(descriptor)
    _folders.clear()


os.register_at_fork(after_in_child=_after_fork)


class Recording:
    """A block in which all compilation is recorded, whatever backend the user chose.

    Example:
        ``with graphlens.record() as lens: model(x)``, then ``lens.report()``.
    """

    def __init__(self, *, out: str | os.PathLike[str] | None = None) -> None:
        self.out = process_folder(os.fspath(out)) if out else None
        self._recorder = Recorder()

    def __enter__(self) -> "Recording":
        self._recorder.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._recorder.stop()
        if self.out:
            presenter().save_report(self.report(), self.out + "/")

    def report(self) -> Report:
        """A snapshot; may be taken while the block runs."""
        return self._recorder.report()


def record(**options: Any) -> Recording:
    """Records all compilation in a ``with`` block.

    Args:
        **options: ``out``, a folder to write the report to when the block ends.

    Raises:
        UsageError: There is no such option; what is printed, and what compiles, is the backend's.
        OutputError: The folder cannot be written.
    """
    for name in options:
        if name not in RECORD_OPTIONS:
            raise UsageError(
                f"record() has no option {name!r}. It has: {', '.join(RECORD_OPTIONS)}. "
                "The others are a backend's: graphlens.backend(inner=..., show=..., rows=...)."
            )
    return Recording(**options)
