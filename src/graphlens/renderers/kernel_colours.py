"""Colours of boxes by the kernel that computes them, and their legend.

There are more kernels than colours that people can tell apart: the colours go round, so that
neighbours in the order of execution differ, and each box names its kernel in words.
"""

from graphlens.analysis.text_width import shorten_middle
from graphlens.model import Graph
from graphlens.renderers.kernel_labels import kernel_labels, kernel_numbers
from graphlens.renderers.svg_draw import text_element

COLOURS = 8
_LEGEND_LINE = 22
_SWATCH = 18
_LONGEST = 34
# Of what no kernel computes, then of each colour: the fill, the frame and the badge.
_LIGHT = (
    ("#ffffff", "#8d98a5", "#6b7683"),
    ("#e3eefd", "#3f78c9", "#2f68b8"),
    ("#fdebd7", "#c98432", "#a5620d"),
    ("#e1f4e6", "#4c9a62", "#2f7d47"),
    ("#fbe3ec", "#c4557d", "#ab3a64"),
    ("#efe5fb", "#9069c2", "#7a4fb0"),
    ("#dcf3f3", "#2c8f91", "#17777a"),
    ("#f6f0cf", "#a8932a", "#7d6b0e"),
    ("#ece4dc", "#8f6f52", "#74553a"),
)
_DARK = (
    ("#10161d", "#66727f", "#9aa6b2"),
    ("#16283f", "#4f86d0", "#7fb0f2"),
    ("#33240f", "#b67d36", "#e8b06a"),
    ("#152a1c", "#4b9160", "#7cc893"),
    ("#351b26", "#b5587a", "#f094b4"),
    ("#261c38", "#8a68b8", "#bd9bea"),
    ("#0f2b2c", "#3b9092", "#6fcdcf"),
    ("#2e2a0e", "#a39234", "#dccb62"),
    ("#2b211a", "#9c7d60", "#d0b092"),
)


def colour_of(number: int) -> int:
    """The colour of a kernel, by its place in the order of execution, from 0."""
    return 1 + number % COLOURS


def kernel_style(theme: str) -> str:
    """What a picture whose boxes are coloured by kernels needs beyond `style`."""
    light, dark = _rules(_LIGHT), _rules(_DARK)
    if theme != "auto":
        return dark if theme == "dark" else light
    return f"{light}@media (prefers-color-scheme:dark){{\n{dark}}}\n"


def kernel_words(graph: Graph) -> tuple[dict[str, str], dict[str, int]]:
    """By node, what its box says of its kernel, and the colour: that of the first of several."""
    words = {
        name: f"kernel {shorten_middle(text, _LONGEST)}"
        for name, text in kernel_labels(graph).items()
    }
    numbers = kernel_numbers(graph)
    return words, {name: colour_of(numbers[name][0]) for name in words}


def kernel_legend(text: str) -> tuple[list[str], int]:
    """A legend of the colours, with how many kernels there are; and its height."""
    lines = [
        f'<g class="b h{colour}"><rect x="{(colour - 1) * _SWATCH}" width="{_SWATCH}" '
        'height="16"/></g>'
        for colour in range(1, COLOURS + 1)
    ]
    lines.append(text_element(COLOURS * _SWATCH + 8, 12, text))
    return lines, _LEGEND_LINE


def _rules(colours: tuple[tuple[str, str, str], ...]) -> str:
    return "".join(
        f".gl .h{number} rect{{fill:{fill};stroke:{stroke}}}\n.gl .h{number} .s{{fill:{badge}}}\n"
        for number, (fill, stroke, badge) in enumerate(colours)
    )
