import json
import os
import subprocess
import sys
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphlens._torch.probes import run_probes
from graphlens.analysis.compile_phases import PHASES, PhaseEvent, compile_time, phase_of
from graphlens.analysis.payback import calls_to_pay, epochs, payback
from graphlens.model import CompilePhase, Measured, Unavailable

COLD = (CompilePhase(name="Dynamo", seconds=2.0), CompilePhase(name="Inductor", seconds=8.0))
WARM = (CompilePhase(name="Dynamo", seconds=2.0), CompilePhase(name="Inductor", seconds=0.5))


def saved(low, median, high):
    return Measured(median=median, low=low, high=high, rounds=20)


def test_calls_by_hand():
    found = payback(COLD, WARM, saved(0.02, 0.03, 0.04))
    # 10 s: 333.3 calls of 30 ms, 500 of 20 ms, 250 of 40 ms; warm 2.5 s
    assert found.calls == Measured(median=334, low=250, high=500, rounds=20)
    assert found.calls_warm == Measured(median=84, low=63, high=125, rounds=20)
    assert not found.never
    assert found.cold == COLD


def test_never():
    found = payback(COLD, WARM, saved(-0.02, -0.01, -0.001))
    assert found.never
    assert found.calls.reason.startswith("never")
    assert payback(COLD, WARM, saved(-0.02, -0.01, 0.0)).never


def test_unclear():
    found = payback(COLD, WARM, saved(-0.01, 0.01, 0.02))
    assert not found.never
    assert "after 500 calls at the earliest, and perhaps never" in found.calls.reason


def test_what_is_missing_says_why():
    missing = Unavailable("not timed")
    assert payback(COLD, WARM, missing).calls is missing
    assert not payback(COLD, WARM, missing).never
    found = payback(missing, WARM, saved(0.02, 0.03, 0.04))
    assert found.calls is missing
    assert isinstance(found.calls_warm, Measured)


def test_epochs():
    calls = calls_to_pay(COLD, saved(0.02, 0.02, 0.02))
    assert epochs(calls, 100).median == 5
    with pytest.raises(ValueError, match="0 steps"):
        epochs(calls, 0)


@given(st.floats(0, 1e4), st.lists(st.floats(1e-6, 10), min_size=3, max_size=3))
def test_the_interval_encloses_the_calls(seconds, ends):
    found = calls_to_pay([CompilePhase(name="rest", seconds=seconds)], saved(*sorted(ends)))
    assert found.low <= found.median <= found.high


def events(text, thread=0):
    """Such as ``B:a:0 E:a:5``: beginnings and ends with seconds."""
    made = []
    for one in text.split():
        kind, name, at = one.split("|")
        made.append(PhaseEvent(name, kind, float(at) * 1e6, thread))
    return made


def seconds(found):
    return {phase.name: phase.seconds for phase in found.phases}


def test_phases_are_disjoint_by_hand():
    found = compile_time(
        events(
            "B|entire_frame_compile|0 B|backend_compile|2 B|create_aot_dispatcher_function|3 "
            "B|inductor_compile|5 B|compile_file|6 E|compile_file|10 E|inductor_compile|11 "
            "E|create_aot_dispatcher_function|12 E|backend_compile|12.5 B|build_guards|12.5 "
            "E|build_guards|13 E|entire_frame_compile|14 B|entire_backward_compile|20 "
            "B|compile_fx.<locals>.bw_compiler|21 E|compile_fx.<locals>.bw_compiler|23 "
            "E|entire_backward_compile|24"
        )
    )
    assert seconds(found) == {
        "Dynamo": 3.5,
        "AOTAutograd": 3.0,
        "Inductor": 4.0,
        "C++ compiler": 4.0,
        "rest": 3.5,
    }
    assert found.seconds == 18


def test_a_phase_without_a_known_name_belongs_to_the_one_around_it():
    found = compile_time(
        events("B|inductor_compile|0 B|new|1 E|new|3 E|inductor_compile|4 B|x|5 E|x|7")
    )
    assert seconds(found) == {"Inductor": 4.0, "rest": 2.0}


def test_ends_that_are_missing_or_alone():
    found = compile_time(
        events("E|dynamo|1 B|entire_frame_compile|2 B|bytecode_tracing|3 E|entire_frame_compile|5")
    )
    assert seconds(found) == {"Dynamo": 3.0}
    assert compile_time([]).seconds == 0


@pytest.mark.alone
def test_workers_time_is_that_of_the_thread_that_waits():
    main = events(
        "B|inductor_compile|0 B|async_compile.wait|1 E|async_compile.wait|5 E|inductor_compile|6"
    )
    workers = [one for n in (1, 2) for one in events("B|compile_file|1 E|compile_file|5", n)]
    assert seconds(compile_time(main + workers, gpu=True)) == {"Inductor": 2.0, "C++ compiler": 4.0}
    assert seconds(compile_time(main)) == {"Inductor": 2.0, "C++ compiler": 4.0}
    assert seconds(compile_time(main, gpu=True)) == {"Inductor": 2.0, "Triton": 4.0}


@pytest.mark.parametrize(
    ("names", "caches"),
    [
        ("", ""),
        ("autograd_cache_miss fx_graph_cache_miss", "cold"),
        ("autograd_cache_hit", "warm"),
        ("autograd_cache_miss fx_graph_cache_hit", "mixed"),
    ],
)
def test_caches(names, caches):
    assert compile_time(PhaseEvent(name, "i", 0) for name in names.split()).caches == caches


@given(
    st.lists(
        st.tuples(
            st.booleans(), st.sampled_from(["inductor_compile", "x", "dynamo"]), st.floats(0, 9)
        )
    )
)
def test_parts_add_up_whatever_comes(steps):
    at, written = 0.0, []
    for begins, name, later in steps:
        at += later
        written.append(PhaseEvent(name, "B" if begins else "E", at))
    found = compile_time(written)
    assert sum(phase.seconds for phase in found.phases) == pytest.approx(found.seconds)
    assert found.seconds <= at / 1e6 + 1e-9


def test_phase_names():
    assert phase_of("GraphLowering.run") == "Inductor"
    assert phase_of("compile_attempt_3") == "Dynamo"
    assert phase_of("no such phase") == ""


PROGRAM = """
    import json, time, torch, torch._dynamo
    from graphlens._torch.compile_phases import compile_phases
    with compile_phases() as phases:
        start = time.perf_counter()
        x = torch.ones(8, requires_grad=True)
        torch.compile(lambda x: torch.sin(x) + 1)(x).sum().backward()
        wall = time.perf_counter() - start
    found = phases.total()
    print(json.dumps([{one.name: one.seconds for one in found.phases}, found.seconds, wall,
                      found.caches, phases.unread]))
"""


@pytest.mark.slow
def test_a_real_compilation_cold_and_warm(tmp_path):
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(tmp_path)}
    runs = [
        json.loads(
            subprocess.run(
                [sys.executable, "-c", textwrap.dedent(PROGRAM)],
                env=environment,
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
        for _ in range(2)
    ]
    (cold, cold_seconds, cold_wall, *_), (warm, warm_seconds, warm_wall, *_) = runs
    assert [run[3:] for run in runs] == [["cold", 0], ["warm", 0]]
    for phases, total, wall in ((cold, cold_seconds, cold_wall), (warm, warm_seconds, warm_wall)):
        assert sum(phases.values()) == pytest.approx(total)
        assert 0.2 * wall < total <= wall  # the rest is imports and the run
        assert set(phases) <= set(PHASES)
    assert {"Dynamo", "AOTAutograd", "Inductor", "C++ compiler"} <= set(cold)
    assert cold["C++ compiler"] > warm.get("C++ compiler", 0)


def test_probes_hold():
    wanted = {
        "memory events of the profiler",
        "oneDNN Graph fusion of TorchScript",
        "phases of compiling in the trace",
    }
    found = {one.name: one for one in run_probes() if one.name in wanted}
    assert set(found) == wanted
    assert all(one.ok for one in found.values()), found
