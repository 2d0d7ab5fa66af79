"""Whose a source file is: the user's, a library's, or GraphLens's own."""

from pathlib import Path

import pytest

import graphlens
from graphlens.analysis.places import is_graphlens, is_library, user_frame
from graphlens.model import SourceLocation

HERE = Path(__file__).resolve().parent
SITE = "/venv/lib/python3.11/site-packages"
CLICK = f"{SITE}/click/core.py"
ENTRY = f"{SITE}/torch/_dynamo/eval_frame.py"


def stack(*files: str) -> list[SourceLocation]:
    return [SourceLocation(file=file, line=n + 1) for n, file in enumerate(files)]


def test_every_file_of_the_package_is_graphlens() -> None:
    package = Path(graphlens.__file__).parent
    files = [f.relative_to(package).as_posix() for f in package.rglob("*.py")]
    assert len(files) > 50
    for root in ("/home/me/checkout/src/graphlens", f"{SITE}/graphlens"):
        assert [f for f in files if not is_graphlens(f"{root}/{f}")] == []


@pytest.mark.parametrize(
    "path",
    [
        "/home/me/src/graphlens/train.py",  # a checkout of that name, and the user's file in it
        "/home/me/src/graphlens/examples/quickstart.py",
        "/home/me/src/graphlens/tests/programs.py",
        "/home/me/graphlens/cli/main.py",  # a folder of the user's own
        "/home/me/bin/train",
        "/home/me/train.py",
        "<stdin>",
        "<ipython-input-3-0123456789ab>",
    ],
)
def test_the_users_own(path: str) -> None:
    assert not is_library(path)


@pytest.mark.parametrize(
    "path",
    [
        "/home/me/graphlens/src/graphlens/cli/explain.py",
        "/home/me/graphlens/.venv/bin/graphlens",
        "/usr/local/bin/torchrun",
        "/usr/lib/python3.10/runpy.py",
        "<frozen runpy>",
        "<string>",
        CLICK,
    ],
)
def test_not_the_users(path: str) -> None:
    assert is_library(path)


COMMAND = ("/venv/bin/graphlens", "/w/src/graphlens/cli/main.py", CLICK,
           "/w/src/graphlens/cli/explain.py", "/w/src/graphlens/capture/explain.py")  # fmt: skip


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ((*COMMAND, ENTRY), None),
        ((*COMMAND, ENTRY, f"{SITE}/lib/model.py"), f"{SITE}/lib/model.py"),
        ((*COMMAND, "/me/toy.py", f"{SITE}/lib/model.py"), "/me/toy.py"),
        (("/me/toy.py", f"{SITE}/graphlens/capture/explain.py", ENTRY), "/me/toy.py"),
        ((CLICK, ENTRY), ENTRY),
        ((), None),
    ],
)
def test_the_users_frame(files: tuple[str, ...], expected: str | None) -> None:
    found = user_frame(stack(*files))
    assert (found.file if found else None) == expected
