"""What is printed while a program runs, on outputs that cannot take it."""

import io
import sys

import pytest

torch = pytest.importorskip("torch")

from graphlens import display

pytestmark = pytest.mark.usefixtures("compiles")


def stdout(monkeypatch: pytest.MonkeyPatch, encoding: str) -> io.BytesIO:
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding=encoding))
    return raw


def compile_one(step: float) -> None:
    torch._dynamo.reset()  # else another step is a recompile, for any step
    torch.compile(lambda x: x + step, backend="graphlens_eager")(torch.ones(2))


def test_an_ascii_output_gets_every_table(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = stdout(monkeypatch, "ascii")
    compile_one(1.0)
    compile_one(2.0)
    text = raw.getvalue().decode("ascii")
    assert text.count("1 operator ? 1 input") == 2
    assert text.count("l_x_, 1.0") == text.count("l_x_, 2.0") == 1


def test_a_utf8_output_gets_the_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = stdout(monkeypatch, "utf-8")
    compile_one(1.0)
    assert "1 operator · 1 input" in raw.getvalue().decode()


def test_a_closed_output_ends_the_printing_and_not_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stdout(monkeypatch, "utf-8")
    sys.stdout.close()
    display._print("gone")  # torch itself does not compile with a closed one
    raw = stdout(monkeypatch, "utf-8")
    compile_one(2.0)
    assert raw.getvalue() == b""
    display.reset_display()
    compile_one(3.0)
    assert b"3.0" in raw.getvalue()


def test_another_value_error_is_no_closed_output(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(io.StringIO):
        def write(self, text: str) -> int:
            raise ValueError("not now")

    monkeypatch.setattr("sys.stdout", Broken())
    compile_one(1.0)  # a note in the report, as any fault of ours
    raw = stdout(monkeypatch, "utf-8")
    compile_one(2.0)
    assert b"2.0" in raw.getvalue()
