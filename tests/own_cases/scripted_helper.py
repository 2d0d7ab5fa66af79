"""A helper that was scripted long ago."""

import torch


class Gate(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(2, 2)

    def forward(self, x):
        return torch.sigmoid(self.lin(x))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = torch.jit.script(Gate())

    def forward(self, x):
        return x * self.gate(x) + 1


def make():
    torch.manual_seed(0)
    return Net(), [(torch.ones(1, 2),)]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "TorchScript inside",
    "graphs": 0,
    "ops_per_graph": [],
    "break_count": 1,
    "breaks": [
        {
            "line": 21,
            "kind": "torch_jit_script_freeze_modules_unsupported",
            "torch_reason": "torch.jit.script/freeze modules unsupported",
            "torch_points_to": "scripted_helper.py:21",
            "function_skipped": True,
            "times": 1,
        }
    ],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "gate is a scripted module; torch.jit.script there must go.",
    "cause": {21: "torchscript_function"},
    "versions": {
        "2.11": {
            "breaks": [
                {
                    "line": 21,
                    "kind": "unspecializednnmodulevariable_wrapped_around_scrip",
                    "torch_reason": "UnspecializedNNModuleVariable wrapped around ScriptModules unsupported",
                    "torch_points_to": "scripted_helper.py:21",
                    "function_skipped": True,
                    "times": 1,
                }
            ]
        }
    },
}
