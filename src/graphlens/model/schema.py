"""Reports as versioned JSON.

History of the schema:
    graphlens-report/1  first version.
"""

from typing import Any

import msgspec

from graphlens.errors import ReportFormatError
from graphlens.model.report import SCHEMA as SCHEMA
from graphlens.model.report import Report

_FAMILY = SCHEMA.partition("/")[0]


def to_json(report: Report) -> bytes:
    """The report as indented UTF-8 JSON; the same report always gives the same bytes."""
    return msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n"


def from_json(data: bytes, name: str = "report") -> Report:
    """Reads what `to_json` wrote, of this or an earlier schema version.

    Args:
        data: UTF-8 JSON.
        name: What to call it in an error message.

    Raises:
        ReportFormatError: It is no GraphLens report, or one of a newer version.
    """
    try:
        raw = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ReportFormatError(
            f"{name} is not JSON ({error}). Give a file written by report.save('x.json')."
        ) from error
    _check_schema(raw, name)
    try:
        return msgspec.convert(raw, Report)
    except msgspec.ValidationError as error:
        raise ReportFormatError(
            f"{name} says it is {raw['schema']}, but does not fit it: {error}. "
            "It was changed after it was written; save the report again."
        ) from error


def _check_schema(raw: Any, name: str) -> None:
    schema = raw.get("schema") if isinstance(raw, dict) else None
    if not isinstance(schema, str) or not schema.startswith(_FAMILY + "/"):
        raise ReportFormatError(
            f"{name} is JSON, but not a GraphLens report (no schema '{_FAMILY}/...'). "
            "Give a file written by report.save('x.json')."
        )
    if schema != SCHEMA:
        raise ReportFormatError(
            f"{name} has schema {schema}; this GraphLens reads {SCHEMA}. Upgrade graphlens."
        )
