"""The process-wide recorder behind ``backend="graphlens"``, and ``record()`` blocks."""

import threading
from typing import Any

from graphlens.capture.options import LensOptions, lens_options
from graphlens.capture.recorder import Recorder
from graphlens.model import Note, Report
from graphlens.model.presentation import presenter

_lock = threading.Lock()
_recorder: Recorder | None = None


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


def process_report() -> Report:
    """What the process-wide recorder has seen; with a note where it never ran."""
    if _recorder is not None:
        return _recorder.report()
    hint = "Use torch.compile(..., backend='graphlens'), or `with graphlens.record() as lens:`."
    note = Note(code="nothing-recorded", message="No GraphLens backend was used yet.", hint=hint)
    empty = Recorder().report()
    return Report(environment=empty.environment, notes=(note, *empty.notes))


class Recording:
    """A block in which all compilation is recorded, whatever backend the user chose.

    Example:
        ``with graphlens.record() as lens: model(x)``, then ``lens.report()``.
    """

    def __init__(self, **options: Any) -> None:
        self.options: LensOptions = lens_options(options)
        if self.options.out:
            presenter().check_folder(self.options.out)
        self._recorder = Recorder()

    def __enter__(self) -> "Recording":
        self._recorder.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._recorder.stop()
        if self.options.out:
            presenter().save_report(self.report(), self.options.out.rstrip("/") + "/")

    def report(self) -> Report:
        """A snapshot; may be taken while the block runs."""
        return self._recorder.report()


def record(**options: Any) -> Recording:
    """Records all compilation in a ``with`` block.

    Args:
        **options: ``out``, a folder to write the report to when the block ends.

    Raises:
        UsageError: An option is unknown or has a wrong value.
    """
    return Recording(**options)
