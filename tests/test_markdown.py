"""Reports as Markdown."""

import re

import pytest

import report_corpus as corpus
from golden_files import check_golden
from graphlens.renderers.escape import markdown_code, markdown_prose, markdown_text
from graphlens.renderers.markdown import MarkdownRenderer


@pytest.mark.parametrize("name", ["empty", "unknown", "typical", "hostile"])
def test_markdown(name):
    text = MarkdownRenderer(rows=6, root="/home/user/project").report(corpus.CORPUS[name]())
    check_golden(f"report_{name}.md", text)


def test_hostile_names_make_no_markup():
    text = MarkdownRenderer().report(corpus.hostile())
    without_blocks = re.sub(r"^(`{3,})\w*\n.*?^\1$", "", text, flags=re.M | re.S)
    without_code = re.sub(r"(`+).*?\1", "", without_blocks)
    assert "<img" not in without_code.replace("\\<img", "")
    assert set(re.findall(r"(?<!\\)<(\w+)", without_code)) <= {"details", "summary"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        ("a_b", "`a_b`"),
        ("a|b", "`a\\|b`"),
        ("`x`", "`` `x` ``"),
        ("a``b", "```a``b```"),
        ("two\nlines", "`two lines`"),
    ],
)
def test_code(text, expected):
    assert markdown_code(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("_x_ *y* <b>", "\\_x\\_ \\*y\\* \\<b>"),
        ("# no heading", "\\# no heading"),
        ("1. no list", "1\\. no list"),
        ("[a](b)", "\\[a\\](b)"),
        ("[8, 64]", "\\[8, 64]"),
        ("a & b", "a &amp; b"),
    ],
)
def test_text(text, expected):
    assert markdown_text(text) == expected


def test_prose_keeps_code():
    assert markdown_prose("Use `a_b` not c_d") == "Use `a_b` not c\\_d"
    assert markdown_prose("odd ` tick") == "odd \\` tick"
