"""The kernels that a generated program calls, in order, with what each is given.

The program is Python that Inductor writes: a function ``call`` with one statement a kernel. It is
read, never run. Seen on torch 2.14.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from graphlens.analysis.kernel_definitions import Definition, kernel_definitions
from graphlens.analysis.program_buffers import Buffer, Scope, dotted, tensors_in
from graphlens.model import TensorSpec

_HANDLE = "# [Provenance debug handles] "
_BETWEEN = re.compile(r" = get_raw_stream\(|^\w+numel = ")
_LIBRARIES = {"extern_kernels": "extern"}
_OPERATORS = ("torch.ops.", "aten.", "inductor_ops.", "_quantized.", "prims.")


@dataclass
class ProgramCall:
    """A call of a kernel.

    Attributes:
        name: Of what is called.
        language: As in `Kernel`.
        call: Its text.
        handle: Torch's name of the call; empty where there is none.
        source: Of a generated kernel.
        arguments: Of a library call, as text.
        inputs: What it reads; None for what is not known.
        outputs: What it writes; None where that is not known.
        result: The name that its result is assigned to; empty where it is not.
        in_place: Whether it changes its first argument, perhaps in part.
        place: Line, from 1, and column, from 0, at which it begins in the program.
    """

    name: str
    language: str
    call: str
    handle: str = ""
    source: str = ""
    arguments: tuple[str, ...] = ()
    inputs: list[Buffer | None] = field(default_factory=list)
    outputs: list[Buffer | None] | None = field(default_factory=list)
    result: str = ""
    in_place: bool = False
    place: tuple[int, int] = (0, 0)


class ProgramCalls:
    """Reads a program.

    Args:
        code: The program.
        inputs: Tensors it is given, by name.

    Raises:
        SyntaxError: It is no Python; also ValueError, RecursionError and MemoryError by ``ast``.

    Attributes:
        calls: In the order of execution; of a branch, those of both sides.
        scope: What is known of its tensors.
        found: Whether there is a function that is called.
    """

    def __init__(self, code: str, inputs: Mapping[str, TensorSpec]) -> None:
        module = ast.parse(code)
        self.calls: list[ProgramCall] = []
        self.scope = Scope.of_inputs(inputs)
        self._lines = code.splitlines()
        self._defined = kernel_definitions(module)
        self._functions = {node.name: node for node in _functions(module.body)}
        self._entered: list[str] = []
        self.found = "call" in self._functions
        self._enter("call")

    def outputs(self, call: ProgramCall) -> list[Buffer | None] | None:
        """What a call writes, with all that the program says of it later on."""
        if call.result and not call.outputs:
            return list(self.scope.result(call.result))
        return call.outputs

    def _enter(self, name: str) -> None:
        """Reads a function of the program; one that calls itself is read once."""
        if name in self._functions and name not in self._entered:
            self._entered.append(name)
            self._block(self._functions[name].body)
            self._entered.pop()

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            value = getattr(statement, "value", None)
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                self._assigned(statement.targets[0], statement.value)
            elif isinstance(statement, ast.Expr) and isinstance(value, ast.Call):
                self._called(value, "")
            elif not isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                for part in ("body", "orelse", "finalbody"):
                    inner = getattr(statement, part, [])
                    self._block(inner if isinstance(inner, list) else [])

    def _assigned(self, target: ast.expr, value: ast.expr) -> None:
        name = target.id if isinstance(target, ast.Name) else ""
        if name and self.scope.assign(name, value):
            return
        if isinstance(value, ast.Call):
            self._called(value, name)

    def _called(self, call: ast.Call, result: str) -> None:
        name = dotted(call.func)
        kernel = name.removesuffix(".run")
        if self.scope.check(call):
            return
        if kernel in self._defined:
            self._generated(kernel, call)
        elif name in self._functions:
            self._enter(name)
        elif language := _language(name):
            self._library(name, language, call, result)

    def _generated(self, name: str, call: ast.Call) -> None:
        defined = self._defined[name]
        made = self._start(name, defined.language, call)
        made.source = defined.source
        self._take(made, defined, call.args)
        self.calls.append(made)

    def _take(self, made: ProgramCall, defined: Definition, given: Sequence[ast.expr]) -> None:
        """Reads and writes of a generated kernel, from what its parameters are."""
        if defined.parameters is None or len(given) < len(
            [each for each in defined.parameters if each.tensor]
        ):
            made.inputs, made.outputs = [None], None
            return
        writes: list[Buffer] = []
        for parameter, value in zip(defined.parameters, given, strict=False):
            if not parameter.tensor:
                continue
            found = self.scope.tensor(value) or _unknown(value)
            # What nobody has written yet holds nothing that could be read.
            if parameter.read and (not parameter.written or found.storage in self.scope.written):
                made.inputs.append(found)
            if parameter.written:
                writes.append(found)
        made.inputs = _each_once(made.inputs)
        made.outputs = _each_once(writes)
        self.scope.written |= {each.storage for each in writes}

    def _library(self, name: str, language: str, call: ast.Call, result: str) -> None:
        made = self._start(name, language, call)
        made.result = result
        made.in_place = _changes_first(name)
        made.arguments = tuple(ast.unparse(argument) for argument in call.args)
        out = [k.value for k in call.keywords if k.arg and k.arg.startswith("out")]
        others = [k.value for k in call.keywords if not (k.arg and k.arg.startswith("out"))]
        made.inputs = _each_once(tensors_in([*call.args, *others], self.scope))
        made.outputs = _each_once(tensors_in(out, self.scope))
        if made.in_place:
            made.outputs = _each_once(tensors_in(call.args[:1], self.scope))
        if not made.outputs and not result:
            made.outputs = None
        for buffer in made.outputs or ():
            if buffer is not None:
                self.scope.written.add(buffer.storage)
        if result:
            self.scope.known[result] = Buffer(result, result)
            self.scope.written.add(result)
        self.calls.append(made)

    def _start(self, name: str, language: str, call: ast.Call) -> ProgramCall:
        made = ProgramCall(name, language, ast.unparse(call), self._handle(call.lineno))
        made.place = (call.lineno, call.col_offset)
        return made

    def _handle(self, line: int) -> str:
        """The handle in the comments right above a line, numbered from 1.

        Between them and a call Inductor asks for the GPU's stream, and computes sizes that vary.
        """
        for text in reversed(self._lines[: line - 1]):
            text = text.strip()
            if not text.startswith("#") and not _BETWEEN.search(text):
                return ""
            if text.startswith(_HANDLE):
                return text.removeprefix(_HANDLE).strip()
        return ""


def _functions(statements: Sequence[ast.stmt]) -> Iterator[ast.FunctionDef]:
    """Functions of a module and of its classes: ``call`` is a method in newer releases."""
    for statement in statements:
        if isinstance(statement, ast.FunctionDef):
            yield statement
        elif isinstance(statement, ast.ClassDef):
            yield from _functions(statement.body)


def _language(name: str) -> str:
    if name.partition(".")[0] in _LIBRARIES:
        return _LIBRARIES[name.partition(".")[0]]
    return "fallback" if name.startswith(_OPERATORS) else ""


def _changes_first(name: str) -> bool:
    """By torch's naming of operators: ``aten.index_put_`` changes what it is given first."""
    return any(part.endswith("_") and not part.startswith("__") for part in name.split("."))


def _unknown(value: ast.expr) -> Buffer:
    text = ast.unparse(value)
    return Buffer(text, text)


def _each_once(buffers: Sequence[Buffer | None] | Iterator[Buffer | None]) -> list[Buffer | None]:
    return list(dict.fromkeys(buffers))
