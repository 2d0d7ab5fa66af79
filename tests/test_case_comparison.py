"""The judge of comparisons sees a disagreement missed, invented, elsewhere or not explained."""

import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tools"))

pytest.importorskip("torch")

from casework.compared import inconsistencies, said
from comparison_corpus import CORPUS
from graphlens.model import Accuracy, Report, SwitchTried, TensorAccuracy, Unavailable

REPORTS = [make() for make in CORPUS.values()]
ABSENT = Unavailable("not measured")
AGREES: dict[str, Any] = {"agrees": True, "raises": []}
# As of the case dropout_mask_differs.
DIFFERS = {
    **AGREES,
    "agrees": False,
    "agrees_without_inductor": True,
    "mismatch": ["call 0 out[0]", "call 0 arg1", "call 1 l.weight.grad", "call 2: eager None, X"],
    "strides_differ": ["call 0 out[0]: (1, 5) vs (6, 1)"],
    "output_types_differ": ["call 0: Doubling vs Tensor"],
}


def tensor(call: int, name: str, verdict: str = "not_comparable") -> TensorAccuracy:
    return TensorAccuracy(
        name=name, role="output", shape=(), dtype="", call=call, verdict=verdict,
        eager=ABSENT, compiled=ABSENT, between=ABSENT,
    )  # fmt: skip


FOUND = Accuracy(
    verdict="not_comparable",
    reason="it draws random numbers, first at `dropout` (line 18)",
    origin="inductor",
    tensors=(
        tensor(0, "output[0]"),
        tensor(0, "argument 1 after the call"),
        tensor(1, "gradient of l.weight"),
        tensor(2, "the call"),
        tensor(2, "output[1]", "agrees"),
    ),
    tried=(
        SwitchTried(
            code="torch._inductor.config.fallback_random = True",
            verdict="agrees",
            helps=True,
        ),
    ),
    remarks=(
        "call 0, output[0]: strides (6, 1), in eager (1, 5)",
        "call 0 returns a Tensor, in eager a Doubling",
        "call 0, output: type Tensor, in eager Doubling",
    ),
)


def judged(accuracy: Accuracy, expect: dict[str, Any], **changes: Any) -> list[str]:
    report = msgspec.structs.replace(a_report(), accuracy=accuracy, **changes)
    return inconsistencies(report, "dropout_mask_differs", expect)


def a_report() -> Report:
    return msgspec.structs.replace(REPORTS[0], graphs=())


def test_what_was_measured_is_consistent() -> None:
    assert judged(Accuracy(verdict="agrees"), AGREES) == []
    assert judged(FOUND, DIFFERS) == []


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ({"verdict": "diverges"}, "verdict"),
        ({"origin": "autograd"}, "origin"),
        ({"origin": "capture"}, "agrees as captured"),
        ({"tensors": FOUND.tensors[1:]}, "differ"),
        ({"tensors": (*FOUND.tensors, tensor(3, "output[0]"))}, "differ"),
        ({"remarks": FOUND.remarks[1:]}, "remarks"),
        ({"remarks": ("call 1, output: strides (1,), in eager (2,)", *FOUND.remarks)}, "remarks"),
        ({"reason": "it draws random numbers"}, "not said: line 18"),
        ({"tried": ()}, "not said: torch._inductor.config.fallback_random = True helps"),
    ],
)
def test_what_is_inconsistent_is_seen(change: dict[str, Any], seen: str) -> None:
    found = judged(msgspec.structs.replace(FOUND, **change), DIFFERS)
    assert any(text.startswith(seen) for text in found), found


def test_a_disagreement_that_is_invented_is_seen() -> None:
    assert judged(FOUND, AGREES) != []
    graph = next(
        graph
        for report in REPORTS
        for graph in report.graphs
        if isinstance(graph.accuracy, Accuracy) and graph.accuracy.verdict == "diverges"
    )
    found = judged(Accuracy(verdict="agrees"), AGREES, graphs=(graph,))
    assert [text.partition(":")[0] for text in found] == [f"graph {graph.id}"]


def test_an_explanation_has_what_was_tried_and_where_it_begins() -> None:
    assert said(FOUND).startswith(
        f"{FOUND.reason}; torch._inductor.config.fallback_random = True helps; call 0"
    )
    missing = msgspec.structs.replace(FOUND, first_divergence=Unavailable("not looked for"))
    assert "; not looked for; " in said(missing)
