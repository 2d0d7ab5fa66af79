"""The kernels that a generated program defines: language, source, and what each parameter is.

Inductor writes ``NAME = async_compile.cpp_pybinding(TYPES, SOURCE)`` on the CPU (``cpp`` in older
forms) and ``NAME = async_compile.triton('NAME', SOURCE)`` on a GPU, and names parameters by what
is done with them: ``in_ptr0``, ``out_ptr0``, ``in_out_ptr0``. Seen on torch 2.14.
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple

_LANGUAGES = {"cpp_pybinding": "C++", "cpp": "C++", "triton": "Triton"}


class Parameter(NamedTuple):
    """A parameter of a kernel.

    Attributes:
        name: In the kernel's source.
        tensor: Whether it is a pointer into a tensor; else a number.
        read: Whether the kernel reads it.
        written: Whether the kernel writes it.
    """

    name: str
    tensor: bool
    read: bool
    written: bool


class Definition(NamedTuple):
    """A kernel as the program defines it.

    Attributes:
        language: ``C++`` or ``Triton``.
        source: Its source.
        parameters: In the order of a call; None where they could not be read.
    """

    language: str
    source: str
    parameters: tuple[Parameter, ...] | None


def kernel_definitions(module: ast.Module) -> dict[str, Definition]:
    """The kernels of a program, by name."""
    found = {}
    for statement in module.body:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
            continue
        function = statement.value.func
        target = statement.targets[0]
        if (
            isinstance(function, ast.Attribute)
            and isinstance(function.value, ast.Name)
            and function.value.id == "async_compile"
            and function.attr in _LANGUAGES
            and isinstance(target, ast.Name)
        ):
            found[target.id] = _definition(_LANGUAGES[function.attr], statement.value)
    return found


def pointers_of(language: str, source: str) -> tuple[Parameter, ...]:
    """Parameters of a kernel's source in the order of a call; empty where they are not read.

    Of the C++ that Inductor writes the types stand in the signature as they do in the program.
    """
    if language == "Triton":
        return _triton_parameters(source) or ()
    parts = [part.split() for part in _cpp_signature(source).split(",") if part.split()]
    return _cpp_parameters(source, [" ".join(part) for part in parts]) or ()


def _definition(language: str, call: ast.Call) -> Definition:
    texts = [_text(argument) for argument in call.args]
    source = max((text for text in texts if text is not None), key=len, default="")
    if language == "Triton":
        return Definition(language, source, _triton_parameters(source))
    types = next((a for a in call.args if isinstance(a, (ast.List, ast.Tuple))), None)
    if types is None:
        return Definition(language, source, None)
    return Definition(language, source, _cpp_parameters(source, [_text(t) for t in types.elts]))


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _cpp_parameters(source: str, types: list[str | None]) -> tuple[Parameter, ...] | None:
    """Types come from the program, names from the one signature that the source begins with."""
    signature = _cpp_signature(source)
    names = [part.split()[-1].lstrip("*&") for part in signature.split(",") if part.split()]
    if not signature or len(names) != len(types) or None in types:
        return None
    return tuple(
        _parameter(name, "*" in (kind or ""), (kind or "").startswith("const "))
        for name, kind in zip(names, types, strict=True)
    )


def _cpp_signature(source: str) -> str:
    """What stands between the brackets; empty where there is none."""
    _, opened, after = source.partition(" kernel(")
    signature, closed, _ = after.partition(")")
    return signature if opened and closed else ""


def _triton_parameters(source: str) -> tuple[Parameter, ...] | None:
    """Parameters of the decorated function, without those that are fixed at compile time."""
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    functions = [node for node in module.body if isinstance(node, ast.FunctionDef)]
    if not functions:
        return None
    return tuple(
        _parameter(argument.arg, argument.arg.startswith(("in_", "out_")), False)
        for argument in _called(functions[-1])
    )


def _called(function: ast.FunctionDef) -> Iterator[ast.arg]:
    for argument in function.args.args:
        kind = argument.annotation
        if not (isinstance(kind, ast.Attribute) and kind.attr == "constexpr"):
            yield argument


def _parameter(name: str, tensor: bool, constant: bool) -> Parameter:
    read = constant or name.startswith("in_")
    return Parameter(name, tensor, tensor and read, tensor and not constant and "out_" in name)
