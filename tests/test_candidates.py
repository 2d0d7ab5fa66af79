import warnings

import pytest
import torch

from graphlens._torch.memory import Held, held_during
from graphlens.checks.candidates import CandidateUnavailable, make, parse, parse_all
from graphlens.checks.onednn import compile_onednn
from graphlens.errors import UsageError
from graphlens.model import Unavailable
from watched_graphs import watched_graph

CPU = torch.device("cpu")


def affine(x):
    return torch.relu(x * 2 + 1)


@pytest.mark.parametrize(
    ("text", "backend", "mode", "options"),
    [
        ("eager", "eager", None, {}),
        ("aot_eager", "aot_eager", None, {}),
        (" inductor ", "inductor", None, {}),
        ("onednn", "onednn", None, {}),
        ("inductor:max-autotune", "inductor", "max-autotune", {}),
        ("inductor:max_autotune=True", "inductor", None, {"max_autotune": True}),
        (
            "inductor:epilogue_fusion=false,cpp.simdlen=8",
            "inductor",
            None,
            {"epilogue_fusion": False, "cpp.simdlen": 8},
        ),
        (
            "inductor:reduce-overhead,fallback_random=true",
            "inductor",
            "reduce-overhead",
            {"fallback_random": True},
        ),
    ],
)
def test_texts(text, backend, mode, options):
    found = parse(text)
    assert (found.backend, found.mode, found.options) == (backend, mode, options)
    assert found.name == text.strip()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("inducter", "There is no candidate 'inducter'. Valid, nearest first: inductor"),
        ("onednnn", "Valid, nearest first: onednn"),
        ("", "There is no candidate ''"),
        ("graphlens", "There is no candidate 'graphlens'"),
        ("eager:fast", "eager takes no options"),
        ("inductor:fastest", "fastest"),
        ("inductor:no_such_option=1", "no_such_option"),
        ("inductor:max_autotune=7", "max_autotune"),
        ("inductor:max-autotune,default", "cannot be read"),
        ("inductor:", "cannot be read"),
    ],
)
def test_wrong_texts(text, message):
    with pytest.raises(UsageError) as raised:
        parse(text)
    assert message in str(raised.value)


def test_several_are_read_once_each():
    assert [one.name for one in parse_all(["eager", "inductor", "eager"])] == ["eager", "inductor"]
    with pytest.raises(UsageError, match="no candidate"):
        parse_all([])


def test_eager_is_the_graph_itself():
    watched = watched_graph(affine, torch.randn(4))
    ready = make(parse("eager"), watched, watched.calls[0])
    assert ready.run is watched.gm
    assert ready.compile_seconds == 0


def test_what_the_run_compiled_is_used_again():
    watched = watched_graph(affine, torch.randn(4), backend="aot_eager")
    ready = make(parse("aot_eager"), watched, watched.calls[0])
    assert ready.run is watched.compiled
    assert ready.reused
    assert ready.compile_seconds == watched.graph.compile_seconds
    again = make(parse("aot_eager"), watched, watched.calls[0], used="aot_eager with options")
    assert again.run is not watched.compiled


@pytest.mark.parametrize("name", ["aot_eager", "inductor", "inductor:epilogue_fusion=False"])
def test_candidates_compile_the_graph_and_leave_it(name):
    x = torch.randn(4)
    watched = watched_graph(affine, x)
    before = str(watched.gm.graph)
    ready = make(parse(name), watched, watched.calls[0])
    assert torch.allclose(ready.run(x)[0], affine(x))
    assert ready.compile_seconds > 0
    assert str(watched.gm.graph) == before


def test_symbolic_sizes():
    def sized(x):
        return x * x.shape[0]

    x = torch.randn(4, 3)
    watched = watched_graph(sized, x, dynamic=True)
    call = watched.calls[0]
    assert 4 in call.inputs
    for name in ("aot_eager", "inductor", "onednn"):
        (found,) = make(parse(name), watched, call).run(*call.fresh())
        assert torch.allclose(found, x * 4)


def test_a_backend_that_raises_is_unavailable():
    def broken(gm, inputs):
        raise ValueError("cannot do that\nat all")

    torch._dynamo.register_backend(broken, name="broken_for_this_test")
    watched = watched_graph(affine, torch.randn(4))
    with pytest.raises(CandidateUnavailable, match=r"did not compile: ValueError: cannot do that$"):
        make(parse("broken_for_this_test"), watched, watched.calls[0])


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3)
        self.norm = torch.nn.BatchNorm2d(8)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x))) + 1


def test_onednn_fuses_and_gives_the_same():
    x = torch.randn(1, 3, 8, 8)
    model = Small().eval()
    was = torch.jit.onednn_fusion_enabled()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")
        watched = watched_graph(model, x)
        call = watched.calls[0]
        run = make(parse("onednn"), watched, call).run
        assert torch.allclose(run(*call.fresh())[0], model(x), atol=1e-5)
        assert "oneDNNFusionGroup" in str(torch._C._last_executed_optimized_graph())
    assert torch.jit.onednn_fusion_enabled() == was


def test_onednn_says_why_it_cannot():
    training = watched_graph(Small(), torch.randn(1, 3, 8, 8))
    with pytest.raises(CandidateUnavailable, match="for inference; this graph trains"):
        make(parse("onednn"), training, training.calls[0])
    changing = watched_graph(affine, torch.randn(4))
    with pytest.raises(CandidateUnavailable, match="changes its inputs"):
        make(parse("onednn"), changing, changing.calls[0], mutates=True)


def test_onednn_says_what_torchscript_cannot_take():
    with torch.no_grad():
        watched = watched_graph(affine, torch.ones(2))
    watched.gm.forward = lambda *inputs: 1 / 0
    with pytest.raises(CandidateUnavailable, match="TorchScript cannot take the graph"):
        compile_onednn(watched.gm, watched.calls[0], mutates=False)


def test_memory_of_programs_counted_by_hand():
    x, a, b = torch.randn(1000), torch.randn(100, 200), torch.randn(200, 50)
    # x + 1 is 4000 bytes; the scalar 1 is 8 bytes as a number and 4 as a float
    assert held_during(lambda: (x + 1).sum(), CPU) == Held(4012, 4)
    # Three products of 100 x 50 floats; the first is freed when the third is made.
    assert held_during(lambda: ((a @ b).relu()).relu(), CPU) == Held(40_000, 20_000)
    assert held_during(lambda: (a @ b, a @ b), CPU) == Held(40_000, 40_000)
    assert held_during(lambda: None, CPU) == Held(0, 0)
    assert "meta" in held_during(lambda: None, torch.device("meta")).reason


def test_memory_after_an_error_and_under_a_profiler():
    def bad():
        raise ValueError("bad")

    with pytest.raises(ValueError, match="bad"):
        held_during(bad, CPU)
    with torch.autograd.profiler.profile(use_kineto=False):
        found = held_during(lambda: torch.zeros(3), CPU)
    assert isinstance(found, Unavailable)
    assert held_during(lambda: torch.zeros(3), CPU) == Held(12, 12)
