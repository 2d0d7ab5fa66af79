"""What each compilation was made for any value of."""

from collections.abc import Iterable, Sequence

import msgspec

from graphlens.analysis.guard_subjects import Speaker
from graphlens.analysis.guard_terms import guard_terms, without_local_scope
from graphlens.model import Compilation, Frame, Graph, Symbol


def with_dynamic(
    frames: Sequence[Frame], graphs: Iterable[Graph], speakers: dict[str, Speaker]
) -> tuple[Frame, ...]:
    """Frames whose compilations say which sizes and numbers they take as symbols.

    Args:
        frames: Of a run.
        graphs: Of the same run.
        speakers: What is known of a frame's names, by its number.
    """
    symbols: dict[str, dict[str, Symbol]] = {}
    for graph in graphs:
        if graph.stage == "dynamo" and not graph.discarded:
            symbols.setdefault(graph.compile_id, {}).update({s.origin: s for s in graph.symbols})

    def told(frame: Frame, compilation: Compilation) -> Compilation:
        origins = symbols.get(compilation.compile_id, {})
        speaker = speakers.get(frame.id, Speaker())
        names = [_subject(origin, speaker) for origin in origins if _is_told(origin)]
        return msgspec.structs.replace(compilation, dynamic=tuple(dict.fromkeys(names)))

    return tuple(
        msgspec.structs.replace(
            frame, compilations=tuple(told(frame, one) for one in frame.compilations)
        )
        for frame in frames
    )


def _is_told(origin: str) -> bool:
    """Where a view begins in its storage is no matter of the user's."""
    return bool(origin) and not origin.endswith(".storage_offset()")


def _subject(origin: str, speaker: Speaker) -> str:
    plain = without_local_scope(origin)
    terms = guard_terms(plain)
    aspect = terms.aspect if terms.aspect.startswith(("dimension", "stride")) else ""
    return speaker.subject(terms.kind, terms.source, aspect) or f"`{plain}`"
