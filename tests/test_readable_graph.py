"""Graphs from the readable code in torch's trace. The texts are torch's, of the version named."""

from graphlens.analysis.annotations import dims, parse_value
from graphlens.analysis.readable_graph import parse_readable
from graphlens.model import TensorSpec

DYNAMO = """class GraphModule(torch.nn.Module):
    def forward(self, L_self_modules_lin_parameters_weight_: "f32[8, 8][8, 1]cpu", s77: "Sym(s77)", L_x_: "f32[s77, 8][8, 1]cpu"):
        l_self_modules_lin_parameters_weight_ = L_self_modules_lin_parameters_weight_
        l_x_ = L_x_

        # File: /home/me/model.py:18 in forward, code: x = self.lin(x)
        linear: "f32[s77, 8][8, 1]cpu" = torch._C._nn.linear(l_x_, l_self_modules_lin_parameters_weight_, None);  l_x_ = None
        linear += 1;  iadd: "f32[s77, 8][8, 1]cpu" = linear;  linear = None

        # File: /home/me/model.py:20 in forward, code: if x.sum() > 0:
        sum_1: "f32[][]cpu" = iadd.sum()
        gt: "b8[][]cpu" = sum_1 > 0;  sum_1 = None
        return (gt, iadd)
"""  # torch 2.14

LOWERED = """class GraphModule(torch.nn.Module):
    def forward(
        self,
        primals_1: "f32[8, 8][8, 1]cpu",  # PlainAOTInput(idx=0)
        relu: "f32[4, 8][8, 1]cpu",
        tangents_1: "f32[4, 8][8, 1]cpu",  # TangentAOTInput(output=PlainAOTOutput(idx=1))
    ):
        # Backward of forward node: File: /home/me/model.py:19 in forward, code: x = s.bn(x)
        var_mean = torch.ops.aten.var_mean.correction(relu, [0], correction = 0, keepdim = True)
        getitem: "f32[1, 8][8, 1]cpu" = var_mean[0];  var_mean = None

        # No stacktrace found for following nodes
        mul: "f32[4, 8][8, 1]cpu" = torch.ops.aten.mul.Tensor(tangents_1, getitem)
        return (
            mul,  # GradAOTOutput(grad_of=PlainAOTInput(idx=0))
            None,
        )
"""  # torch 2.14

NESTED = """class GraphModule(torch.nn.Module):
    def forward(self, L_x_: "f32[4][1]cpu"):
        l_x_ = L_x_

        # File: m.py:3 in f, code: return cond(p, a, b, (x,))
        cond_true_0 = self.cond_true_0
        cond_false_0 = self.cond_false_0
        cond = torch.ops.higher_order.cond(True, cond_true_0, cond_false_0, (l_x_,));  l_x_ = None
        getitem: "f32[4][1]cpu" = cond[0];  cond = None
        return (getitem,)

    class cond_true_0(torch.nn.Module):
        def forward(self, l_x_: "f32[4][1]cpu"):
            # File: m.py:4 in a, code: return x.sin()
            sin: "f32[4][1]cpu" = l_x_.sin();  l_x_ = None
            return (sin,)

    class cond_false_0(torch.nn.Module):
        def forward(self, l_x_: "f32[4][1]cpu"):
            cos: "f32[4][1]cpu" = l_x_.cos();  l_x_ = None
            return (cos,)
"""


def test_dynamo_graph() -> None:
    nodes, inner = parse_readable(DYNAMO)
    assert inner == ()
    assert [(n.name, n.op, n.target) for n in nodes] == [
        (
            "l_self_modules_lin_parameters_weight_",
            "placeholder",
            "L_self_modules_lin_parameters_weight_",
        ),
        ("s77", "placeholder", "s77"),
        ("l_x_", "placeholder", "L_x_"),
        ("linear", "call_function", "torch._C._nn.linear"),
        ("iadd", "call_function", "operator.iadd"),
        ("sum_1", "call_method", "sum"),
        ("gt", "call_function", "operator.gt"),
        ("output", "output", "output"),
    ]
    weight, symbol, x, linear = nodes[:4]
    assert (weight.role, weight.origin, weight.module) == ("parameter", "lin.weight", "lin")
    assert (symbol.role, symbol.value, symbol.tensors) == ("symbol", "Sym(s77)", ())
    assert x.role == "input"
    assert linear.shape == ("s77", 8)
    assert linear.stride == (8, 1)
    assert (linear.dtype, linear.device) == ("float32", "cpu")
    assert (linear.file, linear.line) == ("/home/me/model.py", 18)
    assert linear.source is not None
    assert linear.source.code == "x = self.lin(x)"
    assert linear.inputs == ("l_x_", "l_self_modules_lin_parameters_weight_")
    assert nodes[-1].inputs == ("gt", "iadd")


def test_lowered_graph_with_notes_over_several_lines() -> None:
    nodes, _ = parse_readable(LOWERED)
    assert [n.role for n in nodes if n.op == "placeholder"] == ["input", "input", "tangent"]
    var_mean, getitem, mul, output = nodes[3:]
    # Of its two tensors only the first is taken out, and so known.
    assert var_mean.tensors == getitem.tensors
    assert getitem.shape == (1, 8)
    assert var_mean.kwargs == (("correction", "0"), ("keepdim", "True"))
    assert getitem.line == 19
    assert mul.source is None
    assert output.args == ("(mul, None)",)
    assert output.inputs == ("mul",)


def test_bodies_of_higher_order_operators() -> None:
    nodes, inner = parse_readable(NESTED)
    assert [body.name for body in inner] == ["cond_true_0", "cond_false_0"]
    assert [n.target for n in inner[0].nodes] == ["l_x_", "sin", "output"]
    assert [n.op for n in nodes] == [
        "placeholder",
        "get_attr",
        "get_attr",
        "call_function",
        "call_function",
        "output",
    ]
    assert nodes[3].inputs == ("cond_true_0", "cond_false_0", "l_x_")
    assert [n.role for n in nodes[1:3]] == ["subgraph", "subgraph"]


CHANGES = """class GraphModule(torch.nn.Module):
    def forward(self, L_x_: "f32[2][1]cpu"):
        l_x_ = L_x_

        # File: /home/me/m.py:2 in f, code: x[0] = 5
        l_x_[0] = 5;  setitem = l_x_;  setitem = None
        l_x_[slice(1, None, None)] = l_x_;  setitem_1 = l_x_;  l_x_ = setitem_1 = None

        # File: /opt/lib/python3.11/site-packages/torch/_functorch/vmap.py:7 in g, code: t(x)
        output: "f32[2][1]cpu" = _operator_abs(l_x_)
        assert output is not None
        return (output,)
"""


def test_changes_of_a_value_and_what_cannot_be_read() -> None:
    nodes, _ = parse_readable(CHANGES)
    assert [(n.name, n.target, n.args) for n in nodes[1:]] == [
        ("setitem", "operator.setitem", ("l_x_", "0", "5")),
        ("setitem_1", "operator.setitem", ("l_x_", "slice(1, None, None)", "l_x_")),
        ("output", "operator.abs", ("l_x_",)),
        ("unread", "unread", ("assert output is not None",)),
        ("output_1", "output", ("(output,)",)),
    ]
    assert nodes[1].line == 2
    assert nodes[3].source is None  # a line of torch's own


def test_annotations() -> None:
    assert parse_value("f32[4, 8*s0][s1, Max(1, s0)]cuda:1") == (
        (
            TensorSpec(
                shape=(4, "8*s0"), dtype="float32", stride=("s1", "Max(1, s0)"), device="cuda:1"
            ),
        ),
        "",
    )
    assert parse_value("Sym(s0)") == ((), "Sym(s0)")
    assert parse_value("b8[][]cpu")[0][0].shape == ()
    assert dims("") == ()


def test_text_that_is_no_graph() -> None:
    assert parse_readable("") == ((), ())
    assert parse_readable("nothing here") == ((), ())
