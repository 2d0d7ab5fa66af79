"""What a person can do about a finding, and what came of trying it."""

from graphlens.model.base import Data
from graphlens.model.unavailable import Unavailable

NOT_TRIED = Unavailable("not tried; graphlens.explain(fn, try_advice=True)(...) tries it")


class Counts(Data, frozen=True, kw_only=True):
    """What a capture gave, in numbers.

    Attributes:
        breaks: Graph breaks, each place once.
        graphs: Graphs that Dynamo captured and kept.
        recompiles: Compilations after a frame's first.
        eager_frames: Functions that torch gave up on.
    """

    breaks: int
    graphs: int
    recompiles: int
    eager_frames: int


class Trial(Data, frozen=True, kw_only=True, tag="trial", tag_field="kind"):
    """A capture with a fix beside one without it, with the same calls.

    Attributes:
        before: Without it.
        after: With it.
        helps: Whether the finding it is for is gone, and nothing came in its place.
    """

    before: Counts
    after: Counts
    helps: bool


class Fix(Data, frozen=True, kw_only=True):
    """Something that can be done as it stands.

    Attributes:
        kind: ``switch`` (a setting), ``annotation`` (a call that marks something) or ``rewrite``
            (lines of the user's file).
        title: What it does, in one line.
        code: What to write, for a switch or an annotation; empty for a rewrite.
        diff: Unified diff that applies to the user's file; empty where there is none.
        caution: What it changes besides; empty when nothing.
        trial: What capturing again with it gave, or why that was not done.
    """

    kind: str
    title: str
    code: str = ""
    diff: str = ""
    caution: str = ""
    trial: Trial | Unavailable = NOT_TRIED
