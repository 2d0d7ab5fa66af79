"""Text made safe for where it goes.

Names, source lines and reasons come from the user's program, so any character may be in them:
terminal control codes, markup, tabs, newlines.
"""

import html
import re

_MARKDOWN = re.compile(r"[\\`*_<|~]|\](?=[(\[])|^[\[>#]|^[+-](?=\s)|(?<=^\d)[.)](?=\s)")
_BACKTICKS = re.compile(r"`+")
_SPACE = re.compile(r"\s+")


def one_line(text: str) -> str:
    """The text on one line: white space runs become a space, control characters visible."""
    if text.isprintable() and "  " not in text:
        return text.strip()
    return "".join(map(_visible, _SPACE.sub(" ", text))).strip()


def printable(text: str) -> str:
    """Several lines of text, indentation kept, control characters visible."""
    return "\n".join("".join(map(_visible, line.expandtabs(4))) for line in text.split("\n"))


def markdown_text(text: str) -> str:
    """One line of text that Markdown shows as it stands, in a table cell too."""
    return _escape_markdown(one_line(text))


def markdown_code(text: str) -> str:
    """A code span; empty text gives no span. Pipes are escaped, which tables need."""
    text = one_line(text)
    if not text:
        return ""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}".replace("|", "\\|")


def markdown_prose(text: str) -> str:
    """Like `markdown_text`, but what stands in backticks becomes a code span."""
    pieces = one_line(text).split("`")
    if len(pieces) % 2 == 0:
        return markdown_text(text)
    return "".join(
        markdown_code(piece) if index % 2 else _escape_markdown(piece)
        for index, piece in enumerate(pieces)
    )


def html_prose(text: str) -> str:
    """One line of text for HTML; what stands in backticks becomes code."""
    pieces = [html.escape(piece) for piece in one_line(text).split("`")]
    if len(pieces) % 2 == 0:
        return "`".join(pieces)
    return "".join(
        f"<code>{piece}</code>" if index % 2 else piece for index, piece in enumerate(pieces)
    )


def html_text(text: str) -> str:
    """One line of text for HTML, in attributes too."""
    return html.escape(one_line(text))


def _escape_markdown(line: str) -> str:
    return _MARKDOWN.sub(lambda match: "\\" + match[0], line).replace("&", "&amp;")


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")
