"""``graphlens doctor``: what this machine and this torch can and cannot do."""

import platform
import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, entry_points, version
from typing import NamedTuple

import click
from tabulate import tabulate

from graphlens.errors import GraphLensError
from graphlens.requirements import OLDEST_TORCH, require_torch
from graphlens.version import __version__

OPTIONAL = {
    "torchvision": "the demo's ResNet-18 and examples/resnet18.py: pip install torchvision",
    "transformers": "the tests on BERT and GPT-2: pip install transformers",
    "triton": "GPU kernels: comes with torch's CUDA build on Linux",
}


class Row(NamedTuple):
    """One thing looked at."""

    name: str
    state: str
    detail: str


@click.command(short_help="Say what this machine and this torch can and cannot do.")
def doctor() -> int:
    """Looks at Python, torch, compilers, devices and the parts of torch GraphLens relies on.

    Exits with 1 when something is missing that GraphLens needs.
    """
    rows = list(_rows())
    click.echo(
        tabulate(rows, headers=("what", "state", "found, or what to do"), maxcolwidths=[36, 8, 72])
    )
    missing = [row.name for row in rows if row.state == "missing"]
    click.echo(
        f"\nMissing: {', '.join(missing)}." if missing else "\nAll that GraphLens needs is there."
    )
    return 1 if missing else 0


def _rows() -> Iterator[Row]:
    yield Row("GraphLens", "ok", __version__)
    yield Row("Python", "ok", f"{platform.python_version()} on {platform.machine()}")
    try:
        require_torch()
    except GraphLensError as error:
        yield Row("torch", "missing", str(error))
        return
    yield from _torch_rows()
    yield from _entry_point_rows()
    for name, use in OPTIONAL.items():
        yield _package_row(name, use)
    yield _dot_row()


def _torch_rows() -> Iterator[Row]:
    import torch

    from graphlens._torch.inductor import find_cpp_compiler
    from graphlens._torch.probes import run_probes

    yield Row("torch", "ok", f"{torch.__version__} ({OLDEST_TORCH} or newer is needed)")
    try:
        yield Row("C++ compiler for Inductor", "ok", find_cpp_compiler())
    except GraphLensError as error:
        yield Row("C++ compiler for Inductor", "missing", str(error))
    if torch.cuda.is_available():
        yield Row("GPU", "ok", torch.cuda.get_device_name(0))
    else:
        yield Row("GPU", "none", "torch sees no CUDA device; graphs are compiled for the CPU")
    for probe in run_probes():
        state = "ok" if probe.ok else "missing"
        yield Row(f"torch: {probe.name}", state, f"{probe.detail}; seen on {probe.seen_on}")


def _entry_point_rows() -> Iterator[Row]:
    names = {entry.name for entry in entry_points(group="torch_dynamo_backends")}
    if {"graphlens", "graphlens_eager", "graphlens_aot_eager"} <= names:
        yield Row("backend='graphlens'", "ok", "registered with torch by name")
    else:
        yield Row(
            "backend='graphlens'",
            "missing",
            f"reinstall: {sys.executable} -m pip install graphlens",
        )


def _package_row(name: str, use: str) -> Row:
    try:
        return Row(name, "ok", version(name))
    except PackageNotFoundError:
        return Row(name, "none", f"needed only for {use}")


def _dot_row() -> Row:
    dot = shutil.which("dot")
    return Row(
        "dot (Graphviz)",
        "ok" if dot else "none",
        dot or "not needed: diagrams are drawn without it",
    )
