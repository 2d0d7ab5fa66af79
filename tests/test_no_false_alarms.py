"""Without a fault, comparing real models in every dtype finds none."""

import pytest

# What the libraries warn of is not ours.
pytestmark = [pytest.mark.usefixtures("compiles"), pytest.mark.filterwarnings("ignore")]

torch = pytest.importorskip("torch", reason="torch is not installed")

import graphlens
from small_models import SMALL_MODELS, bert, small_model

DTYPES = (torch.float32, torch.bfloat16, torch.float16)
if not torch.__version__.startswith("2.14"):
    DTYPES = (torch.float32,)  # all of them on the newest supported torch
FINE = ("agrees", "rounding")


@pytest.mark.slow
@pytest.mark.parametrize("training", [True, False], ids=["training", "inference"])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: str(dtype).removeprefix("torch."))
@pytest.mark.parametrize("name", SMALL_MODELS)
def test_a_model_without_a_fault_is_right(name: str, dtype: torch.dtype, training: bool) -> None:
    model, inputs = small_model(name, dtype)
    model.train(training)

    with torch.set_grad_enabled(training):
        report = graphlens.compare(model, timing=False, locate=False)(**inputs)

    graphs = [one for one in report.graphs if one.stage == "dynamo"]
    assert graphs
    for graph in graphs:
        assert graph.accuracy.verdict in FINE, (graph.id, graph.accuracy)
    assert report.accuracy.verdict in FINE, report.accuracy


def test_dropout_is_not_compared() -> None:
    torch.manual_seed(0)
    model, inputs = bert(dropout=0.1)

    report = graphlens.compare(model.train(), timing=False, backward=False)(**inputs)

    accuracy = report.graphs[0].accuracy
    assert accuracy.verdict == "not_comparable"
    assert "random numbers" in accuracy.reason
