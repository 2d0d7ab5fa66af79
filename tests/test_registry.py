"""Renderers by name and suffix."""

from importlib.metadata import EntryPoint

import pytest

import report_corpus as corpus
from graphlens import registry
from graphlens.errors import OutputError, UsageError


@pytest.fixture
def plugins(monkeypatch):
    """Entry points as if other packages were installed."""

    def install(**entries):
        found = [
            EntryPoint(name=name, value=value, group=registry.GROUP)
            for name, value in entries.items()
        ]
        monkeypatch.setattr(registry, "entry_points", lambda group: found)
        registry._third_party.cache_clear()

    yield install
    registry._third_party.cache_clear()


@pytest.mark.parametrize("name", registry.renderer_names())
def test_every_renderer_renders_every_report(name):
    renderer = registry.renderer(name)
    for build in (corpus.empty, corpus.unknown, corpus.typical):
        assert isinstance(renderer.report(build()), str)
    assert renderer.graph(corpus.toy_graph())


@pytest.mark.parametrize("suffix", registry.suffixes())
def test_every_suffix_has_a_renderer(suffix):
    assert registry.renderer(suffix)
    assert registry.renderer(suffix.upper()) == registry.renderer(suffix)


def test_options_reach_the_renderer():
    assert registry.renderer("table", rows=3, width=50).rows == 3
    assert registry.renderer(".tsv").format == "tsv"


def test_unknown_suffix_lists_the_valid_ones_nearest_first():
    with pytest.raises(OutputError, match=r"No renderer writes \.htm files\. Use one of: \.html, "):
        registry.renderer(".htm")


def test_unknown_name_lists_the_valid_ones_nearest_first():
    with pytest.raises(UsageError, match=r"no renderer 'tabel'\. Use one of: table, html, json"):
        registry.renderer("tabel")


def test_unknown_option_lists_the_valid_ones_nearest_first():
    with pytest.raises(UsageError, match=r"table has no option 'row'\. It has: rows, "):
        registry.renderer("table", row=3)
    with pytest.raises(UsageError, match=r"\.json has no option 'rows'\. It has none\."):
        registry.renderer(".json", rows=3)


def test_an_option_that_the_name_fixes_is_not_offered():
    assert "format" not in registry.option_names(".tsv")
    with pytest.raises(UsageError, match="no option 'format'"):
        registry.renderer(".tsv", format="html")


def test_a_plugin_is_found_by_name_and_suffix(plugins):
    plugins(counts="test_registry:Counts")
    assert registry.renderer("counts").report(corpus.typical()) == "3"
    assert registry.renderer(".counts", sign="#").report(corpus.typical()) == "#3"
    assert registry.renderer_names()[-1] == "counts"
    assert registry.suffixes()[-1] == ".counts"
    with pytest.raises(UsageError, match="It has: sign"):
        registry.renderer("counts", sing="#")


def test_a_plugin_cannot_take_over_a_built_in_name(plugins):
    plugins(table="test_registry:Counts", html="test_registry:Counts")
    assert registry.renderer("table") == registry.renderer("table", format="plain")
    assert not isinstance(registry.renderer(".html"), Counts)


def test_a_broken_plugin_is_named(plugins):
    plugins(broken="no_such_module:Renderer")
    with pytest.raises(UsageError, match="'broken' of no_such_module:Renderer cannot be loaded"):
        registry.renderer("broken")
    assert registry.renderer("table")


class Counts:
    """A renderer of somebody else, not even a dataclass."""

    def __init__(self, sign=""):
        self.sign = sign

    def report(self, report):
        return f"{self.sign}{len(report.graphs)}"

    def graph(self, graph):
        return "1"
