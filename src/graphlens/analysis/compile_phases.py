"""Where compile time goes, from the beginnings and ends of torch's own phases.

Torch's phases are nested: each moment belongs to the innermost one that is open, so the parts are
disjoint and add up to the whole. A phase that is not known by name belongs to the one around it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from graphlens.model import CompilePhase

PHASES = ("Dynamo", "AOTAutograd", "Inductor", "C++ compiler", "Triton", "rest")
_REST = "rest"

# Names of torch 2.11, 2.13 and 2.14, from `dynamo_timed` in its source. The first that fits counts.
_NAMES: tuple[tuple[str, str], ...] = (
    (r"compile_file|cpp_wrapper_compile|aoti_precompile_header", "C++ compiler"),
    (r"async_compile\.precompile|reload_kernel_in_parent", "Triton"),
    (r"(CachingAutotuner|StaticAutotunerFuture)\..*", "Triton"),
    (r"AOTAutogradCache\.inductor_load", "Inductor"),
    (r"_recursive_(pre_grad|joint_graph|post_grad)_passes|pass\..*", "Inductor"),
    (r"compile_fx\.<locals>\..*|inductor_compile|fx_codegen_and_compile", "Inductor"),
    (r"code_gen|GraphLowering\..*|Scheduler\..*|PyCodeCache\..*|TritonBundler\..*", "Inductor"),
    (r"create_aot_dispatcher_function|aot_.*|AOTAutogradCache\..*", "AOTAutograd"),
    (r"min_cut_rematerialization_partition", "AOTAutograd"),
    (r"entire_frame_compile|compile_attempt_.*|bytecode_.*|build_guards|dynamo", "Dynamo"),
    (r"backend_compile|entire_backward_compile|compiled_autograd", _REST),
)
# Where workers compile, the main thread waits for them; torch does not say for which compiler.
_WAIT = "async_compile.wait"
# By itself in a thread, it is a worker's: the thread that waits for it has the time.
_WORKER = "compile_file"


@dataclass(frozen=True)
class PhaseEvent:
    """The beginning or end of one of torch's phases, or a moment.

    Attributes:
        name: Torch's.
        kind: ``B`` for a beginning, ``E`` for an end, ``i`` for a moment.
        microseconds: On a clock common to all events.
        thread: In which it was.
        compile_id: Such as ``0/1``; empty where torch had none.
    """

    name: str
    kind: str
    microseconds: float
    thread: int = 0
    compile_id: str = ""


@dataclass
class CompileTime:
    """Compile time of a run.

    Attributes:
        phases: Disjoint, in the order of `PHASES`, those that took no time left out.
        seconds: The entire compile time, to which they add up.
        caches: ``cold`` where no cache had anything, ``warm`` where all did, ``mixed``, or empty
            where none was asked.
        hits: Answers that caches had, by the cache's name.
        misses: Answers that they did not have.
    """

    phases: tuple[CompilePhase, ...] = ()
    seconds: float = 0.0
    caches: str = ""
    hits: dict[str, int] = field(default_factory=dict)
    misses: dict[str, int] = field(default_factory=dict)


def compile_time(events: Iterable[PhaseEvent], gpu: bool = False) -> CompileTime:
    """Adds up the phases of all compilations among the events.

    Args:
        events: In the order in which each thread wrote them.
        gpu: Whether workers may have compiled for a GPU; else it was C++.
    """
    threads: dict[int, list[PhaseEvent]] = {}
    hits: dict[str, int] = {}
    misses: dict[str, int] = {}
    for event in events:
        if event.kind in ("B", "E"):
            threads.setdefault(event.thread, []).append(event)
        elif match := re.fullmatch(r"(\w+_cache)_(hit|miss)", event.name):
            counts = hits if match[2] == "hit" else misses
            counts[match[1]] = counts.get(match[1], 0) + 1
    workers = {thread for thread, written in threads.items() if written[0].name == _WORKER}
    wait = "Triton" if gpu and not workers else "C++ compiler"
    totals = dict.fromkeys(PHASES, 0.0)
    for thread, written in threads.items():
        for phase, microseconds in () if thread in workers else _shares(written, wait):
            totals[phase] += microseconds / 1e6
    phases = tuple(CompilePhase(name=name, seconds=took) for name, took in totals.items() if took)
    return CompileTime(phases, sum(totals.values()), _caches(hits, misses), hits, misses)


def phase_of(name: str) -> str:
    """The phase that one of torch's names belongs to; empty for one that is not known."""
    for pattern, phase in _NAMES:
        if re.fullmatch(pattern, name):
            return phase
    return ""


def _shares(events: list[PhaseEvent], wait: str) -> Iterable[tuple[str, float]]:
    """Stretches of one thread's time, each with the phase it belongs to."""
    open_: list[tuple[str, str]] = []  # torch's name, and the phase
    last = 0.0
    for event in events:
        if event.kind == "E" and event.name not in (name for name, _ in open_):
            continue  # it began before anybody listened
        if open_:
            yield open_[-1][1], max(event.microseconds - last, 0.0)
        last = event.microseconds
        if event.kind == "B":
            around = open_[-1][1] if open_ else _REST
            phase = wait if event.name == _WAIT else phase_of(event.name)
            open_.append((event.name, phase or around))
        else:
            # An error may have left phases inside without an end.
            while open_.pop()[0] != event.name:
                pass


def _caches(hits: dict[str, int], misses: dict[str, int]) -> str:
    if not hits and not misses:
        return ""
    if not misses:
        return "warm"
    return "mixed" if hits else "cold"
