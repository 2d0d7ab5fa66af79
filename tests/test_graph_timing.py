import time

import pytest
import torch

from graphlens._torch.memory import Held
from graphlens.checks import graph_timing
from graphlens.checks.candidates import parse_all
from graphlens.checks.graph_runs import GraphRun, _peaks_of_training
from graphlens.checks.graph_timing import time_graph
from graphlens.model import Measured, Unavailable
from watched_graphs import watched_graph


def timed(watched, *names, seconds=1.0, **options):
    return time_graph(watched, watched.calls[0], parse_all(names), seconds, **options)


def slow(watched, seconds):
    """The run's compiled function, made slower."""
    inner = watched.compiled

    def call(*args):
        time.sleep(seconds)
        return inner(*args)

    watched.compiled = call
    return watched


def test_inference():
    watched = slow(
        watched_graph(lambda x: torch.relu(x) + 1, torch.randn(100), backend="aot_eager"), 0.002
    )
    (found,) = timed(watched, "eager", "aot_eager")
    assert (found.graph, found.part, found.verdict) == (watched.graph.id, "inference", "slower")
    assert found.threads == torch.get_num_threads()
    assert found.warm_up >= 4
    eager, compiled = found.candidates
    assert eager.speedup.median == 1
    assert eager.compile_seconds == 0
    assert compiled.seconds.median > 0.002
    assert compiled.speedup.high < 1
    assert compiled.speedup.median == pytest.approx(
        eager.seconds.median / compiled.seconds.median, rel=0.5
    )
    # relu: 400 bytes; + 1: 400 and the scalar's 8 and 4
    assert eager.peak_bytes == 812


@pytest.mark.alone
def test_training_has_three_parts_of_the_same_rounds():
    weight = torch.randn(20, 30, requires_grad=True)

    def function(x):
        return torch.tanh(x @ weight)

    watched = watched_graph(function, torch.randn(10, 20), backend="aot_eager", backward=True)
    found = timed(watched, "eager", "aot_eager")
    assert [timing.part for timing in found] == ["forward", "backward", "training"]
    forward, backward, training = (timing.candidates[1] for timing in found)
    assert isinstance(forward.seconds, Measured), forward
    assert forward.seconds.rounds == training.seconds.rounds
    assert training.seconds.median == pytest.approx(
        forward.seconds.median + backward.seconds.median, rel=0.2
    )
    peaks = [timing.candidates[0].peak_bytes for timing in found]
    product, gradient = 10 * 30 * 4, 20 * 30 * 4
    assert peaks[0] == 2 * product
    # tanh saved its result, which is the output; its gradient, and that of the weight
    assert product + gradient <= peaks[1] <= 3 * product + gradient
    assert peaks[2] == max(peaks[:2])
    assert weight.grad is not None  # by the program's own backward pass
    assert all(one.grad is None for one in watched.calls[0].inputs)


def test_no_backward_pass_is_timed_where_the_program_made_none():
    weight = torch.randn(4, requires_grad=True)
    watched = watched_graph(lambda x: x * weight, torch.randn(4))
    assert [timing.part for timing in timed(watched, "eager", seconds=0.1)] == ["forward"]
    asked = timed(watched, "eager", seconds=0.1, backward=True)
    assert [timing.part for timing in asked] == ["forward", "backward", "training"]


def test_what_the_graph_changes_is_put_back():
    def grows(x):
        x.mul_(2)
        return x + 1

    watched = watched_graph(grows, torch.ones(10), backend="aot_eager")
    seen = []
    watched.compiled = lambda x: (seen.append(float(x[0])), x.mul_(2))[1:]
    (found,) = timed(watched, "eager", "aot_eager", "onednn")
    assert isinstance(found.candidates[1].speedup, Measured)
    assert set(seen) == {1.0}
    assert "changes its inputs" in found.candidates[2].seconds.reason
    assert torch.equal(watched.calls[0].inputs[0], torch.ones(10))


@pytest.mark.parametrize("in_place", [True, False])
def test_ways_to_put_inputs_back(in_place):
    base = torch.arange(6.0)
    x = base[:4] if in_place else torch.ones(1).expand(4).as_strided((4,), (0,))
    call = watched_graph(lambda x: x + 1, x).calls[0]
    run = GraphRun(call, backward=False)
    if in_place:
        run.look(lambda x: (x.mul_(2),))
        assert (run.mutates, run.changed) == (True, [0])
    else:
        run.inputs[0].as_strided((1,), (1,)).mul_(2)
        run.mutates, run.changed = True, [0] if run._can_put_back([0]) else None
        assert run.changed is None
    run.prepare()()
    assert torch.equal(run.inputs[0], call.inputs[0])


def test_random_states_and_modes_stay():
    def noisy(x):
        return torch.nn.functional.dropout(x, 0.5)

    watched = watched_graph(noisy, torch.ones(1000))
    torch.manual_seed(5)
    before = torch.get_rng_state()
    results = []
    watched.gm = lambda x: (results.append((noisy(x), torch.is_grad_enabled())), (x,))[1]
    with torch.no_grad():
        timed(watched, "eager", seconds=0.1)
        assert not torch.is_grad_enabled()
    assert torch.equal(torch.get_rng_state(), before)
    assert all(grad for _, grad in results)


def test_backward_is_outside_of_autocast():
    weight = torch.randn(8, 8, requires_grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        watched = watched_graph(lambda x: x @ weight, torch.randn(8, 8))
    seen = []

    def graph(*inputs):
        (x,) = [one for one in inputs if not one.requires_grad]
        (w,) = [one for one in inputs if one.requires_grad]
        output = x @ w
        output.register_hook(lambda _: seen.append(torch.is_autocast_enabled("cpu")))
        return (output,)

    watched.gm = graph
    found = timed(watched, "eager", seconds=0.1, backward=True)
    assert len(found) == 3
    assert set(seen) == {False}


def test_a_candidate_that_cannot_leaves_the_others():
    watched = watched_graph(lambda x: x + 1, torch.randn(10), backend="aot_eager")
    inner = watched.compiled
    calls = []

    def breaks_later(*args):
        calls.append(1)
        if len(calls) > 3:
            raise RuntimeError("out of luck")
        return inner(*args)

    watched.compiled = breaks_later
    (found,) = timed(watched, "eager", "aot_eager", "onednn")
    assert isinstance(found.candidates[0].seconds, Measured)
    assert found.candidates[1].seconds.reason == "it raised RuntimeError: out of luck"
    assert isinstance(found.candidates[2].speedup, Measured)
    assert found.candidates[2].compile_seconds > 0
    assert found.verdict == "unknown"


def test_eager_that_raises():
    watched = watched_graph(lambda x: x + 1, torch.randn(10), backend="aot_eager")
    watched.gm = lambda *inputs: 1 / 0
    (found,) = timed(watched, "eager", "aot_eager")
    assert "ZeroDivisionError" in found.candidates[0].seconds.reason
    assert isinstance(found.candidates[1].seconds, Measured)
    assert "eager: it raised ZeroDivisionError" in found.candidates[1].speedup.reason


def test_a_budget_that_is_too_short():
    watched = slow(watched_graph(lambda x: x + 1, torch.randn(10), backend="aot_eager"), 0.05)
    start = time.perf_counter()
    (found,) = timed(watched, "eager", "aot_eager", seconds=0.2)
    assert time.perf_counter() - start < 2
    assert "budget of 0.2 s" in found.candidates[1].seconds.reason
    assert found.candidates[1].peak_bytes > 0


def test_an_interrupt_keeps_what_was_measured():
    watched = watched_graph(lambda x: x + 1, torch.randn(10), backend="aot_eager")
    inner, calls = watched.compiled, []

    def interrupted(*args):
        calls.append(1)
        if len(calls) == 2000:
            raise KeyboardInterrupt
        return inner(*args)

    watched.compiled = interrupted
    found = timed(watched, "eager", "aot_eager", seconds=5)
    assert found.interrupted
    assert isinstance(found[0].candidates[1].seconds, (Measured, Unavailable))


def test_an_interrupt_while_compiling(monkeypatch):
    def stop(*args, **keywords):
        raise KeyboardInterrupt

    monkeypatch.setattr(graph_timing, "make", stop)
    found = timed(watched_graph(lambda x: x + 1, torch.randn(10)), "eager", "inductor")
    assert found.interrupted
    assert found[0].candidates[1].seconds.reason == "interrupted before it was compiled"


def test_inputs_that_cannot_be_copied_are_not_run():
    watched = watched_graph(lambda x: x + 1, torch.randn(10))
    call = watched.calls[0]
    call.fresh = lambda: list(call.inputs)
    (found,) = timed(watched, "eager")
    assert "cannot be copied" in found.candidates[0].seconds.reason


def test_progress_names_candidates():
    told = []
    watched = watched_graph(lambda x: x + 1, torch.randn(10))
    timed(watched, "eager", seconds=0.1, progress=lambda what, share: told.append(what))
    assert told[:3] == ["eager: compiling", "eager: warm-up", "timing"]


def test_peaks_of_forward_and_backward_by_hand():
    assert _peaks_of_training(Held(100, 60), Held(30, 10)) == {
        "forward": 100,
        "backward": 90,
        "training": 100,
    }
    missing = Unavailable("no")
    assert _peaks_of_training(Held(100, 60), missing)["training"] is missing


def test_inductor_with_its_own_backward():
    weight = torch.randn(16, requires_grad=True)
    watched = watched_graph(
        lambda x: torch.sin(x * weight), torch.randn(8, 16), backend="inductor", backward=True
    )
    found = timed(watched, "eager", "inductor", "inductor:epilogue_fusion=False", seconds=1.5)
    assert [timing.part for timing in found] == ["forward", "backward", "training"]
    reasons = [one.seconds for one in found[0].candidates if not isinstance(one.seconds, Measured)]
    assert reasons == []
    assert found[0].candidates[2].compile_seconds > 0
