"""The command line: one error becomes one message with the next step, and an exit code."""

import sys
from collections.abc import Sequence

import click

from graphlens.cli.demo import demo
from graphlens.cli.doctor import doctor
from graphlens.cli.explain import explain
from graphlens.errors import GraphLensError
from graphlens.version import __version__

EPILOG = (
    "Exit codes: 0 fine, 1 a finding that was asked to fail, 2 wrong usage, "
    "3 the inspected program failed."
)


@click.group(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="graphlens")
@click.option("--traceback", is_flag=True, help="Show Python's traceback of an error.")
@click.pass_context
def cli(context: click.Context, traceback: bool) -> None:
    """See what torch.compile did to a program."""
    context.obj = {"traceback": traceback}


cli.add_command(demo)
cli.add_command(doctor)
cli.add_command(explain)


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the ``graphlens`` command."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        code = cli.main(given, prog_name="graphlens", standalone_mode=False)
    except GraphLensError as error:
        if "--traceback" in given:
            raise
        click.echo(f"graphlens: {error}", err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo("graphlens: interrupted", err=True)
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)
