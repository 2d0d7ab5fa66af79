"""One data-dependent `if` makes three graphs out of one function.

    python examples/graph_breaks.py

Prints the three graphs as tables, and the break with the line that caused it. A branch is compiled
when it is first taken, so the function is called once for each side of the `if`.
"""

import torch

import graphlens


def toy(a, b):
    x = a / (torch.abs(a) + 1)
    if b.sum() < 0:
        b = b * -1
    return x * b


def main():
    a, b = torch.randn(10), torch.ones(10)

    with graphlens.record() as lens:
        compiled = torch.compile(toy, backend="graphlens", options={"graphlens.show": "none"})
        compiled(a, b)  # up to the `if`, then the part after it
        compiled(a, -b)  # and the part that begins inside it
    report = lens.report()

    for graph in report.graphs:
        if graph.stage == "dynamo":
            print(graph.table(), end="\n\n")
    for found in report.breaks:
        print(f"{found.file}:{found.line}: {found.code}")
        print(f"  {found.kind}: {found.explanation}")
        for advice in found.advice:
            print(f"  - {advice}")


if __name__ == "__main__":
    main()
