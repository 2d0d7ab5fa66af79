import contextlib
import gc
import random
import time

import pytest
import torch

from graphlens._torch.memory import held_during
from graphlens.analysis.intervals import MIN_ROUNDS, verdict
from graphlens.checks import clocks
from graphlens.checks.clocks import CudaClock, WallClock, clock_for
from graphlens.checks.rounds import MAX_ROUNDS, Runnable, time_rounds
from graphlens.model import Measured, Unavailable


class FakeTime:
    """A clock that only runs where a program says so."""

    def __init__(self):
        self.at = 0.0
        self.log = []

    def now(self):
        return self.at

    def runnable(self, name, *steps, prepare=None, fails_at=None, error=None, first=None):
        made = Runnable(name, tuple(lambda value: None for _ in steps), prepare)
        made.clock = FakeBlocks(self, name, steps, fails_at, error, first)
        return made


class FakeBlocks:
    def __init__(self, time, name, steps, fails_at, error, first):
        self.time, self.name, self.steps = time, name, steps
        self.fails_at, self.error, self.first = fails_at, error, first
        self.calls = 0

    def block(self, steps, prepare, number):
        self.calls += 1
        if self.calls == self.fails_at:
            raise self.error
        laps = self.steps
        if self.first and self.calls <= len(self.first):
            laps = (self.first[self.calls - 1],)
        self.time.log.append(self.name)
        self.time.at += sum(laps) * number
        return tuple(laps)


def test_times_and_speedup():
    fake = FakeTime()
    timed = time_rounds(
        [fake.runnable("eager", 0.02), fake.runnable("inductor", 0.01)], 10, now=fake.now
    )
    assert timed.seconds(0).median == 0.02
    assert timed.speedup(0).median == 1
    assert timed.speedup(1).median == 2
    assert timed.saved(1).median == pytest.approx(0.01)
    assert verdict(timed.speedup(1)) == "faster"
    assert len(timed.series[0].rounds) == MAX_ROUNDS
    assert fake.at <= 10


@pytest.mark.parametrize("budget", [0.5, 1, 3, 10])
@pytest.mark.parametrize("runs", [(0.001, 0.03), (0.07, 0.07), (0.00001, 0.00002, 0.00003)])
def test_the_budget_is_kept(budget, runs):
    fake = FakeTime()
    time_rounds([fake.runnable(str(n), run) for n, run in enumerate(runs)], budget, now=fake.now)
    assert fake.at <= budget + sum(runs)


def test_the_order_is_rotated():
    fake = FakeTime()
    runnables = [fake.runnable(name, 0.05) for name in "abc"]
    timed = time_rounds(runnables, 100, now=fake.now)
    rounds = fake.log[sum(len(series.warm) for series in timed.series) :]
    assert "".join(rounds[:12]) == "abcbcacababc"


def test_warm_up_ends_when_times_stop_falling():
    fake = FakeTime()
    falling = [1.0, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02]
    timed = time_rounds(
        [fake.runnable("a", 0.01, first=falling), fake.runnable("b", 0.01)], 100, now=fake.now
    )
    assert timed.warm_up == len(falling) + 1 + 3
    assert len(timed.series[1].warm) == 4
    assert timed.series[0].first == 1.0
    assert timed.seconds(0).high == 0.01


def test_warm_up_that_never_ends_is_bounded():
    fake = FakeTime()
    falling = [0.9**n for n in range(1000)]
    timed = time_rounds([fake.runnable("a", 0.01, first=falling)], 1e6, now=fake.now)
    assert timed.warm_up == 50


def test_one_run_longer_than_the_budget():
    fake = FakeTime()
    timed = time_rounds(
        [fake.runnable("eager", 40.0), fake.runnable("inductor", 20.0)], 30, now=fake.now
    )
    assert fake.at == 60  # each once, no more
    found = timed.seconds(0)
    assert isinstance(found, Unavailable)
    assert "the budget of 30 s does not hold 6 rounds" in found.reason
    assert "60 s" in found.reason
    assert timed.series[0].first == 40.0
    assert isinstance(timed.speedup(1), Unavailable)


def test_what_is_much_too_slow_is_left_out_so_that_the_others_fit():
    fake = FakeTime()
    runnables = [fake.runnable(name, run) for name, run in (("a", 0.1), ("b", 0.1), ("c", 5.0))]
    timed = time_rounds(runnables, 20, now=fake.now)
    assert isinstance(timed.speedup(1), Measured)
    assert "budget" in timed.seconds(2).reason
    assert fake.at <= 20


def test_blocks_get_shorter_where_the_machine_gets_slower():
    fake = FakeTime()
    runnables = [fake.runnable(name, 0.0001) for name in "ab"]
    for runnable in runnables:
        block = runnable.clock.block

        def slower(steps, prepare, number, block=block):
            laps = block(steps, prepare, number)
            fake.at += 40 * sum(laps) * number if number > 1 else 0
            return laps

        runnable.clock.block = slower
    timed = time_rounds(runnables, 1, now=fake.now)
    assert isinstance(timed.speedup(1), Measured)
    assert timed.series[0].block < 83
    assert fake.at <= 1


def test_more_of_the_budget_is_taken_where_enough_rounds_need_it():
    fake = FakeTime()
    runnables = [fake.runnable("a", 1.0), fake.runnable("b", 0.5)]
    timed = time_rounds(runnables, 10, now=fake.now, most=30)
    assert isinstance(timed.speedup(1), Measured)
    assert 10 < fake.at <= 30


def test_a_short_budget_is_told_as_the_one_that_the_user_gives():
    fake = FakeTime()
    runnables = [fake.runnable("a", 1.0), fake.runnable("b", 1.0)]
    timed = time_rounds(runnables, 5, now=fake.now, whole=lambda seconds: 20 + 2 * seconds)
    # Two warm-up runs, and six rounds of 2 s with half as much again: 2 + 18 s of its own.
    assert "budget of 30 s" in timed.seconds(0).reason
    assert "about 60 s would do" in timed.seconds(0).reason


def test_what_is_extra_goes_first_where_the_budget_is_short():
    fake = FakeTime()
    extra = fake.runnable("kernels", 0.1)
    extra.extra = True
    slow = fake.runnable("inductor", 0.3)
    timed = time_rounds([fake.runnable("eager", 0.1), extra, slow], 3.5, now=fake.now)
    assert [bool(series.shortage) for series in timed.series] == [False, True, False]
    assert len(timed.series[2].rounds) >= MIN_ROUNDS


def test_a_budget_of_nothing():
    fake = FakeTime()
    timed = time_rounds([fake.runnable("a", 0.1)], 0, now=fake.now)
    assert "budget of 0 s" in timed.seconds(0).reason


def test_an_error_takes_one_out_and_leaves_the_others():
    fake = FakeTime()
    broken = fake.runnable("b", 0.01, fails_at=8, error=ValueError("bad\nand more"))
    timed = time_rounds(
        [fake.runnable("a", 0.01), broken, fake.runnable("c", 0.01)], 10, now=fake.now
    )
    assert timed.seconds(1).reason == "it raised ValueError: bad"
    assert isinstance(timed.speedup(2), Measured)


def test_an_error_of_the_first_leaves_the_others_without_a_speedup():
    fake = FakeTime()
    broken = fake.runnable("a", 0.01, fails_at=1, error=ValueError("bad"))
    timed = time_rounds([broken, fake.runnable("b", 0.01)], 10, now=fake.now)
    assert isinstance(timed.seconds(1), Measured)
    assert timed.speedup(1).reason == "a: it raised ValueError: bad"


@pytest.mark.parametrize(("fails_at", "complete"), [(2, 0), (7, 2), (30, 25)])
def test_an_interrupt_keeps_complete_rounds(fails_at, complete):
    fake = FakeTime()
    stopped = fake.runnable("b", 0.1, fails_at=fails_at, error=KeyboardInterrupt())
    timed = time_rounds([fake.runnable("a", 0.1), stopped], 100, now=fake.now)
    assert timed.interrupted
    assert [len(series.rounds) for series in timed.series] == [complete, complete]
    if complete >= MIN_ROUNDS:
        assert isinstance(timed.speedup(1), Measured)
    else:
        assert f"interrupted after {complete} of at least 6" in timed.seconds(1).reason


def test_steps_are_timed_one_by_one():
    fake = FakeTime()
    timed = time_rounds(
        [fake.runnable("a", 0.01, 0.02), fake.runnable("b", 0.01, 0.01)], 100, now=fake.now
    )
    assert timed.seconds(0, 1).median == 0.02
    assert timed.speedup(1, 1).median == 2
    assert timed.seconds(0).median == pytest.approx(0.03)
    assert timed.speedup(1).median == pytest.approx(1.5)


def test_progress_tells_names_and_share():
    fake, told = FakeTime(), []
    time_rounds([fake.runnable("a", 0.1)], 5, lambda *what: told.append(what), fake.now)
    assert told[0] == ("a: warm-up", 0.0)
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    assert shares[-1] <= 1


def test_the_wall_clock_prepares_outside_and_hands_values_on():
    def slow_prepare():
        time.sleep(0.02)

    def second(value):
        assert value == "from the first"
        time.sleep(0.002)

    laps = WallClock().block((lambda _: "from the first", second), slow_prepare, 2)
    assert laps[0] < 0.001
    assert 0.002 <= laps[1] < 0.02


@pytest.mark.alone
def test_short_runs_are_timed_in_blocks_with_this_process_threads():
    seen = set()

    def step(_):
        seen.add(torch.get_num_threads())

    before = torch.get_num_threads()
    (seconds,) = WallClock().block((step,), None, 10_000)
    assert seen == {before}
    assert torch.get_num_threads() == before
    assert 0 < seconds < 1e-4


def test_events_of_a_gpu_are_read_after_the_last_run(monkeypatch):
    device_time, synchronized = [0.0], []

    class Event:
        def record(self):
            self.at = device_time[0]

        def elapsed_time(self, later):
            assert synchronized
            return later.at - self.at

    def step(milliseconds):
        def run(_):
            device_time[0] += milliseconds

        return run

    monkeypatch.setattr(clocks, "_event", Event)
    monkeypatch.setattr(torch.cuda, "device", lambda _: contextlib.nullcontext())
    monkeypatch.setattr(torch.cuda, "synchronize", synchronized.append)
    clock = CudaClock(torch.device("cpu"))
    laps = clock.block((step(2), step(5)), lambda: step(100)(None), 3)
    assert laps == pytest.approx((0.002, 0.005))
    assert isinstance(clock_for(torch.device("cuda", 0)), CudaClock)
    assert isinstance(clock_for(torch.device("cpu")), WallClock)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_gpu_is_faster_at_less():
    large, small = (torch.randn(n, n, device="cuda") for n in (4096, 1024))
    clock = clock_for(large.device)
    runnables = [
        Runnable(name, (lambda _, x=x: x @ x,), clock=clock)
        for name, x in (("large", large), ("small", small))
    ]
    assert verdict(time_rounds(runnables, 2.0).speedup(1)) == "faster"
    held = held_during(lambda: small @ small, small.device)
    assert held.left == 1024 * 1024 * 4
    assert held.peak >= held.left


@pytest.mark.alone
def test_real_time_and_garbage_collection():
    kept = []

    def collected(_):
        kept.append(gc.isenabled())
        time.sleep(0.002)

    timed = time_rounds(
        [Runnable("slow", (collected,)), Runnable("fast", (lambda _: time.sleep(0.001),))], 1.0
    )
    assert verdict(timed.speedup(1)) == "faster"
    assert not any(kept)
    assert gc.isenabled()


def test_noise_of_the_machine_gives_no_verdict():
    made = random.Random(3)
    fake = FakeTime()

    def noisy(name):
        runnable = fake.runnable(name, 0.01)
        block = runnable.clock.block
        runnable.clock.block = lambda *args: (block(*args)[0] * made.uniform(1, 1.5),)
        return runnable

    assert verdict(time_rounds([noisy("a"), noisy("b")], 10, now=fake.now).speedup(1)) == "same"
