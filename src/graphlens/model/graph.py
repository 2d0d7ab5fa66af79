"""A captured graph: nodes with their tensors, user lines and modules."""

from graphlens.model import presentation
from graphlens.model.accuracy import NOT_COMPARED, Accuracy
from graphlens.model.base import Data
from graphlens.model.kernel import NOT_GENERATED, NOT_TOLD, CpuProgram, CudaGraphs, Kernel
from graphlens.model.kernel_timing import KERNELS_NOT_TIMED, KernelTimes
from graphlens.model.source import ModuleCall, SourceLocation
from graphlens.model.tensor import Dim, TensorSpec
from graphlens.model.timing import NOT_TIMED, Timing
from graphlens.model.unavailable import Unavailable

OPERATOR_OPCODES = frozenset({"call_function", "call_method", "call_module"})


class Node(Data, frozen=True, kw_only=True):
    """One FX node.

    Attributes:
        name: Unique in its graph.
        op: FX opcode: placeholder, get_attr, call_function, call_method, call_module, output.
        target: Qualified name, such as ``torch.ops.aten.addmm.default``; for a method its name.
        args: Positional arguments as text; a node is named by its name.
        kwargs: Keyword arguments as (name, text) pairs.
        inputs: Names of the nodes this one uses, in order of first use.
        tensors: Every tensor in the node's value, in order; more than one for a tuple.
        value: The value as text where it is no tensor, such as ``Sym(s0)``; else empty.
        role: What a placeholder is: input, parameter, buffer, symbol, tangent, saved, constant.
            Empty for other nodes.
        origin: What a placeholder stands for in the user's terms, such as ``L['x']``.
        source: The line that made the node: the innermost one outside torch, in the user's
            program or in the library that holds the model.
        called_from: The user's own line, where ``source`` is in an installed library.
        modules: Module calls around the node, outermost first; empty when none is known.
        came_from: Of a lowered node, names of the Dynamo nodes it came from; empty when not known.
    """

    name: str
    op: str
    target: str
    args: tuple[str, ...] = ()
    kwargs: tuple[tuple[str, str], ...] = ()
    inputs: tuple[str, ...] = ()
    tensors: tuple[TensorSpec, ...] = ()
    value: str = ""
    role: str = ""
    origin: str = ""
    source: SourceLocation | None = None
    called_from: SourceLocation | None = None
    modules: tuple[ModuleCall, ...] = ()
    came_from: tuple[str, ...] = ()

    @property
    def is_operator(self) -> bool:
        """Whether the node computes: calls of functions, methods and modules."""
        return self.op in OPERATOR_OPCODES

    @property
    def tensor(self) -> TensorSpec | None:
        """The value's only tensor; None for tuples and for values that are no tensor."""
        return self.tensors[0] if len(self.tensors) == 1 else None

    @property
    def shape(self) -> tuple[Dim, ...] | None:
        """Shape of the only tensor, or None."""
        return self.tensor.shape if self.tensor else None

    @property
    def dtype(self) -> str | None:
        """Dtype of the only tensor, or None."""
        return self.tensor.dtype if self.tensor else None

    @property
    def stride(self) -> tuple[Dim, ...] | None:
        """Stride of the only tensor in elements, or None."""
        return self.tensor.stride if self.tensor else None

    @property
    def device(self) -> str | None:
        """Device of the only tensor, or None."""
        return self.tensor.device if self.tensor else None

    @property
    def file(self) -> str | None:
        """File of the user's line, or None where torch recorded none."""
        return self.source.file if self.source else None

    @property
    def line(self) -> int | None:
        """Number of the user's line, or None where torch recorded none."""
        return self.source.line if self.source else None

    @property
    def module(self) -> str:
        """Path of the innermost module; empty at the root and where none is known."""
        return self.modules[-1].path if self.modules else ""


class Symbol(Data, frozen=True, kw_only=True):
    """A symbolic size of a graph.

    Attributes:
        name: As it stands in shapes, such as ``s0``.
        hint: The value it had when the graph was captured.
        origin: Where the size comes from, such as ``L['x'].size()[0]``.
    """

    name: str
    hint: int | float | Unavailable
    origin: str = ""


class Subgraph(Data, frozen=True, kw_only=True):
    """The body of a higher-order operator, such as a branch of ``torch.cond``.

    Attributes:
        name: The attribute by which the parent graph refers to it.
        nodes: The body's nodes.
    """

    name: str
    nodes: tuple[Node, ...]


class Failure(Data, frozen=True, kw_only=True):
    """What stopped a backend.

    Attributes:
        error: Type and first line of the exception.
        operator: The operator it was busy with; empty when not known.
        source: The user's line of that operator.
    """

    error: str
    operator: str = ""
    source: SourceLocation | None = None


class Graph(Data, frozen=True, kw_only=True):
    """One graph, as captured by Dynamo or lowered by AOTAutograd.

    Attributes:
        id: Unique in its report and the same in every run: compile id and stage.
        compile_id: Torch's frame and compile number, such as ``0/1``.
        stage: ``dynamo``, ``forward``, ``backward`` or ``inference``.
        function: Name of the compiled function.
        source: First line of the compiled function.
        nodes: In topological order.
        symbols: Symbolic sizes in the graph.
        subgraphs: Bodies of higher-order operators, nested ones flattened.
        read_from: ``graph_module`` (the live object) or ``trace`` (torch's structured log).
        cached: Whether AOTAutograd or Inductor answered from a cache.
        discarded: Whether torch threw the graph away and traced the function again.
        inner_backend: What compiled the graph.
        compile_seconds: Wall time in the inner backend for this graph.
        hits: How often the program ran the graph.
        failure: What stopped the inner backend; None where it returned.
        ended_by: Torch's short reason for ending the graph where it did; empty at a return.
        code: The graph as readable Python.
        output_code: The program the inner backend generated.
        kernels: What the generated program calls, in the order of execution.
        unassigned: Operators that no kernel computes, each with the reason: ``view``, or why it
            needs none.
        cpu_program: In a preview, what is generated for the CPU instead; None in other reports.
        cuda_graphs: Whether Inductor runs it as a CUDA graph.
        timing: Measured by ``compare``.
        kernel_times: Of all kernels together, measured by ``compare``; each kernel has its own.
        accuracy: Measured by ``compare``.
    """

    id: str
    compile_id: str
    stage: str
    nodes: tuple[Node, ...]
    function: str = ""
    source: SourceLocation | None = None
    symbols: tuple[Symbol, ...] = ()
    subgraphs: tuple[Subgraph, ...] = ()
    read_from: str = "graph_module"
    cached: bool = False
    discarded: bool = False
    inner_backend: str | Unavailable = Unavailable("the trace does not name the backend")
    compile_seconds: float | Unavailable = Unavailable("not recorded")
    hits: int | Unavailable = Unavailable("not counted")
    failure: Failure | None = None
    ended_by: str = ""
    code: str | Unavailable = Unavailable("not recorded")
    output_code: str | Unavailable = Unavailable("the inner backend generated no program")
    kernels: tuple[Kernel, ...] | Unavailable = NOT_GENERATED
    unassigned: tuple[tuple[str, str], ...] | Unavailable = NOT_GENERATED
    cpu_program: CpuProgram | Unavailable | None = None
    cuda_graphs: CudaGraphs | Unavailable = NOT_TOLD
    timing: Timing | Unavailable = NOT_TIMED
    kernel_times: KernelTimes | Unavailable = KERNELS_NOT_TIMED
    accuracy: Accuracy | Unavailable = NOT_COMPARED

    @property
    def operators(self) -> tuple[Node, ...]:
        """Nodes that compute: function, method and module calls."""
        return tuple(node for node in self.nodes if node.is_operator)

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Placeholders that are no parameters or buffers."""
        return tuple(n for n in self.nodes if n.op == "placeholder" and not _is_state(n))

    @property
    def parameters(self) -> tuple[Node, ...]:
        """Placeholders and attributes that are parameters or buffers."""
        return tuple(n for n in self.nodes if _is_state(n))

    def table(self, format: str = "plain", **options: object) -> str:
        """The graph as a table.

        Args:
            format: ``plain``, ``github``, ``html`` or ``tsv``.
            **options: ``rows`` (most rows shown, None for all) and ``width`` (columns of text).
        """
        return presentation.presenter().table(self, format, **options)

    def save(self, path: str, **options: object) -> str:
        """Writes the graph in the format that the path's suffix names; returns the path.

        Raises:
            OutputError: The suffix is unknown or the file cannot be written.
        """
        return presentation.presenter().save_graph(self, path, **options)

    def __str__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        return self.table("html")


def _is_state(node: Node) -> bool:
    return node.role in ("parameter", "buffer")
