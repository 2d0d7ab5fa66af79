"""Each example, run as a user runs it: as a script of its own, in an empty folder."""

import importlib.util
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

pytestmark = pytest.mark.slow


def run(name: str, folder: Path, *arguments: str) -> str:
    """What the example prints; it must end well and leave nothing in the folder it runs in."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GRAPHLENS_")}
    environment["COLUMNS"] = "140"
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning:graphlens", str(EXAMPLES / name), *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=800,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(p.name for p in folder.iterdir()) == sorted(arguments)
    return done.stdout


def line_of(name: str, text: str) -> int:
    lines = (EXAMPLES / name).read_text().splitlines()
    return next(i for i, line in enumerate(lines, 1) if line.strip() == text)


def test_quickstart_shows_a_graph_for_each_way_to_compile(tmp_path: Path) -> None:
    printed = run("quickstart.py", tmp_path)
    for function, text in (
        ("scaled_sum", "return (x + y).mean() * 2"),
        ("gelu_by_hand", "return 0.5 * x * (1 + torch.erf(x / 2**0.5))"),
        ("forward", "return self.output(gelu_by_hand(self.hidden(x))).softmax(dim=-1)"),
    ):
        assert function in printed
        assert f"quickstart.py:{line_of('quickstart.py', text)}" in printed
    for operator in ("mean", "erf", "softmax", "linear"):
        assert operator in printed


def test_graph_breaks_shows_three_graphs_and_the_line(tmp_path: Path) -> None:
    printed = run("graph_breaks.py", tmp_path)
    text = "if b.sum() < 0:"
    line = line_of("graph_breaks.py", text)
    assert len(re.findall(rf"graph_breaks\.py:{line}: {re.escape(text)}", printed)) == 1
    first, second, third = (printed.index(f"{frame}/0") for frame in (0, 1, 2))
    assert first < second < third
    assert "abs" in printed[first:second]
    assert "mul" in printed[second:]
    assert "Data-dependent branching" in printed[third:]


@pytest.mark.skipif(
    importlib.util.find_spec("torchvision") is None,
    reason="torchvision is not installed: its builds fit one build of torch only",
)
def test_resnet18_writes_a_table_and_a_diagram_for_each_graph(tmp_path: Path) -> None:
    printed = run("resnet18.py", tmp_path, "out")
    out = tmp_path / "out"
    stages = [path.stem.partition("-")[2] for path in sorted(out.glob("*.svg"))]
    assert sorted(stages) == ["backward", "dynamo", "dynamo", "forward", "inference"]
    for svg in out.glob("*.svg"):
        assert ElementTree.parse(svg).getroot().tag == "{http://www.w3.org/2000/svg}svg"
        table = svg.with_suffix(".txt").read_text()
        operators = int(re.search(rf"{svg.name}: (\d+) operators", printed).group(1))
        assert operators > 0
        assert len(table.splitlines()) > operators
    inference = next(out.glob("*-inference.txt")).read_text()
    assert inference.count("aten.convolution") == 20
    assert "layer4.1.conv2" in inference
    assert (out / "report.html").stat().st_size > 10_000
