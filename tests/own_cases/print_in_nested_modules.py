"""Two of three nested blocks print what they see."""

import torch


class Block(torch.nn.Module):
    def __init__(self, loud):
        super().__init__()
        self.lin = torch.nn.Linear(2, 2)
        self.loud = loud

    def forward(self, x):
        y = self.lin(x)
        if self.loud:
            print("block", tuple(y.shape))
        return y.tanh()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(True), Block(False), Block(True)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def make():
    torch.manual_seed(0)
    return Net(), [(torch.ones(1, 2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "printing/logging",
    "graphs": 4,
    "ops_per_graph": [1, 1, 2, 1],
    "break_count": 3,
    "breaks": [
        {
            "line": 15,
            "kind": "print_call",
            "torch_reason": "Failed to trace builtin operator",
            "torch_points_to": "print_in_nested_modules.py:15",
            "function_skipped": True,
            "times": 3,
        }
    ],
    "recompile_count": 2,
    "recompiles": [
        {
            "call": 0,
            "function": "forward",
            "at": "print_in_nested_modules.py:12",
            "guard": "tensor 'x' requires_grad mismatch. expected requires_grad=0",
            "cause": "requires_grad",
            "line": None,
            "reasons_listed": 1,
        },
        {
            "call": 0,
            "function": "forward",
            "at": "print_in_nested_modules.py:12",
            "guard": "self.loud == False",
            "cause": "attribute_value",
            "line": 14,
            "reasons_listed": 2,
        },
    ],
    "notes": "One print in Block, in a loop over the blocks: Net.forward is given up and each block compiled by itself, where the switch loud and requires_grad of x cost recompiles.",
    "cause": {15: "print_call"},
}
