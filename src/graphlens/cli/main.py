"""The command line: one error becomes one message with the next step, and an exit code."""

import io
import sys
from collections.abc import Sequence

import click

from graphlens.cli.compare import compare
from graphlens.cli.demo import demo
from graphlens.cli.diff import diff
from graphlens.cli.doctor import doctor
from graphlens.cli.explain import explain
from graphlens.cli.options import TRACEBACK, traceback_option
from graphlens.cli.preview import preview
from graphlens.errors import GraphLensError, UserProgramError
from graphlens.version import __version__

EPILOG = (
    "Exit codes: 0 fine, 1 a finding that was asked to fail, 2 wrong usage, "
    "3 the inspected program failed."
)


@click.group(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="graphlens")
@traceback_option
def cli() -> None:
    """See what torch.compile did to a program."""


cli.add_command(compare)
cli.add_command(demo)
cli.add_command(diff)
cli.add_command(doctor)
cli.add_command(explain)
cli.add_command(preview)


def main(arguments: Sequence[str] | None = None) -> None:
    """Entry point of the ``graphlens`` command."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a sign that it cannot show becomes "?"
            stream.reconfigure(errors="replace")
    try:
        code = cli.main(given, prog_name="graphlens", standalone_mode=False)
    except GraphLensError as error:
        if TRACEBACK in given:
            raise
        click.echo(f"graphlens: {error}", err=True)
        if isinstance(error, UserProgramError):
            click.echo(f"{TRACEBACK} shows Python's traceback.", err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo("graphlens: interrupted", err=True)
        sys.exit(130)
    sys.exit(code if isinstance(code, int) else 0)
