"""What a reader of a report should act on, most worth fixing first, in one form for all formats.

A break that is met at several depths, or for which a whole function runs eager, is one finding at
the user's line.
"""

from graphlens.renderers.findings.finding import (
    BREAK,
    EAGER,
    FAILED,
    INTENDED,
    NEVER_PAYS,
    NOT_COMPARABLE,
    PRECISION,
    RECOMPILE,
    SLOWER,
    WRONG,
    CodeLine,
    Finding,
    Remedy,
)
from graphlens.renderers.findings.ranked import findings

__all__ = [
    "BREAK",
    "EAGER",
    "FAILED",
    "INTENDED",
    "NEVER_PAYS",
    "NOT_COMPARABLE",
    "PRECISION",
    "RECOMPILE",
    "SLOWER",
    "WRONG",
    "CodeLine",
    "Finding",
    "Remedy",
    "findings",
]
