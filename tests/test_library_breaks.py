"""Breaks in libraries: the function is named as the user calls it, and a library's code as its."""

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from graphlens.analysis.break_causes import with_causes
from graphlens.analysis.library_calls import library_call
from graphlens.analysis.source_code import SourceFiles
from graphlens.model import Compilation, Frame, GraphBreak, Report, SourceLocation
from graphlens.renderers.findings import Finding, findings
from report_corpus import ENVIRONMENT

SITE = "/opt/venv/lib/python3.11/site-packages"
ME = "/home/me/p.py"
IMPORTS = ["import kit", "import kit.ops as ko", "from kit import norm as nrm", ""]
DECO = """\
import functools
def checked(f):
    @functools.wraps(f)
    def wrapper(*args):
        for turn in range(2):
            if args[0].sum() > 0:
                f(*args)
        return f(*args)
    return wrapper
"""
IMPL = """\
from ._deco import checked
@checked
def norm(x):
    return open(x)
class Layer:
    def forward(self, x):
        return open(x)
"""


def at(line: int, function: str, file: str) -> SourceLocation:
    return SourceLocation(file=file, line=line, function=function)


WRAPPER = at(6, "wrapper", f"{SITE}/kit/_deco.py")
NORM = at(4, "norm", f"{SITE}/kit/_impl.py")
LAYER = at(7, "forward", f"{SITE}/kit/_impl.py")


def files_of(line: str) -> dict[str, list[str]]:
    return {
        ME: [*IMPORTS, line],
        WRAPPER.file: DECO.splitlines(),
        NORM.file: IMPL.splitlines(),
    }


def found_at(line: str, *inner: SourceLocation, **more: Any) -> GraphBreak:
    return GraphBreak(
        file=ME, line=5, code=line, kind="Odd", points_to=inner[-1] if inner else None,
        stack=(at(5, "f", ME), *inner), **more,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("line", "inner", "name"),
    [
        ("y = kit.norm(x)", (WRAPPER,), "kit.norm"),
        ("y = nrm(x) + 1", (WRAPPER,), "kit.norm"),
        ("y = ko.scale(x)", (WRAPPER,), "kit.ops.scale"),
        # Which of two it is, only a frame further in tells.
        ("y = kit.norm(x) + ko.scale(x)", (WRAPPER, NORM), "kit.norm"),
        ("y = kit.norm(x) + ko.scale(x)", (WRAPPER,), "kit.norm or kit.ops.scale"),
        # A method has no name that was imported: the library's own, past the decorator.
        ("y = self.layer(x)", (LAYER,), "kit._impl.Layer.forward"),
        ("y = self.layer(x)", (WRAPPER, LAYER), "kit._impl.Layer.forward"),
        ("y = self.layer(x)", (WRAPPER,), "self.layer"),
        ("y = layers[0](f(x))", (WRAPPER,), "kit._deco.checked"),
        # At the line itself.
        ("y = kit.norm(x.sum())", (), "kit.norm"),
        ("y = x.sum()", (), ""),
    ],
)
def test_the_name(line: str, inner: tuple[SourceLocation, ...], name: str) -> None:
    files = files_of(line)
    assert (
        library_call(found_at(line, *inner), SourceFiles(lambda f: files.get(f, ()))).name == name
    )


def test_without_the_sources_a_wrapper_is_not_named_either() -> None:
    found = found_at("y = kit.norm(x)", WRAPPER, NORM)
    assert library_call(found, SourceFiles(lambda _: ())).name == "kit._impl.norm"


def complete(line: str, inner: SourceLocation, *roots: SourceLocation, **more: Any) -> GraphBreak:
    files = files_of(line)
    ids = [f"{number}/0" for number in range(len(roots))]
    found = found_at(line, inner, consequence="frame_skipped", compile_ids=tuple(ids), **more)
    (one,) = with_causes(
        [found], lambda f: files.get(f, ()), dict(zip(ids, roots, strict=True)), ids[-1:]
    )
    return one


def test_a_library_function_that_runs_eager_is_said_to_be_the_librarys() -> None:
    user, library = at(5, "f", ME), at(4, "wrapper", WRAPPER.file)
    one = complete("y = nrm(x) + 1", WRAPPER, user, library)
    assert one.skipped_because == (
        "in `checked.wrapper` of kit._deco, line 6 is in a loop, and torch cannot leave a function "
        "in the middle of a loop"
    )
    assert one.inside == SourceLocation(file=WRAPPER.file, line=5, code="for turn in range(2):")
    assert (one.trigger, one.caret) == ("nrm(x)", (4, 10))
    assert not [text for text in one.advice if "`for`" in text]  # nobody can move that

    frames = (
        frame("0", "f", ME, "compiled"),
        frame("1", "wrapper", WRAPPER.file, "skipped"),
    )
    (item,) = findings_of(one, frames)
    assert (item.kind, item.title) == (
        "break", "kit.norm, a library function that Dynamo cannot trace",
    )  # fmt: skip
    assert item.why[-1] == (
        f"The library's function runs eager: {one.skipped_because} "
        "(kit/_deco.py:5: `for turn in range(2):`)."
    )


def frame(name: str, function: str, file: str, outcome: str) -> Frame:
    compilation = Compilation(compile_id=f"{name}/0", outcome=outcome)
    return Frame(
        id=name, function=function, file=file, line=4, outcome=outcome, compilations=(compilation,)
    )


def findings_of(one: GraphBreak, frames: tuple[Frame, ...]) -> tuple[Finding, ...]:
    return findings(Report(environment=ENVIRONMENT, frames=frames, breaks=(one,)))


def test_a_library_function_without_a_block_is_named_with_its_line() -> None:
    one = complete("y = kit.norm(x)", NORM, at(5, "f", ME), at(2, "norm", NORM.file))
    assert one.skipped_because == "torch cannot go on after line 4 in `norm` of kit._impl"
    assert one.inside is None


def test_where_the_users_function_is_given_up_nothing_of_a_library_is_said() -> None:
    one = complete("y = kit.norm(x)", NORM, at(2, "norm", NORM.file), at(5, "f", ME))
    assert one.skipped_because == "torch cannot go on after it in this function"


def test_a_librarys_value_that_cannot_be_carried_over() -> None:
    origin = SourceLocation(file=WRAPPER.file, line=5, code="for turn in range(2):")
    one = complete("y = kit.norm(x)", WRAPPER, at(4, "wrapper", WRAPPER.file), inside=origin)
    assert one.skipped_because.startswith("in `checked.wrapper` of kit._deco, line 6 is in a loop")
    assert one.inside == origin


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A library as installed, with a function behind a decorator."""
    site = tmp_path / "lib" / "python3.11" / "site-packages"
    package = site / "graphlens_test_kit"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from ._impl import norm\n")
    (package / "_deco.py").write_text(DECO)
    (package / "_impl.py").write_text(
        "from ._deco import checked\n@checked\ndef norm(x):\n    return x / x.norm()\n"
    )
    monkeypatch.syspath_prepend(str(site))
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("graphlens_test_kit")]:
        del sys.modules[name]


@pytest.mark.usefixtures("compiles")
def test_a_run_names_no_wrapper(kit: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    import graphlens

    (kit / "kit_program.py").write_text(
        dedent("""
            import graphlens_test_kit as gk

            def f(x):
                y = gk.norm(x.sin())
                return y + 1
        """)
    )
    monkeypatch.syspath_prepend(str(kit))
    import kit_program

    report = graphlens.explain(kit_program.f)(torch.ones(2))
    (item,) = [one for one in findings(report) if one.kind != "intended"]
    assert item.title == "graphlens_test_kit.norm, a library function that Dynamo cannot trace"
    assert "`checked.wrapper` of graphlens_test_kit._deco, line 6 is in a loop" in item.why[-1]
    assert isinstance(report.eager, tuple)
    assert {one.inside for one in report.eager} <= {"graphlens_test_kit._impl.norm", ""}
    assert report.eager
    del sys.modules["kit_program"]
