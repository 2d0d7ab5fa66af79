"""How a report says that something could not be had."""

import msgspec


class Unavailable(msgspec.Struct, frozen=True, tag="unavailable", tag_field="kind"):
    """Stands where a value would stand, and says why there is none.

    A count that is unavailable is never 0, and a list that is unavailable is never empty:
    both would claim something that was not measured.

    Attributes:
        reason: One sentence for the user, naming what to change to get the value.
    """

    reason: str

    def __str__(self) -> str:
        return f"unavailable: {self.reason}"
