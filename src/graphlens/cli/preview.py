"""``graphlens preview TARGET``: the kernels that a GPU would run, without the GPU."""

from typing import Any

import click

import graphlens.presenter as presenter
from graphlens.analysis.targets import TARGETS, target_json
from graphlens.cli.failures import failures_of
from graphlens.cli.options import traceback_option
from graphlens.cli.target import load_target
from graphlens.model import Report
from graphlens.progress import progress_bar
from graphlens.requirements import require_torch

_KNOWN = ", ".join(TARGETS)


def _print_target(context: click.Context, _: click.Parameter, name: str | None) -> None:
    if name is None or context.resilient_parsing:
        return
    from graphlens.checks.preview_options import target_named

    click.echo(target_json(target_named(name)), nl=False)
    context.exit()


@click.command(short_help="Show the kernels a GPU would run, without the GPU.")
@click.argument("target")
@click.option(
    "--target",
    "gpu",
    default="h100",
    show_default=True,
    help=f"The GPU: {_KNOWN}, or a .json file with a GPU's properties.",
)
@click.option(
    "--print-target",
    metavar="GPU",
    callback=_print_target,
    is_eager=True,
    expose_value=False,
    help="Print a GPU's properties as a file to start from, and stop.",
)
@click.option("-o", "--output", multiple=True, help="File (by suffix) or folder to write.")
@click.option("--tables", is_flag=True, help="Print every kernel, with registers and the like.")
@click.option(
    "--programs", is_flag=True, help="Print the GPU's and the CPU's program side by side."
)
@click.option(
    "--dynamic/--static", default=None, help="As torch.compile's dynamic=True or dynamic=False."
)
@click.option("--backward/--no-backward", default=True, help="Whether backward passes count.")
@click.option(
    "--numerics/--no-numerics",
    default=True,
    help="Whether to run the program in Triton's interpreter and compare it with eager.",
)
@click.option(
    "--budget", default=60.0, show_default=True, help="Seconds for the interpreter, a graph."
)
@click.option(
    "--all-configs/--first-config",
    default=True,
    help="Whether to compile all configurations of a kernel, or the first only.",
)
@traceback_option
def preview(
    target: str, gpu: str, output: tuple[str, ...], tables: bool, programs: bool, **options: Any
) -> None:
    """Generates and compiles the Triton program of what TARGET's factory returns.

    TARGET is FILE.py:FACTORY or PACKAGE.MODULE:FACTORY. The factory returns (callable, args), or
    (callable, [args, args, ...]) for several calls in order; all on the CPU.
    """
    require_torch()
    for path in output:
        presenter.check_output(path)
    report = _previewed(target, {"target": gpu, **options})
    click.echo(str(report))
    for graph in report.graphs:
        texts = [presenter.gpu_table(graph, report.target)] if tables else []
        texts += [presenter.program_pairs(graph, report.target)] if programs else []
        for text in texts:
            if text:
                click.echo("\n" + text.rstrip("\n"))
    for path in output:
        click.echo(f"wrote {presenter.save_report(report, path)}")


def _previewed(target: str, given: dict[str, Any]) -> Report:
    from graphlens.checks.preview import preview_calls, require_triton
    from graphlens.checks.preview_options import preview_options

    options = preview_options(given)  # a wrong option is an error before the work
    require_triton()
    fn, calls = load_target(target)
    with failures_of(target), progress_bar() as progress:
        return preview_calls(fn, calls, options, progress)
