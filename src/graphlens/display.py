"""What GraphLens prints while a program runs and when it ends, and the report it leaves."""

import atexit
import os
import sys
import threading
from dataclasses import replace

from graphlens import presenter
from graphlens.capture.options import LensOptions
from graphlens.capture.process import process_recorder, process_report
from graphlens.capture.recorder import CapturedGraph
from graphlens.errors import OutputError
from graphlens.model import Report, Unavailable
from graphlens.renderers.findings import headline

_lock = threading.Lock()
_outputs: dict[str, None] = {}
_summary_wanted = False
_registered = False
_owner = 0
_mute = False


def announce(options: LensOptions) -> None:
    """Notes that a backend with these options is in use, for the end of the process."""
    global _owner, _registered, _summary_wanted
    with _lock:
        if options.show != "none":
            _summary_wanted = True
        if options.out and options.out not in _outputs:
            presenter.check_folder(options.out)
            _outputs[options.out] = None
        if not _registered:
            _registered, _owner = True, os.getpid()
            atexit.register(at_end)


def print_compiled(captured: CapturedGraph, options: LensOptions) -> None:
    """Prints a graph that was just compiled, as ``graphlens.show`` asks."""
    if options.show == "none" or _mute:
        return
    # Its calls are no news yet: it was compiled this moment.
    graph = process_recorder().placed(replace(captured, hits=Unavailable("")))
    if options.show == "summary":
        text = presenter.title(graph)
    elif options.show == "table":
        text = presenter.table(graph, "plain", rows=options.rows) + "\n"
    else:
        text = f"{presenter.title(graph)}\n{graph.code}\n"
    with _lock:
        _print(text)


def at_end() -> None:
    """Writes the reports asked for and prints one line; registered with ``atexit``."""
    with _lock:
        outputs, wanted = list(_outputs), _summary_wanted
    if os.getpid() != _owner or not (outputs or wanted):
        return  # a forked child has its parent's list, but not its parent's end
    report = process_report()
    written = [path for path in (_saved(report, out) for out in outputs) if path]
    if wanted:
        _print(f"graphlens: {headline(report)}. {_next_step(written)}")


def reset_display() -> None:
    """Forgets what was announced; for tests."""
    global _summary_wanted
    with _lock:
        _outputs.clear()
        _summary_wanted = False


def _print(text: str) -> None:
    """Prints; a reader that has gone away (``| head``) ends our printing, not the program."""
    try:
        print(text, flush=True)  # noqa: T201
    except (BrokenPipeError, ValueError):  # ValueError: stdout is closed
        global _mute
        _mute = True


def _saved(report: Report, out: str) -> str:
    """The folder written; empty after an error, which is printed: the process is ending."""
    try:
        return presenter.save_report(report, out.rstrip("/") + "/")
    except OutputError as error:
        print(f"graphlens: {error}", file=sys.stderr)  # noqa: T201
        return ""


def _next_step(written: list[str]) -> str:
    if written:
        return f"Full report: {', '.join(path + 'report.html' for path in written)}"
    return "Full report: options={'graphlens.out': 'folder'} or GRAPHLENS_OUT=folder"
