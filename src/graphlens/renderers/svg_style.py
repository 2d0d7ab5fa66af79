"""Colours and classes of SVG pictures.

Plain classes and one media query: renderers that know no CSS variables would draw them black.
"""

from graphlens.analysis import families

BADGES = {
    families.MATRIX: ("m", "×", "matrix product, convolution"),
    families.POINTWISE: ("w", "ƒ", "pointwise"),
    families.NORMALISATION: ("n", "µ", "normalisation"),
    families.REDUCTION: ("r", "Σ", "reduction"),
    families.VIEW: ("v", "=", "view, copy, index"),
    families.OTHER: ("o", "·", "other"),
    families.MODULE: ("d", "▣", "module"),
    families.INPUT: ("i", "↓", "input"),
    families.OUTPUT: ("u", "↑", "output"),
}
"""Of each family: its class, the sign in its badge, and what the legend says."""

MARKS = {
    "same": ("ms", "=", "the same"),
    "added": ("ma", "+", "added"),
    "removed": ("mr", "−", "removed"),
    "changed": ("mc", "~", "changed"),
}
"""Where two graphs are compared: of each fate its class, its sign, and what the legend says."""

_FIXED = """\
@media screen{.gl{max-width:100%;height:auto}}
.gl text{font:11px Helvetica,Arial,"Liberation Sans",sans-serif;white-space:pre}
.gl .t{font-size:16px;font-weight:bold}
.gl .l{font-size:13px;font-weight:bold}
.gl .h{font-size:12px;font-weight:bold}
.gl .k{font-size:13px;font-weight:bold;text-anchor:middle}
.gl .p{text-anchor:end}
.gl .hb{font-weight:bold}
.gl .e{fill:none;stroke-width:1.3}
.gl .e:hover{stroke-width:3}
.gl .ag{stroke-dasharray:6 4}
.gl .b rect{stroke-width:1}
.gl .b .s{stroke:none}
"""
# Of each theme: background, text, quiet text, lines, named values, cluster frame, cluster fills;
# then of each family the fill, the frame and the badge. The badge's sign is in the background.
_LIGHT = (
    ("#ffffff", "#1b2430", "#566270", "#66727f", "#9a4a00", "#b9c2cc", "#f6f8fa", "#eceff3"),
    {
        "m": ("#eaf2fe", "#3f78c9", "#2f68b8"),
        "w": ("#ebf7ee", "#4c9a62", "#2f7d47"),
        "n": ("#f5eefc", "#9069c2", "#7a4fb0"),
        "r": ("#fdf1e3", "#c98432", "#a5620d"),
        "v": ("#ffffff", "#8d98a5", "#6b7683"),
        "o": ("#ffffff", "#5b6672", "#434d58"),
        "d": ("#f1f3f6", "#5b6672", "#434d58"),
        "i": ("#e3f6f6", "#2c8f91", "#17777a"),
        "u": ("#fdeaf0", "#c4557d", "#ab3a64"),
    },
)
_DARK = (
    ("#0e1319", "#e7edf3", "#a3afbb", "#8a97a5", "#f0a860", "#3b4754", "#151c24", "#1c252f"),
    {
        "m": ("#16283f", "#4f86d0", "#7fb0f2"),
        "w": ("#152a1c", "#4b9160", "#7cc893"),
        "n": ("#261c38", "#8a68b8", "#bd9bea"),
        "r": ("#33240f", "#b67d36", "#e8b06a"),
        "v": ("#10161d", "#66727f", "#9aa6b2"),
        "o": ("#10161d", "#8a97a5", "#c3ccd5"),
        "d": ("#1a222b", "#8a97a5", "#c3ccd5"),
        "i": ("#0f2b2c", "#3b9092", "#6fcdcf"),
        "u": ("#351b26", "#b5587a", "#f094b4"),
    },
)
# From cold to hot, one hue: of each the fill, the frame and the badge. Texts stay readable on all.
_LIGHT_HEATS = (
    ("#ffffff", "#8d98a5", "#6b7683"),
    ("#fff7ec", "#d9b27c", "#a5620d"),
    ("#fee8c8", "#d99b4e", "#a5620d"),
    ("#fdd49e", "#cf7f2a", "#8f4e06"),
    ("#fdbb84", "#c2611b", "#7d3c04"),
    ("#fc8d59", "#a8400c", "#5f2502"),
)
_DARK_HEATS = (
    ("#10161d", "#66727f", "#9aa6b2"),
    ("#241c12", "#6b5230", "#e8b06a"),
    ("#33240f", "#8a6429", "#e8b06a"),
    ("#4a2f0d", "#a97429", "#f0b871"),
    ("#653a0c", "#c9842c", "#f6c588"),
    ("#85440a", "#e8993b", "#ffd9a8"),
)
# Of boxes that are the same, added, removed and changed: the fill, the frame and the badge.
_LIGHT_MARKS = (
    ("#ffffff", "#c3ccd5", "#8d98a5"),
    ("#e6f6ea", "#3c9a57", "#1f7a3a"),
    ("#fdeaea", "#c9504f", "#b02a2a"),
    ("#fdf3dd", "#c98c1e", "#8a5a00"),
)
_DARK_MARKS = (
    ("#10161d", "#3b4754", "#66727f"),
    ("#12301c", "#4ba667", "#6fce8f"),
    ("#381a1c", "#d1605f", "#f08a88"),
    ("#33270c", "#c99732", "#e9bd5b"),
)
THEMES = ("auto", "light", "dark")
# Of bar charts: the fill of each candidate's bars, the first for what the others are measured
# against; then whiskers, lines of the scale, and good numbers.
_BAR_CLASSES = ("b0", "b1", "b2", "b3", "b4", "b5")
_LIGHT_BARS = ("#a4afba", "#4f86d0", "#7a4fb0", "#c98432", "#2c8f91", "#c4557d")
_DARK_BARS = ("#66727f", "#5b91da", "#a884d8", "#c98d42", "#49a9ab", "#d0708f")
_LIGHT_BAR_LINES = ("#1b2430", "#dde3e9", "#1a7a3c")
_DARK_BAR_LINES = ("#e7edf3", "#2a333d", "#6fce8f")
_FIXED_BARS = """\
.gl .n{font-weight:bold}
.gl .i{text-anchor:middle}
.gl .y{fill:none;stroke-width:1.4}
.gl .j{fill:none;stroke-width:1}
"""


def style(theme: str) -> str:
    """The style sheet of a theme: ``auto`` follows the reader's system."""
    if theme == "dark":
        return _FIXED + _colours(*_DARK)
    light = _FIXED + _colours(*_LIGHT)
    if theme == "light":
        return light
    return f"{light}@media (prefers-color-scheme:dark){{\n{_colours(*_DARK)}}}\n"


def heat_style(theme: str) -> str:
    """What a picture whose boxes are coloured by numbers needs beyond `style`."""
    light, dark = _heats(_LIGHT_HEATS), _heats(_DARK_HEATS)
    if theme != "auto":
        return dark if theme == "dark" else light
    return f"{light}@media (prefers-color-scheme:dark){{\n{dark}}}\n"


def mark_style(theme: str) -> str:
    """What a picture of two compared graphs needs beyond `style`."""
    light, dark = _marks(_LIGHT_MARKS), _marks(_DARK_MARKS)
    if theme != "auto":
        return dark if theme == "dark" else light
    return f"{light}@media (prefers-color-scheme:dark){{\n{dark}}}\n"


def _marks(colours: tuple[tuple[str, str, str], ...]) -> str:
    return "".join(
        f".gl .{kind} rect{{fill:{fill};stroke:{stroke}}}\n.gl .{kind} .s{{fill:{badge}}}\n"
        for (kind, _, _), (fill, stroke, badge) in zip(MARKS.values(), colours, strict=True)
    )


def _heats(levels: tuple[tuple[str, str, str], ...]) -> str:
    return "".join(
        f".gl .h{level} rect{{fill:{fill};stroke:{stroke}}}\n.gl .h{level} .s{{fill:{badge}}}\n"
        for level, (fill, stroke, badge) in enumerate(levels)
    )


def light_colours(family: str) -> tuple[str, str]:
    """Fill and frame of a family's boxes on a light ground, for other formats."""
    fill, frame, _ = _LIGHT[1][BADGES[family][0]]
    return fill, frame


def _colours(general: tuple[str, ...], kinds: dict[str, tuple[str, str, str]]) -> str:
    background, text, quiet, line, named, frame, even, odd = general
    rules = [
        f".gl .g{{fill:{background}}}",
        f".gl text{{fill:{text}}}",
        f".gl .q{{fill:{quiet}}}",
        f".gl .e{{stroke:{line}}}",
        f".gl .a{{fill:{line}}}",
        f".gl .f{{fill:{named}}}",
        f".gl .x{{fill:{background};stroke:{named};stroke-width:1}}",
        f".gl .c{{stroke:{frame}}}",
        f".gl .c0{{fill:{even}}}",
        f".gl .c1{{fill:{odd}}}",
        f".gl .k{{fill:{background}}}",
    ]
    for kind, (fill, stroke, badge) in kinds.items():
        rules.append(f".gl .{kind} rect{{fill:{fill};stroke:{stroke}}}")
        rules.append(f".gl .{kind} .s{{fill:{badge}}}")
    return "".join(f"{rule}\n" for rule in rules)


def bar_classes() -> tuple[str, ...]:
    """Classes of the bars, the first for what the others are measured against."""
    return _BAR_CLASSES


def bar_style(theme: str) -> str:
    """What a bar chart needs beyond `style`."""
    light = _bar_colours(_LIGHT_BARS, _LIGHT_BAR_LINES)
    dark = _bar_colours(_DARK_BARS, _DARK_BAR_LINES)
    if theme != "auto":
        return _FIXED_BARS + (dark if theme == "dark" else light)
    return f"{_FIXED_BARS}{light}@media (prefers-color-scheme:dark){{\n{dark}}}\n"


def _bar_colours(fills: tuple[str, ...], lines: tuple[str, str, str]) -> str:
    rules = [f".gl .{name}{{fill:{fill}}}" for name, fill in zip(_BAR_CLASSES, fills, strict=True)]
    whisker, scale, good = lines
    rules += [f".gl .y{{stroke:{whisker}}}", f".gl .j{{stroke:{scale}}}", f".gl .z{{fill:{good}}}"]
    return "".join(f"{rule}\n" for rule in rules)
