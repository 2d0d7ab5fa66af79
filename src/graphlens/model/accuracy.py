"""Whether compiled code is right: every tensor against a reference."""

from graphlens.model.base import Data
from graphlens.model.source import ModuleCall, SourceLocation
from graphlens.model.tensor import Dim
from graphlens.model.unavailable import Unavailable

VERDICTS = ("agrees", "rounding", "precision_changed", "diverges", "not_comparable")
"""From best to worst known; the last is no verdict on the numbers."""

NOT_COMPARED = Unavailable("not compared; use graphlens.compare")


class Errors(Data, frozen=True, kw_only=True, tag="errors", tag_field="kind"):
    """How far a tensor is from another one that stands for the truth.

    All numbers are finite: a difference that is not is the largest float.

    Positions where both are NaN, or the same infinity, count as equal; those where only one is are
    counted apart, and left out of the rest.

    Attributes:
        max_abs: Largest absolute difference.
        max_rel: Largest difference relative to the truth; the absolute one where the truth is 0.
        max_ulp: Largest difference in units in the last place of the tensor's own dtype at the
            truth; None for a dtype without fractions.
        cosine: Cosine of the angle between both as vectors; None where one has no direction.
        unequal: Elements that are not equal.
        nan: Positions that are NaN in only one.
        inf: Positions that are infinite in only one, or with the other sign.
    """

    max_abs: float
    max_rel: float
    max_ulp: float | None = None
    cosine: float | None = None
    unequal: int = 0
    nan: int = 0
    inf: int = 0


class TensorAccuracy(Data, frozen=True, kw_only=True):
    """One tensor that a graph or program gave.

    Attributes:
        name: In the user's terms, such as ``output 0``, ``gradient of argument `x``` or
            ``argument `x` after the call``.
        role: ``output``, ``gradient``, ``input`` (after the call) or ``buffer``.
        shape: Its sizes.
        dtype: Short torch name.
        call: Which call of the run, from 0.
        verdict: As in `Accuracy`.
        reason: Why; empty where it agrees.
        eager: Eager against the reference.
        compiled: Compiled against the reference.
        between: Compiled against eager.
    """

    name: str
    role: str
    shape: tuple[Dim, ...]
    dtype: str
    call: int = 0
    verdict: str
    reason: str = ""
    eager: Errors | Unavailable
    compiled: Errors | Unavailable
    between: Errors | Unavailable


class SwitchTried(Data, frozen=True, kw_only=True):
    """A setting with which the comparison was made again.

    Attributes:
        code: What to write.
        verdict: With it.
        helps: Whether compiled then agrees with eager.
    """

    code: str
    verdict: str
    helps: bool


class Divergence(Data, frozen=True, kw_only=True, tag="divergence", tag_field="kind"):
    """The first operator whose compiled value, or gradient, leaves the reference.

    Attributes:
        node: Its node's name in the Dynamo graph.
        operator: What it calls.
        part: ``forward`` or ``backward``.
        source: The line that made it.
        called_from: The user's own line, where ``source`` is in a library.
        modules: Module calls around it, outermost first.
        kernels: Kernels that compute it.
        culprit: What of the compiler is at fault: ``lowering``, ``decomposition``, ``fusion``,
            ``pass`` (Inductor's), ``custom_pass`` (the user's own), ``vectorization``,
            ``precision``, ``capture`` (before any backend) or ``autograd`` (AOTAutograd); empty
            when not known.
        because: How that was found.
        tried: Settings with which the graph up to here was compiled again.
        errors: Of its value there, against the reference.
    """

    node: str
    operator: str
    part: str = "forward"
    source: SourceLocation | None = None
    called_from: SourceLocation | None = None
    modules: tuple[ModuleCall, ...] = ()
    kernels: tuple[str, ...] | Unavailable = Unavailable("kernels were not recorded")
    culprit: str = ""
    because: str = ""
    tried: tuple[SwitchTried, ...] = ()
    errors: Errors | Unavailable = Unavailable("not measured")

    @property
    def file(self) -> str | None:
        """File of the line that made it."""
        return self.source.file if self.source else None

    @property
    def line(self) -> int | None:
        """Number of the line that made it."""
        return self.source.line if self.source else None


class CastChange(Data, frozen=True, kw_only=True):
    """A rounding that the program asked for and compiled code does otherwise.

    Attributes:
        node: In the Dynamo graph.
        operator: A cast, or an operator whose low-precision result is kept unrounded.
        change: ``removed`` or ``added``.
        dtype: That is rounded to.
        source: Its line.
        called_from: The user's own line, where ``source`` is in a library.
    """

    node: str
    operator: str
    change: str
    dtype: str
    source: SourceLocation | None = None
    called_from: SourceLocation | None = None


class Accuracy(Data, frozen=True, kw_only=True, tag="accuracy", tag_field="kind"):
    """Whether compiled code gives what eager gives, of a graph or of the whole program.

    Attributes:
        verdict: ``agrees`` (equal, or within what ``torch.testing.assert_close`` takes for the
            dtype); ``rounding`` (compiled is no further from the reference than eager is, within
            a factor); ``precision_changed`` (beyond rounding, because a cast the program asked for
            was removed or added); ``diverges``; ``not_comparable``.
        reason: Why; empty where it agrees.
        reference: What stands for the truth: ``float64``, or another, with why.
        tensors: Each compared tensor, the worst first.
        calls: How many calls were compared.
        first_divergence: Where it begins; None where nothing diverges.
        casts: Where the precision was changed.
        tried: Settings with which it was compared again.
        origin: Where a disagreement begins: ``capture`` (also without a backend), ``autograd``
            (also with aot_eager), ``inductor`` or another backend's name; empty where all agrees.
        remarks: What differs besides values, such as strides or types of outputs.
    """

    verdict: str
    reason: str = ""
    reference: str = "float64"
    tensors: tuple[TensorAccuracy, ...] = ()
    calls: int = 1
    first_divergence: Divergence | Unavailable | None = None
    casts: tuple[CastChange, ...] = ()
    tried: tuple[SwitchTried, ...] = ()
    origin: str = ""
    remarks: tuple[str, ...] = ()
