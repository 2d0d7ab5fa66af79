"""One method of a module is kept out of compilation."""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(3, 3)
        self.calls = 0

    @torch.compiler.disable
    def counted(self, x):
        self.calls += 1
        return x + self.calls

    def forward(self, x):
        return self.counted(self.lin(x)).relu()


def make():
    torch.manual_seed(0)
    return Net(), [(torch.ones(1, 3),), (torch.ones(1, 3),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "torch.compiler.disable",
    "graphs": 2,
    "ops_per_graph": [1, 1],
    "break_count": 1,
    "breaks": [
        {
            "line": 18,
            "kind": "skip_inlining_torch_compiler_disable_d_function",
            "torch_reason": "Skip inlining `torch.compiler.disable()`d function",
            "torch_points_to": "disabled_method.py:18",
            "function_skipped": False,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "The break is asked for: disable on counted. Removing the decorator is the only way to have one graph.",
    "cause": {18: "disabled_function"},
}
