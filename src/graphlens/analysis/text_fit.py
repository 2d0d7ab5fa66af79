"""Texts cut or wrapped so that they fit a width in pixels."""

from graphlens.analysis.text_width import shorten, text_width, visible


def width_of(text: str, size: int = 11, bold: bool = False) -> int:
    """Width of a text with the air that other fonts than the table's need."""
    return -(-text_width(visible(text), size, bold) * 21 // 20)


def fitted(text: str, width: int, size: int = 11, bold: bool = False) -> str:
    """The text, cut at its end with an ellipsis where it is wider; empty where nothing fits."""
    # No font sets more characters than pixels; what cannot fit need not be measured.
    text = shorten(text, max(width, 0))
    if width_of(text, size, bold) <= width:
        return text
    low, high = 0, len(text)
    while low + 1 < high:
        middle = (low + high) // 2
        if width_of(shorten(text, middle), size, bold) <= width:
            low = middle
        else:
            high = middle
    return shorten(text, low) if low > 1 else ""


def wrapped_to(text: str, width: int, size: int = 11, most: int = 3) -> list[str]:
    """The text on as many lines as it needs, the last one cut where that is more than ``most``."""
    lines: list[str] = []
    words = visible(text).split(" ")
    while words and len(lines) < most - 1:
        taken = 1
        while taken < len(words) and width_of(" ".join(words[: taken + 1]), size) <= width:
            taken += 1
        lines.append(fitted(" ".join(words[:taken]), width, size))
        words = words[taken:]
    if words:
        lines.append(fitted(" ".join(words), width, size))
    return lines
