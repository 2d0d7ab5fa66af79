"""Recompiles from torch's ``recompile_reasons`` records.

The payload is one reason, or a JSON list of reasons, newest cache entry first
(``torch._dynamo.guards.get_and_maybe_log_recompilation_reasons``; torch 2.11 to 2.14).
"""

import json
import re

from graphlens.model import GuardFailure, SourceLocation, TraceRecord

KIND = "recompile_reasons"

_REASON = re.compile(r"^(?P<failed>\d+/\d+): (?P<guard>.*)$", re.S)
_MISMATCH = re.compile(
    r"^tensor '(?P<source>.*?)' (?P<what>.*?)(?: mismatch)?(?: at index (?P<index>\d+))?\. "
    r"expected (?P<expected>.*?), actual (?P<actual>.*)$"
)
_EQUALITY = re.compile(r"^(?P<source>[^=!<>]+?) == (?P<expected>.+)$")
_COMMENT = re.compile(r"\s+# (?P<comment>.*)$", re.S)
_USER_LINE = re.compile(r"(?P<code>.*?)\s+# (?P<file>\S+?):(?P<line>\d+) in (?P<function>\S+)")


def parse_causes(record: TraceRecord, file: str = "") -> tuple[GuardFailure, ...]:
    """One guard failure for each cache entry torch lists.

    Args:
        record: A record of the kind above.
        file: The compiled function's, of which torch quotes only the last part.
    """
    payload = record.payload.strip()
    if payload.startswith("["):
        reasons = [str(reason) for reason in json.loads(payload)]
    else:
        reasons = re.split(r"\n(?=\d+/\d+: )", payload)
    return tuple(_cause(reason, file) for reason in reasons if reason.strip())


def _cause(reason: str, file: str) -> GuardFailure:
    match = _REASON.match(reason.strip())
    failed, text = (match["failed"], match["guard"]) if match else ("", reason.strip())
    commented = _COMMENT.search(text)
    guard = text[: commented.start()].strip() if commented else text.strip()
    source, expected, actual = _terms(guard)
    return GuardFailure(
        failed=failed,
        guard=guard,
        source=source,
        expected=expected,
        actual=actual,
        user_line=_user_line(commented["comment"], file) if commented else None,
    )


def _terms(guard: str) -> tuple[str, str, str]:
    mismatch = _MISMATCH.match(guard)
    if mismatch:
        what = mismatch["what"]
        where = f"{what} at index {mismatch['index']}" if mismatch["index"] else what
        return f"{mismatch['source']} ({where})", mismatch["expected"], mismatch["actual"]
    equality = _EQUALITY.match(guard)
    if equality:
        return equality["source"], equality["expected"], ""
    return "", "", ""


def _user_line(comment: str, file: str) -> SourceLocation | None:
    match = _USER_LINE.search(comment)
    if match is None:
        return None
    return SourceLocation(
        file=file if file.endswith(match["file"]) else match["file"],
        line=int(match["line"]),
        function=match["function"],
        code=match["code"].strip(),
    )
