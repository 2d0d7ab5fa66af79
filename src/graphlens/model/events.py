"""What happened while torch compiled: frames, graph breaks, recompiles, notes."""

from graphlens.model.base import Data
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
    """

    id: str
    function: str
    file: str
    line: int
    outcome: str
    reason: str = ""
    compilations: tuple[Compilation, ...] = ()


class GraphBreak(Data, frozen=True, kw_only=True):
    """One place where a graph ends early: a user's line with one reason.

    Attributes:
        file: File of the user's line.
        line: Number of the user's line.
        code: Text of the user's line.
        function: Function the line is in.
        kind: Torch's own reason (its gb_type).
        cause: GraphLens's class of cause.
        gb_code: Torch's number for the kind, such as ``GB0170``; empty when it gave none.
        consequence: ``split`` (the rest runs in a further graph) or ``frame_skipped`` (the whole
            function runs eager).
        explanation: Torch's explanation.
        advice: What to do.
        records: How many records of torch's log it stands for.
        hits: How often the program ran through it.
        points_to: The place torch names, often in a library.
        stack: The user's call chain down to it, outermost first.
        compile_ids: Compilations it was met in.
        context: Torch's context for developers.
        link: Torch's page on the kind; empty when it gave none.
    """

    file: str
    line: int
    kind: str
    code: str = ""
    function: str = ""
    cause: str | Unavailable = Unavailable("causes are not classified yet")
    gb_code: str = ""
    consequence: str = "split"
    explanation: str = ""
    advice: tuple[str, ...] = ()
    records: int = 1
    hits: int | Unavailable = Unavailable("not counted")
    points_to: SourceLocation | None = None
    stack: tuple[SourceLocation, ...] = ()
    compile_ids: tuple[str, ...] = ()
    context: str = ""
    link: str = ""


class GuardFailure(Data, frozen=True, kw_only=True):
    """One guard that failed and so caused a recompile.

    Attributes:
        failed: Compile id of the cache entry whose guard failed.
        guard: Torch's text.
        source: The guarded source in torch's terms, such as ``L['x']``; empty when not named.
        expected: What the cache entry was specialised on; empty when not stated.
        actual: What came; empty when not stated.
        user_line: The line torch quotes for the guard.
    """

    failed: str
    guard: str
    source: str = ""
    expected: str = ""
    actual: str = ""
    user_line: SourceLocation | None = None


class Recompile(Data, frozen=True, kw_only=True):
    """A frame compiled again because no cache entry's guards held.

    Attributes:
        frame: Torch's frame number.
        function: Name of the function.
        file: File of its first line.
        line: Its first line.
        compile_id: The compilation this caused.
        causes: One for each cache entry that was tried.
        advice: What to do.
    """

    frame: str
    function: str
    file: str
    line: int
    compile_id: str
    causes: tuple[GuardFailure, ...] = ()
    advice: tuple[str, ...] = ()


class Note(Data, frozen=True, kw_only=True):
    """Something a reader of the report must know.

    Attributes:
        code: Short stable name, such as ``probe-failed``.
        message: What was found.
        hint: The next step; empty when there is none.
    """

    code: str
    message: str
    hint: str = ""
