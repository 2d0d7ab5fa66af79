"""Source lines of graphs that came out of a cache.

AOTAutograd's cache replays the readable code of the run that filled it: its lines are those of
that run's program, which may be another file, or the same one before an edit (torch 2.13, 2.14).
"""

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from graphlens.model import Node, SourceLocation


def with_present_lines(cached: Iterable[Node], present: Iterable[Node]) -> tuple[Node, ...]:
    """Nodes of a cached graph with lines of the present program.

    Args:
        cached: Nodes of a lowered graph as the cache tells them.
        present: Nodes of the Dynamo graph captured now, from which the same lowered graph follows.

    A cached line that the present graph has too is kept. One whose text stands at exactly one
    line of the present graph becomes that line. Any other is unknown, and is dropped.
    """
    here = {node.source for node in present if node.source}
    places = {(line.file, line.line) for line in here}
    by_code: dict[str, set[tuple[str, int]]] = defaultdict(set)
    by_place = {(line.file, line.line): line for line in sorted(here, key=str)}
    for line in here:
        by_code[line.code].add((line.file, line.line))

    def present_line(old: SourceLocation) -> SourceLocation | None:
        if (old.file, old.line) in places and by_place[old.file, old.line].code == old.code:
            return old
        same_code = by_code.get(old.code, set()) if old.code else set()
        return by_place[next(iter(same_code))] if len(same_code) == 1 else None

    return tuple(
        msgspec.structs.replace(node, source=present_line(node.source)) if node.source else node
        for node in cached
    )
