"""Copies of a call's arguments that Dynamo cannot tell from the originals."""

import copy
from typing import Any

import torch
from torch.utils import _pytree as pytree

from graphlens._torch.eager import view_base
from graphlens.model import Note

Call = tuple[tuple[Any, ...], dict[str, Any]]


def copied_inputs(
    args: tuple[Any, ...], kwargs: dict[str, Any], notes: list[Note], gradients: bool = True
) -> tuple[Any, Any]:
    """Arguments with every tensor copied, so that the call cannot change the user's.

    Storage is copied whole and once, so sizes, strides, offsets and aliasing stay; parameters
    stay parameters, and attributes such as the marks of ``mark_dynamic`` go along.

    Args:
        args: Of the call.
        kwargs: Of the call.
        notes: Takes a note for each tensor that could not be copied and is passed as it is.
        gradients: Whether the copies have copies of the gradients too.
    """
    copier = _Copier(gradients)

    def copied(root: str, path: Any, value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        try:
            return copier.copy(value)
        except Exception as error:  # noqa: BLE001  any kind of tensor may come, and refuse
            notes.append(_not_copied(root + pytree.keystr(path), value, error))
            return value

    return tuple(
        pytree.tree_map_with_path(lambda path, leaf, root=root: copied(root, path, leaf), tree)
        for root, tree in (("args", args), ("kwargs", kwargs))
    )


class _Copier:
    """Copies tensors that may share storage, each tensor and each storage once."""

    def __init__(self, gradients: bool) -> None:
        self.gradients = gradients
        self.tensors: dict[int, torch.Tensor] = {}
        self.storages: dict[tuple[Any, ...], torch.UntypedStorage] = {}

    def copy(self, tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) not in self.tensors:
            made = self.rebuilt(tensor) if _is_plain(tensor) else _cloned(tensor)
            _copy_attributes(tensor, made)
            self.tensors[id(tensor)] = made
            if self.gradients and tensor.is_leaf and tensor.grad is not None:
                made.grad = self.copy(tensor.grad)
        return self.tensors[id(tensor)]

    def rebuilt(self, tensor: torch.Tensor) -> torch.Tensor:
        with torch.inference_mode(tensor.is_inference()):
            base = view_base(tensor)
            if base is not None and _is_plain(base) and base.dtype == tensor.dtype:
                made = self.view(tensor, base, self.copy(base))
            else:
                made = self.on_copied_storage(tensor)
                if tensor.requires_grad and not tensor.is_leaf:
                    return _as_result(made)
            if isinstance(tensor, torch.nn.Parameter):
                return torch.nn.Parameter(made, requires_grad=tensor.requires_grad)
            if tensor.requires_grad and tensor.is_leaf:
                made.requires_grad_()
            return made

    def view(
        self, tensor: torch.Tensor, base: torch.Tensor, base_copy: torch.Tensor
    ) -> torch.Tensor:
        # A leaf view of something with a gradient was made without one.
        with torch.set_grad_enabled(not (base.requires_grad and tensor.is_leaf)):
            made = base_copy.as_strided(tensor.size(), tensor.stride(), tensor.storage_offset())
            return made.conj() if tensor.is_conj() != base.is_conj() else made

    def on_copied_storage(self, tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        # An address of 0 (empty, or on the meta device) says nothing of sharing.
        address = storage.data_ptr() or ("no address", id(tensor))
        key = (tensor.device, address, storage.nbytes())
        if key not in self.storages:
            self.storages[key] = storage.clone()  # type: ignore[no-untyped-call]
        with torch.no_grad():
            made = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
            made.set_(self.storages[key], tensor.storage_offset(), tensor.size(), tensor.stride())
            return made.conj() if tensor.is_conj() else made


class Identity(torch.autograd.Function):
    """Makes a tensor the result of an operation, in place, without touching its values."""

    @staticmethod
    def forward(ctx: Any, data: torch.Tensor, source: torch.Tensor) -> torch.Tensor:  # noqa: ARG004
        ctx.mark_dirty(data)
        return data

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:  # noqa: ARG004
        return None, None


def _as_result(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor that needs a gradient and is no leaf, cut off from the user's own graph.

    A plain ``clone`` would let a backward pass inside the call reach the user's leaves.
    """
    with torch.enable_grad():
        source = torch.zeros((), requires_grad=True)
        made: torch.Tensor = Identity.apply(tensor, source)
        return made


def _is_plain(tensor: torch.Tensor) -> bool:
    """Whether size, stride, offset and storage say all about a tensor."""
    return (
        type(tensor) in (torch.Tensor, torch.nn.Parameter)
        and tensor.layout == torch.strided
        and not (tensor.is_quantized or tensor.is_nested or tensor.is_neg())
    )


def _cloned(tensor: torch.Tensor) -> torch.Tensor:
    made = tensor.detach().clone()
    if type(made) is not type(tensor) and tensor.is_leaf:
        # A kind of parameter: its clone is a plain tensor, its deep copy is not.
        made = copy.deepcopy(tensor)
    if type(made) is not type(tensor):
        raise TypeError(f"its clone is a {type(made).__name__}")
    if not tensor.requires_grad:
        return made
    made.requires_grad_()
    return made if tensor.is_leaf else made.clone()


def _copy_attributes(tensor: torch.Tensor, made: torch.Tensor) -> None:
    for name, value in vars(tensor).items():
        # Dynamo's marks are sets and dictionaries, which it may add to.
        own = copy.copy(value) if isinstance(value, (set, dict, list)) else value
        vars(made).setdefault(name, own)


def _not_copied(name: str, tensor: torch.Tensor, error: Exception) -> Note:
    reason = (str(error).strip() or type(error).__name__).splitlines()[0]
    return Note(
        code="input-not-copied",
        message=f"{name} ({type(tensor).__name__}) could not be copied ({reason}).",
        hint="The function ran on the tensor itself and may have changed it.",
    )
