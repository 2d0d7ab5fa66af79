"""What a probe finds does not depend on where the program stands when it asks first."""

import contextlib

import pytest
import torch

from graphlens._torch.probes import run_probes


@pytest.mark.parametrize(
    "around",
    [contextlib.nullcontext, torch.no_grad, torch.inference_mode, lambda: torch.device("meta")],
    ids=["plain", "no_grad", "inference_mode", "default device"],
)
def test_all_probes_pass_in_every_mode(around) -> None:
    with around():
        grad, inference = torch.is_grad_enabled(), torch.is_inference_mode_enabled()
        probes = run_probes()
        assert (torch.is_grad_enabled(), torch.is_inference_mode_enabled()) == (grad, inference)

    assert [(p.name, p.detail) for p in probes if not p.ok] == []
