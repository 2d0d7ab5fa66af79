"""How reports and graphs are shown and saved: the functions behind their methods.

The only place of these layers that looks at the terminal and writes files.
"""

import os
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import graphlens.pictures as pictures
import graphlens.registry as registry
from graphlens.analysis.kernel_lookup import kernel_calls
from graphlens.errors import OutputError, ReportFormatError
from graphlens.model import Graph, GraphDiff, Report, Target, from_json
from graphlens.renderers.accuracy_table import accuracy_table as tensors_table
from graphlens.renderers.base import Renderer
from graphlens.renderers.comparison import timings_of
from graphlens.renderers.gpu_table import gpu_table as table_of_gpu
from graphlens.renderers.kernel_side_by_side import kernel_text
from graphlens.renderers.kernel_table import kernel_table as table_of_kernels
from graphlens.renderers.program_pairs_text import program_pairs_text
from graphlens.renderers.wording import graph_title

FALLBACK_SIZE = (100, 24)
_UNSAFE = re.compile(r"[^A-Za-z0-9.-]+")
_LONGEST_SLUG = 80
_REPORT_FILES = ("report.html", "report.json", "report.txt", "report.svg")
_MAP_FILE, _TIMINGS_FILE = "map.svg", "timings.svg"
_GRAPH_SUFFIXES = (".svg", ".txt")


def table(graph: Graph, format: str = "plain", **options: object) -> str:
    """A graph as a table; the plain one fits the terminal unless ``width`` says otherwise."""
    if format == "plain":
        options.setdefault("width", terminal_width())
    return _renderer("table", {"format": format, **options}).graph(graph)


def accuracy_table(graph: Graph, **options: object) -> str:
    """The errors of every tensor of a graph that was compared; empty where it was not.

    Args:
        graph: Of a report that ``compare`` made.
        **options: ``width`` (columns of text, else those of the terminal) and ``most`` (tensors
            shown, None for all).
    """
    chosen: dict[str, Any] = {"width": terminal_width(), "root": current_folder(), **options}
    return tensors_table(graph, **chosen)


def kernel_table(graph: Graph, **options: object) -> str:
    """The kernels of a graph in the order of execution; empty where no program was generated.

    Args:
        graph: Of a report.
        **options: ``width`` (columns of text, else those of the terminal) and ``most`` (kernels
            shown, None for all).
    """
    chosen: dict[str, Any] = {"width": terminal_width(), "root": current_folder(), **options}
    return table_of_kernels(graph, **chosen)


def kernel(report: Report, name: str, **options: object) -> str:
    """One kernel as text: the user's lines, the nodes each led to, and the generated source.

    Args:
        report: With graphs whose programs are known.
        name: Of the kernel, for all its calls, or a call's handle.
        **options: ``width`` (columns of text, else those of the terminal).

    Raises:
        UsageError: No kernel is called that.
    """
    chosen: dict[str, Any] = {"width": terminal_width(), "root": current_folder(), **options}
    return kernel_text(kernel_calls(report, name), **chosen)


def gpu_table(graph: Graph, target: Target | None, **options: object) -> str:
    """The kernels of a previewed graph with registers and the like; empty for another graph.

    Args:
        graph: Of a report that ``preview`` made.
        target: The report's.
        **options: ``width``: columns of text, else those of the terminal.
    """
    chosen: dict[str, Any] = {"width": terminal_width(), "root": current_folder(), **options}
    return table_of_gpu(graph, target, **chosen)


def program_pairs(graph: Graph, target: Target | None, **options: object) -> str:
    """The programs of a previewed graph for the GPU and the CPU side by side.

    Args:
        graph: Of a report that ``preview`` made.
        target: The report's.
        **options: ``width`` (columns of text, else those of the terminal) and ``sources``.
    """
    chosen: dict[str, Any] = {"width": terminal_width(), "root": current_folder(), **options}
    return program_pairs_text(graph, target, **chosen)


def title(graph: Graph) -> str:
    """What is said of a graph before its table: which it is, its sizes, who compiled it."""
    return str(graph_title(graph, current_folder()))


def summary(report: Report) -> str:
    """The terminal text of a report, without the last newline, as ``print`` adds one."""
    return _renderer("summary", {"width": terminal_width()}).report(report).rstrip("\n")


def text_of(report: Report, name: str) -> str:
    """A report by a renderer of text, as wide as the terminal, without the last newline."""
    fits: dict[str, object] = (
        {"width": terminal_width()} if "width" in registry.option_names(name) else {}
    )
    return _renderer(name, fits).report(report).rstrip("\n")


def notebook(report: Report) -> str:
    """A report as a piece of HTML for a notebook's output cell."""
    return _renderer("notebook", {}).report(report)


def save_graph(graph: Graph, path: str | os.PathLike[str], **options: object) -> str:
    """Writes one graph in the format of the path's suffix; returns the path.

    Raises:
        OutputError: The suffix is unknown or the file cannot be written.
        UsageError: The format has no such option.
    """
    given = os.fspath(path)
    suffix = Path(given).suffix
    if _is_folder(given) or not suffix:
        raise OutputError(
            f"{given} names no format. Give a file with one of these suffixes: "
            f"{', '.join(registry.suffixes())}."
        )
    _write(Path(given), _rendered(suffix, options, graph))
    return given


def save_report(report: Report, path: str | os.PathLike[str], **options: object) -> str:
    """Writes a report in the format of the path's suffix, or all formats into a folder.

    A path without a suffix, one that ends in a slash, and an existing folder get
    ``report.html``, ``report.json``, ``report.txt``, ``report.svg``, ``map.svg``, which shows the
    whole program, and a diagram and a table of each graph in ``graphs/``; where it was timed also
    ``timings.svg``, a bar chart.

    Raises:
        OutputError: The suffix is unknown or a file cannot be written.
        UsageError: The format has no such option.
    """
    given = os.fspath(path)
    suffix = Path(given).suffix
    if not _is_folder(given) and suffix:
        _write(Path(given), _rendered(suffix, options, report))
        return given
    if options:
        raise OutputError(
            f"{given} is a folder of several formats, which take no options together "
            f"({', '.join(options)}). Save one format by its suffix, such as report.html."
        )
    folder = Path(given)
    for name in _REPORT_FILES:
        _write(folder / name, _renderer(Path(name).suffix, {}).report(report))
    _write(folder / _MAP_FILE, _renderer("map", {}).report(report))
    if timings_of(report):
        _write(folder / _TIMINGS_FILE, _renderer("timings", {}).report(report))
    names = slugs([graph.id for graph in report.graphs])
    for slug, graph in zip(names, report.graphs, strict=True):
        for suffix in _GRAPH_SUFFIXES:
            _write(folder / "graphs" / (slug + suffix), _renderer(suffix, {}).graph(graph))
    return given


def diff_text(diff: GraphDiff, **options: object) -> str:
    """The differences of two graphs as text; it fits the terminal unless ``width`` says else."""
    options = {"width": terminal_width(), "root": current_folder(), **options}
    return registry.diff_renderer("diff_text", **options).diff(diff)


def save_diff(diff: GraphDiff, path: str | os.PathLike[str], **options: object) -> str:
    """Writes the differences as ``.svg``, ``.txt`` or ``.json``; returns the path.

    Raises:
        OutputError: The suffix is none of these, or the file cannot be written.
        UsageError: The format has no such option.
    """
    given = os.fspath(path)
    suffix = Path(given).suffix.lower()
    names = {".svg": "diff", ".txt": "diff_text", ".json": "diff_json"}
    if suffix not in names:
        raise OutputError(f"{given}: differences are saved as {', '.join(names)}.")
    _write(Path(given), registry.diff_renderer(names[suffix], **options).diff(diff))
    return given


def load(path: str | os.PathLike[str]) -> Report:
    """Reads a report that was saved as JSON, or the one in a folder that it was saved into.

    Raises:
        ReportFormatError: The file cannot be read, or is no report this version knows.
    """
    given = os.fspath(path)
    file = Path(given, "report.json") if os.path.isdir(given) else Path(given)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ReportFormatError(
            f"{file} cannot be read ({error.strerror or error}). "
            "Give a file written by report.save('x.json')."
        ) from error
    return from_json(data, str(file))


def check_folder(path: str | os.PathLike[str]) -> None:
    """Makes the folder and a file in it, so that long work does not end in a failed write.

    Raises:
        OutputError: It cannot be written.
    """
    _probe(Path(path) / "report.html")


def check_output(path: str | os.PathLike[str]) -> None:
    """Checks, before long work, that `save_report` will be able to write there.

    Raises:
        OutputError: The suffix is unknown, or the file or folder cannot be written.
    """
    given = os.fspath(path)
    suffix = Path(given).suffix
    if _is_folder(given) or not suffix:
        check_folder(given)
    else:
        registry.option_names(suffix)  # raises for a suffix that no renderer writes
        _probe(Path(given))


def terminal_width() -> int:
    """Columns of the terminal; 100 where there is none."""
    return shutil.get_terminal_size(fallback=FALLBACK_SIZE).columns


def current_folder() -> str:
    """The folder that paths are shown relative to; empty where it is gone."""
    try:
        return os.getcwd()
    except OSError:  # it was deleted
        return ""


def slugs(ids: list[str]) -> list[str]:
    """Ids as file names: safe on every system and different from each other, in any case."""
    taken: set[str] = set()
    result = []
    for identity in ids:
        slug = _UNSAFE.sub("_", identity).strip("._-")[:_LONGEST_SLUG] or "graph"
        candidate, count = slug, 1
        while candidate.casefold() in taken:
            count += 1
            candidate = f"{slug}-{count}"
        taken.add(candidate.casefold())
        result.append(candidate)
    return result


def _rendered(suffix: str, options: dict[str, object], what: Graph | Report) -> str | bytes:
    """A file's contents in the format of a suffix; ``engine`` and ``scale`` are for pictures."""
    if "engine" in options and suffix.lower() in pictures.DRAWN_BY_DOT:
        options = dict(options)
        if pictures.check_engine(options.pop("engine")) == "dot":
            dot = _renderer(".dot", options)
            text = dot.graph(what) if isinstance(what, Graph) else dot.report(what)
            return pictures.drawn_by_dot(text, suffix.lower())
    picture = suffix.lower() in pictures.SUFFIXES
    chosen = {"theme": "light", **options} if picture else options
    scale = {"scale": chosen.pop("scale")} if picture and "scale" in chosen else {}
    renderer = _renderer(suffix, chosen)
    text = renderer.graph(what) if isinstance(what, Graph) else renderer.report(what)
    return pictures.converted(text, suffix.lower(), **scale) if picture else text


def _renderer(name: str, options: dict[str, object]) -> Renderer:
    """The renderer, told to name files relative to the current folder."""
    if "root" in registry.option_names(name):
        options = {"root": current_folder(), **options}
    return registry.renderer(name, **options)


def _is_folder(path: str) -> bool:
    return path.endswith(("/", os.sep)) or os.path.isdir(path)


def _write(path: Path, contents: str | bytes) -> None:
    """Writes a file whole or not at all: beside its place first, then moved there."""
    # A lone surrogate (a file name that was no UTF-8) cannot be encoded; its escape can.
    if isinstance(contents, str):
        contents = contents.encode("utf-8", errors="backslashreplace")
    # Through a link, not over it.
    target = Path(os.path.realpath(path))
    temporary = _temporary(target)
    with _clear_errors(path):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_bytes(contents)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


def _probe(path: Path) -> None:
    """Makes the file's folder, and another file in it that is deleted at once."""
    temporary = _temporary(Path(os.path.realpath(path)))
    with _clear_errors(path):
        temporary.parent.mkdir(parents=True, exist_ok=True)
        temporary.touch()
        temporary.unlink()


def _temporary(target: Path) -> Path:
    """A name beside the target that no other process or thread uses."""
    return target.with_name(f".{target.name}.{os.getpid()}-{threading.get_ident()}.tmp")


@contextmanager
def _clear_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(
            f"{path} cannot be written ({reason}). Give a path in a folder you may write to."
        ) from error
