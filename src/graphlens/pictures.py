"""Pictures that other programs make: SVG as PNG and PDF by CairoSVG, and layouts by dot."""

from graphviz import Source
from graphviz.backend import CalledProcessError, ExecutableNotFound

from graphlens.errors import OutputError, UsageError

SUFFIXES = (".png", ".pdf")
ENGINES = ("own", "dot")
DRAWN_BY_DOT = (".svg", *SUFFIXES)
_NO_DOT = (
    "engine='dot' needs graphviz's dot: `apt-get install graphviz`, `brew install graphviz`. "
    "Without engine= the picture is laid out by GraphLens, which needs no other program."
)
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


def drawn_by_dot(text: str, suffix: str) -> bytes:
    """The picture of a DOT text in the format of a suffix.

    Args:
        text: As the DOT renderer writes it.
        suffix: One of `DRAWN_BY_DOT`.

    Raises:
        OutputError: There is no ``dot``, or it fails.
    """
    try:
        return bytes(Source(text).pipe(format=suffix.removeprefix(".")))
    except ExecutableNotFound as error:
        raise OutputError(_NO_DOT) from error
    except CalledProcessError as error:
        raise OutputError(f"dot failed on the picture: {str(error).strip()[:400]}") from error


def check_engine(engine: object) -> str:
    """The engine, if it is one.

    Raises:
        UsageError: It is none.
    """
    if engine not in ENGINES:
        raise UsageError(f"engine={engine!r}: give 'own' or 'dot'.")
    return str(engine)
