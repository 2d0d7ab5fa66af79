"""What GraphLens prints while a program runs and when it ends, and the report it leaves."""

import atexit
import os
import sys
import threading
from dataclasses import replace
from multiprocessing import parent_process, util

import graphlens.presenter as presenter
from graphlens.capture.options import LensOptions
from graphlens.capture.process import process_folder, process_recorder, process_report
from graphlens.capture.recorder import CapturedGraph
from graphlens.errors import OutputError
from graphlens.model import Report, Unavailable
from graphlens.renderers.headline import headline

_lock = threading.Lock()
# Where reports go at the end, by the folder that was asked for.
_outputs: dict[str, str] = {}
_summary_wanted = False
_registered = False
_mute = False


def announce(options: LensOptions) -> None:
    """Notes that a backend with these options is in use, for the end of the process."""
    global _registered, _summary_wanted
    with _lock:
        if options.show != "none":
            _summary_wanted = True
        if options.out and options.out not in _outputs:
            _outputs[options.out] = process_folder(options.out)
        if not _registered:
            _registered = True
            _register()


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
    """Writes the reports asked for and prints one line, when the process ends."""
    with _lock:
        outputs, wanted = list(dict.fromkeys(_outputs.values())), _summary_wanted
    if not (outputs or wanted):
        return
    report = process_report()
    written = [path for path in (_saved(report, out) for out in outputs) if path]
    if wanted:
        _print(f"graphlens: {headline(report)}. {_next_step(written)}")


def reset_display() -> None:
    """Forgets what was announced and that nobody listens; for tests, and for a forked child."""
    global _mute, _summary_wanted
    with _lock:
        _outputs.clear()
        _mute = _summary_wanted = False


def _register() -> None:
    """Asks to be called at the end of this process."""
    atexit.unregister(at_end)  # a forked child has its parent's list
    if parent_process() is None:
        atexit.register(at_end)
    else:  # a child of multiprocessing ends without atexit where it was forked
        util.Finalize(None, at_end, exitpriority=0)


def _after_fork() -> None:
    """A child has its parent's memory, but not its parent's end: what it announces is its own."""
    global _lock, _registered
    _lock = threading.Lock()
    _registered = False
    reset_display()


os.register_at_fork(after_in_child=_after_fork)


def _print(text: str) -> None:
    """Prints; a reader that has gone away (``| head``) ends our printing, not the program."""
    global _mute
    try:
        try:
            print(text, flush=True)  # noqa: T201
        except UnicodeEncodeError:  # such as PYTHONIOENCODING=ascii: our signs become "?"
            encoding = getattr(sys.stdout, "encoding", None) or "ascii"
            print(text.encode(encoding, "replace").decode(encoding), flush=True)  # noqa: T201
    except BrokenPipeError:
        _mute = True
    except ValueError:
        if not getattr(sys.stdout, "closed", False):
            raise
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
