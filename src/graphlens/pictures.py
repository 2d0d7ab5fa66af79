"""SVG pictures as PNG and PDF: converted by CairoSVG, which is an extra."""

from graphlens.errors import OutputError, UsageError

SUFFIXES = (".png", ".pdf")
_SCALE = 2.0
_MISSING = (
    "PNG and PDF files need CairoSVG: `pip install 'graphlens[pictures]'`, and the cairo library "
    "(`apt-get install libcairo2`, `brew install cairo`). Without it save an .svg file, which "
    "every browser shows."
)


def converted(svg: str, suffix: str, scale: object = _SCALE) -> bytes:
    """The picture in the format of a suffix.

    Args:
        svg: The picture.
        suffix: One of `SUFFIXES`.
        scale: Pixels for each unit of the picture; for PNG.

    Raises:
        OutputError: CairoSVG or the cairo library is missing.
        UsageError: The scale is no number above 0.
    """
    number = isinstance(scale, (int, float)) and not isinstance(scale, bool)
    if not number or not 0 < float(scale) <= 10:  # type: ignore[arg-type]
        raise UsageError(f"scale={scale!r}: give a number above 0, at most 10.")
    try:
        import cairosvg
    except (ImportError, OSError) as error:  # OSError: there is no cairo library
        raise OutputError(_MISSING) from error
    data = svg.encode("utf-8", errors="backslashreplace")
    if suffix == ".pdf":
        return bytes(cairosvg.svg2pdf(data))
    return bytes(cairosvg.svg2png(data, scale=scale))
