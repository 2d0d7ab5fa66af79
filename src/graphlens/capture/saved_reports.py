"""Writing the report of a call to a folder, also where the call raises."""

from collections.abc import Callable

from graphlens.model import Report
from graphlens.model.presentation import presenter


def saved(make: Callable[[], Report], out: str) -> Report:
    """Makes a report and writes it.

    Args:
        make: Gives the report, or raises with the report so far as the error's
            ``graphlens_report``.
        out: The folder; empty where nothing is written.

    Raises:
        BaseException: What ``make`` raises.
        OutputError: The folder cannot be written.
    """
    try:
        report = make()
    except BaseException as error:
        if out and hasattr(error, "graphlens_report"):
            presenter().save_report(error.graphlens_report, out + "/")
        raise
    if out:
        presenter().save_report(report, out + "/")
    return report
