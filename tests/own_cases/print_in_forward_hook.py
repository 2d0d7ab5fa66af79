"""A forward hook that reports the shape it sees."""

import torch


def report(module, args, output):
    print(type(module).__name__, tuple(output.shape))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 3)
        self.second = torch.nn.Linear(3, 2)

    def forward(self, x):
        return self.second(self.first(x).relu())


def make():
    torch.manual_seed(0)
    net = Net()
    net.first.register_forward_hook(report)
    return net, [(torch.ones(2, 3),), (torch.ones(2, 3),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "hooks",
    "graphs": 2,
    "ops_per_graph": [1, 2],
    "break_count": 2,
    "breaks": [
        {
            "line": 7,
            "kind": "print_call",
            "torch_reason": "Failed to trace builtin operator",
            "torch_points_to": "print_in_forward_hook.py:7",
            "function_skipped": False,
            "times": 2,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "The print stands in a hook that forward does not mention; the line that calls self.first leads to it.",
    "cause": {7: "print_call"},
    "versions": {"2.11": {"graphs": 1, "ops_per_graph": [2]}},
}
