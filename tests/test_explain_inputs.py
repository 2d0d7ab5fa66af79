"""explain: the copies of a call's arguments are what Dynamo would see in the originals."""

import pytest

torch = pytest.importorskip("torch")

import graphlens
from graphlens._torch.eager import view_base
from graphlens.capture.input_copies import copied_inputs

pytestmark = [
    pytest.mark.usefixtures("compiles"),
    # Dynamo looks at .grad of results and hides torch's warning, which "error" raises first.
    pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning"),
]


def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


def copied(*values: object) -> list[object]:
    notes = []
    args, _ = copied_inputs(values, {}, notes)
    assert notes == []
    return list(args)


def recorded(*values: torch.Tensor, function: object = doubled) -> object:
    with graphlens.record() as lens:
        torch.compile(function, backend="graphlens_eager", options={"graphlens.show": "none"})(
            *values
        )
    return lens.report()


def assert_explained_as_compiled(*values: torch.Tensor, function: object = doubled) -> object:
    explained = graphlens.explain(function)(*values)
    compiled = recorded(*values, function=function)
    (graph,), (real,) = explained.graphs, compiled.graphs
    assert [(n.role, n.op, n.tensors) for n in graph.nodes] == [
        (n.role, n.op, n.tensors) for n in real.nodes
    ]
    assert graph.symbols == real.symbols
    return graph


def test_sizes_marked_as_dynamic() -> None:
    x = torch.ones(5, 3)
    torch._dynamo.mark_dynamic(x, 0)
    graph = assert_explained_as_compiled(x)
    assert graph.symbols
    assert x._dynamo_dynamic_indices == {0}


@pytest.mark.parametrize(
    "x",
    [
        torch.ones(3, 1).expand(3, 4),
        torch.arange(12.0).view(3, 4).t(),
        torch.arange(12.0)[2:10:2],
        torch.nn.Parameter(torch.ones(3)),
        torch.ones(2, requires_grad=True),
        torch.ones(2, requires_grad=True) * 2,
    ],
    ids=["expanded", "transposed", "strided", "parameter", "leaf", "result"],
)
def test_strides_and_kinds(x: torch.Tensor) -> None:
    assert_explained_as_compiled(x)
    (copy,) = copied(x)
    assert copy is not x
    assert copy.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
    for read in (
        type,
        torch.Tensor.size,
        torch.Tensor.stride,
        torch.Tensor.storage_offset,
        torch.Tensor.tolist,
        lambda t: t.is_leaf,
        lambda t: t.requires_grad,
        lambda t: view_base(t) is None,
        lambda t: t.untyped_storage().nbytes(),
    ):
        assert read(copy) == read(x)


def test_aliases_stay_aliases() -> None:
    whole = torch.arange(6.0)
    first, second, again = copied(whole[:4], whole[2:], whole)
    again.zero_()
    assert first.tolist() == [0.0] * 4
    assert second.tolist() == [0.0] * 4
    assert view_base(first) is view_base(second) is again
    assert whole.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]

    def both(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        return x + y

    assert_explained_as_compiled(whole[:4], whole[2:], function=both)


def test_a_detached_alias_and_one_tensor_twice() -> None:
    x = torch.ones(3, requires_grad=True)
    copy, alias, same = copied(x, x.detach(), x)
    assert copy is same
    assert alias.data_ptr() == copy.data_ptr()


def test_a_backward_pass_does_not_reach_the_users_graph() -> None:
    leaf = torch.ones(3, requires_grad=True)
    result = leaf * 2
    view = result[:2]

    def backward(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        loss = (x.sum() + y.sum()) * 3
        torch._dynamo.graph_break()
        loss.backward()
        return loss.detach()

    graphlens.explain(backward)(result, view)
    assert leaf.grad is None
    (result.sum() + view.sum()).backward()
    assert leaf.grad.tolist() == [4.0, 4.0, 2.0]


def test_the_gradient_of_an_argument_is_copied() -> None:
    x = torch.ones(3, requires_grad=True)
    x.grad = torch.ones(3)
    (copy,) = copied(x)
    copy.grad.zero_()
    assert x.grad.tolist() == [1.0, 1.0, 1.0]


def test_a_gradient_view_keeps_its_place_in_the_graph() -> None:
    base = torch.ones(4, requires_grad=True)
    with torch.no_grad():
        cut = base[:2]
    for x in (base[:2], cut):
        copy, _ = copied(x, base)
        assert (copy.requires_grad, copy.is_leaf) == (x.requires_grad, x.is_leaf)
    assert_explained_as_compiled(base[:2])


class Marked(torch.Tensor):
    pass


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.eye(3).to_sparse(),
        lambda: torch.eye(3).to_sparse_csr(),
        lambda: torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8),
        lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged),
        lambda: torch.ones(3).as_subclass(Marked),
        lambda: torch.tensor([1 + 2j]).conj(),
        lambda: torch.empty(3, device="meta"),
        lambda: torch.empty(0),
        lambda: torch.ones((), dtype=torch.bool),
    ],
    ids=["sparse", "csr", "quantized", "nested", "subclass", "conj", "meta", "empty", "scalar"],
)
@pytest.mark.filterwarnings("ignore")
def test_other_kinds(make: object) -> None:
    x = make()
    (copy,) = copied(x)
    assert copy is not x
    assert type(copy) is type(x)
    assert (copy.layout, copy.dtype, copy.device) == (x.layout, x.dtype, x.device)
    assert copy.is_conj() == x.is_conj()


def test_a_kind_of_parameter() -> None:
    class Weight(torch.nn.Parameter):
        pass

    (copy,) = copied(Weight(torch.ones(3)))
    assert type(copy) is Weight
    assert copy.requires_grad


def test_a_tensor_made_in_inference_mode() -> None:
    with torch.inference_mode():
        x = torch.ones(3)
    (copy,) = copied(x)
    assert copy.is_inference()


def test_an_argument_that_cannot_be_copied_is_named() -> None:
    class Single(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            if func is torch.Tensor.clone:
                raise RuntimeError("there is only one of me")
            return super().__torch_function__(func, types, args, kwargs or {})

    x = torch.ones(3).as_subclass(Single)
    notes = []
    _, kwargs = copied_inputs((1,), {"x": [x]}, notes)
    assert kwargs["x"][0] is x
    (note,) = notes
    assert note.code == "input-not-copied"
    assert "kwargs['x'][0] (Single)" in note.message
    assert "there is only one of me" in note.message
