"""One record of torch's structured trace, in the form the analysis reads."""

from typing import Any

import msgspec

from graphlens.model.base import Data


class TraceRecord(Data, frozen=True, kw_only=True):
    """What torch logged at one moment of a compilation.

    The same form serves a live run and a ``TORCH_TRACE`` file written on another machine.

    Attributes:
        kind: Torch's name of the record; for an artifact the artifact's name.
        compile_id: Such as ``0/1``; empty where torch had none.
        attempt: How often the tracing of this compilation had been started again.
        epoch: How often torch had started its compile ids anew; 0 in most runs.
        data: The record's metadata, with interned strings put back.
        payload: Its text; empty when it has none.
    """

    kind: str
    compile_id: str = ""
    attempt: int = 0
    epoch: int = 0
    data: dict[str, Any] = msgspec.field(default_factory=dict)
    payload: str = ""
