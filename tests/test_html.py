"""The page of a report."""

import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

import report_corpus as corpus
from graphlens.renderers import html
from graphlens.renderers.html import HtmlRenderer

VOID = {"meta", "link", "img", "br"}


class Page(HTMLParser):
    """Tags, attributes and text of a page; fails where tags do not close in order."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.ids, self.text, self.open = [], [], [], "", []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def page(name, **options):
    return HtmlRenderer(root="/home/user/project", **options).report(corpus.CORPUS[name]())


@pytest.mark.parametrize("name", corpus.CORPUS)
def test_page_is_well_formed_and_asks_for_nothing(name):
    parsed = Page(page(name))
    assert len(parsed.ids) == len(set(parsed.ids))
    assert "script" not in parsed.tags
    for tag, attribute, value in parsed.attributes:
        assert not attribute.startswith("on")
        if attribute == "src":
            assert value.startswith("data:image/svg+xml;base64,")
        if attribute == "href":
            assert value.startswith(("#", "https://", "data:,"))
            assert tag == "a" or value == "data:,"
    links = {
        value[1:] for _, name, value in parsed.attributes if name == "href" and value[0] == "#"
    }
    assert links <= set(parsed.ids)
    assert "url(" not in page(name)
    assert "@import" not in page(name)


def test_policy_and_language():
    text = page("typical")
    assert text.startswith('<!doctype html>\n<html lang="en">')
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:;")
    assert "<title>What torch.compile did · GraphLens</title>" in text


def test_headings_are_in_order():
    parsed = Page(page("typical"))
    levels = [int(tag[1]) for tag in parsed.tags if re.fullmatch(r"h\d", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_what_a_reader_needs_is_there():
    text = Page(page("typical")).text
    for expected in (
        "demo.py:6",
        "if b.sum() < 0:",
        "Dynamo does not support tracing dynamic control flow.",
        "Compute both sides and choose with torch.where.",
        "b = torch.where(b.sum() < 0, b * -1, b)",
        "tried: 2 breaks → 1, 3 graphs → 1, 1 recompile → 0",
        "GB0170",
        "the program ran through it 3 times",
        "(2 records)",
        "torch gave up on the whole function",
        "argument a, dimension 0: 10 → 12; global STEP: 3 → 4 (against 0/0)",
        "s0 = 10 (L['a'].size()[0])",
        "cpp_fused_abs_add_0",
        "2.14.1+cpu",
        "AOTAutograd answered from its cache for 1 graph.",
    ):
        assert expected in text


def test_images_have_text_and_tables_have_headers():
    text = page("typical")
    assert text.count("<img ") == 3
    assert len(re.findall(r'<img [^>]*alt="Diagram of [^"]+"', text)) == 3
    assert text.count("<table") == len(re.findall(r"<table[^>]*>\s*<thead>", text))
    assert 'th scope="row"' in text


def test_unknown_is_said_not_counted():
    text = Page(page("unknown")).text
    assert "graph breaks unknown: torch's trace could not be read; run graphlens doctor" in text
    assert not re.search(r"\b0 (graph breaks|recompiles|frames)", text)


def test_nothing_compiled():
    text = Page(page("empty")).text
    assert "Nothing was compiled." in text
    assert "Findings" not in text


def test_large_graphs_are_not_drawn_but_say_how():
    text = page("large")
    assert "<img" not in text
    assert 'report.graphs[0].save("graph.svg")' in Page(text).text
    assert "5,000 more rows" in text
    assert len(text) < 2_000_000


def test_the_page_has_a_size_limit(monkeypatch):
    monkeypatch.setattr(html, "MOST_DIAGRAM_BYTES", 10)
    text = page("typical")
    assert "<img" not in text
    assert "This page has reached its size limit" in text


def test_without_diagrams():
    assert "<img" not in page("typical", diagrams=False)


def test_one_graph():
    text = HtmlRenderer().graph(corpus.toy_graph())
    assert Page(text).text.count("0/0 dynamo: toy") == 2  # title and heading
    assert "Content-Security-Policy" in text


def test_only_https_links():
    assert "javascript:" not in page("hostile")
    assert 'href="https://meta-pytorch.github.io/' in page("typical")


def test_same_report_same_bytes():
    assert page("typical") == page("typical")
