"""``graphlens compare TARGET``: is compiled code right, and is it faster."""

from typing import Any

import click

import graphlens.presenter as presenter
from graphlens.cli.failures import failures_of
from graphlens.cli.options import traceback_option
from graphlens.cli.target import load_target
from graphlens.model import Report
from graphlens.progress import progress_bar
from graphlens.requirements import require_torch


@click.command(short_help="Compare compiled code with eager: values, and seconds.")
@click.argument("target")
@click.option("-o", "--output", multiple=True, help="File (by suffix) or folder to write.")
@click.option("--tables", is_flag=True, help="Print every tensor's errors too, and kernels.")
@click.option("--inner", default="inductor", show_default=True, help="Backend that is compared.")
@click.option("--mode", default=None, help="As torch.compile's mode, for Inductor.")
@click.option(
    "--dynamic/--static", default=None, help="As torch.compile's dynamic=True or dynamic=False."
)
@click.option(
    "--candidate",
    "candidates",
    multiple=True,
    help="A further way to run each graph, such as aot_eager, inductor:max-autotune or onednn.",
)
@click.option("--budget", default=30.0, show_default=True, help="Seconds for all timing.")
@click.option("--epoch-steps", default=0, help="Calls of an epoch, to tell when compiling pays.")
@click.option("--accuracy/--no-accuracy", default=True, help="Whether to compare values.")
@click.option("--timing/--no-timing", default=True, help="Whether to measure times.")
@click.option("--backward/--no-backward", default=True, help="Whether backward passes count.")
@click.option("--locate/--no-locate", default=True, help="Whether to look for wrong operators.")
@click.option("--repro", default="", help="Folder for scripts that reproduce what diverges.")
@traceback_option
def compare(target: str, output: tuple[str, ...], tables: bool, **options: Any) -> None:
    """Compares what TARGET's factory returns, compiled, with eager.

    TARGET is FILE.py:FACTORY or PACKAGE.MODULE:FACTORY. The factory returns (callable, args), or
    (callable, [args, args, ...]) for several calls in order. Ctrl-C ends it early and keeps what
    was measured.
    """
    require_torch()
    for path in output:
        presenter.check_output(path)
    report = _compared(target, options)
    click.echo(str(report))
    if tables:
        for graph in report.graphs:
            for table in (presenter.accuracy_table(graph), presenter.kernel_table(graph)):
                if table:
                    click.echo("\n" + table.rstrip("\n"))
    for path in output:
        click.echo(f"wrote {presenter.save_report(report, path)}")


def _compared(target: str, given: dict[str, Any]) -> Report:
    from graphlens._torch.dynamo import lookup_backend
    from graphlens.checks.compare import compare_calls
    from graphlens.checks.compare_options import compare_options

    lookup_backend(given["inner"])  # a name that torch does not know is an error before the work
    options = compare_options(given)
    fn, calls = load_target(target)
    with failures_of(target), progress_bar() as progress:
        return compare_calls(fn, calls, options, progress)
