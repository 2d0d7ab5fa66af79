"""ResNet-18 of torchvision, in inference and in training: a table and a diagram for each graph.

    python examples/resnet18.py FOLDER

The weights are random; nothing is downloaded. FOLDER then holds, for each graph, its table (.txt)
and its diagram (.svg), and a report of both runs (report.html).
"""

import argparse
from pathlib import Path

import torch
from torchvision.models import resnet18

import graphlens


def infer(images):
    model = torch.compile(
        resnet18(weights=None).eval(), backend="graphlens", options={"graphlens.show": "none"}
    )
    with torch.no_grad():
        model(images)


def train(images, labels):
    model = torch.compile(
        resnet18(weights=None), backend="graphlens", options={"graphlens.show": "none"}
    )
    torch.nn.functional.cross_entropy(model(images), labels).backward()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where tables and diagrams go")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)

    torch.manual_seed(0)
    images, labels = torch.randn(2, 3, 64, 64), torch.tensor([3, 7])
    with graphlens.record() as lens:
        infer(images)
        train(images, labels)
    report = lens.report()

    for number, graph in enumerate(report.graphs):
        stem = folder / f"{number}-{graph.stage}"
        table = graph.table(rows=None)
        stem.with_suffix(".txt").write_text(table + "\n")
        graph.save(str(stem.with_suffix(".svg")))
        print(f"{stem}.svg: {len(graph.operators)} operators")
    report.save(str(folder / "report.html"))
    print(report)


if __name__ == "__main__":
    main()
