"""Faults planted in a Triton program: each is found, and located to its kernel."""

import dataclasses
import re

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("triton", reason="Triton is not installed")

from graphlens.analysis.kernel_definitions import kernel_definitions
from graphlens.checks.interpreted import interpret
from graphlens.checks.preview_accuracy import preview_accuracy, program_run
from graphlens.checks.preview_options import preview_options
from graphlens.checks.preview_report import Preview
from graphlens.checks.programs import UserProgram


class Net(torch.nn.Module):
    """Pointwise kernels, reductions, an embedding and a softmax, of sizes that no block fits."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(19, 33)
        self.norm = torch.nn.LayerNorm(33)
        self.up = torch.nn.Linear(33, 75)
        self.down = torch.nn.Linear(75, 33)

    def forward(self, tokens):
        x = self.norm(self.embedding(tokens))
        x = x + self.down(torch.nn.functional.gelu(self.up(x)))
        return torch.softmax(x.sigmoid() * 3.0, -1)


# What stands in a kernel's source, what is planted in its place, and what the kernel computes.
FAULTS = {
    "constant of gelu": (r"0\.7071067811865476", "0.7171067811865476", "gelu"),
    "one half of gelu": (r"(tmp\d+ = tl\.full\(\[1\], )0\.5,", r"\g<1>0.501,", "gelu"),
    "epsilon of the norm": (r"1e-05", "1e-01", "native_layer_norm"),
    "length of the mean": (r"33\.0", "32.0", "native_layer_norm"),
    "factor before the softmax": (r"3\.0", "3.01", "softmax"),
    "sign of an exponent": (r"libdevice\.exp\((tmp\d+)\)", r"libdevice.exp(-\1)", "softmax"),
    "sum for a maximum": (r"triton_helpers\.max2\(", "tl.sum(", "softmax"),
    "no mask at a store of gelu": (r"(tl\.store\(.*), xmask\)", r"\1, None)", "gelu"),
    "no mask at a load of gelu": (r"(tl\.load\(.*), xmask\)", r"\1, None)", "gelu"),
    "no mask at a load of the softmax": (
        r"(tl\.load\(.*), r0_mask & xmask, ", r"\1, xmask & (r0_index < 999), ", "softmax",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def found():
    """Verdicts on the program as it is, and with each fault, all run in one process."""
    torch.manual_seed(0)
    program = UserProgram(Net().eval(), [((torch.randint(0, 19, (3, 7)),), {})])
    preview = Preview(program, preview_options({"target": "h100"}))
    with torch.no_grad():
        preview._run()
    ((graph, kept),) = [
        (preview._previewed(graph, kept), kept)
        for graph, kept in preview._joined(preview.recorder.report())
        if kept is not None
    ]
    right = program_run(kept, graph.id)
    planted = {"": (right, "")}
    for name, (pattern, wrong, operator) in FAULTS.items():
        kernel, code = _planted(right.code, pattern, wrong, operator)
        planted[name] = (dataclasses.replace(right, code=code), kernel)
    results = interpret([one for one, _ in planted.values()], preview.options.target, 120.0)
    return {
        name: (preview_accuracy(graph, kept, result), kernel)
        for (name, (_, kernel)), result in zip(planted.items(), results, strict=True)
    }


def _planted(code: str, pattern: str, wrong: str, operator: str) -> tuple[str, str]:
    import ast

    for name, kernel in kernel_definitions(ast.parse(code)).items():
        made, count = re.subn(pattern, wrong, kernel.source)
        if operator in name and count:
            return name, code.replace(kernel.source, made)
    raise AssertionError(f"no kernel of {operator} has {pattern}:\n{code}")


@pytest.mark.slow
@pytest.mark.usefixtures("compiles")
def test_the_program_as_it_is_agrees(found) -> None:
    accuracy, _ = found[""]

    assert accuracy.verdict in ("agrees", "rounding"), accuracy.reason


@pytest.mark.slow
@pytest.mark.usefixtures("compiles")
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_in_its_kernel(found, name: str) -> None:
    accuracy, kernel = found[name]

    assert accuracy.verdict == "diverges", accuracy.reason
    assert [k.partition(":")[0] for k in accuracy.first_divergence.kernels] == [kernel]
