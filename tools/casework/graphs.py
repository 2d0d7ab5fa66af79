"""The graphs of a case, captured and lowered, as JSON."""

from pathlib import Path
from typing import Any

import msgspec

from casework.facts import capture


def run(path: Path, backend: str, options: dict[str, object]) -> dict[str, Any]:
    """Captures the case in this process."""
    report, _, ended = capture(path, backend, options)
    return {"ended": ended, "graphs": msgspec.json.encode(report.graphs).decode()}
