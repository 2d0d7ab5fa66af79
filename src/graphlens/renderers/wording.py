"""How numbers, graphs and missing values are put into words, the same in every format."""

import re
import textwrap
from dataclasses import dataclass

from graphlens.analysis.places import is_library, short_path
from graphlens.model import CudaGraphs, Graph, Node, Report, SourceLocation, Symbol, Unavailable
from graphlens.renderers.escape import one_line

_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)\s+(?=[A-Z`'\"(])")
_ORIGIN_PART = re.compile(r"""\[['"]([^'"]*)['"]\]|\.(\w+)|\[(\d+)\]""")
_PATH = re.compile(r"\w+(?:\.\w+)*")
_CONTAINERS = frozenset({"_modules", "_parameters", "_buffers"})


def counted(number: int, noun: str, plural: str = "") -> str:
    """``1 graph``, ``2 graphs``; ``plural`` where an s does not do."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def seconds(value: float) -> str:
    """A duration with three digits at most, in the unit people would use."""
    if value >= 100:
        return f"{value:,.0f} s"
    if value >= 0.9995:
        return f"{value:.3g} s"
    return f"{value * 1000:.3g} ms"


def shown_path(file: str, root: str = "") -> str:
    """A path; a file of an installed package is named from its package on.

    That holds below the root folder too: a project's virtual environment is not its source.
    """
    return one_line(short_path(file, "" if is_library(file) else root))


def shown_place(file: str, line: int, root: str = "") -> str:
    """``file:line``, with the file as `shown_path` gives it."""
    return f"{shown_path(file, root)}:{line}"


def location_text(location: SourceLocation | None, root: str = "") -> str:
    """A location as ``file:line``; empty for None."""
    return shown_place(location.file, location.line, root) if location else ""


def missing(what: str, value: Unavailable) -> str:
    """A missing value with its reason, to stand in a list of facts."""
    return f"{what} unavailable ({one_line(value.reason)})"


def first_sentence(text: str) -> str:
    """The first sentence of a text, on one line."""
    first_line = text.strip().partition("\n")[0]
    return _SENTENCE_END.split(one_line(first_line), maxsplit=1)[0]


def state_name(node: Node) -> str:
    """A parameter or buffer as its module path, such as ``conv1.weight``; else the node's name.

    Dynamo names it ``l_self_modules_conv1_parameters_weight_``, which hides every other argument.
    """
    if _PATH.fullmatch(node.origin):
        return node.origin
    parts = [a or b or c for a, b, c in _ORIGIN_PART.findall(one_line(node.origin))]
    path = ".".join(part for part in parts[1:] if part not in _CONTAINERS)
    return path or one_line(node.name)


def wrapped(text: str, width: int | None, first: str = "", indent: str = "    ") -> list[str]:
    """The text on as many lines as the width asks for; words wider than a line are broken.

    Args:
        text: One line.
        width: Columns; None for no limit.
        first: Put before the first line.
        indent: Put before the others.
    """
    if width is None or len(first) + len(text) <= width:
        return [first + text]
    if width < len(indent) + 16:
        first, indent = first.strip()[: width // 2], ""
    # textwrap takes a no-break space for a letter, as it should; it splits at ASCII space only.
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=indent, break_on_hyphens=False
    )


@dataclass(frozen=True)
class Title:
    """What is said of a graph before its nodes.

    Attributes:
        heading: Which graph it is: compile id, stage, function and place.
        facts: What is known of it, most wanted first.
    """

    heading: str
    facts: tuple[str, ...]

    def __str__(self) -> str:
        return " · ".join((self.heading, *self.facts))

    def lines(self, width: int | None) -> list[str]:
        """On one line; where that is too wide the facts follow on lines of their own."""
        if width is None or len(str(self)) <= width:
            return [str(self)]
        # A fact is only broken where it alone is wider than a line.
        facts = " · ".join(
            fact.replace(" ", "\N{NO-BREAK SPACE}") if len(fact) < width - 6 else fact
            for fact in self.facts
        )
        lines = [*wrapped(self.heading, width), *wrapped(facts, width, "    ", "    ")]
        return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def graph_title(graph: Graph, root: str = "") -> Title:
    """The title of a graph; a file below ``root`` is named relative to it."""
    heading = f"{graph.compile_id} {graph.stage}"
    if graph.function:
        heading += f": {graph.function}"
    if graph.source:
        heading += f" ({location_text(graph.source, root)})"
    return Title(one_line(heading), (*_sizes(graph), *_compilation(graph), *_marks(graph)))


def _sizes(graph: Graph) -> tuple[str, ...]:
    inputs = counted(len(graph.inputs), "input")
    symbolic = sum(node.role == "symbol" for node in graph.inputs)
    if symbolic:
        inputs += f" ({counted(symbolic, 'symbolic size')})"
    return (
        counted(len(graph.operators), "operator"),
        inputs,
        counted(len(graph.parameters), "parameter"),
    )


def _compilation(graph: Graph) -> list[str]:
    backend, time = graph.inner_backend, graph.compile_seconds
    if not isinstance(backend, Unavailable) and not isinstance(time, Unavailable):
        return [f"compiled by {one_line(backend)} in {seconds(time)}"]
    return [
        missing("backend", backend)
        if isinstance(backend, Unavailable)
        else f"backend {one_line(backend)}",
        missing("compile time", time)
        if isinstance(time, Unavailable)
        else f"compiled in {seconds(time)}",
    ]


def _marks(graph: Graph) -> list[str]:
    marks = []
    # While a graph is being compiled it has not run yet: none is nothing to say.
    if not isinstance(graph.hits, Unavailable) and graph.hits:
        marks.append(f"ran {counted(graph.hits, 'time')}")
    marks += graph_marks(graph)
    if cuda_graphs := cuda_graphs_text(graph):
        marks.append(cuda_graphs)
    if graph.read_from == "trace":
        marks.append("read from the trace")
    if graph.ended_by:
        marks.append(f"ended by: {first_sentence(graph.ended_by)}")
    return marks


def graph_marks(graph: Graph) -> list[str]:
    """What is special about a graph, in few words."""
    marks = []
    if graph.cached:
        marks.append("cached")
    if graph.discarded:
        marks.append("discarded, traced again")
    return marks


def cuda_graphs_text(graph: Graph) -> str:
    """Whether the graph is run as a CUDA graph; empty where nobody asked for one."""
    found = graph.cuda_graphs
    if not isinstance(found, CudaGraphs) or not found.asked:
        return ""
    if not found.used:
        return one_line(f"no CUDA graph: {'; '.join(found.skip_reasons)}")
    if found.partitions > 1:
        return f"{found.partitions} CUDA graphs, the program being split"
    return "run as a CUDA graph"


def symbol_text(symbol: Symbol) -> str:
    """A symbolic size with its hint and origin: ``s0 = 10 (L['x'].size()[0])``."""
    hint = symbol.hint
    value = f"has no hint ({hint.reason})" if isinstance(hint, Unavailable) else f"= {hint}"
    origin = f" ({symbol.origin})" if symbol.origin else ""
    return one_line(f"{symbol.name} {value}{origin}")


def kept_graphs(report: Report) -> tuple[list[Graph], list[Graph], list[Graph]]:
    """Graphs as captured, those lowered from them, and discarded ones.

    Where only lowered graphs of a compilation were recorded, the first counts as the captured one.
    """
    captured: list[Graph] = []
    lowered: list[Graph] = []
    seen: set[str] = set()
    kept = [graph for graph in report.graphs if not graph.discarded]
    for graph in kept:
        first = graph.stage == "dynamo" or graph.compile_id not in seen
        (captured if first else lowered).append(graph)
        seen.add(graph.compile_id)
    return captured, lowered, [graph for graph in report.graphs if graph.discarded]


def best_advice(advice: tuple[str, ...]) -> str:
    """The first sentence of the first advice that says what to do; empty where there is none.

    Torch's first hint is often how hard the break is to support, which helps nobody's program.
    """
    helpful = [text for text in advice if not text.startswith("This graph break ")]
    return first_sentence((helpful or [*advice, ""])[0])
