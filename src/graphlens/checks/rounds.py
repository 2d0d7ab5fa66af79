"""Several runnables timed in turn, round by round, within one budget of seconds.

Each round times every runnable once, or a block of runs where one is short, and each round starts
with another one: what the machine does in the meantime hits all alike, and none always follows
the same. How many warm-up runs it takes is found: until the times stop falling.
"""

import gc
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from graphlens.analysis.intervals import MIN_ROUNDS, difference, measured, ratio
from graphlens.checks.clocks import Clock, WallClock
from graphlens.model import Measured, Unavailable

MAX_ROUNDS = 60
# A block is about so long: far above the clock's resolution and far below a scheduler's seconds.
LONGEST_BLOCK, SHORTEST_BLOCK = 0.02, 0.001
_WARM_UP_SHARE = 0.25
_MOST_WARM_UP = 50
_LAST = 3  # so many runs in a row that are no faster end the warm-up
_BUSY = 1.5  # rounds take so many times what the warm-up, of which the best counts, promises
_FALLS = 0.95  # a time counts as fallen below so much of the smallest one before

Progress = Callable[[str, float], None]
Step = Callable[[Any], Any]


@dataclass
class Runnable:
    """What is timed.

    Attributes:
        name: Unique among those timed together.
        steps: Timed one by one, each given what the one before returned, the first None.
        prepare: Before each run, outside of the clock; None where there is nothing to do, so
            that blocks of runs can be timed as a whole.
        around: Entered around each block, outside of the clock.
        clock: What times it; the wall clock unless it runs on another device.
        extra: Whether it goes first where the budget does not hold all.
    """

    name: str
    steps: tuple[Step, ...]
    prepare: Callable[[], object] | None = None
    around: Callable[[], AbstractContextManager[Any]] = nullcontext
    clock: Clock = field(default_factory=WallClock)
    extra: bool = False


@dataclass
class Series:
    """What was measured of one runnable.

    Attributes:
        name: Of the runnable.
        rounds: Seconds of one run, by step, in each round.
        first: Seconds of its very first run; None where that raised or was interrupted.
        block: Runs that each round is the mean of.
        error: What it raised; it takes part in no further round.
        shortage: Why it has too few rounds, where the budget is the cause; else empty.
        warm: Seconds of the runs before the first round.
        cost: Seconds of one run with its preparation.
    """

    name: str
    rounds: list[tuple[float, ...]] = field(default_factory=list)
    first: float | None = None
    block: int = 1
    error: Exception | None = None
    shortage: str = ""
    warm: list[float] = field(default_factory=list)
    cost: float = math.inf

    def seconds(self, step: int | None = None) -> list[float]:
        """By round; of all steps together for None."""
        return [sum(laps) if step is None else laps[step] for laps in self.rounds]


@dataclass
class TimedRounds:
    """What was measured of all of them.

    Attributes:
        series: In the order given.
        warm_up: Most warm-up runs that one took.
        interrupted: Whether the user stopped it; complete rounds are kept.
    """

    series: list[Series]
    warm_up: int = 0
    interrupted: bool = False

    def seconds(self, index: int, step: int | None = None) -> Measured | Unavailable:
        """Of one run."""
        reason = self._missing(index)
        return Unavailable(reason) if reason else measured(self.series[index].seconds(step))

    def speedup(self, index: int, step: int | None = None) -> Measured | Unavailable:
        """Of one against the first, paired by round."""
        return self._paired(ratio, index, step)

    def saved(self, index: int, step: int | None = None) -> Measured | Unavailable:
        """Seconds that a run of one takes less than a run of the first."""
        return self._paired(difference, index, step)

    def _paired(
        self,
        compare: Callable[[Sequence[float], Sequence[float]], Measured],
        index: int,
        step: int | None,
    ) -> Measured | Unavailable:
        if reason := self._missing(0):
            return Unavailable(f"{self.series[0].name}: {reason}" if index else reason)
        if reason := self._missing(index):
            return Unavailable(reason)
        first, second = (self.series[number].seconds(step) for number in (0, index))
        try:
            return compare(first, second)
        except ValueError as error:
            return Unavailable(str(error))

    def _missing(self, index: int) -> str:
        series = self.series[index]
        if series.error is not None:
            first = str(series.error).strip().partition("\n")[0]
            return f"it raised {type(series.error).__name__}: {first}"
        if len(series.rounds) >= MIN_ROUNDS:
            return ""
        if series.shortage:
            return series.shortage
        stopped = "interrupted" if self.interrupted else "stopped"
        return f"{stopped} after {len(series.rounds)} of at least {MIN_ROUNDS} rounds"


def time_rounds(
    runnables: Sequence[Runnable],
    seconds: float,
    progress: Progress | None = None,
    now: Callable[[], float] = time.perf_counter,
    most: float | None = None,
    whole: Callable[[float], float] = float,
) -> TimedRounds:
    """Times runnables in turn.

    The budget is overrun by no more than the first run of each, which is always made: what one
    run takes cannot be known before.

    Args:
        runnables: The first is the one that the others are compared to.
        seconds: Budget of all of them together, warm-up included.
        progress: Told what is going on and the share of the budget that is used, 0 to 1.
        now: The clock of the budget.
        most: Seconds that it may take where the budget does not hold enough rounds.
        whole: The budget that a user would give so that this has so many seconds; for messages.
    """
    most = seconds if most is None else most
    return _Session(runnables, seconds, progress or _nothing, now, most, whole).result()


class _Session:
    def __init__(
        self,
        runnables: Sequence[Runnable],
        seconds: float,
        progress: Progress,
        now: Callable[[], float],
        most: float,
        whole: Callable[[float], float],
    ) -> None:
        self.runnables = runnables
        self.most, self.whole = most, whole
        self.budget, self.progress, self.now = seconds, progress, now
        self.start = now()
        self.timed = TimedRounds([Series(runnable.name) for runnable in runnables])

    def result(self) -> TimedRounds:
        try:
            self.warm_up()
            self.make_rounds()
        except KeyboardInterrupt:
            self.timed.interrupted = True
        runs = [len(series.warm) for series in self.timed.series]
        self.timed.warm_up = max(runs, default=0)
        return self.timed

    def used(self) -> float:
        return self.now() - self.start

    def working(self) -> list[int]:
        """Those still in it."""
        return [
            index
            for index, series in enumerate(self.timed.series)
            if series.error is None and not series.shortage
        ]

    def tell(self, what: str) -> None:
        self.progress(what, min(self.used() / self.budget, 1.0) if self.budget > 0 else 1.0)

    def block(self, index: int, number: int) -> tuple[float, ...] | None:
        """Mean seconds by step; None where it raised."""
        runnable = self.runnables[index]
        try:
            with runnable.around(), _no_collection():
                return runnable.clock.block(runnable.steps, runnable.prepare, number)
        except Exception as error:  # noqa: BLE001  the user's code; the others go on without it
            self.timed.series[index].error = error
            return None

    def warm_up(self) -> None:
        share = self.budget * _WARM_UP_SHARE / max(len(self.runnables), 1)
        for index, runnable in enumerate(self.runnables):
            series = self.timed.series[index]
            self.tell(f"{runnable.name}: warm-up")
            start = last = self.now()
            while (laps := self.block(index, 1)) is not None:
                series.warm.append(sum(laps))
                series.first = series.warm[0]
                ended = self.now()
                series.cost, last = min(series.cost, ended - last), ended
                out_of_time = ended - start + series.cost > share
                if out_of_time or len(series.warm) >= _MOST_WARM_UP or _settled(series.warm):
                    break

    def make_rounds(self) -> None:
        self.choose_blocks()
        needed = self.round_cost()
        for made in range(MAX_ROUNDS):
            if not self.working() or self.used() + needed > self.budget:
                break
            self.tell("timing")
            start = self.now()
            self.one_round(made)
            needed = self.shortened(self.now() - start, MIN_ROUNDS - made - 1)
        for index in self.working():
            series = self.timed.series[index]
            if len(series.rounds) < MIN_ROUNDS:
                series.shortage = self.too_short(needed)

    def shortened(self, needed: float, to_come: int) -> float:
        """Seconds of the next round, its blocks made shorter where enough rounds would not fit.

        On a busy machine the warm-up, of which the best counts, promises too much.
        """
        left = max(self.budget - self.used(), 0.0)
        if needed * to_come <= left:
            return needed
        working = [self.timed.series[index] for index in self.working()]
        before = sum(series.cost * series.block for series in working)
        for series in working:
            series.block = max(1, int(series.block * left / (needed * to_come)))
        after = sum(series.cost * series.block for series in working)
        return needed * after / before if before > 0 else needed

    def choose_blocks(self) -> None:
        """How many runs make a block, and who must be left out for the budget to be kept."""
        left = self.budget - self.used()
        share = left / (max(len(self.working()), 1) * MAX_ROUNDS)
        block = min(max(share, SHORTEST_BLOCK), LONGEST_BLOCK)
        for index in self.working():
            series = self.timed.series[index]
            series.block = max(1, round(block / max(series.cost, 1e-9)))
        if self.round_cost() * MIN_ROUNDS > left:
            for index in self.working():
                self.timed.series[index].block = 1
            enough = self.used() + self.round_cost() * MIN_ROUNDS * _BUSY
            self.budget = min(max(self.budget, enough), self.most)
            left = self.budget - self.used()
        while (needed := self.round_cost()) * MIN_ROUNDS > left and self.working():
            # The slowest goes first; one by itself could be compared to nothing.
            others = self.working()[1:] if len(self.working()) > 2 else []
            others = [index for index in others if self.runnables[index].extra] or others
            slowest = max(others, key=lambda index: self.timed.series[index].cost, default=None)
            reason = self.too_short(needed)
            for index in self.working() if slowest is None else [slowest]:
                self.timed.series[index].shortage = reason

    def one_round(self, made: int) -> None:
        """One block of each, starting with another one each time; kept when all are done."""
        order = self.working()
        turn = made % len(order)
        turned = order[turn:] + order[:turn]
        laps = {index: self.block(index, self.timed.series[index].block) for index in turned}
        for index, found in laps.items():
            if found is not None:
                self.timed.series[index].rounds.append(found)

    def round_cost(self) -> float:
        """Seconds of one round, as the warm-up says."""
        working = [self.timed.series[index] for index in self.working()]
        return sum(series.cost * series.block for series in working)

    def too_short(self, needed: float) -> str:
        enough = self.used() + needed * MIN_ROUNDS * _BUSY
        return (
            f"the budget of {_shown(self.whole(self.most))} does not hold {MIN_ROUNDS} rounds: "
            f"one round of {len(self.working())} takes about {_shown(needed)}; "
            f"about {_shown(self.whole(enough))} would do"
        )


def _settled(times: Sequence[float]) -> bool:
    """Whether the last few runs were no faster than one before them."""
    if len(times) <= _LAST:
        return False
    return min(times[-_LAST:]) >= _FALLS * min(times[:-_LAST])


def _shown(seconds: float) -> str:
    return f"{seconds:.3g} s"


def _nothing(_what: str, _share: float) -> None: ...


@contextmanager
def _no_collection() -> Iterator[None]:
    """No garbage collection, whose time would go to whoever runs at the moment."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
