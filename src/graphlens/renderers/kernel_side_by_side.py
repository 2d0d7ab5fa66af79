"""One kernel as text: its facts, the user's lines with the nodes they led to, and its source.

Each line of the user has a letter, which stands beside the statements that store its nodes.
"""

import textwrap
from collections.abc import Iterator, Sequence

from graphlens.analysis.kernel_lookup import KernelCall
from graphlens.analysis.side_by_side import SideBySide, by_origin, side_by_side
from graphlens.model import Kernel, Node, Unavailable
from graphlens.renderers.escape import one_line, printable
from graphlens.renderers.fitting import shorten
from graphlens.renderers.kernel_words import (
    kernel_facts,
    kernel_heading,
    line_text,
    margin,
    node_text,
    not_fused_text,
    tensors_given,
    unknown_facts,
)
from graphlens.renderers.wording import counted, cuda_graphs_text, wrapped

_WIDEST_MARGIN = 28
_LEAST_CODE = 40
_MARGIN = "← loads, → stores what its memory holds in the end"
_LIBRARY = "a call into a library: there is no generated source"


def kernel_text(calls: Sequence[KernelCall], width: int | None = None, root: str = "") -> str:
    """The calls of a kernel, one after another; the same source is shown once.

    Args:
        calls: Of one name.
        width: Columns of text; None for no limit.
        root: Files below this folder are named relative to it.
    """
    lines = []
    if len(calls) > 1:
        lines += wrapped(_several(calls), width)
    shown_before: dict[str, str] = {}
    for call in calls:
        lines += [""] if lines else []
        shown = side_by_side(call)
        kernel = call.kernel
        lines += _call(shown, width, root)
        before = shown_before.get(kernel.source, "")
        if kernel.source and before:
            lines.append(f"  source: the same as of {before}")
        else:
            lines += _source(shown, width)
            shown_before[kernel.source] = kernel.handle or f"call {call.number + 1}"
    return "\n".join(lines) + "\n"


def _several(calls: Sequence[KernelCall]) -> str:
    handles = [call.kernel.handle for call in calls if call.kernel.handle]
    pick = f"; {handles[0]} picks one" if handles else ""
    return f"{calls[0].kernel.name} is called {counted(len(calls), 'time')}{pick}"


def _call(shown: SideBySide, width: int | None, root: str) -> Iterator[str]:
    call = shown.call
    yield from wrapped(kernel_heading(call, root), width)
    yield from wrapped(kernel_facts(call.kernel), width, "  ", "    ")
    for text in unknown_facts(call.kernel):
        yield from wrapped(text, width, "  ", "    ")
    yield from wrapped(one_line(call.kernel.call), width, "  call    ", "          ")
    for what, text in tensors_given(shown):
        yield from wrapped(text, width, f"  {what:7} ", "          ")
    yield from _apart(call.kernel, width)
    cuda = cuda_graphs_text(call.graph)
    if cuda:
        yield from wrapped(cuda, width, "  ", "    ")
    yield from _lines(shown, width, root)


def _apart(kernel: Kernel, width: int | None) -> Iterator[str]:
    if isinstance(kernel.not_fused, Unavailable):
        text = f"with its neighbours is not known ({one_line(kernel.not_fused.reason)})"
        yield from wrapped(f"why it was not fused {text}", width, "  ", "    ")
    elif kernel.not_fused:
        yield "  not fused with"
        for apart in kernel.not_fused:
            yield from wrapped(not_fused_text(apart), width, "    ", "      ")


def _lines(shown: SideBySide, width: int | None, root: str) -> Iterator[str]:
    if isinstance(shown.call.kernel.nodes, Unavailable):
        why = one_line(shown.call.kernel.nodes.reason)
        yield from wrapped(f"lines and nodes not known: {why}", width, "  ", "    ")
        return
    yield "  lines and what each led to"
    for line in shown.lines:
        yield from wrapped(line_text(line, root), width, "  ", "      ")
        for origins, nodes in by_origin(line.nodes):
            yield from _nodes(origins, nodes, width)


def _nodes(origins: Sequence[str], nodes: Sequence[Node], width: int | None) -> Iterator[str]:
    indent = "      "
    if origins:
        yield from wrapped(one_line(f"{', '.join(origins)} ⟶"), width, indent, indent)
        indent += "  "
    for node in nodes:
        yield from wrapped(node_text(node), width, indent, indent + "    ")


def _source(shown: SideBySide, width: int | None) -> Iterator[str]:
    if not shown.source:
        yield f"  {_LIBRARY}"
        return
    yield f"  generated {shown.call.kernel.language}; {_MARGIN}"
    beside = [shorten(text, _WIDEST_MARGIN) for text in margin(shown)]
    room = max(map(len, beside))
    code = textwrap.dedent("\n".join(printable(line.text) for line in shown.source)).split("\n")
    for mark, text in zip(beside, code, strict=True):
        yield from _source_line(f"  {mark:{room}} │ ", text, width)


def _source_line(first: str, text: str, width: int | None) -> Iterator[str]:
    """A line of source; one that is too wide goes on below, deeper than it began."""
    if width is None or len(first) + len(text) <= width:
        yield (first + text).rstrip()
        return
    deeper = " " * min(len(text) - len(text.lstrip()) + 4, 40)
    pieces = textwrap.wrap(
        text, max(width - len(first), _LEAST_CODE), subsequent_indent=deeper,
        break_on_hyphens=False, drop_whitespace=False,
    )  # fmt: skip
    rest = " " * (len(first) - 2) + "│ "
    for number, piece in enumerate(pieces):
        yield ((rest if number else first) + piece).rstrip()
