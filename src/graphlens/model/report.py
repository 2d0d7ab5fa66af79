"""The report of one run."""

from graphlens.model import presentation
from graphlens.model.accuracy import NOT_COMPARED, Accuracy
from graphlens.model.advice import Trial
from graphlens.model.base import Data
from graphlens.model.breaks import EagerOperators, GraphBreak
from graphlens.model.ceilings import NO_CEILINGS, Ceilings
from graphlens.model.frames import Frame
from graphlens.model.graph import Graph
from graphlens.model.kernel import NOT_GENERATED
from graphlens.model.note import Note
from graphlens.model.recompiles import Recompile
from graphlens.model.target import Target
from graphlens.model.timing import NOT_TIMED, Payback, StepParts, Timing
from graphlens.model.unavailable import Unavailable

SCHEMA = "graphlens-report/1"


class Probe(Data, frozen=True, kw_only=True):
    """Whether something of torch that GraphLens relies on is there.

    Attributes:
        name: What is probed.
        ok: Whether it is as expected.
        detail: What was found.
        seen_on: Torch versions it was seen working on.
    """

    name: str
    ok: bool
    detail: str = ""
    seen_on: str = ""


class Environment(Data, frozen=True, kw_only=True):
    """Where the report was made. Holds no host name and no user name.

    Attributes:
        graphlens: Its version.
        torch: Its version, with the build suffix.
        python: Version of the interpreter.
        platform: Operating system and processor architecture.
        devices: Accelerators torch sees; empty on a CPU-only machine.
        threads: Torch's intra-operator threads.
        probes: What was probed in torch.
    """

    graphlens: str
    torch: str
    python: str
    platform: str = ""
    devices: tuple[str, ...] | Unavailable = ()
    threads: int | Unavailable = Unavailable("not recorded")
    probes: tuple[Probe, ...] = ()


class Report(Data, frozen=True, kw_only=True):
    """All that a run showed, as plain data.

    Attributes:
        environment: Where it was made.
        frames: Every frame Dynamo looked at, in order.
        graphs: Every graph, in the order of capture; lowered graphs follow their Dynamo graph.
        breaks: Every graph break once, in the order met.
        recompiles: Every recompile, in order.
        eager: Operators that ran outside every graph, by the user's line, most first.
        kernels: Names of generated kernels, each once; each graph has its own in full.
        timings: Of the whole program, then of each graph, measured by ``compare``.
        step: Where the time of the whole program goes, measured by ``compare``.
        payback: When compiling has paid, measured by ``compare``.
        ceilings: How fast the machine copies and multiplies, measured by ``compare`` where it
            times kernels.
        accuracy: Of the whole program, measured by ``compare``.
        together: What following all advice that helps gives; None where advice was not tried.
        target: In a preview, the GPU that kernels are generated for; None in other reports.
        notes: What a reader must know.
        schema: Version of this format.
    """

    environment: Environment
    frames: tuple[Frame, ...] = ()
    graphs: tuple[Graph, ...] = ()
    breaks: tuple[GraphBreak, ...] | Unavailable = ()
    recompiles: tuple[Recompile, ...] | Unavailable = ()
    eager: tuple[EagerOperators, ...] | Unavailable = Unavailable(
        "counted by graphlens.explain only, as counting slows the program down"
    )
    kernels: tuple[str, ...] | Unavailable = NOT_GENERATED
    timings: tuple[Timing, ...] | Unavailable = NOT_TIMED
    step: StepParts | Unavailable = NOT_TIMED
    payback: Payback | Unavailable = NOT_TIMED
    ceilings: Ceilings | Unavailable = NO_CEILINGS
    accuracy: Accuracy | Unavailable = NOT_COMPARED
    together: Trial | Unavailable | None = None
    target: Target | None = None
    notes: tuple[Note, ...] = ()
    schema: str = SCHEMA

    def save(self, path: str, **options: object) -> str:
        """Writes the report; returns the path.

        Args:
            path: A file, whose suffix names the format, or a folder for all of it.
            **options: Of the format.

        Raises:
            OutputError: The suffix is unknown or the file cannot be written.
        """
        return presentation.presenter().save_report(self, path, **options)

    def kernel(self, name: str, **options: object) -> str:
        """One kernel as text: the user's lines, the nodes each led to, and the generated source.

        Args:
            name: Of the kernel, for all its calls, or a call's handle, ``name:3``.
            **options: ``width``, columns of text.

        Raises:
            UsageError: No kernel is called that.
        """
        return presentation.presenter().kernel(self, name, **options)

    def __str__(self) -> str:
        return presentation.presenter().summary(self)

    def _repr_html_(self) -> str:
        return presentation.presenter().notebook(self)
