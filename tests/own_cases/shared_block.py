"""One block called twice; it breaks both times."""

import torch


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(2, 2)

    def forward(self, x):
        y = self.lin(x)
        torch._dynamo.graph_break()
        return y.relu()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block(self.block(x)) + 1


def make():
    torch.manual_seed(0)
    return Net(), [(torch.ones(1, 2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "many graphs",
    "graphs": 4,
    "ops_per_graph": [1, 1, 1, 1],
    "break_count": 4,
    "breaks": [
        {
            "line": 13,
            "kind": "explicit_graph_break",
            "torch_reason": "Call to `torch._dynamo.graph_break()`",
            "torch_points_to": "shared_block.py:13",
            "function_skipped": False,
            "times": 4,
        }
    ],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 0,
            "function": "forward",
            "at": "shared_block.py:11",
            "guard": "tensor 'x' requires_grad mismatch. expected requires_grad=0",
            "cause": "requires_grad",
            "line": None,
            "reasons_listed": 1,
        }
    ],
    "notes": "The break was put there by hand; it counts twice because the block is called twice.",
    "cause": {13: "explicit_graph_break"},
}
