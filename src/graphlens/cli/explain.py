"""``graphlens explain TARGET``: graphs, breaks and recompiles, without generating code."""

from typing import Any

import click

from graphlens import presenter
from graphlens.cli.target import load_target
from graphlens.errors import GraphLensError, UserProgramError
from graphlens.model import Report
from graphlens.requirements import require_torch


@click.command(short_help="Show graphs and breaks of a function; generates no code.")
@click.argument("target")
@click.option("-o", "--output", multiple=True, help="File (by suffix) or folder to write.")
@click.option("--tables", is_flag=True, help="Print every graph's table too.")
@click.option(
    "--dynamic/--static", default=None, help="As torch.compile's dynamic=True or dynamic=False."
)
@click.option("--inner", default="eager", show_default=True, help="Backend that runs the graphs.")
def explain(
    target: str, output: tuple[str, ...], tables: bool, dynamic: bool | None, inner: str
) -> None:
    """Captures what TARGET's factory returns, and prints what Dynamo made of it.

    TARGET is FILE.py:FACTORY or PACKAGE.MODULE:FACTORY. The factory returns (callable, args), or
    (callable, [args, args, ...]) for several calls in order.
    """
    require_torch()
    keywords = {} if dynamic is None else {"dynamic": dynamic}
    report = _explained(target, inner, keywords)
    click.echo(str(report))
    if tables:
        for graph in report.graphs:
            click.echo("\n" + graph.table())
    for path in output:
        click.echo(f"wrote {presenter.save_report(report, path)}")


def _explained(target: str, inner: str, keywords: dict[str, Any]) -> Report:
    from graphlens.capture.explain import explain_calls
    from graphlens.capture.options import lens_options

    options = lens_options({"show": "none", "inner": inner})
    fn, calls = load_target(target)
    try:
        return explain_calls(fn, calls, options, keywords)
    except GraphLensError:
        raise
    except Exception as error:
        found = getattr(error, "graphlens_report", None)
        if found is not None:
            click.echo(str(found))
        raise UserProgramError(
            f"{target} raised {type(error).__name__}: {str(error).strip().splitlines()[0]} "
            "(--traceback before the command shows where)"
        ) from error
