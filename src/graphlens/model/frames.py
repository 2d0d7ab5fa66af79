"""Functions that Dynamo looked at, with what became of them."""

from graphlens.model.base import Data
from graphlens.model.breaks import GraphBreak
from graphlens.model.source import SourceLocation
from graphlens.model.unavailable import Unavailable


class Compilation(Data, frozen=True, kw_only=True):
    """One attempt of torch to compile a frame for one set of guards.

    Attributes:
        compile_id: Torch's frame and compile number, such as ``0/1``.
        outcome: ``compiled``; ``no_graph`` (nothing to compile); ``skipped`` (given up, runs
            eager); ``recompile_limit`` (nothing more is compiled, calls that fit no earlier
            compilation run eager); ``failed`` (an error went to the user); ``unfinished`` (no
            closing record).
        reason: Why it was skipped or failed; empty otherwise.
        seconds: Wall time of the whole compilation, inner backend included.
        backend_seconds: Wall time in the backend, AOTAutograd included.
        operators: Operators in its graphs.
        guards: Number of guards.
        restarts: Why the tracing was started again.
        called_from: The user's line that called the frame.
        failed_at: The user's line that torch was at when it failed.
        dynamic: What was compiled for any value and not one, such as ``argument `x`, dimension 0``.
    """

    compile_id: str
    outcome: str
    reason: str = ""
    seconds: float | Unavailable = Unavailable("not recorded")
    backend_seconds: float | Unavailable = Unavailable("not recorded")
    operators: int | Unavailable = Unavailable("not recorded")
    guards: int | Unavailable = Unavailable("not recorded")
    restarts: tuple[str, ...] = ()
    called_from: SourceLocation | None = None
    failed_at: SourceLocation | None = None
    dynamic: tuple[str, ...] = ()


class Frame(Data, frozen=True, kw_only=True):
    """One function that Dynamo looked at, with all its compilations.

    Attributes:
        id: Torch's frame number.
        function: Its name; what follows a break is ``torch_dynamo_resume_in_..._at_LINE``.
        file: File of its first line.
        line: Its first line; for a resumed function the line it resumes at.
        outcome: The worst of its compilations': ``failed``, ``skipped``, ``recompile_limit``,
            ``compiled``, ``no_graph``, ``unfinished``.
        reason: Of that outcome; empty when it compiled.
        compilations: In order.
        limit: How many compilations torch keeps of it before calls that fit none run eager.
        error: The graph break that was an error, as under ``fullgraph=True``; None where it failed
            otherwise or did not.
    """

    id: str
    function: str
    file: str
    line: int
    outcome: str
    reason: str = ""
    compilations: tuple[Compilation, ...] = ()
    limit: int | Unavailable = Unavailable("only a live run knows torch's settings")
    error: GraphBreak | None = None
