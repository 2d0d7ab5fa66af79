"""The page of a report."""

import gzip
import json
import re
from base64 import b64decode, b64encode
from hashlib import sha256
from html.parser import HTMLParser
from itertools import pairwise

import pytest

import report_corpus as corpus
from graphlens.renderers import graph_section, html
from graphlens.renderers.html import HtmlRenderer

VOID = {"meta", "link", "img", "br"}
DATA = ("application/octet-stream", "application/json")


class Page(HTMLParser):
    """Tags, attributes and text of a page; fails where tags do not close in order."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.ids, self.text, self.open = [], [], [], "", []
        self.elements = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.elements.append([("tag", tag), *attrs])
        self.attributes += [(tag, name, value) for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):  # in pictures
        self.tags.append(tag)

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("script", "style"):
            self.text += data


def page(name, **options):
    return HtmlRenderer(root="/home/user/project", **options).report(corpus.CORPUS[name]())


@pytest.mark.parametrize("name", corpus.CORPUS)
def test_page_is_well_formed_and_asks_for_nothing(name):
    parsed = Page(page(name))
    assert len(parsed.ids) == len(set(parsed.ids))
    scripts = [dict(one) for one in parsed.elements if one[0] == ("tag", "script")]
    assert [one.get("type", "runs") for one in scripts if one.get("type") not in DATA] == ["runs"]
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
    styles = "".join(re.findall(r"<style>(.*?)</style>", page(name), re.DOTALL))
    assert "url(" not in styles
    assert "@import" not in styles
    assert 'style="' not in page(name)


@pytest.mark.parametrize("name", corpus.CORPUS)
def test_only_what_the_policy_names_runs(name):
    text = page(name)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1].replace("&#39;", "'")
    parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert parts["default-src"] == "'none'"
    assert parts["img-src"] == "data:"
    assert "unsafe" not in policy
    for directive, found in (
        ("script-src", re.findall(r"<script>(.*?)</script>", text, re.DOTALL)),
        ("style-src", re.findall(r"<style>(.*?)</style>", text, re.DOTALL)),
    ):
        hashes = {b64encode(sha256(one.encode()).digest()).decode() for one in found}
        assert set(parts[directive].split()) == {f"'sha256-{one}'" for one in hashes}


def test_language_and_title():
    text = page("typical")
    assert text.startswith('<!doctype html>\n<html lang="en">')
    assert "<title>What torch.compile did · GraphLens</title>" in text


def payload(text, number=1):
    """The data of a graph's viewer, as a browser reads it."""
    kind, data = re.search(
        rf'<script type="([^"]*)" id="data-graph-{number}">([^<]*)<', text
    ).groups()
    return json.loads(data if kind == "application/json" else gzip.decompress(b64decode(data)))


@pytest.mark.parametrize("compress", [True, False])
def test_the_viewer_has_every_node_and_the_programs(compress):
    found = payload(page("typical", compress=compress))
    nodes = corpus.typical().graphs[0].nodes
    assert found["pictures"][0]["facts"]["name"] == [node.name for node in nodes]
    assert found == payload(page("typical"))
    assert ["Graph as Python", corpus.typical().graphs[0].code] in found["code"]


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
        "2.14.1+cpu",
        "AOTAutograd answered from its cache for 1 graph.",
    ):
        assert expected in text


def test_pictures_have_text_and_tables_have_headers():
    text = page("typical")
    pictures = re.findall(r'<svg [^>]*role="img"[^>]*>\s*<title>[^<]+</title>\s*<desc>[^<]+', text)
    assert len(pictures) == text.count("<svg ") == 4  # three graphs without scripts, the map
    assert text.count("<noscript>") >= 3
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


def test_a_large_static_picture_is_left_out_but_says_how(monkeypatch):
    monkeypatch.setattr(graph_section, "MOST_PICTURE", 10)
    text = page("typical")
    assert text.count("<svg ") == 1  # the map
    assert 'report.graphs[0].save("graph.svg")' in Page(text).text
    assert text.count('class="viewer"') == 3


def test_static_pictures_together_have_a_limit(monkeypatch):
    monkeypatch.setattr(html, "MOST_PICTURES", 10)
    text = page("typical")
    assert text.count("<svg ") == 2  # the first graph and the map
    assert text.count('class="viewer"') == 3
    assert 'report.graphs[1].save("graph.svg")' in Page(text).text


def test_the_page_has_a_size_limit(monkeypatch):
    monkeypatch.setattr(html, "MOST_DIAGRAM_BYTES", 10)
    text = page("typical")
    assert 'class="viewer"' not in text
    assert "This page has reached its size limit" in text


def test_large_graphs_make_small_pages():
    assert len(page("large")) < 1_000_000


def test_without_diagrams():
    text = page("typical", diagrams=False)
    assert text.count("<svg ") == 1
    assert text.count('class="viewer"') == 3


def test_one_graph():
    text = HtmlRenderer().graph(corpus.toy_graph())
    assert Page(text).text.count("0/0 dynamo: toy") == 2  # title and heading
    assert "Content-Security-Policy" in text


def test_only_https_links():
    assert "javascript:" not in page("hostile")
    assert 'href="https://meta-pytorch.github.io/' in page("typical")


def test_same_report_same_bytes():
    assert page("typical") == page("typical")
