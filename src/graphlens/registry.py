"""Renderers by name and by file suffix.

The built-in ones are named by import string, so that asking for one loads no other. Others are
found through the entry point group ``graphlens.renderers``: the entry's name is the renderer's
name and, with a dot before it, its suffix. A built-in name cannot be taken over.
"""

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast

from graphlens.errors import OutputError, UsageError
from graphlens.renderers.base import DiffRenderer, Renderer
from graphlens.suggestions import nearest_first

GROUP = "graphlens.renderers"


@dataclass(frozen=True)
class Entry:
    """Where a renderer is, and the options that its name stands for."""

    target: str
    options: Mapping[str, object] = field(default_factory=dict)


_TABLE = "graphlens.renderers.table:TableRenderer"
_BUILT_IN = {
    "html": Entry("graphlens.renderers.html:HtmlRenderer"),
    "json": Entry("graphlens.renderers.jsonfile:JsonRenderer"),
    "markdown": Entry("graphlens.renderers.markdown:MarkdownRenderer"),
    "svg": Entry("graphlens.renderers.svg:SvgRenderer"),
    "timings": Entry("graphlens.renderers.timings_svg:TimingsRenderer"),
    "map": Entry("graphlens.renderers.map_svg:MapRenderer"),
    "map_text": Entry("graphlens.renderers.map_text:MapTextRenderer"),
    "dot": Entry("graphlens.renderers.dot:DotRenderer"),
    "mermaid": Entry("graphlens.renderers.mermaid:MermaidRenderer"),
    "model_explorer": Entry("graphlens.renderers.model_explorer:ModelExplorerRenderer"),
    "tree": Entry("graphlens.renderers.tree:TreeRenderer"),
    "text": Entry("graphlens.renderers.textfile:TextRenderer"),
    "tsv": Entry(_TABLE, {"format": "tsv"}),
    "table": Entry(_TABLE),
    "notebook": Entry("graphlens.renderers.notebook:NotebookRenderer"),
    "summary": Entry("graphlens.renderers.summary:SummaryRenderer"),
}
_OF_DIFFS = {
    "diff": "graphlens.renderers.diff_svg:DiffSvgRenderer",
    "diff_text": "graphlens.renderers.diff_text:DiffTextRenderer",
    "diff_json": "graphlens.renderers.jsonfile:DiffJsonRenderer",
}
_SUFFIXES = {
    ".html": "html",
    ".json": "json",
    ".md": "markdown",
    ".svg": "svg",
    ".png": "svg",
    ".pdf": "svg",
    ".dot": "dot",
    ".mmd": "mermaid",
    ".tree": "tree",
    ".txt": "text",
    ".tsv": "tsv",
}


def renderer_names() -> tuple[str, ...]:
    """Every renderer's name, built-in ones first."""
    return (*_BUILT_IN, *(name for name in _third_party() if name not in _BUILT_IN))


def suffixes() -> tuple[str, ...]:
    """Every suffix a file may have, built-in ones first."""
    others = [f".{name}" for name in _third_party()]
    return (*_SUFFIXES, *(suffix for suffix in others if suffix not in _SUFFIXES))


def renderer(name: str, **options: object) -> Renderer:
    """A renderer with its options.

    Args:
        name: A renderer's name, such as ``table``, or a suffix, such as ``.svg``.
        **options: The renderer's own.

    Raises:
        OutputError: No renderer writes that suffix.
        UsageError: There is no renderer of that name, or it lacks one of the options.
    """
    kind, fixed = _find(name)
    _check_options(name, [one for one in _options_of(kind) if one not in fixed], options)
    return kind(**fixed, **options)


def diff_renderer(name: str, **options: object) -> DiffRenderer:
    """A renderer of the differences of two graphs: ``diff``, ``diff_text`` or ``diff_json``.

    Args:
        name: The renderer's name.
        **options: The renderer's own.

    Raises:
        UsageError: It lacks one of the options.
    """
    kind = cast("Callable[..., DiffRenderer]", load(_OF_DIFFS[name]))
    _check_options(name, _options_of(kind), options)
    return kind(**options)


def _check_options(name: str, valid: list[str], options: Mapping[str, object]) -> None:
    for option in options:
        if option not in valid:
            known = f"It has: {nearest_first(option, valid)}." if valid else "It has none."
            raise UsageError(f"{name} has no option {option!r}. {known}")


def option_names(name: str) -> tuple[str, ...]:
    """The options that a renderer, given by name or suffix, takes."""
    kind, fixed = _find(name)
    return tuple(option for option in _options_of(kind) if option not in fixed)


def load(target: str) -> Any:
    """The object that an import string ``module:name`` names."""
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


def _find(name: str) -> tuple[Callable[..., Renderer], dict[str, object]]:
    """A renderer's class and the options its name stands for."""
    key = name.lower()
    entry = _BUILT_IN.get(_SUFFIXES.get(key, key))
    if entry:
        return cast("Callable[..., Renderer]", load(entry.target)), dict(entry.options)
    plugin = _third_party().get(key.lstrip("."))
    if plugin:
        return _load_plugin(plugin), {}
    if name.startswith("."):
        raise OutputError(
            f"No renderer writes {name} files. Use one of: {nearest_first(name, suffixes())}."
        )
    raise UsageError(
        f"There is no renderer {name!r}. Use one of: {nearest_first(name, renderer_names())}."
    )


def _load_plugin(plugin: EntryPoint) -> Callable[..., Renderer]:
    try:
        return cast("Callable[..., Renderer]", plugin.load())
    except (ImportError, AttributeError) as error:
        package = plugin.dist.name if plugin.dist else plugin.value
        raise UsageError(
            f"The renderer {plugin.name!r} of {package} cannot be loaded ({error}). "
            f"Upgrade or uninstall {package}."
        ) from error


def _options_of(kind: Callable[..., object]) -> list[str]:
    if dataclasses.is_dataclass(kind):
        return [item.name for item in dataclasses.fields(kind) if item.init]
    return list(inspect.signature(kind).parameters)


@cache
def _third_party() -> dict[str, EntryPoint]:
    found = sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))
    return {entry.name.lower(): entry for entry in found}
