"""The middle member of an nn.Sequential takes out a number."""

import torch


class Normalise(torch.nn.Module):
    def forward(self, x):
        return x / x.abs().max().item()


def make():
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(2, 2), Normalise(), torch.nn.Tanh())
    return net, [(torch.ones(1, 2),), (torch.ones(1, 2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "skipped frames",
    "graphs": 2,
    "ops_per_graph": [2, 1],
    "break_count": 2,
    "breaks": [
        {
            "line": 8,
            "kind": "tensor_to_python_number",
            "torch_reason": "Unsupported Tensor.item() call with capture_scalar_outputs=False",
            "torch_points_to": "sequential_member_breaks.py:8",
            "function_skipped": False,
            "times": 2,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "item() in Normalise is the cause; the loop over the members is torch's own code and no line of the user's.",
    "cause": {8: "tensor_to_python_number"},
}
