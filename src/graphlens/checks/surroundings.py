"""What a call depends on besides its arguments: modes and random states."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Surroundings:
    """Modes and random states at a call, to make it again under the same.

    Attributes:
        grad: Whether gradients are recorded.
        inference: Whether inference mode is on.
        autocast: Device types with autocast on, and the dtype it casts to.
        random_state: Of the CPU's generator.
        device_states: Of the generators of CUDA devices.
    """

    grad: bool
    inference: bool
    autocast: tuple[tuple[str, torch.dtype], ...]
    random_state: torch.Tensor
    device_states: tuple[torch.Tensor, ...]

    @contextmanager
    def restored(self) -> Iterator[None]:
        """As they were; random states come back at the end to what they were before."""
        devices = list(range(len(self.device_states)))
        with ExitStack() as stack:
            stack.enter_context(torch.random.fork_rng(devices=devices))
            torch.set_rng_state(self.random_state)
            for device, state in enumerate(self.device_states):
                torch.cuda.set_rng_state(state, device)
            stack.enter_context(torch.inference_mode(self.inference))
            if not self.inference:
                stack.enter_context(torch.set_grad_enabled(self.grad))
            for device_type in ("cpu", "cuda"):
                dtype = dict(self.autocast).get(device_type)
                on = dtype is not None
                if on or torch.is_autocast_enabled(device_type):
                    stack.enter_context(torch.autocast(device_type, dtype=dtype, enabled=on))
            yield


def surroundings() -> Surroundings:
    """Those of this thread, now."""
    cuda = torch.cuda.is_available()
    return Surroundings(
        grad=torch.is_grad_enabled(),
        inference=torch.is_inference_mode_enabled(),
        autocast=tuple(
            (kind, torch.get_autocast_dtype(kind))
            for kind in ("cpu", "cuda")
            if torch.is_autocast_enabled(kind)
        ),
        random_state=torch.get_rng_state(),
        device_states=tuple(torch.cuda.get_rng_state_all()) if cuda else (),
    )
