"""Graphs as Mermaid flowcharts, which README pages and wikis draw by themselves."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from graphlens.analysis.diagram_data import Box, Diagram
from graphlens.analysis.diagram_tree import ROOT, Member, members
from graphlens.analysis.text_width import visible
from graphlens.renderers.svg_style import BADGES, light_colours
from graphlens.renderers.viewing import Flow

_INDENT = "  "
# What means something in a quoted label, which may hold HTML and Markdown; the code of a
# character always stands for itself.
_SPECIAL = re.compile(r"""["#&<>`*~$\\|{}\[\]]|(?<!\w)_|_(?!\w)|^\s*[-+]|^\d+\.""")


@dataclass(frozen=True, kw_only=True)
class MermaidRenderer(Flow):
    """Writes Mermaid."""

    def text(self, parts: Sequence[Diagram]) -> str:
        """Diagrams in the format."""
        lines = [f"flowchart {self.direction}"]
        if not parts:
            lines.append(f"{_INDENT}nothing[{_quoted(['No graph was captured'])}]")
        for number, part in enumerate(parts):
            prefix = f"g{number}" if len(parts) > 1 else ""
            inside = [*_contents(part, members(part), ROOT, prefix), *_lines(part, prefix)]
            if len(parts) > 1:
                inside = _subgraph(f"{prefix}_", part.title, inside)
            lines += [_INDENT + line for line in inside]
        lines += [_INDENT + line for line in _classes(parts)]
        return "\n".join(lines) + "\n"


def _contents(
    part: Diagram, contents: dict[int, list[Member]], container: int, prefix: str
) -> Iterator[str]:
    for is_box, number in contents[container]:
        if is_box:
            box = part.boxes[number]
            yield f"{prefix}b{number}[{_quoted(_texts(box))}]:::{box.family}"
        else:
            inside = list(_contents(part, contents, number, prefix))
            yield from _subgraph(f"{prefix}m{number}", part.clusters[number].label, inside)


def _subgraph(name: str, title: str, inside: Sequence[str]) -> list[str]:
    head = f"subgraph {name}[{_quoted([title])}]"
    return [head, *(_INDENT + line for line in inside), "end"]


def _lines(part: Diagram, prefix: str) -> Iterator[str]:
    for edge in part.edges:
        yield f"{prefix}b{edge.source} --> {prefix}b{edge.target}"
    for loop in part.loops:
        if loop.source != loop.target:
            yield f"{prefix}b{loop.source} -. next .-> {prefix}b{loop.target}"


def _classes(parts: Sequence[Diagram]) -> Iterator[str]:
    shown = {box.family for part in parts for box in part.boxes}
    for family in BADGES:
        if family in shown:
            fill, frame = light_colours(family)
            yield f"classDef {family} fill:{fill},stroke:{frame},color:#1b2430"


def _texts(box: Box) -> list[str]:
    lines = [f"{BADGES[box.family][1]} {box.label}", box.caption]
    return [line for line in (*lines, *(row.text for row in box.rows), box.value) if line]


def _quoted(lines: Sequence[str]) -> str:
    return '"' + "<br>".join(_SPECIAL.sub(_codes, visible(line)) for line in lines) + '"'


def _codes(found: re.Match[str]) -> str:
    return "".join(f"#{ord(sign)};" for sign in found[0])
