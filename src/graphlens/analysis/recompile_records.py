"""Guard failures from torch's ``recompile_reasons`` records.

The payload is one reason, or a JSON list of reasons, newest cache entry first
(``torch._dynamo.guards.get_and_maybe_log_recompilation_reasons``; torch 2.11 to 2.14). What a live
run sees besides, `graphlens._torch.guards` puts beside it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from graphlens.analysis.guard_subjects import KEYWORDS, Speaker
from graphlens.analysis.guard_terms import NOT_THERE, GuardTerms, guard_terms, matter
from graphlens.analysis.places import user_frame
from graphlens.analysis.stacks import parse_stack
from graphlens.model import Difference, GuardFailure, SourceLocation, TraceRecord

KIND = "recompile_reasons"

_REASON = re.compile(r"^(?P<failed>(?:!\d+/)?\d+/\d+): (?P<guard>.*)$", re.S)
_USER_LINE = re.compile(r"(?P<code>.*?)\s+# (?P<file>\S+?):(?P<line>\d+) in (?P<function>\S+)")
_STACK = "\nUser stack trace:\n"


def listed_reasons(payload: str) -> tuple[tuple[str, str], ...]:
    """Each reason as (compile id of the cache entry, guard), without torch's comment on it."""
    return tuple((failed, _parts(text)[0]) for failed, text in _reasons(payload))


def seen_by_entry(record: TraceRecord) -> dict[str, tuple[GuardTerms, ...]]:
    """All that failed, by cache entry; empty where nothing was seen live.

    A tensor of another size has other strides too; these are left out.
    """
    entries: Mapping[str, Sequence[Mapping[str, Any]]] = record.data.get("seen") or {}
    result: dict[str, tuple[GuardTerms, ...]] = {}
    for failed, found in entries.items():
        if len(found) < 2:
            result[failed] = tuple(GuardTerms(**terms) for terms in found)
            continue
        resized = {
            terms["source"] for terms in found if terms["aspect"].startswith(("dimension", "rank"))
        }
        result[failed] = tuple(
            GuardTerms(**terms)
            for terms in found
            if not (terms["aspect"].startswith("stride") and terms["source"] in resized)
        )
    return result


def parse_causes(
    record: TraceRecord,
    file: str = "",
    speaker: Speaker | None = None,
    seen: Mapping[str, Sequence[GuardTerms]] | None = None,
) -> tuple[GuardFailure, ...]:
    """One guard failure for each cache entry torch lists.

    Args:
        record: A record of the kind above.
        file: The compiled function's, of which torch quotes only the last part.
        speaker: Names values as the user does.
        seen: What `seen_by_entry` gives for the record, where it is at hand.
    """
    known = seen_by_entry(record) if seen is None else seen
    names = speaker or Speaker()
    return tuple(
        _cause(failed, text, file, names, known.get(failed, ()))
        for failed, text in _reasons(record.payload)
    )


def told_differences(seen: Sequence[GuardTerms], speaker: Speaker) -> tuple[Difference, ...]:
    """What failed of one cache entry in the user's terms; keyword arguments once."""
    result: dict[str, Difference] = {}
    for index, terms in enumerate(seen):
        subject = subject_of(terms, speaker)
        result.setdefault(
            subject if subject == KEYWORDS else str(index),
            Difference(subject=subject, before=terms.expected, after=terms.actual),
        )
    return tuple(result.values())


def subject_of(terms: GuardTerms, speaker: Speaker) -> str:
    """A guard's subject in the user's terms."""
    if terms.actual == NOT_THERE and speaker.keyword(terms.source)[0]:
        return KEYWORDS
    return speaker.subject(terms.kind, terms.source, terms.aspect)


def _reasons(payload: str) -> list[tuple[str, str]]:
    payload = payload.strip()
    if payload.startswith("["):
        texts = [str(reason) for reason in json.loads(payload)]
    else:
        texts = re.split(r"\n(?=\d+/\d+: )", payload)
    result = []
    for text in texts:
        if text.strip():
            match = _REASON.match(text.strip())
            result.append((match["failed"], match["guard"]) if match else ("", text.strip()))
    return result


def _parts(text: str) -> tuple[str, str, str]:
    """A reason's guard, torch's comment on it, and the user's stack."""
    told, _, stack = text.partition(_STACK)
    guard, _, comment = told.partition(" # ")
    return guard.strip(), comment, stack


def _cause(
    failed: str, text: str, file: str, speaker: Speaker, seen: Sequence[GuardTerms]
) -> GuardFailure:
    guard, comment, stack = _parts(text)
    terms = _with_seen(guard_terms(guard), seen)
    return GuardFailure(
        failed=failed,
        guard=guard,
        kind=terms.kind,
        source=terms.source,
        subject=subject_of(terms, speaker),
        expected=terms.expected,
        actual=terms.actual,
        user_line=_own_line(comment, stack, file),
    )


def _with_seen(terms: GuardTerms, seen: Sequence[GuardTerms]) -> GuardTerms:
    """The guard with what a live run saw of it."""
    if terms.kind == "global_state":
        same = [other for other in seen if other.kind == terms.kind]
    else:
        own = matter(terms)
        same = [other for other in seen if matter(other) == own]
    if not same:
        return terms
    found = same[0]
    if found.source == terms.source and found.expected and found.actual:
        return found
    return GuardTerms(
        found.kind,
        terms.source,
        found.aspect,
        found.expected or terms.expected,
        found.actual or terms.actual,
    )


@lru_cache(maxsize=1024)  # each recompile repeats the lines of the ones before
def _own_line(comment: str, stack: str, file: str) -> SourceLocation | None:
    """The user's line that a guard comes from: torch's comment may name a library's instead."""
    quoted = _user_line(comment, file) if comment else None
    if quoted is not None and quoted.file == file:
        return quoted
    return user_frame(parse_stack(stack)) or quoted


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
