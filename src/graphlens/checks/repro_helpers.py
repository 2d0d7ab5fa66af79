"""Functions whose source a repro script contains; they need nothing but torch."""

from typing import Any

import torch


def made_input(spec: dict[str, Any], generator: torch.Generator) -> Any:
    """An input by what is recorded of it: random where it is a tensor, else the value itself."""
    if "value" in spec:
        return spec["value"]
    dtype, (low, high) = spec["dtype"], spec["range"]
    if dtype.is_floating_point or dtype.is_complex:
        kind = torch.complex128 if dtype.is_complex else torch.float64
        flat = torch.randn(spec["length"], generator=generator, dtype=kind)
        flat = flat.abs() if low == 0 else flat
    else:
        flat = torch.randint(low, high + 1, (spec["length"],), generator=generator)
    flat = flat.to(dtype).to(spec["device"])
    tensor = flat.as_strided(spec["shape"], spec["stride"])
    return tensor.detach().requires_grad_(spec["requires_grad"])


def run_once(function: Any, inputs: list[Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Outputs, gradients, and inputs that were written to, by name."""
    written = settings["written"]
    # A leaf that needs a gradient cannot be written to.
    passed = [value.view_as(value) if at in written else value for at, value in enumerate(inputs)]
    torch.manual_seed(settings["seed"])
    with torch.set_grad_enabled(settings["grad"]):
        for device, dtype in settings["autocast"].items():
            torch.set_autocast_enabled(device, True)
            torch.set_autocast_dtype(device, dtype)
        try:
            outputs = list(function(*passed))
        finally:
            for device in settings["autocast"]:
                torch.set_autocast_enabled(device, False)
    found: dict[str, Any] = {f"output {at}": value for at, value in enumerate(outputs)}
    generator = torch.Generator().manual_seed(0)
    started = [one for one in outputs if isinstance(one, torch.Tensor) and one.requires_grad]
    gradients = []
    for one in started:
        kind = torch.complex128 if one.is_complex() else torch.float64
        random = torch.randn(one.shape, generator=generator, dtype=kind)
        gradients.append(random.to(one.dtype).to(one.device))
    if started:
        torch.autograd.backward(started, gradients)
    for at, value in enumerate(inputs):
        if at in written:
            found[f"input {at} after the call"] = passed[at]
        if isinstance(value, torch.Tensor) and value.grad is not None:
            found[f"gradient of input {at}"] = value.grad
    return found


def difference(eager: Any, compiled: Any) -> str:
    """What ``torch.testing.assert_close`` says of two values; empty where they are close."""
    try:
        torch.testing.assert_close(compiled, eager, equal_nan=True)
    except AssertionError as error:
        return str(error)
    return ""
