"""What a call changed in plain containers, attributes, closures and globals: it is put back."""

from collections import deque
from types import CellType
from typing import Any

from graphlens.capture.reachable import Container, Reachable
from graphlens.model import Note

# Longer ones are data, which nobody changes in a call.
LONGEST = 100_000
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_EMPTY = object()


class KeptContainers:
    """Contents of lists, dictionaries, sets and deques, and plain values of variables.

    What was in a container is put back by reference; what changed inside of an element that is no
    container itself, such as a file, stays. Variables are put back where a number, a text or None
    took the place of another.

    Args:
        found: What the call can reach.
    """

    def __init__(self, found: Reachable) -> None:
        self._containers: list[tuple[Container, Container]] = [
            (value, value.copy()) for value in found.containers if len(value) <= LONGEST
        ]
        self._variables = [
            (namespace, name, namespace[name])
            for namespace, name in found.variables
            if isinstance(namespace.get(name, _EMPTY), _PLAIN)
        ]
        self._cells = [
            (cell, content) for cell in found.cells if isinstance(content := _content(cell), _PLAIN)
        ]

    def put_back(self) -> tuple[Note, ...]:
        """Restores what differs; there is nothing to tell."""
        for container, before in self._containers:
            if not _is_same(container, before):
                _refill(container, before)
        for namespace, name, value in self._variables:
            now = namespace.get(name, _EMPTY)
            if now is not value and isinstance(now, _PLAIN):
                namespace[name] = value
        for cell, value in self._cells:
            now = _content(cell)
            if now is not value and isinstance(now, _PLAIN):
                cell.cell_contents = value
        return ()


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled
        return _EMPTY


def _is_same(container: Container, before: Container) -> bool:
    """By identity: comparing elements could run the user's code, or a tensor's."""
    if len(container) != len(before):
        return False
    if isinstance(container, dict) and isinstance(before, dict):
        pairs = zip(container.items(), before.items(), strict=False)
        return all(a is c and b is d for (a, b), (c, d) in pairs)
    if isinstance(container, set):
        return {id(element) for element in container} == {id(element) for element in before}
    return all(one is other for one, other in zip(container, before, strict=False))


def _refill(container: Container, before: Container) -> None:
    if isinstance(container, list):
        container[:] = before
    elif isinstance(container, deque):
        container.clear()
        container.extend(before)
    else:
        container.clear()
        container.update(before)
