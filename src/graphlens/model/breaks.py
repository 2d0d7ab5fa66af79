"""Where graphs end early, and what runs outside of them."""

from graphlens.model.advice import Fix
from graphlens.model.base import Data
from graphlens.model.source import Excerpt, SourceLocation
from graphlens.model.unavailable import Unavailable


class GraphBreak(Data, frozen=True, kw_only=True):
    """One place where a graph ends early: a user's line with one reason.

    Attributes:
        file: File of the user's line.
        line: Number of the user's line.
        code: Text of the user's line.
        function: Function the line is in.
        kind: Torch's own reason (its gb_type).
        cause: GraphLens's class of cause, such as ``data_dependent_branch``.
        gb_code: Torch's number for the kind, such as ``GB0170``; empty when it gave none.
        consequence: ``split`` (the rest runs in a further graph) or ``frame_skipped`` (the whole
            function runs eager).
        trigger: The call or value that caused it, as the user wrote it; empty when not known.
        caret: Where in ``code`` that stands, as first column and the one after the last, from 0.
        library_function: The library's function that the line calls and the break is in, such as
            ``scipy.linalg.det``; empty where the break is in none.
        because: What happened, in the user's terms.
        rest_eager: Whether a ``split`` is the last of its function: torch compiles up to a line
            before it, where it could go on, and runs all that follows eager.
        skipped_because: Why the whole function, or the rest of it, runs eager and not only this
            line; it names a library's function where that is the one. Empty when none does, or
            torch did not say.
        inside: What made it so, such as the ``with`` or the loop that the line stands in.
        operator: The call that takes a function and traces it whole, such as
            ``torch.utils.checkpoint.checkpoint``, where the line is in such a function: all of the
            call then runs eager.
        explanation: Torch's explanation.
        hints: Torch's hints.
        advice: What to do, best first.
        fixes: Advice that can be done as it stands, best first.
        records: How many records of torch's log it stands for.
        hits: How often the program ran through it.
        points_to: The place torch names, often in a library.
        stack: The user's call chain down to it, outermost first.
        excerpt: Lines of the user's file around it.
        compile_ids: Compilations it was met in.
        context: Torch's context for developers.
        link: Torch's page on the kind; empty when it gave none.
    """

    file: str
    line: int
    kind: str
    code: str = ""
    function: str = ""
    cause: str = "other"
    gb_code: str = ""
    consequence: str = "split"
    rest_eager: bool = False
    trigger: str = ""
    caret: tuple[int, int] | None = None
    library_function: str = ""
    because: str = ""
    skipped_because: str = ""
    inside: SourceLocation | None = None
    operator: str = ""
    explanation: str = ""
    hints: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()
    records: int = 1
    hits: int | Unavailable = Unavailable("not counted")
    points_to: SourceLocation | None = None
    stack: tuple[SourceLocation, ...] = ()
    excerpt: Excerpt | Unavailable = Unavailable("the source file was not at hand")
    compile_ids: tuple[str, ...] = ()
    context: str = ""
    link: str = ""


class EagerOperators(Data, frozen=True, kw_only=True):
    """Operators that a user's line ran outside every graph.

    Attributes:
        place: The user's line.
        count: How many ran, over all calls.
        operators: Their names, each once, in the order first met.
        inside: The library function the line called that ran them; empty for the user's own code.
    """

    place: SourceLocation
    count: int
    operators: tuple[str, ...]
    inside: str = ""
