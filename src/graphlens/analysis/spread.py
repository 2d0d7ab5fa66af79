"""Things on a line: as near as they can be to where they want to be, in order, not overlapping."""

from collections.abc import Sequence


def spread(wanted: Sequence[int], reach: Sequence[int], weights: Sequence[int]) -> list[int]:
    """Middles with the least weighted squares of distances from where they are wanted.

    Neighbours keep the sum of their reaches between them. Linear time: without the reaches this
    is isotonic regression, and those that want to be in the wrong order share their mean.

    Args:
        wanted: Middles, in any order.
        reach: How much room each takes to either side.
        weights: How much each insists.
    """
    offsets: list[int] = []
    offset = 0
    for place, half in enumerate(reach):
        offset += half + reach[place - 1] if place else 0
        offsets.append(offset)
    groups: list[tuple[int, int, int]] = []  # sum of weighted places, weight, count
    for middle, shift, weight in zip(wanted, offsets, weights, strict=True):
        total, count = (middle - shift) * weight, 1
        while groups and groups[-1][0] * weight >= total * groups[-1][1]:
            above_total, above_weight, above_count = groups.pop()
            total, weight, count = total + above_total, weight + above_weight, count + above_count
        groups.append((total, weight, count))
    places = [
        (2 * total + weight) // (2 * weight)
        for total, weight, count in groups
        for _ in range(count)
    ]
    return [place + shift for place, shift in zip(places, offsets, strict=True)]
