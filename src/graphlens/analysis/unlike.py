"""How two blocks of a diagram differ, in a few words."""

from collections import Counter

from graphlens.analysis.diagram_data import Box, Diagram

_MOST = 3


def unlike(diagram: Diagram, one: range, other: range) -> str:
    """What a block has and another has not, or what is of another shape there.

    Args:
        diagram: With both blocks.
        one: Boxes of the block that is told about.
        other: Of the one that it is compared to.
    """
    here = [diagram.boxes[number] for number in one]
    there = [diagram.boxes[number] for number in other]
    labels, expected = (Counter(box.label for box in boxes) for boxes in (here, there))
    more, less = labels - expected, expected - labels
    if more or less:
        told = [_counted(label, count, "more") for label, count in more.items()]
        told += [_counted(label, count, "less") for label, count in less.items()]
        rest = f", and {len(told) - _MOST} more" if len(told) > _MOST else ""
        return ", ".join(told[:_MOST]) + rest
    for box, expect in zip(here, there, strict=True):
        if text := _unlike_box(box, expect):
            return text
    return "other inputs"


def _unlike_box(box: Box, expected: Box) -> str:
    if box.label != expected.label:
        return f"{box.label} where others have {expected.label}"
    if box.value != expected.value:
        return f"{box.label} gives {box.value}, not {expected.value}"
    mine, theirs = ([row.text for row in one.rows] for one in (box, expected))
    changed = [text for text in mine if text not in theirs]
    return f"{box.label} with {changed[0]}" if changed else ""


def _counted(label: str, count: int, word: str) -> str:
    return f"{count} {label} {word}"
