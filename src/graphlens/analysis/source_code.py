"""A user's source file, as far as a report speaks of it: excerpts, and what a line stands in."""

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from graphlens.model import Excerpt, SourceLocation

ReadLines = Callable[[str], Sequence[str]]
CONTEXT = 2
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
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

    def statement(self, line: int) -> ast.stmt | None:
        """The smallest statement that the line is part of; of a block, its head counts."""
        found: ast.stmt | None = None
        for node in self._around(line):
            if isinstance(node, ast.stmt):
                found = node
        return found

    def blocks(self, line: int) -> tuple[Block, ...]:
        """What the line stands in, inside its function, innermost first."""
        found: list[Block] = []
        for node in self._around(line):
            if isinstance(node, _FUNCTIONS):
                found = []
                continue
            for types, kind in _BLOCKS:
                # A break in the head of a loop or `with` stands in it too.
                if isinstance(node, types) and isinstance(node, (ast.stmt, ast.expr)):
                    found.append(Block(kind, node.lineno, self.lines[node.lineno - 1].strip()))
        return tuple(reversed(found))

    def location(self, block: Block) -> SourceLocation:
        """A block's first line as a place."""
        return SourceLocation(file=self.name, line=block.line, code=block.code)

    def imported(self) -> dict[str, str]:
        """Names that imports of the file bind, with the package each is from."""
        if self.tree is None:
            return {}
        found: dict[str, str] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    package = alias.name.partition(".")[0]
                    found[alias.asname or package] = package
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                package = node.module.partition(".")[0]
                found.update({alias.asname or alias.name: package for alias in node.names})
        return found

    def _around(self, line: int) -> Iterator[ast.AST]:
        """Nodes that span a line, outermost first."""
        node: ast.AST | None = self.tree
        while node is not None:
            yield node
            node = next(
                (child for child in ast.iter_child_nodes(node) if _spans(child, line)), None
            )


def _spans(node: ast.AST, line: int) -> bool:
    first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    if first is None or last is None:
        # Such as match cases and exception handlers of old, whose children have lines.
        return any(_spans(child, line) for child in ast.iter_child_nodes(node))
    return bool(first <= line <= last)


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
        """What the imports of a file bind, with the package each name is from."""
        if name not in self._imported:
            self._imported[name] = self.file(name).imported()
        return self._imported[name]
