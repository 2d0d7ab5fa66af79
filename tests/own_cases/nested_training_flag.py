"""Only the dropout of a nested block is switched to eval."""

import torch


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = torch.nn.Dropout(0.5)
        self.lin = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.lin(self.drop(x))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.ModuleDict({"left": Block(), "right": Block()})

    def forward(self, x):
        return self.body["left"](x) + self.body["right"](x)


def before_call(i, target):
    target.body["right"].drop.train(i == 0)


def make():
    torch.manual_seed(0)
    return Net(), [(torch.ones(1, 3),), (torch.ones(1, 3),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "BatchNorm and train/eval",
    "graphs": 2,
    "ops_per_graph": [5, 5],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 1,
    "recompiles": [
        {
            "call": 1,
            "function": "forward",
            "at": "nested_training_flag.py:21",
            "guard": "self._modules['body']._modules['right']._modules['drop'].training == True",
            "cause": "training_flag",
            "line": 22,
            "used_at": 13,
            "reasons_listed": 1,
        }
    ],
    "notes": "The flag that changed is body.right.drop.training, deep in the model.",
    "cause": {},
}
