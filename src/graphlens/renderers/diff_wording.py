"""How differences of graphs are put into words, the same in text and pictures."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from graphlens.analysis.operators import operator_label
from graphlens.model import Change, GraphDiff, Node
from graphlens.renderers.escape import one_line
from graphlens.renderers.wording import counted, state_name

_WORD = re.compile(r"[\w.]+")


def summary_line(diff: GraphDiff) -> str:
    """``3 added, 1 removed, 2 changed, 120 the same``."""
    same = len(diff.same)
    if diff.is_same:
        return f"No difference: {counted(same, 'node')} the same"
    replaced = sum(len(one.before) for one in diff.replaced)
    by = sum(len(one.after) for one in diff.replaced)
    parts = [
        f"{number:,} {what}"
        for number, what in (
            (len(diff.added), "added"),
            (len(diff.removed), "removed"),
            (len(diff.changed), "changed"),
            (replaced, f"replaced by {by:,}"),
        )
        if number
    ]
    return ", ".join([*parts, f"{same:,} the same"])


def change_text(change: Change, arrow: str = "->", names: Mapping[str, str] | None = None) -> str:
    """``shape 8×64 -> 16×64``."""
    before, after = (readable(text, names or {}) for text in (change.before, change.after))
    return f"{change.what} {before} {arrow} {after}"


def labels_text(nodes: Sequence[Node]) -> str:
    """Operators in order; those that stand there several times are counted."""
    found = Counter(one_line(operator_label(node)) for node in nodes)
    return ", ".join(f"{label} ×{n}" if n > 1 else label for label, n in found.items())


def state_names(nodes: Sequence[Node]) -> dict[str, str]:
    """Of parameters and buffers the names that people know: ``fc.weight``."""
    return {node.name: state_name(node) for node in nodes if node.role in ("parameter", "buffer")}


def readable(text: str, names: Mapping[str, str]) -> str:
    """Text of arguments with nodes by names that people know."""
    return one_line(_WORD.sub(lambda found: names.get(found[0], found[0]), text))


def call_text(node: Node, names: Mapping[str, str]) -> str:
    """``F.linear(x, fc.weight)``; of an input what it stands for."""
    if node.op == "placeholder":
        return one_line(f"{node.role or 'input'} {names.get(node.name, node.origin)}").strip()
    arguments = [*node.args, *(f"{key}={text}" for key, text in node.kwargs)]
    if node.op == "output" and len(arguments) == 1:
        return f"output {readable(arguments[0], names)}"
    if node.op == "get_attr":
        return one_line(f"{node.role or 'attribute'} {node.target}")
    inside = ", ".join(readable(text, names) for text in arguments)
    return f"{one_line(operator_label(node))}({inside})"
