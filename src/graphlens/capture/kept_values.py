"""Tensors whose values are put back after a call, and gradients."""

from collections.abc import Mapping

import torch

from graphlens._torch.eager import version
from graphlens.model import Note


class KeptValues:
    """Copies of tensors, such as batch norm's statistics, to put back by value."""

    def __init__(self, tensors: Mapping[str, torch.Tensor]) -> None:
        self.kept: list[tuple[str, torch.Tensor, torch.Tensor, int | None]] = []
        self.failed: list[str] = []
        for name, tensor in tensors.items():
            copy = _copy(tensor)
            if copy is None:
                self.failed.append(name)
            else:
                self.kept.append((name, tensor, copy, version(tensor)))

    def put_back(self) -> tuple[Note, ...]:
        """Undoes what changed; a note names the tensors for which that did not work."""
        for name, tensor, copy, before in self.kept:
            # By value: batch norm does not raise the version of its statistics (torch 2.13, 2.14).
            if not _unchanged(tensor, copy, before) and not _copied_back(tensor, copy):
                self.failed.append(name)
        if not self.failed:
            return ()
        return (
            Note(
                code="tensors-not-put-back",
                message=f"Could not copy, or not put back: {listed(self.failed)}.",
                hint="The call may have changed these tensors.",
            ),
        )


class KeptGradients:
    """The ``.grad`` of leaves: the same object afterwards, with the same values."""

    def __init__(self, leaves: Mapping[str, torch.Tensor]) -> None:
        self.leaves = {name: (leaf, leaf.grad) for name, leaf in leaves.items() if leaf.is_leaf}
        grads = {f"{name}.grad": grad for name, (_, grad) in self.leaves.items()}
        self.values = KeptValues({name: grad for name, grad in grads.items() if grad is not None})

    def put_back(self) -> tuple[Note, ...]:
        """Undoes what changed; notes what did not work."""
        for name, (leaf, grad) in self.leaves.items():
            if leaf.grad is not grad:
                try:
                    leaf.grad = grad
                except Exception:  # noqa: BLE001  the call gave the leaf another shape or type
                    self.values.failed.append(f"{name}.grad")
        return self.values.put_back()


def listed(names: list[str]) -> str:
    """The first few names, for a note."""
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")


def _copy(tensor: torch.Tensor) -> torch.Tensor | None:
    try:
        return tensor.detach().clone()
    except Exception:  # noqa: BLE001  not filled yet (lazy modules), or an unusual kind
        return None


def _unchanged(tensor: torch.Tensor, copy: torch.Tensor, before: int | None) -> bool:
    if tensor.is_meta:  # no values
        return tensor.shape == copy.shape
    try:
        return torch.equal(tensor.detach(), copy)
    except Exception:  # noqa: BLE001  kinds of tensors that cannot be compared
        return before is not None and version(tensor) == before


def _copied_back(tensor: torch.Tensor, copy: torch.Tensor) -> bool:
    if tensor.shape != copy.shape:  # copy_ would spread a smaller one over a larger one
        return False
    try:
        # A tensor made in inference mode can be written in that mode only.
        with torch.inference_mode(tensor.is_inference()), torch.no_grad():
            tensor.copy_(copy)
    except Exception:  # noqa: BLE001  such as memory that overlaps itself
        return False
    return True
