"""``graphlens demo``: inspects a real model and writes a report."""

import os
import warnings
from collections.abc import Callable
from typing import Any

import click

import graphlens.presenter as presenter
from graphlens.cli.failures import described
from graphlens.cli.options import traceback_option
from graphlens.errors import GraphLensError, UserProgramError
from graphlens.requirements import require_torch

FOLDER = "graphlens-out"


@click.command(short_help="Inspect a real model and write graphlens-out/report.html.")
@click.option("-o", "--output", default=FOLDER, show_default=True, help="Folder to write.")
@click.option("--inner", default="inductor", show_default=True, help="Backend that compiles.")
@traceback_option
def demo(output: str, inner: str) -> None:
    """Compiles a training step of ResNet-18 and writes what torch.compile did to it."""
    require_torch()
    presenter.check_folder(output)
    # Lowered anew each time, so that the graphs have their modules; built kernels are still used.
    os.environ.setdefault("TORCHINDUCTOR_AUTOGRAD_CACHE", "0")
    name, step = _model_step()
    click.echo(f"Compiling a training step of {name} with backend={inner!r} ...")
    report = _recorded(step, inner)
    click.echo(str(report))
    folder = presenter.save_report(report, output.rstrip("/") + "/")
    click.echo(f"\nwrote {folder}report.html, report.json, report.svg and a diagram of each graph")


def _recorded(step: Callable[[str], None], inner: str) -> Any:
    from graphlens._torch.dynamo import lookup_backend
    from graphlens._torch.inductor import find_cpp_compiler
    from graphlens.capture.process import record

    if inner == "inductor":
        find_cpp_compiler()
    else:
        lookup_backend(inner)
    with record() as lens:
        try:
            step(inner)
        except GraphLensError:
            raise
        except Exception as error:
            raise UserProgramError(
                f"The demo's model raised {described(error)}. "
                "`graphlens doctor` says what is missing."
            ) from error
    return lens.report()


def _model_step() -> tuple[str, Callable[[str], None]]:
    import torch

    try:
        from torchvision.models import resnet18
    except ImportError:
        layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
        return "a small transformer encoder", _training_step(
            torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False),
            torch.randn(2, 16, 64),
        )
    return "ResNet-18", _training_step(resnet18(weights=None), torch.randn(2, 3, 64, 64))


def _training_step(model: Any, example: Any) -> Callable[[str], None]:
    import torch

    from graphlens.backends import backend

    def step(inner: str) -> None:
        compiled: Any = torch.compile(model.train(), backend=backend(inner, show="none"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loss = compiled(example).square().mean()
            loss.backward()

    return step
