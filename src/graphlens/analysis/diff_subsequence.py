"""The longest common subsequence of two lists of words, in about n log n."""

from bisect import bisect_left
from collections.abc import Sequence

_CANDIDATES = 16
"""Of a word that is there often only the nearest places are looked at."""


def longest_common(before: Sequence[str], after: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of places with equal words, rising in both lists; as many as there can be.

    After Hunt and Szymanski: the longest rising sequence of places in the second list. Where a
    word is there more than `_CANDIDATES` times, it may miss the longest.
    """
    places: dict[str, list[int]] = {}
    for place, word in enumerate(after):
        places.setdefault(word, []).append(place)
    seen: dict[str, int] = {}
    ends: list[int] = []  # the lowest place at which a sequence of each length ends
    links: list[tuple[int, int, int]] = []  # pair, and the link before it
    last: list[int] = []
    for at, word in enumerate(before):
        there = places.get(word, [])
        rank = seen[word] = seen.get(word, -1) + 1
        first = max(0, min(rank, len(there)) - _CANDIDATES // 2)
        for place in reversed(there[first : first + _CANDIDATES]):
            length = bisect_left(ends, place)
            links.append((at, place, last[length - 1] if length else -1))
            if length == len(ends):
                ends.append(place)
                last.append(len(links) - 1)
            elif place < ends[length]:
                ends[length], last[length] = place, len(links) - 1
    pairs: list[tuple[int, int]] = []
    link = last[-1] if last else -1
    while link >= 0:
        at, place, link = links[link]
        pairs.append((at, place))
    return pairs[::-1]
