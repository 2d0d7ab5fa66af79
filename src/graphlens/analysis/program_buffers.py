"""Tensors of a generated program: what is known of each name, from how the program makes it."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod

from graphlens.analysis.tensor_bytes import tensor_bytes
from graphlens.model import Dim, KernelBuffer, TensorSpec, Unavailable

_EMPTY = "empty_strided"
_ASSERTIONS = ("assert_size_stride", "assert_tensor_metadata")


@dataclass(frozen=True)
class Buffer:
    """What is known of a tensor; None for what is not.

    Attributes:
        name: As a reader finds it: of a view, the name it is a view of.
        storage: The same for all names of one memory.
        shape: Its sizes.
        stride: In elements.
        dtype: Short torch name.
        offset: Where it begins in its storage, as text.
    """

    name: str
    storage: str
    shape: tuple[Dim, ...] | None = None
    stride: tuple[Dim, ...] | None = None
    dtype: str | None = None
    offset: str = "0"

    def described(self) -> KernelBuffer:
        """As report data."""
        if self.shape is None:
            why = Unavailable("the program does not say the size of this tensor")
            return KernelBuffer(name=self.name, shape=why, dtype=self.dtype or "", bytes=why)
        return KernelBuffer(
            name=self.name, shape=self.shape, dtype=self.dtype or "", bytes=self._bytes()
        )

    def _bytes(self) -> int | Unavailable:
        shape = self.shape or ()
        named = [size for size in shape if isinstance(size, str)]
        if named:
            return Unavailable(f"it depends on the size {named[0]}")
        strides = self.stride if self.stride and len(self.stride) == len(shape) else None
        held = [n for n, s in zip(shape, strides, strict=True) if s != 0] if strides else shape
        if 0 in shape:
            held = (0,)
        found = tensor_bytes(TensorSpec(shape=tuple(held), dtype=self.dtype or ""))
        return Unavailable("the program does not say its dtype") if found is None else found


@dataclass
class Scope:
    """Names of a program, as far as it was read.

    Attributes:
        known: Buffers by name.
        parts: Of a call's result with several tensors: names by place.
        written: Storages that something was written to.
    """

    known: dict[str, Buffer] = field(default_factory=dict)
    parts: dict[str, dict[int, str]] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)

    @classmethod
    def of_inputs(cls, inputs: Mapping[str, TensorSpec]) -> "Scope":
        """The scope in which a program begins; what comes from outside is there already."""
        known = {
            name: Buffer(name, name, spec.shape, spec.stride, spec.dtype)
            for name, spec in inputs.items()
        }
        return cls(known=known, written=set(known))

    def assign(self, name: str, value: ast.expr) -> bool:
        """Reads ``name = value``; False where the value is no tensor of a known form."""
        if isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name):
            place = value.slice
            if isinstance(place, ast.Constant) and isinstance(place.value, int):
                self.parts.setdefault(value.value.id, {})[place.value] = name
                self.known[name] = Buffer(name, name)
                return True
        found = self.tensor(value, name)
        if found is not None:
            self.known[name] = replace(found, name=name)
        return found is not None

    def tensor(self, value: ast.expr, new: str = "") -> Buffer | None:
        """The tensor that an expression stands for; None where it stands for none.

        Args:
            value: The expression.
            new: Storage of a tensor that it makes.
        """
        if isinstance(value, ast.Name):
            return self.known.get(value.id)
        if not isinstance(value, ast.Call):
            return None
        function = dotted(value.func).rpartition(".")[2]
        if function == "reinterpret_tensor" and value.args:
            of = self.tensor(value.args[0])
            begin = ast.unparse(value.args[3]) if len(value.args) > 3 else "0"
            shape, stride = _laid_out(value.args[1:3])
            return of and replace(of, shape=shape, stride=stride, offset=begin)
        if function.startswith(_EMPTY):
            given = [*value.args, *(k.value for k in value.keywords if k.arg == "dtype")]
            return Buffer(new, new, *_laid_out(given[:2]), _dtype(given[2:]))
        if function == "alloc_from_pool" and len(value.args) > 4:
            return Buffer(new, new, *_laid_out(value.args[3:5]), _dtype(value.args[2:3]))
        return None

    def check(self, call: ast.Call) -> bool:
        """Reads an assertion of sizes; False where the call is none."""
        function = dotted(call.func).rpartition(".")[2]
        if not function.startswith(_ASSERTIONS) or len(call.args) < 3:
            return False
        names, shapes, strides = call.args[:3]
        if isinstance(names, ast.Name):
            found = _dtype(call.args[3:4])
            self._learn(names.id, shapes, strides, found)
        elif all(isinstance(group, ast.Tuple) for group in (names, shapes, strides)):
            groups = (names.elts, shapes.elts, strides.elts)  # type: ignore[attr-defined]
            for name, shape, stride in zip(*groups, strict=False):
                if isinstance(name, ast.Name):
                    self._learn(name.id, shape, stride, None)
        return True

    def result(self, name: str) -> list[Buffer]:
        """What a call that was assigned to a name gave, as far as the program uses it."""
        parts = self.parts.get(name)
        names = [parts[place] for place in sorted(parts)] if parts else [name]
        return [self.known.get(each, Buffer(each, each)) for each in names]

    def _learn(self, name: str, shape: ast.expr, stride: ast.expr, dtype: str | None) -> None:
        known = self.known.get(name, Buffer(name, name))
        sizes, strides = _laid_out([shape, stride])
        dtype = dtype or known.dtype
        self.known[name] = replace(known, shape=sizes, stride=strides, dtype=dtype)


def dotted(function: ast.expr) -> str:
    """The name that is called, such as ``torch.ops.aten.sort.stable``; empty for other forms."""
    names = []
    while isinstance(function, ast.Attribute):
        names.append(function.attr)
        function = function.value
    if not isinstance(function, ast.Name):
        return ""
    return ".".join([function.id, *reversed(names)])


def tensors_in(values: Sequence[ast.expr], scope: Scope) -> Iterator[Buffer | None]:
    """The tensors of arguments, those in lists too; None for a name that is not known."""
    for value in values:
        if isinstance(value, (ast.List, ast.Tuple)):
            yield from tensors_in(value.elts, scope)
        elif isinstance(value, ast.Name) and value.id not in scope.known:
            yield None
        else:
            found = scope.tensor(value)
            if found is not None:
                yield found


def total_bytes(buffers: Sequence[KernelBuffer]) -> int | Unavailable:
    """Bytes of all buffers; unavailable where one is."""
    sizes = [buffer.bytes for buffer in buffers]
    for buffer, size in zip(buffers, sizes, strict=True):
        if isinstance(size, Unavailable):
            return Unavailable(f"{buffer.name}: {size.reason}")
    return sum(size for size in sizes if isinstance(size, int))


def elements(shape: Sequence[Dim]) -> int | None:
    """How many elements a shape has; None where a size is symbolic."""
    sizes = [size for size in shape if isinstance(size, int)]
    return prod(sizes) if len(sizes) == len(shape) else None


_Sizes = tuple[Dim, ...] | None


def _laid_out(given: Sequence[ast.expr]) -> tuple[_Sizes, _Sizes]:
    """Shape and stride from two arguments, as far as they are there."""
    shape, stride = [*map(_sizes, given), None, None][:2]
    return shape, stride


def _sizes(value: ast.expr) -> tuple[Dim, ...] | None:
    if not isinstance(value, (ast.Tuple, ast.List)):
        return None
    return tuple(_size(element) for element in value.elts)


def _size(value: ast.expr) -> Dim:
    if isinstance(value, ast.Constant) and type(value.value) is int:
        return value.value
    return ast.unparse(value)


def _dtype(given: Sequence[ast.expr]) -> str | None:
    name = dotted(given[0]) if given else ""
    return name.removeprefix("torch.") if name.startswith("torch.") else None
