"""How reports and graphs show and save themselves."""

import os
import stat
import threading
from pathlib import Path

import pytest

import report_corpus as corpus
from graphlens import presenter, registry
from graphlens.errors import OutputError, ReportFormatError, UsageError
from graphlens.model import from_json


@pytest.fixture(autouse=True)
def _in_tmp(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "90")


def files(folder):
    """All files below a folder, relative, sorted."""
    return sorted(str(p.relative_to(folder)) for p in Path(folder).rglob("*") if p.is_file())


def test_print_fits_the_terminal():
    report = corpus.typical()
    assert all(len(line) <= 90 for line in str(report).split("\n") if "-->" not in line)
    assert max(map(len, str(report.graphs[1]).split("\n"))) <= 90
    assert not str(report).endswith("\n")


def test_table_options():
    graph = corpus.resnet_graph()
    assert max(map(len, graph.table(width=60).split("\n"))) <= 60
    assert max(map(len, graph.table(width=None).split("\n"))) > 100
    assert "more rows" not in graph.table(rows=None)
    assert graph.table("github").count("\n| 1 ") == 1
    with pytest.raises(UsageError, match="plain, github, html, tsv"):
        graph.table("markdown")
    with pytest.raises(UsageError, match=r"no option 'widht'\. It has: width"):
        graph.table(widht=60)


def test_paths_are_relative_to_the_current_folder(monkeypatch):
    monkeypatch.setattr(os, "getcwd", lambda: "/home/user/project")
    assert "(demo.py:4)" in corpus.toy_graph().table()


def test_notebook_html():
    html = corpus.hostile()._repr_html_()
    assert "<img" not in html
    assert html.startswith("<pre>")
    assert corpus.typical()._repr_html_().count("<details>") == 3
    assert "<table" in corpus.toy_graph()._repr_html_()


@pytest.mark.parametrize("suffix", registry.suffixes())
def test_every_suffix_saves(suffix):
    report = corpus.typical()
    path = f"new/folder/report{suffix}"
    assert report.save(path) == path
    assert Path(path).read_bytes()
    assert report.graphs[0].save(f"graph{suffix}") == f"graph{suffix}"
    assert Path(f"graph{suffix}").read_bytes()
    assert files(".") == sorted([path, f"graph{suffix}"])


def test_saved_json_is_read_back(tmp_path):
    report = corpus.typical()
    report.save(tmp_path / "r.json")
    assert from_json((tmp_path / "r.json").read_bytes()) == report
    assert presenter.load("r.json") == report
    report.save("folder/")
    assert presenter.load(Path("folder")) == report


def test_what_cannot_be_loaded_is_one_clear_sentence():
    with pytest.raises(ReportFormatError, match=r"^no\.json cannot be read \(No such file"):
        presenter.load("no.json")
    Path("text.json").write_text("hello")
    with pytest.raises(ReportFormatError, match=r"^text\.json is not JSON"):
        presenter.load("text.json")


def test_title_is_the_first_line_of_the_table():
    graph = corpus.toy_graph()
    assert graph.table(width=None).split("\n")[0] == presenter.title(graph)


@pytest.mark.parametrize("path", ["out", "out/", "made.d/"])
def test_a_folder_gets_everything(path):
    assert corpus.typical().save(path) == path
    assert files(path) == [
        "graphs/0_0_dynamo.svg",
        "graphs/0_0_dynamo.txt",
        "graphs/1_0_dynamo.svg",
        "graphs/1_0_dynamo.txt",
        "graphs/2_0_forward.svg",
        "graphs/2_0_forward.txt",
        "map.svg",
        "report.html",
        "report.json",
        "report.svg",
        "report.txt",
    ]
    # A file has room: nothing is left out.
    assert "more rows" not in Path(path, "graphs/1_0_dynamo.txt").read_text()


def test_an_existing_folder_may_have_a_dot_in_its_name():
    Path("v1.2").mkdir()
    corpus.typical().save("v1.2")
    assert "report.html" in files("v1.2")


def test_hostile_reports_are_saved_in_the_folder():
    # Only the JSON cannot hold a lone surrogate, and torch's file names have none.
    report = corpus.hostile()
    for name in ("r.html", "r.txt", "r.md", "r.tsv"):
        report.save(f"out/{name}")
    assert files("out") == ["r.html", "r.md", "r.tsv", "r.txt"]
    for name in files("out"):
        Path("out", name).read_bytes().decode("utf-8")


def test_slugs_are_safe_and_different():
    names = presenter.slugs(
        ["0/0 a", "0:0 a", "../../etc", "", "A", "a", "x" * 500, "..", "con\x00"]
    )
    assert names == [
        "0_0_a", "0_0_a-2", "etc", "graph", "A", "a-2", "x" * 80, "graph-2", "con",
    ]  # fmt: skip


@pytest.mark.parametrize("suffix", [".htm", ".2", ".unknown"])
def test_unknown_suffix(suffix):
    with pytest.raises(OutputError, match=r"Use one of: .*\.svg"):
        corpus.typical().save(f"x{suffix}")
    assert files(".") == []


@pytest.mark.parametrize("path", ["graph", "folder/"])
def test_a_graph_needs_a_suffix(path):
    with pytest.raises(OutputError, match=r"names no format.*\.svg"):
        corpus.toy_graph().save(path)


def test_options_of_the_format():
    corpus.typical().save("r.md", rows=3)
    assert "45 more rows" in Path("r.md").read_text()
    with pytest.raises(UsageError, match="rows"):
        corpus.typical().save("r.md", row=3)
    with pytest.raises(OutputError, match="folder of several formats"):
        corpus.typical().save("out", rows=3)


def test_a_file_in_the_way_is_one_clear_sentence():
    Path("taken").write_text("")
    with pytest.raises(OutputError, match=r"^taken/r\.txt cannot be written \(.+\)\. Give a path"):
        corpus.typical().save("taken/r.txt")


def test_a_folder_without_permission(monkeypatch):
    def refuse(self, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)  # root may write anywhere, so none can be made
    with pytest.raises(OutputError, match="Permission denied"):
        corpus.typical().save("closed/r.txt")


def test_a_folder_is_checked_before_the_work():
    presenter.check_folder("new/out/")
    assert files(".") == []
    Path("taken").write_text("")
    with pytest.raises(OutputError, match=r"taken/report\.html cannot be written"):
        presenter.check_folder("taken")


def test_a_failed_write_leaves_the_old_file(monkeypatch):
    Path("r.txt").write_text("old")

    def fail(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OutputError, match="No space left on device"):
        corpus.typical().save("r.txt")
    assert Path("r.txt").read_text() == "old"
    assert files(".") == ["r.txt"]


def test_the_file_has_the_usual_permissions_and_links_stay():
    os.umask(umask := os.umask(0o022))
    Path("real").mkdir()
    Path("real/r.txt").write_text("old")
    Path("link.txt").symlink_to("real/r.txt")
    corpus.typical().save("link.txt")
    assert Path("link.txt").is_symlink()
    assert "GraphLens: " in Path("real/r.txt").read_text()
    assert stat.S_IMODE(Path("real/r.txt").stat().st_mode) == 0o666 & ~umask


def test_threads_may_save_at_once():
    report = corpus.typical()
    threads = [threading.Thread(target=report.save, args=("r.txt",)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert files(".") == ["r.txt"]


def test_the_module_is_what_the_model_asks_for():
    for name in ("table", "summary", "notebook", "save_graph", "save_report"):
        assert callable(getattr(presenter, name))
