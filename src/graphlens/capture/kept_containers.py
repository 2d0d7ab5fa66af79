"""Lists, dictionaries and sets that are attributes of modules: their contents are put back."""

from collections.abc import Mapping
from typing import Any

import torch

from graphlens.model import Note

_Container = list[Any] | dict[Any, Any] | set[Any]


class KeptContainers:
    """What a module holds in plain containers, such as a history that grows with each call.

    Only what is directly in them is put back, by reference; not what changed inside of an element.

    Args:
        modules: By path.
    """

    def __init__(self, modules: Mapping[str, torch.nn.Module]) -> None:
        self.before: list[tuple[_Container, _Container]] = [
            (value, value.copy())
            for module in modules.values()
            for name, value in vars(module).items()
            if type(value) in (list, dict, set) and not name.startswith("_")
        ]

    def put_back(self) -> tuple[Note, ...]:
        """Restores contents that differ; there is nothing to tell."""
        for container, before in self.before:
            if not _is_same(container, before):
                _refill(container, before)
        return ()


def _is_same(container: _Container, before: _Container) -> bool:
    """By identity: comparing elements could run the user's code, or a tensor's."""
    if len(container) != len(before):
        return False
    if isinstance(container, dict) and isinstance(before, dict):
        pairs = zip(container.items(), before.items(), strict=True)
        return all(a is c and b is d for (a, b), (c, d) in pairs)
    if isinstance(container, set):
        return {id(element) for element in container} == {id(element) for element in before}
    return all(one is other for one, other in zip(container, before, strict=True))


def _refill(container: _Container, before: _Container) -> None:
    if isinstance(container, list):
        container[:] = before
    else:
        container.clear()
        container.update(before)
