"""How wide a text is, from a table: the same on every machine, fonts or not.

Widths are those of Helvetica, which Arial and Liberation Sans share by design. A machine that
has none of them draws a little wider or narrower, so boxes carry some air.
"""

import re

_PRINTABLE = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
    556, 556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
    1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
    667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
    333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
)  # fmt: skip
_WIDTHS = {chr(32 + i): width for i, width in enumerate(_PRINTABLE)}
_WIDTHS |= {"×": 584, "·": 278, "…": 1000, "→": 1000, "←": 1000, "ƒ": 556, "µ": 576, "Σ": 618}
_OTHER = 620
_WIDE = 1000
# Ranges, not unicodedata: its tables change from one Python to the next.
_WIDE_RANGES = (
    (0x1100, 0x115F),
    (0x2E80, 0xA4CF),
    (0xAC00, 0xD7A3),
    (0xF900, 0xFAFF),
    (0xFE30, 0xFE6F),
    (0xFF00, 0xFF60),
    (0xFFE0, 0xFFE6),
    (0x1F000, 0x3FFFF),
)
_BOLD_PERMILLE = 1070
ELLIPSIS = "…"
_UNDRAWABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff"
    "\ufeff\ufff0-\uffff\U000e0000-\U000e0fff]"
)


def text_width(text: str, size: int = 12, bold: bool = False) -> int:
    """Width of one line of text in whole pixels, rounded up.

    Args:
        text: The line.
        size: Font size in pixels.
        bold: Whether it is set in bold.
    """
    units = sum(_WIDTHS.get(character) or _unusual(character) for character in text)
    if bold:
        units = units * _BOLD_PERMILLE // 1000
    return -(-units * size // 1000)


def visible(text: str) -> str:
    """The text with characters that cannot be drawn, or that reorder others, as escapes.

    Names come from users' programs. A newline in one would break a line, a control character
    an XML file, and a direction mark would show another name than the one that is there.
    """
    return _UNDRAWABLE.sub(_escape, text)


def shorten(text: str, characters: int) -> str:
    """The text, cut at its end with an ellipsis where it is longer than that."""
    text = visible(text)
    return text if len(text) <= characters else text[: max(0, characters - 1)] + ELLIPSIS


def shorten_middle(text: str, characters: int) -> str:
    """The text, cut in its middle where it is too long: for names whose end tells them apart."""
    text = visible(text)
    if len(text) <= characters:
        return text
    head = characters // 2
    return text[:head] + ELLIPSIS + text[len(text) - (characters - head - 1) :]


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if found[0] in "\n\t\r":
        return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}[found[0]]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _unusual(character: str) -> int:
    code = ord(character)
    return _WIDE if any(low <= code <= high for low, high in _WIDE_RANGES) else _OTHER
