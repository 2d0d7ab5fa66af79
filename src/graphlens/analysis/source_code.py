"""A user's source file, as far as a report speaks of it: excerpts, and what a line stands in."""

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from graphlens.model import Excerpt, SourceLocation

ReadLines = Callable[[str], Sequence[str]]
# First column and the one after the last, in characters.
Columns = tuple[int, int]
Path = tuple[ast.AST, ...]
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
CONTEXT = 2
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_FUNCTIONS = (*_DEFINITIONS, ast.Lambda)
_BLOCKS: tuple[tuple[tuple[type[ast.AST], ...], str], ...] = (
    ((ast.Try,), "try"),
    ((ast.With, ast.AsyncWith), "with"),
    ((ast.For, ast.AsyncFor, ast.While), "loop"),
    ((ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp), "comprehension"),
)


@dataclass(frozen=True)
class Block:
    """A compound statement around a line.

    Attributes:
        kind: ``try``, ``with``, ``loop`` or ``comprehension``.
        line: Its first line.
        code: That line's text.
    """

    kind: str
    line: int
    code: str


class SourceFile:
    """The text of a file and its syntax tree.

    Args:
        name: Path of the file.
        lines: Of it, with or without line ends; none where it is not at hand.
    """

    def __init__(self, name: str, lines: Sequence[str]) -> None:
        self.name = name
        self.lines = tuple(line.rstrip("\r\n") for line in lines)
        self.text = "".join(line if line.endswith("\n") else line + "\n" for line in lines)
        self._tree: ast.Module | None = None
        self._read = False
        self._parts_of: dict[ast.AST, dict[int, list[ast.AST]]] = {}

    @property
    def tree(self) -> ast.Module | None:
        """The syntax tree; None where the text is no Python or not at hand."""
        if not self._read:
            self._read = True
            try:
                self._tree = ast.parse(self.text) if self.lines else None
            except (SyntaxError, ValueError, RecursionError):
                self._tree = None
        return self._tree

    def excerpt(self, line: int) -> Excerpt | None:
        """A line with those around it; None where it is not at hand."""
        if not 1 <= line <= len(self.lines):
            return None
        first = max(1, line - CONTEXT)
        return Excerpt(first=first, lines=self.lines[first - 1 : line + CONTEXT])

    def statements(self, line: int, columns: Columns | None = None) -> tuple[ast.stmt, ...]:
        """The smallest statements that a line is part of, in its order; of a block, its head.

        Args:
            line: Its number.
            columns: Only what overlaps these.
        """
        found: list[ast.stmt] = []
        for path in self._around(line, columns):
            own = [node for node in path if isinstance(node, ast.stmt)]
            if own and own[-1] not in found:
                found.append(own[-1])
        return tuple(found)

    def blocks(self, line: int, columns: Columns | None = None) -> tuple[Block, ...]:
        """What a line stands in or has in it, inside its function, innermost first.

        Args:
            line: Its number.
            columns: Of several parts of the line, only those that overlap these count.
        """
        found: dict[ast.AST, tuple[int, Block]] = {}
        for path in self._around(line, columns):
            starts = [depth for depth, node in enumerate(path) if isinstance(node, _FUNCTIONS)]
            for depth, node in enumerate(path[starts[-1] :] if starts else path):
                for types, kind in _BLOCKS:
                    # A break in the head of a loop or `with` stands in it too.
                    if isinstance(node, types) and isinstance(node, (ast.stmt, ast.expr)):
                        code = self.lines[node.lineno - 1].strip()
                        found.setdefault(node, (depth, Block(kind, node.lineno, code)))
        return tuple(block for _, block in sorted(found.values(), key=_depth, reverse=True))

    def function(self, line: int, name: str) -> Function | None:
        """The smallest function of a name that a line is part of; decorators are part of it."""
        found: Function | None = None
        for path in self._around(line):
            for node in path:
                if isinstance(node, _FUNCTIONS) and getattr(node, "name", "<lambda>") == name:
                    found = node
        return found

    def beginning(self, line: int) -> Function | None:
        """The function that begins at a line, which may be that of a decorator."""
        for path in self._around(line):
            for node in path:
                if isinstance(node, _DEFINITIONS) and line in (node.lineno, _first_line(node)):
                    return node
        return None

    def definitions(self, line: int) -> tuple[Definition, ...]:
        """Classes and functions that a line is part of, outermost first."""
        paths = [
            tuple(node for node in path if isinstance(node, (*_DEFINITIONS, ast.ClassDef)))
            for path in self._around(line)
        ]
        return max(paths, key=len, default=())

    def within(self, node: Function, line: int) -> bool:
        """Whether a line is part of a function."""
        return any(node in path for path in self._around(line))

    def columns(self, node: ast.expr | ast.stmt, line: int) -> Columns | None:
        """Where in a line a node stands, in characters; None where it does not."""
        if not node.lineno <= line <= (node.end_lineno or node.lineno):
            return None
        # Columns of the tree count bytes of UTF-8.
        text = self.lines[line - 1]
        first = len(text) - len(text.lstrip())
        last = len(text.rstrip())
        if node.lineno == line:
            first = _characters(text, node.col_offset)
        if node.end_lineno == line and node.end_col_offset is not None:
            last = _characters(text, node.end_col_offset)
        return first, last

    def location(self, block: Block) -> SourceLocation:
        """A block's first line as a place."""
        return SourceLocation(file=self.name, line=block.line, code=block.code)

    def imported(self) -> dict[str, str]:
        """Names that imports of the file bind, each with what it is, such as ``scipy.linalg``."""
        if self.tree is None:
            return {}
        found: dict[str, str] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    package = alias.name.partition(".")[0]
                    found[alias.asname or package] = alias.name if alias.asname else package
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names}
                found.update(names)
        return found

    def _around(self, line: int, columns: Columns | None = None) -> Iterator[Path]:
        """Every way from the module down to a smallest node that is part of a line."""
        waiting: list[Path] = [(self.tree,)] if self.tree is not None else []
        while waiting:
            path = waiting.pop()
            children = [
                (*path, child)
                for child in self._parts(path[-1]).get(line, ())
                if self._overlaps(child, line, columns)
            ]
            if not children:
                yield path
            waiting += reversed(children)

    def _parts(self, node: ast.AST) -> dict[int, list[ast.AST]]:
        """A node's children by each line that they are part of."""
        if node not in self._parts_of:
            found = self._parts_of[node] = {}
            for child in ast.iter_child_nodes(node):
                for line in _lines(child):
                    found.setdefault(line, []).append(child)
        return self._parts_of[node]

    def _overlaps(self, node: ast.AST, line: int, columns: Columns | None) -> bool:
        if columns is None or not isinstance(node, (ast.stmt, ast.expr)):
            return True
        own = self.columns(node, line)
        return own is None or (own[0] < columns[1] and columns[0] < own[1])


def _depth(found: tuple[int, Block]) -> int:
    return found[0]


def _characters(text: str, offset: int) -> int:
    return len(text.encode()[:offset].decode(errors="ignore"))


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _lines(node: ast.AST) -> Iterable[int]:
    first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    if isinstance(node, (*_DEFINITIONS, ast.ClassDef)):
        first = _first_line(node)
    if first is None or last is None:
        # Such as match cases and exception handlers of old, whose children have lines.
        return {line for child in ast.iter_child_nodes(node) for line in _lines(child)}
    return range(first, last + 1)


class SourceFiles:
    """Source files, each read and parsed once.

    Args:
        read: Gives the lines of a file; none where it is not at hand.
    """

    def __init__(self, read: ReadLines) -> None:
        self._read = read
        self._files: dict[str, SourceFile] = {}
        self._imported: dict[str, dict[str, str]] = {}

    def file(self, name: str) -> SourceFile:
        """A file; an empty one where it is not at hand."""
        if name not in self._files:
            self._files[name] = SourceFile(name, self._read(name) if name else ())
        return self._files[name]

    def imported(self, name: str) -> dict[str, str]:
        """What the imports of a file bind, each name with what it is."""
        if name not in self._imported:
            self._imported[name] = self.file(name).imported()
        return self._imported[name]
