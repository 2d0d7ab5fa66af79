"""The base of all report data."""

import msgspec


class Data(msgspec.Struct, gc=False, frozen=True, kw_only=True):
    """A frozen record that converts to and from JSON; fields are passed by name.

    Frozen data has no cycles, so the garbage collector need not look at it (``gc=False``): a report
    of 10,000 nodes is drawn a third faster.

    Subclasses repeat ``frozen=True, kw_only=True``: msgspec does not inherit the latter, and
    type checkers do not the former.
    """
