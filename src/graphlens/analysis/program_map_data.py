"""What is on the map of a program: functions, the parts that breaks cut them into, their graphs."""

from graphlens.model import (
    Compilation,
    Frame,
    Graph,
    GraphBreak,
    Measured,
    Recompile,
    Unavailable,
)
from graphlens.model.base import Data


class Saved(Data, frozen=True, kw_only=True):
    """What a forward graph keeps for its backward.

    Attributes:
        values: Tensors, without parameters and buffers, which are there anyway.
        bytes: Of all of them; unavailable where a size or dtype is not known.
    """

    values: int
    bytes: int | Unavailable


class Cost(Data, frozen=True, kw_only=True):
    """Measured time of something on the map; what is None was not measured.

    Attributes:
        call: Seconds of one run, by itself.
        step: Seconds of a step of the whole program, over all of its runs.
        share: Of the step, from 0 to 1.
        speedup: Eager to compiled, by itself.
    """

    call: float | None = None
    step: float | None = None
    share: float = 0.0
    speedup: Measured | None = None


class Variant(Data, frozen=True, kw_only=True):
    """One compilation of a function or of the rest of one.

    Attributes:
        compile_id: Torch's; empty where torch compiled nothing.
        outcome: As of a `Compilation`.
        reason: Of that outcome.
        compilation: What torch says of it; None where only graphs are known.
        recompile: Why it was made, where it was not the first.
        graphs: As captured; more than one where an optimiser split it.
        backward: Backward graphs lowered from them.
        saved: What is kept for the backward; None where there is none.
        cost: Of the graphs.
        backward_cost: Of the backward graphs.
    """

    compile_id: str
    outcome: str
    reason: str = ""
    compilation: Compilation | None = None
    recompile: Recompile | None = None
    graphs: tuple[Graph, ...] = ()
    backward: tuple[Graph, ...] = ()
    saved: Saved | None = None
    cost: Cost = Cost()
    backward_cost: Cost = Cost()


class MapBreak(Data, frozen=True, kw_only=True):
    """A break as one function meets it.

    Attributes:
        found: The break.
        line: Of this function: that of the break or of the call it is in; 0 where not known.
        code: Text of that line; empty where not known.
        own: Whether the break is at this function's own line and not in something it calls.
        only: Compile ids that met it; empty where all variants of the part did.
        step: Seconds of a step that are charged to it; None where not timed.
        share: Of the step, from 0 to 1.
    """

    found: GraphBreak
    line: int
    own: bool
    code: str = ""
    only: tuple[str, ...] = ()
    step: float | None = None
    share: float = 0.0


class Part(Data, frozen=True, kw_only=True):
    """A function up to its first break, or what follows a break up to the next.

    Attributes:
        line: Where it resumes; 0 for the beginning of the function.
        variants: Side by side: each call runs one of them.
        breaks: That end it, by line.
    """

    line: int
    variants: tuple[Variant, ...]
    breaks: tuple[MapBreak, ...] = ()


class MapFunction(Data, frozen=True, kw_only=True):
    """One function of the program, with the rests of it that follow breaks.

    Attributes:
        name: The user's.
        file: Of its first line.
        line: Its first line; of a rest whose beginning is not known the line it resumes at.
        outcome: The worst of its parts'.
        frames: As torch sees them.
        parts: In the order they run.
        library: Whether it is in an installed package.
        operators: That it ran outside of graphs; None where not counted.
    """

    name: str
    file: str
    line: int
    outcome: str
    frames: tuple[Frame, ...]
    parts: tuple[Part, ...]
    library: bool = False
    operators: int | None = None

    @property
    def graphs(self) -> int:
        """Captured graphs of all parts."""
        return sum(len(one.graphs) for part in self.parts for one in part.variants)

    @property
    def breaks(self) -> int:
        """Different breaks at its own lines."""
        return len({id(one.found) for part in self.parts for one in part.breaks if one.own})

    @property
    def recompiles(self) -> int:
        """Compilations that were made because no earlier one fitted."""
        return sum(one.recompile is not None for part in self.parts for one in part.variants)


class ProgramMap(Data, frozen=True, kw_only=True):
    """All functions of a program.

    Attributes:
        functions: To be shown in full, in the order torch met them.
        others: To be named only: nothing to compile, or beyond what a page holds.
        step: Seconds of a step of the compiled program; None where not timed.
        elsewhere: Seconds of a step outside of all functions, as (what, seconds).
    """

    functions: tuple[MapFunction, ...]
    others: tuple[MapFunction, ...] = ()
    step: float | None = None
    elsewhere: tuple[tuple[str, float], ...] = ()


def gives_up(one: MapBreak) -> bool:
    """Whether all of the function runs eager for a break in it."""
    return one.own and one.found.consequence == "frame_skipped"
