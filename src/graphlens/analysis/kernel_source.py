"""The generated source of a kernel, with what each statement loads and stores.

Inductor writes no comments into the C++ and Triton that it generates. What can be told of a
statement is which tensor it loads from or stores to: pointers are parameters, and the call says
which tensor each stands for. Nothing is told of the arithmetic between. Above a Triton kernel the
program has comments, with the operators it computes; they are given too. Seen on torch 2.14.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from graphlens.analysis.kernel_definitions import pointers_of
from graphlens.model import Kernel, KernelBuffer, Unavailable

_ALIAS = re.compile(r"^\s*auto (\w+) = (\w+);$")
_PATH = "# kernel path:"
_WORD = re.compile(r"[A-Za-z_]\w*")


class SourceLine(NamedTuple):
    """A line of a kernel's source.

    Attributes:
        text: As it stands there.
        loads: Tensors it loads from.
        stores: Tensors it stores to.
    """

    text: str
    loads: tuple[KernelBuffer, ...] = ()
    stores: tuple[KernelBuffer, ...] = ()


class Pointer(NamedTuple):
    """What a pointer in a kernel's source stands for in a call.

    Attributes:
        read: The tensor before the call; None where it is not read.
        written: The tensor after the call, perhaps in the same memory; None where it stays.
    """

    read: KernelBuffer | None
    written: KernelBuffer | None


def pointers(kernel: Kernel) -> dict[str, Pointer]:
    """By pointer in the source, the tensors that a call gives for it; those that are known."""
    try:
        call = ast.parse(kernel.call, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    given = call.args if isinstance(call, ast.Call) else []
    read = {each.name: each for each in kernel.inputs}
    written = {each.name: each for each in kernel.outputs}
    found = {}
    for parameter, value in zip(pointers_of(kernel.language, kernel.source), given, strict=False):
        pointer = Pointer(read.get(_name(value)), written.get(_name(value)))
        if parameter.tensor and any(pointer):
            found[parameter.name] = pointer
    return found


def source_lines(kernel: Kernel, program: str | Unavailable = "") -> list[SourceLine]:
    """The lines of a kernel's source; none where it is a call into a library.

    Args:
        kernel: A kernel.
        program: That defines it; the comments above its definition come first.
    """
    if not kernel.source:
        return []
    text = "" if isinstance(program, Unavailable) else program
    found = [SourceLine(comment) for comment in kernel_comments(text, kernel.name)]
    known = pointers(kernel)
    stored: set[str] = set()
    body = False
    for line in kernel.source.strip("\n").split("\n"):
        if not body:  # the signature names all pointers, and loads none
            body = line.strip() == "{" or line.lstrip().startswith("def ")
            found.append(SourceLine(line))
            continue
        alias = _ALIAS.match(line)
        if alias and alias[2] in known:
            known[alias[1]] = known[alias[2]]
            found.append(SourceLine(line))
        else:
            found.append(_marked(line, known, stored))
    return found


def kernel_comments(program: str, name: str) -> list[str]:
    """The comments right above a kernel's definition, without the path of a file in a cache."""
    lines: list[str] = []
    end = program.find(f"\n{name} = async_compile.")
    while end > 0:  # line by line upwards: a program can be megabytes
        begin = program.rfind("\n", 0, end) + 1
        line = program[begin:end]
        if not line.startswith("#"):
            break
        if not line.startswith(_PATH):
            lines.insert(0, line)
        end = begin - 1
    return lines


def _marked(line: str, known: Mapping[str, Pointer], stored: set[str]) -> SourceLine:
    """A line of the body; what is loaded after a store is what was stored.

    Args:
        line: Of the source.
        known: Pointers.
        stored: Names of tensors that lines before stored to; those of this line are added.
    """
    loads: list[KernelBuffer] = []
    stores: list[KernelBuffer] = []
    for pointer in dict.fromkeys(_WORD.findall(line)):
        if pointer not in known:
            continue
        read, written = known[pointer]
        if written is not None and _stores(line, pointer):
            stores.append(written)
            stored.add(written.name)
        else:
            loaded = written if written and written.name in stored else read or written
            loads += [loaded] if loaded else []
    return SourceLine(line, tuple(loads), tuple(stores))


def _stores(line: str, pointer: str) -> bool:
    """Whether a line writes through a pointer; a later loop may read what one has written."""
    into = (
        rf"\bstore\w*\(\s*{pointer}\b",  # vector.store(P + ...), tl.store(P + ...)
        rf"\batomic_\w+\(\s*&?{pointer}\b",
        rf"^\s*{pointer}\[.*\]\s*=[^=]",
    )
    if any(re.search(pattern, line) for pattern in into):
        return True
    out_of = rf"\bload\w*\(\s*{pointer}\b|=.*\b{pointer}\["
    return pointer.startswith("out_") and not re.search(out_of, line)


def _name(value: ast.expr) -> str:
    """The tensor that an argument is, or is a view of."""
    while isinstance(value, ast.Call) and value.args:
        value = value.args[0]
    return value.id if isinstance(value, ast.Name) else ""


def told_by_inductor(comments: list[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Of comments above a kernel, each source node with the ATen nodes it became."""
    for line in comments:
        source, arrow, nodes = line.lstrip("# ").partition(" => ")
        if arrow:
            yield source, tuple(nodes.split(", "))
