"""A kernel of the program that a backend generated for a graph: what it computes and moves."""

from graphlens.model.base import Data
from graphlens.model.gpu_kernel import NOT_COMPILED, NOT_ESTIMATED, Estimate, KernelBinary
from graphlens.model.kernel_timing import KERNELS_NOT_TIMED, Bound
from graphlens.model.source import SourceLocation
from graphlens.model.tensor import Dim
from graphlens.model.timing import Measured
from graphlens.model.unavailable import Unavailable

LANGUAGES = ("C++", "Triton", "extern", "fallback")
NOT_GENERATED = Unavailable("no program was generated")
NOT_MAPPED = Unavailable(
    "torch did not say which operators the kernel computes: "
    "compile with backend='graphlens', or with trace.provenance_tracking_level=1"
)

NO_REFUSALS = Unavailable(
    "Inductor gives reasons only while it generates code, to backend='graphlens'; "
    "a cache that answers has none"
)


class NotFused(Data, frozen=True, kw_only=True):
    """Why a kernel and a neighbour of it are two.

    Attributes:
        kernel: The neighbour: its handle, or its name where it has none.
        reason: In Inductor's words, or that one of them is a call into a library.
    """

    kernel: str
    reason: str


class KernelBuffer(Data, frozen=True, kw_only=True):
    """A tensor that a kernel is given.

    Attributes:
        name: As it stands in the generated program, such as ``buf3`` or ``primals_1``.
        shape: As the kernel sees it: of a view, the view's.
        dtype: Short torch name; empty when not known.
        bytes: Of its elements; an expanded dimension counts once.
        node: Name of the node whose value it holds; empty where Inductor did not say.
    """

    name: str
    shape: tuple[Dim, ...] | Unavailable
    dtype: str = ""
    bytes: int | Unavailable = Unavailable("not known")
    node: str = ""


class Kernel(Data, frozen=True, kw_only=True):
    """One call of a kernel; a kernel that is called twice is there twice.

    Attributes:
        name: Of the function that is called.
        language: ``C++`` or ``Triton`` (generated), ``extern`` (a library called by Inductor, such
            as a matrix product) or ``fallback`` (an operator of torch, called as it is).
        call: The text of the call.
        handle: Torch's own name of the call, ``name:number``; empty where it gave none.
        source: Its generated source; empty for a call into a library.
        nodes: Names of the ATen nodes it computes, in the graph's order.
        origins: Names of the Dynamo nodes that those came from.
        places: Their lines, each once: the innermost outside torch.
        modules: Paths of their modules, each once.
        inputs: What it reads.
        outputs: What it writes.
        read_bytes: Bytes of its inputs, each counted whole and once. Unavailable where it takes
            a part of one: a slice, or rows by index.
        written_bytes: Bytes of its outputs, each counted whole and once.
        flops: Floating-point operations; a multiplication and an addition are two.
        fused: How many operators it computes, views not counted.
        binaries: Of a Triton kernel, compiled for the target of a preview: one for each
            configuration that the GPU would time and choose from.
        estimate: Of its time on the target of a preview.
        seconds: Of this call in a run of the graph, with what calling it takes; measured by
            ``compare``.
        bound: What bounds its speed.
        not_fused: Neighbours that it was not fused with, each once: those that write what it
            reads, read what it writes, or come right before or after it.
    """

    name: str
    language: str
    call: str
    handle: str = ""
    source: str = ""
    nodes: tuple[str, ...] | Unavailable = NOT_MAPPED
    origins: tuple[str, ...] | Unavailable = NOT_MAPPED
    places: tuple[SourceLocation, ...] = ()
    modules: tuple[str, ...] = ()
    inputs: tuple[KernelBuffer, ...] = ()
    outputs: tuple[KernelBuffer, ...] = ()
    read_bytes: int | Unavailable = Unavailable("not known")
    written_bytes: int | Unavailable = Unavailable("not known")
    flops: int | Unavailable = Unavailable("not known")
    fused: int | Unavailable = NOT_MAPPED
    binaries: tuple[KernelBinary, ...] | Unavailable = NOT_COMPILED
    estimate: Estimate | Unavailable = NOT_ESTIMATED
    seconds: Measured | Unavailable = KERNELS_NOT_TIMED
    bound: Bound | Unavailable = KERNELS_NOT_TIMED
    not_fused: tuple[NotFused, ...] | Unavailable = NO_REFUSALS


NOT_TOLD = Unavailable(
    "Inductor says whether it uses CUDA graphs only to backend='graphlens', and not where "
    "AOTAutograd's cache answers"
)


class CudaGraphs(Data, frozen=True, kw_only=True, tag="cuda_graphs", tag_field="kind"):
    """Whether a graph's kernels are launched together, as a CUDA graph.

    Attributes:
        asked: Whether the settings ask for it, as ``mode="reduce-overhead"`` does.
        used: Whether Inductor set it up when it compiled the graph; it may still give it up when
            the graph runs.
        partitions: Parts that are CUDA graphs of their own, where Inductor split the program
            around what cannot be in one; 0 where it did not split it.
        skip_reasons: Why it is not used, in Inductor's words, each once.
    """

    asked: bool
    used: bool
    partitions: int = 0
    skip_reasons: tuple[str, ...] = ()


class CpuProgram(Data, frozen=True, kw_only=True, tag="program", tag_field="kind"):
    """The program that Inductor generates for a graph on the CPU, beside one for a GPU.

    Attributes:
        code: Its text.
        kernels: What it calls, in the order of execution.
        unassigned: As in `Graph`.
    """

    code: str
    kernels: tuple[Kernel, ...] | Unavailable = NOT_GENERATED
    unassigned: tuple[tuple[str, str], ...] | Unavailable = NOT_GENERATED
