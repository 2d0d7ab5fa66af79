"""Compares a small transformer block on a CUDA device, and prints its kernels with their times.

    python tools/gpu_check.py

Part of `make gpu-check`. Without a CUDA device it says so, and that is all.
"""

import sys

import torch

import graphlens
from graphlens import presenter


def main() -> int:
    """Prints the summary and the kernel tables; 1 where results diverge."""
    if not torch.cuda.is_available():
        print("No CUDA device: nothing was run. `graphlens preview` shows the kernels without one.")
        return 0
    torch.manual_seed(0)
    block = torch.nn.TransformerEncoderLayer(256, 8, 1024, dropout=0.0, batch_first=True).cuda()
    report = graphlens.compare(block, budget=30.0)(torch.randn(16, 128, 256, device="cuda"))
    print(report)
    for graph in report.graphs:
        table = presenter.kernel_table(graph, width=160)
        if table:
            print("\n" + table)
    return int(getattr(report.accuracy, "verdict", "") == "diverges")


if __name__ == "__main__":
    sys.exit(main())
