"""The page's Content-Security-Policy: only what has one of its hashes runs or styles."""

import re
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256

_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)


def content_policy(scripts: Iterable[str], styles: Iterable[str]) -> str:
    """The policy of a page.

    Args:
        scripts: Text between the tags of each script that runs.
        styles: Text between the tags of each style sheet.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hashes(scripts)}",
            f"style-src {_hashes(styles)}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def inner_styles(svg: str) -> list[str]:
    """The style sheets in a picture that becomes part of the page."""
    return _STYLE.findall(svg)


def _hashes(texts: Iterable[str]) -> str:
    found = dict.fromkeys(_hash(text) for text in texts)
    return " ".join(found) or "'none'"


def _hash(text: str) -> str:
    # What a browser hashes is the text after its parser made all line ends "\n".
    data = text.encode("utf-8", errors="backslashreplace")
    return f"'sha256-{b64encode(sha256(data).digest()).decode('ascii')}'"
