"""Colours and signs of the viewer: those of the SVG pictures, as data."""

import re
from typing import Any

from graphlens.renderers.svg_style import BADGES, heat_style, style

_RULE = re.compile(r"^\.gl (\S+(?: \S+)?)\{([^}]*)\}$", re.MULTILINE)
_GENERAL = {
    "ground": (".g", "fill"),
    "text": ("text", "fill"),
    "quiet": (".q", "fill"),
    "line": (".e", "stroke"),
    "named": (".f", "fill"),
    "frame": (".c", "stroke"),
    "even": (".c0", "fill"),
    "odd": (".c1", "fill"),
}
_HEATS = 6


def viewer_style() -> dict[str, Any]:
    """Of each theme the colours; of each family its sign and meaning."""
    return {
        "families": [
            {"name": name, "sign": sign, "meaning": meaning}
            for name, (_, sign, meaning) in BADGES.items()
        ],
        "light": _colours("light"),
        "dark": _colours("dark"),
    }


def family_style() -> str:
    """The same colours as classes, for signs in lists and legends."""
    light, dark = (_sign_rules(theme) for theme in ("light", "dark"))
    return f"{light}@media (prefers-color-scheme: dark) {{\n{dark}}}\n"


def _sign_rules(theme: str) -> str:
    colours = _colours(theme)
    return "".join(
        f".family-{name} {{ background: {kind[2]}; color: {colours['ground']}; }}\n"
        for name, kind in zip(BADGES, colours["kinds"], strict=True)
    )


def _colours(theme: str) -> dict[str, Any]:
    rules: dict[str, dict[str, str]] = {}
    # From the style sheet, so that a picture and the viewer cannot come to differ.
    for selector, text in _RULE.findall(style(theme) + heat_style(theme)):
        pairs = (one.partition(":") for one in text.split(";"))
        rules.setdefault(selector, {}).update({name: value for name, _, value in pairs})
    kinds = [kind for kind, _, _ in BADGES.values()]
    return {
        **{name: rules[selector][what] for name, (selector, what) in _GENERAL.items()},
        "kinds": [_kind(rules, kind) for kind in kinds],
        "heats": [_kind(rules, f"h{level}") for level in range(_HEATS)],
    }


def _kind(rules: dict[str, dict[str, str]], kind: str) -> list[str]:
    box, strip = rules[f".{kind} rect"], rules[f".{kind} .s"]
    return [box["fill"], box["stroke"], strip["fill"]]
