"""A submodule is wrapped in torch.compiler.disable with a reason."""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(3, 3)
        self.head = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Tanh())

    def forward(self, x):
        y = self.lin(x).sigmoid()
        return self.head(y) * 2


def compile_with(target, compile):
    target.head = torch.compiler.disable(target.head, reason="its sizes never repeat")
    return compile(target)


def make():
    torch.manual_seed(0)
    return Net(), [(torch.ones(1, 3),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "torch.compiler.disable",
    "graphs": 2,
    "ops_per_graph": [2, 1],
    "break_count": 1,
    "breaks": [
        {
            "line": 14,
            "kind": "unsupported_function_call_delayed",
            "torch_reason": "Unsupported function call (delayed)",
            "torch_points_to": "disabled_submodule.py:14",
            "function_skipped": False,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "The reason that was given to disable says why; forward's line does not show that head is disabled.",
    "cause": {14: "disabled_function"},
}
