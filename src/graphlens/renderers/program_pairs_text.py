"""A graph's program for a GPU beside its program for the CPU, as text: kernels, then sources."""

from collections.abc import Iterator, Sequence

from graphlens.analysis.program_pairs import Pair, program_pairs
from graphlens.model import Graph, Kernel, Target, Unavailable
from graphlens.renderers.escape import one_line
from graphlens.renderers.fitting import Grid, draw, shorten, shorten_middle, shrink
from graphlens.renderers.wording import graph_title, wrapped

GPU, CPU, COMMON = "on the GPU", "on the CPU", "operators in common"
_GAP = " │ "
_LEAST = 24
_JITTED = "@triton.jit\n"


def program_pairs_text(
    graph: Graph, target: Target | None, width: int, sources: bool = True, root: str = ""
) -> str:
    """Kernels side by side; empty where the graph was not previewed.

    Args:
        graph: Of a report.
        target: The GPU.
        width: Columns of text.
        sources: Whether the generated source of each pair follows, in two columns.
        root: Files below this folder are named relative to it.
    """
    if graph.cpu_program is None:
        return ""
    title = graph_title(graph, root).heading
    if isinstance(graph.cpu_program, Unavailable):
        return "\n".join(wrapped(f"{title}: {graph.cpu_program.reason}", width)) + "\n"
    pairs = program_pairs(graph)
    if not pairs:
        return ""
    lines = wrapped(f"{title} on {target.title if target else 'a GPU'} and on the CPU", width)
    grid = Grid.of((GPU, CPU, COMMON), [_row(pair) for pair in pairs])
    shrink(grid, COMMON, 20, width, shorten)
    shrink(grid, CPU, _LEAST, width, shorten_middle)
    shrink(grid, GPU, _LEAST, width, shorten_middle)
    shrink(grid, COMMON, 8, width, shorten)
    lines += [shorten(line, width) for line in draw(grid)]
    if sources:
        lines += [line for pair in pairs for line in _sources(pair, width)]
    return "\n".join(lines) + "\n"


def _row(pair: Pair) -> dict[str, str]:
    cells = {
        GPU: pair.gpu.name if pair.gpu else "",
        CPU: ", ".join(dict.fromkeys(kernel.name for kernel in pair.cpu)),
        COMMON: ", ".join(pair.operators),
    }
    return {name: one_line(text) for name, text in cells.items() if text}


def _sources(pair: Pair, width: int) -> Iterator[str]:
    """The generated sources of a pair in two columns; nothing for two library calls."""
    left = _code([pair.gpu] if pair.gpu else [])
    right = _code(pair.cpu)
    if not any(kernel.source for kernel in (pair.gpu, *pair.cpu) if kernel):
        return
    column = (width - len(_GAP)) // 2
    yield ""
    yield "─" * width
    for number in range(max(len(left), len(right))):
        one, other = (side[number] if number < len(side) else "" for side in (left, right))
        yield f"{_cut(one, column):<{column}}{_GAP}{_cut(other, column)}".rstrip()


def _code(kernels: Sequence[Kernel]) -> list[str]:
    seen: dict[str, None] = {}
    for kernel in kernels:
        text = _body(kernel).strip("\n") or kernel.call
        seen[f"{kernel.name} ({kernel.language})\n{text}"] = None
    return [_narrower(line) for line in "\n\n".join(seen).expandtabs(4).splitlines()]


def _body(kernel: Kernel) -> str:
    """The source from the kernel on: what Inductor's tuner is told stands before it."""
    _, decorator, function = kernel.source.partition(_JITTED)
    return function if decorator else kernel.source


def _narrower(line: str) -> str:
    """A line with half its indentation, as C++ is nested deeply."""
    text = line.lstrip(" ")
    return " " * ((len(line) - len(text)) // 2) + text


def _cut(text: str, width: int) -> str:
    text = "".join(sign if sign.isprintable() else "?" for sign in text)
    return text if len(text) <= width else text[: width - 1] + "…"
