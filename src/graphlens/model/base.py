"""The base of all report data."""

import msgspec


class Data(msgspec.Struct, frozen=True, kw_only=True):
    """A frozen record that converts to and from JSON; fields are passed by name.

    Subclasses repeat ``frozen=True, kw_only=True``: msgspec does not inherit the latter, and
    type checkers do not the former.
    """
