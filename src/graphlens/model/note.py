"""Remarks on a report."""

from graphlens.model.base import Data


class Note(Data, frozen=True, kw_only=True):
    """Something a reader of the report must know.

    Attributes:
        code: Short stable name, such as ``probe-failed``.
        message: What was found.
        hint: The next step; empty when there is none.
    """

    code: str
    message: str
    hint: str = ""
