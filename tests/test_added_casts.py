"""A rounding that compiled code does and the program does not ask for is named."""

import pytest

pytestmark = pytest.mark.usefixtures("compiles")

torch = pytest.importorskip("torch", reason="torch is not installed")
import graphlens
from faults.passes import Injected

aten = torch.ops.aten
STAGE = "post_grad_custom_post_pass"


def lowered(target, dtype):
    """An edit: the operator's tensors, and so its result, in a coarser dtype, cast back after it.

    Inductor drops casts there and back between operators that it generates code for itself, so it
    takes one that a library computes.
    """

    def edit(node):
        if node.target is not target:
            return False
        cast = torch.ops.prims.convert_element_type.default
        wide = node.meta["val"].dtype
        users = list(node.users)
        with node.graph.inserting_before(node):
            for source in node.all_input_nodes:
                coarse = node.graph.call_function(cast, (source, dtype))
                coarse.meta["val"] = source.meta["val"].to(dtype)
                node.replace_input_with(source, coarse)
        node.meta["val"] = node.meta["val"].to(dtype)
        with node.graph.inserting_before(node.next):
            back = node.graph.call_function(cast, (node, wide))
            back.meta["val"] = node.meta["val"].to(wide)
        for user in users:
            user.replace_input_with(node, back)
        return True

    return edit


def product(x, y):
    a = x.cos()
    b = a @ y  # here
    return b.relu() + x


def convolution(x, y):
    a = x.sin().reshape(1, 1, 16, 16)
    b = torch.nn.functional.conv2d(a, y[:3, :3].reshape(1, 1, 3, 3))  # here
    return b * 2


@pytest.mark.parametrize(
    ("function", "target", "wide", "dtype"),
    [
        (product, aten.mm.default, "float32", "bfloat16"),
        (product, aten.mm.default, "float64", "float32"),
        (convolution, aten.convolution.default, "float32", "bfloat16"),
    ],
)
def test_an_added_cast_is_named(function, target, wide, dtype):
    torch.manual_seed(0)
    inputs = [torch.randn(16, 16, dtype=getattr(torch, wide)) for _ in range(2)]
    edit = lowered(target, getattr(torch, dtype))
    injected = Injected(f"{function.__name__} in {dtype}", edit)

    report = graphlens.compare(function, timing=False, options={STAGE: injected})(*inputs)

    found = next(one for one in report.graphs if one.stage == "dynamo").accuracy
    assert found.verdict == "precision_changed", found
    (cast,) = found.casts
    assert (cast.change, cast.dtype) == ("added", dtype)
    assert "# here" in cast.source.code
    assert report.accuracy.verdict == "precision_changed", report.accuracy
    # What helps was tried: without that pass it is right.
    assert [one.code for one in found.tried if one.helps] == [f'options={{"{STAGE}": None}}']
