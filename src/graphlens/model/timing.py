"""How long things take: measurements side by side, with their spread."""

from graphlens.model.base import Data
from graphlens.model.source import SourceLocation
from graphlens.model.unavailable import Unavailable

NOT_TIMED = Unavailable("not timed; use graphlens.compare")


class Measured(Data, frozen=True, kw_only=True, tag="measured", tag_field="kind"):
    """A number that was measured several times.

    Attributes:
        median: Of all rounds.
        low: Lower end of the 95 % confidence interval of the median.
        high: Upper end.
        rounds: How often it was measured.
    """

    median: float
    low: float
    high: float
    rounds: int


class CandidateTiming(Data, frozen=True, kw_only=True):
    """One way to run a graph or program, timed in rounds with the others.

    Attributes:
        candidate: Its name, such as ``eager``, ``inductor`` or ``inductor:max-autotune``.
        seconds: Of one run.
        speedup: Seconds of the first candidate to its own, paired by round: above 1 is faster.
        compile_seconds: To make it ready, where that was timed.
        peak_bytes: Most memory it held at once beyond its inputs.
    """

    candidate: str
    seconds: Measured | Unavailable
    speedup: Measured | Unavailable
    compile_seconds: float | Unavailable = Unavailable("not timed")
    peak_bytes: int | Unavailable = Unavailable("not measured")


class Timing(Data, frozen=True, kw_only=True, tag="timing", tag_field="kind"):
    """A graph or the whole program, run by each candidate.

    Attributes:
        graph: The graph's id; empty for the whole program.
        part: ``inference``, ``forward``, ``backward``, ``training`` (both) or ``whole``.
        candidates: The one that the others are measured against first.
        verdict: ``faster`` or ``slower`` where the interval of the speed-up of the second candidate
            leaves 1 out, else ``same``; ``unknown`` where it was not timed.
        threads: Torch's intra-operator threads.
        warm_up: Runs before the first that counted.
    """

    graph: str
    part: str
    candidates: tuple[CandidateTiming, ...]
    verdict: str = "unknown"
    threads: int | Unavailable = Unavailable("not recorded")
    warm_up: int = 0


class StepPart(Data, frozen=True, kw_only=True):
    """Where a share of a step's time goes.

    Attributes:
        what: ``graph``, ``guards`` (guards and cache look-up), ``between`` (Python between the
            graphs), ``eager`` (frames that ran eager) or ``rest``.
        seconds: Of one step.
        graph: The graph's id, for ``graph``.
        place: The line that it is charged to: the break that causes it, or the eager function.
        runs: How often a step goes through it.
    """

    what: str
    seconds: Measured
    graph: str = ""
    place: SourceLocation | None = None
    runs: int = 1


class StepParts(Data, frozen=True, kw_only=True, tag="step", tag_field="kind"):
    """One run of the real program, compiled, by where its time goes.

    Seconds of the step and of its parts are means over the middle half of the rounds, by their
    length, so that the parts add up; their intervals are those of the median.

    Attributes:
        seconds: Of the whole step, measured from outside.
        parts: That add up to it, the longest first.
        covered: Sum of the parts divided by the whole.
        eager: The whole program in eager, in the same rounds.
        speedup: Eager to compiled, end to end.
        disagreement: Why isolated timings and the whole say different things; empty where they do
            not.
    """

    seconds: Measured
    parts: tuple[StepPart, ...]
    covered: float
    eager: Measured | Unavailable
    speedup: Measured | Unavailable
    disagreement: str = ""


class CompilePhase(Data, frozen=True, kw_only=True):
    """One phase of compilation.

    Attributes:
        name: ``Dynamo``, ``AOTAutograd``, ``Inductor``, ``C++ compiler``, ``Triton`` or ``rest``.
        seconds: Wall time of this phase alone.
    """

    name: str
    seconds: float


class Payback(Data, frozen=True, kw_only=True, tag="payback", tag_field="kind"):
    """After how many calls compiling has paid.

    Attributes:
        cold: Phases with empty caches.
        warm: Phases with code that was built before.
        saved: Seconds a call; negative where compiled is slower.
        calls: After so many calls a cold compilation has paid, with the interval that the one of
            ``saved`` gives; unavailable where it never does.
        calls_warm: The same for a warm one.
        never: Whether it never pays, as the interval of ``saved`` says.
        epoch_steps: Calls that make an epoch; 0 where that was not told.
    """

    cold: tuple[CompilePhase, ...] | Unavailable
    warm: tuple[CompilePhase, ...] | Unavailable
    saved: Measured | Unavailable
    calls: Measured | Unavailable
    calls_warm: Measured | Unavailable
    never: bool = False
    epoch_steps: int = 0
