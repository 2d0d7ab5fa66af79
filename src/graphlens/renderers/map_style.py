"""Colours of the map of a program; beyond those that all pictures share."""

_FIXED = """\
.gl .mm .w{stroke-width:1}
.gl .o{fill:none;stroke-width:1.2}
.gl .o1{fill:none;stroke-width:1;stroke-dasharray:4 3}
"""
# Of each class of box: fill, frame, badge.
_LIGHT = {
    "mg": ("#eaf2fe", "#3f78c9", "#2f68b8"),
    "mw": ("#f5eefc", "#9069c2", "#7a4fb0"),
    "mb": ("#fdf1e3", "#c98432", "#a5620d"),
    "me": ("#fdeaf0", "#c4557d", "#ab3a64"),
    "mf": ("#fde8e6", "#b8352a", "#9c261c"),
    "mn": ("#ffffff", "#8d98a5", "#6b7683"),
}
_DARK = {
    "mg": ("#16283f", "#4f86d0", "#7fb0f2"),
    "mw": ("#261c38", "#8a68b8", "#bd9bea"),
    "mb": ("#33240f", "#b67d36", "#e8b06a"),
    "me": ("#351b26", "#b5587a", "#f094b4"),
    "mf": ("#3a1714", "#c8574d", "#f09a92"),
    "mn": ("#10161d", "#66727f", "#9aa6b2"),
}
# The frame around compilations of which one runs, and the ground of a bar.
_LINES = {"light": ("#9aa5b1", "#d3dae2"), "dark": ("#55616e", "#36414d")}


def map_style(theme: str) -> str:
    """The style sheet of a theme; to follow the one of `svg_style.style`."""
    light, dark = _colours(_LIGHT, "light"), _colours(_DARK, "dark")
    if theme != "auto":
        return _FIXED + (dark if theme == "dark" else light)
    return f"{_FIXED}{light}@media (prefers-color-scheme:dark){{\n{dark}}}\n"


def _colours(kinds: dict[str, tuple[str, str, str]], theme: str) -> str:
    frame, ground = _LINES[theme]
    rules = [f".gl .o,.gl .o1{{stroke:{frame}}}", f".gl .z0{{fill:{ground}}}"]
    for kind, (fill, stroke, badge) in kinds.items():
        rules.append(f".gl .{kind} .w{{fill:{fill};stroke:{stroke}}}")
        rules.append(f".gl .{kind} .s{{fill:{badge}}}")
    return "".join(f"{rule}\n" for rule in rules)
