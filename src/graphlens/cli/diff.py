"""``graphlens diff A.json B.json``: what differs between two graphs of saved reports."""

import click

import graphlens.presenter as presenter
from graphlens.analysis.graph_diff import graph_diff
from graphlens.cli.options import traceback_option
from graphlens.two_graphs import only_graph


@click.command(short_help="Compare two graphs of saved reports by structure.")
@click.argument("before")
@click.argument("after")
@click.option("--graph", "name", default="", help="Compile id or id of the graph in both.")
@click.option("--other", default="", help="Id of the second graph, where it is another.")
@click.option("-o", "--output", multiple=True, help="File to write: .svg, .txt or .json.")
@click.option("--context", default=3, show_default=True, help="Equal nodes around a difference.")
@click.option("--exit-code", is_flag=True, help="End with 1 where the graphs differ.")
@traceback_option
def diff(
    before: str, after: str, name: str, other: str, output: tuple[str, ...], context: int,
    exit_code: bool,
) -> int:  # fmt: skip
    """Compares a graph of BEFORE with one of AFTER, both saved by report.save("x.json").

    Nodes are matched by operator, arguments, shapes, module and line, and by what they are fed by
    and feed; their names play no part. BEFORE and AFTER may be one report, with --graph
    0/0.dynamo --other 0/0.inference.
    """
    one = only_graph(presenter.load(before), name)
    two = only_graph(presenter.load(after), other or name)
    found = graph_diff(one, two)
    click.echo(found.text(context=context).rstrip("\n"))
    for path in output:
        click.echo(f"wrote {presenter.save_diff(found, path)}")
    return int(exit_code and not found.is_same)
