"""A full backward hook on a submodule of the compiled model."""

import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(2, 2)
        self.out = torch.nn.Linear(2, 1)

    def forward(self, x):
        return self.out(self.lin(x).tanh())


def scale(module, grad_input, grad_output):
    return tuple(g * 2 if g is not None else None for g in grad_input)


BACKWARD = True


def make():
    torch.manual_seed(0)
    net = Net()
    net.lin.register_full_backward_hook(scale)
    return net, [(torch.ones(3, 2, requires_grad=True),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "hooks",
    "graphs": 1,
    "ops_per_graph": [2],
    "break_count": 1,
    "breaks": [
        {
            "line": 13,
            "kind": "module_level_backwards_hooks_require_compiled_auto",
            "torch_reason": "Module-level backwards hooks require compiled autograd.",
            "torch_points_to": "torch/nn/modules/module.py:1829",
            "function_skipped": False,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "A full backward hook on lin, registered elsewhere, needs compiled autograd; nothing in forward names it.",
    "cause": {13: "hook"},
}
