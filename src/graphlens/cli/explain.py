"""``graphlens explain TARGET``: graphs, breaks and recompiles, and on request a kernel."""

from typing import Any

import click

import graphlens.presenter as presenter
from graphlens.cli.failures import failures_of
from graphlens.cli.options import traceback_option
from graphlens.cli.target import load_target
from graphlens.model import Report
from graphlens.requirements import require_torch


@click.command(short_help="Show graphs and breaks of a function, or one kernel of it.")
@click.argument("target")
@click.option("-o", "--output", multiple=True, help="File (by suffix) or folder to write.")
@click.option("--map", "shows_map", is_flag=True, help="Print the map of the program too.")
@click.option("--trees", is_flag=True, help="Print every graph as a tree of modules too.")
@click.option("--tables", is_flag=True, help="Print every graph's table too.")
@click.option(
    "--dynamic/--static", default=None, help="As torch.compile's dynamic=True or dynamic=False."
)
@click.option("--inner", help="Backend that runs the graphs: eager, with --kernel inductor.")
@click.option(
    "--kernel",
    metavar="NAME",
    help="Generate code, and print one kernel beside the lines it comes from; NAME:3 is one call.",
)
@click.option(
    "--try-advice",
    is_flag=True,
    help="Capture again with each switch and rewrite that is advised, and say what it gives.",
)
@traceback_option
def explain(
    target: str,
    output: tuple[str, ...],
    shows_map: bool,
    trees: bool,
    tables: bool,
    dynamic: bool | None,
    inner: str | None,
    kernel: str | None,
    try_advice: bool,
) -> None:
    """Captures what TARGET's factory returns, and prints what Dynamo made of it.

    No code is generated, except with --kernel.

    TARGET is FILE.py:FACTORY or PACKAGE.MODULE:FACTORY. The factory returns (callable, args), or
    (callable, [args, args, ...]) for several calls in order.
    """
    require_torch()
    for path in output:
        presenter.check_output(path)
    keywords = {} if dynamic is None else {"dynamic": dynamic}
    inner = inner or ("inductor" if kernel else "eager")
    # A cache's answer lacks why kernels were not fused; what the C++ compiler built is used again.
    anew = {"options": {"fx_graph_cache": False}} if inner == "inductor" else {}
    report = _explained(target, inner, keywords, try_advice, anew)
    click.echo(presenter.kernel(report, kernel).rstrip("\n") if kernel else str(report))
    _more(report, shows_map, trees, tables)
    for path in output:
        click.echo(f"wrote {presenter.save_report(report, path)}")


def _more(report: Report, shows_map: bool, trees: bool, tables: bool) -> None:
    if shows_map:
        click.echo("\n" + presenter.text_of(report, "map_text"))
    if trees:
        click.echo("\n" + presenter.text_of(report, "tree"))
    for graph in report.graphs if tables else ():
        for text in (graph.table(), presenter.kernel_table(graph)):
            if text:
                click.echo("\n" + text.rstrip("\n"))


def _explained(
    target: str,
    inner: str,
    keywords: dict[str, Any],
    try_advice: bool,
    inner_keywords: dict[str, Any],
) -> Report:
    from graphlens._torch.dynamo import lookup_backend
    from graphlens.capture.explain import explain_calls
    from graphlens.capture.options import lens_options

    lookup_backend(inner)  # a name that torch does not know is an error before the work
    options = lens_options({"show": "none", "inner": inner})
    fn, calls = load_target(target)
    with failures_of(target):
        return explain_calls(fn, calls, options, keywords, try_advice, inner_keywords)
