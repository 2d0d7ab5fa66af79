"""Things in order on columns of about the same height."""

from collections.abc import Sequence


def split_evenly(heights: Sequence[int], columns: int) -> list[int]:
    """How many of things in order each column takes, so that the tallest is as short as can be.

    Args:
        heights: Of the things; not empty.
        columns: At most so many.
    """
    low, high = max(heights), sum(heights)
    while low < high:
        middle = (low + high) // 2
        if len(_filled(heights, middle)) <= columns:
            high = middle
        else:
            low = middle + 1
    return _filled(heights, low)


def _filled(heights: Sequence[int], most: int) -> list[int]:
    counts, height = [0], 0
    for one in heights:
        if counts[-1] and height + one > most:
            counts.append(0)
            height = 0
        counts[-1] += 1
        height += one
    return counts
