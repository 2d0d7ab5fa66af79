"""Which keyword arguments a call gave, where a function that takes any is compiled again.

Torch's guards on them are on a dictionary's length and keys (torch 2.11 to 2.14); the names are
what a person knows.
"""

from collections.abc import Iterable, Mapping

import msgspec

from graphlens.analysis import recompile_records
from graphlens.analysis.guard_subjects import KEYWORDS, Speaker
from graphlens.analysis.guard_terms import GuardTerms
from graphlens.model import Difference, Recompile, TraceRecord


def given_keywords(records: Iterable[TraceRecord]) -> dict[str, tuple[str, ...]]:
    """The keyword arguments of each compilation's call, where a live run saw them."""
    return {
        record.compile_id: tuple(record.data["seen"]["given"])
        for record in records
        if record.kind == "dynamo_start" and "given" in (record.data.get("seen") or {})
    }


def with_unseen_keywords(
    seen: dict[str, tuple[GuardTerms, ...]],
    given: Mapping[str, tuple[str, ...]],
    compile_id: str,
    speaker: Speaker,
) -> dict[str, tuple[GuardTerms, ...]]:
    """The difference in keywords for every entry, once they are seen to matter.

    Guards on the keys of a dict are not among the texts that a live run evaluates.
    """
    lacking = [
        failed
        for failed, found in seen.items()
        if all(recompile_records.subject_of(terms, speaker) != KEYWORDS for terms in found)
    ]
    if len(lacking) == len(seen) or compile_id not in given:
        return seen
    own = given[compile_id]
    terms = GuardTerms("collection_length", speaker.keywords, "keys")
    other = {failed for failed in lacking if set(given.get(failed, own)) != set(own)}
    return {failed: (*found, terms) if failed in other else found for failed, found in seen.items()}


def with_keywords(one: Recompile, given: Mapping[str, tuple[str, ...]]) -> Recompile:
    """Names in place of the counts of keyword arguments."""

    def named(compile_id: str, count: str) -> str:
        names = given.get(compile_id)
        return count if names is None else ", ".join(names) or "none"

    differences = tuple(
        Difference(
            subject=KEYWORDS,
            before=named(one.nearest, told.before),
            after=named(one.compile_id, told.after),
        )
        if told.subject == KEYWORDS
        else told
        for told in one.differences
    )
    causes = tuple(
        msgspec.structs.replace(
            cause,
            expected=named(cause.failed, cause.expected),
            actual=named(one.compile_id, cause.actual),
        )
        if cause.subject == KEYWORDS
        else cause
        for cause in one.causes
    )
    return msgspec.structs.replace(one, differences=differences, causes=causes)
