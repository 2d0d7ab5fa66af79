"""Importing graphlens is light, and what it needs is asked for in one sentence."""

import subprocess
import sys

import pytest

import graphlens
from graphlens import requirements
from graphlens.errors import UnsupportedTorchError


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_import_does_not_import_torch() -> None:
    assert run("import graphlens, sys; print('torch' in sys.modules)") == "False"


def test_loading_and_drawing_a_report_does_not_import_torch(tmp_path) -> None:
    program = (
        "import sys, graphlens\n"
        "from graphlens.model import Environment, to_json\n"
        f"path = {str(tmp_path / 'r.json')!r}\n"
        "report = graphlens.Report(environment=Environment(graphlens='0', torch='2', python='3'))\n"
        "report.save(path)\n"
        "again = graphlens.load(path)\n"
        "assert again == report\n"
        "again.save(path.replace('.json', '.html')); again.save(path.replace('.json', '.svg'))\n"
        "print(again)\n"
        "print('torch' in sys.modules)\n"
    )
    assert run(program).endswith("False")


@pytest.mark.alone
def test_import_takes_under_50_ms() -> None:
    program = (
        "import time; start = time.perf_counter(); import graphlens\n"
        "print(time.perf_counter() - start)"
    )
    assert min(float(run(program)) for _ in range(5)) < 0.050


def test_every_public_name_is_there() -> None:
    pytest.importorskip("torch")
    for name in graphlens.__all__:
        assert getattr(graphlens, name) is not None
    assert set(graphlens.__all__) <= set(dir(graphlens))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such"):
        graphlens.no_such  # noqa: B018


@pytest.mark.parametrize("found", ["2.10.0", "1.13.1+cu117"])
def test_a_torch_too_old_says_what_to_do(monkeypatch: pytest.MonkeyPatch, found: str) -> None:
    monkeypatch.setattr(requirements, "version", lambda _: found)
    with pytest.raises(
        UnsupportedTorchError, match=rf"2\.11 or newer.*{found[:4]}.*--upgrade torch"
    ):
        requirements.require_torch()


@pytest.mark.parametrize("found", ["2.11.0", "2.14.1+cpu", "2.15.0a0+git1234"])
def test_a_torch_that_is_new_enough(monkeypatch: pytest.MonkeyPatch, found: str) -> None:
    monkeypatch.setattr(requirements, "version", lambda _: found)
    requirements.require_torch()


def test_no_torch_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise requirements.PackageNotFoundError(name)

    monkeypatch.setattr(requirements, "version", missing)
    with pytest.raises(UnsupportedTorchError, match=r"none is installed.*pip install torch"):
        graphlens.explain  # noqa: B018
