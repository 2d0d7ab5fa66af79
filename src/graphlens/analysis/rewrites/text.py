"""A file's text by the positions that Python's parser gives."""

import ast
import io
import re
import tokenize
from dataclasses import dataclass
from functools import cached_property

Span = tuple[int, int]


class Refused(Exception):  # noqa: N818 - not an error: the rewrite is not known to be safe
    """No rewrite is offered here."""


@dataclass(frozen=True)
class Text:
    """Text of a file; a span is a start and an end in characters."""

    source: str

    @cached_property
    def starts(self) -> list[int]:
        # Not str.splitlines: the parser ends lines at fewer characters than it does.
        return [0, *(match.end() for match in re.finditer("\n", self.source))]

    def line(self, number: int) -> str:
        """A line with its end."""
        end = self.starts[number] if number < len(self.starts) else len(self.source)
        return self.source[self.starts[number - 1] : end]

    def offset(self, line: int, column: int) -> int:
        """Where a position of the parser, which counts UTF-8 bytes, is in the text."""
        before = self.line(line).encode()[:column]
        return self.starts[line - 1] + len(before.decode())

    def start(self, node: ast.expr | ast.stmt | ast.arg) -> int:
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt | ast.arg) -> int:
        return self.offset(last_line(node), node.end_col_offset or 0)

    def span(self, node: ast.expr | ast.stmt | ast.arg) -> Span:
        return self.start(node), self.end(node)

    def of(self, node: ast.expr | ast.stmt | ast.arg) -> str:
        return self.source[self.start(node) : self.end(node)]

    def indent(self, number: int) -> str:
        line = self.line(number)
        return line[: len(line) - len(line.lstrip(" \t\f"))]

    def line_end(self, number: int) -> str:
        """How a line ends; the last one as those before it do."""
        line = self.line(number)
        if not line.endswith("\n") and number > 1:
            line = self.line(number - 1)
        return "\r\n" if line.endswith("\r\n") else "\n"

    def before(self, node: ast.stmt) -> str:
        """What stands on a statement's first line in front of it."""
        return self.source[self.starts[node.lineno - 1] : self.start(node)]

    def after(self, node: ast.stmt) -> str:
        """What stands on a statement's last line behind it."""
        last = last_line(node)
        return self.source[self.end(node) : self.starts[last - 1] + len(self.line(last))]

    @cached_property
    def _tokens(self) -> list[tokenize.TokenInfo]:
        try:
            read = io.StringIO(self.source, newline="").readline
            return list(tokenize.generate_tokens(read))
        except (tokenize.TokenError, SyntaxError) as error:
            raise Refused from error

    @cached_property
    def comments(self) -> list[Span]:
        return [
            (self.starts[token.start[0] - 1] + token.start[1], self._end(token))
            for token in self._tokens
            if token.type == tokenize.COMMENT
        ]

    @cached_property
    def inside_strings(self) -> frozenset[int]:
        """Lines that begin inside a string: their indentation is part of a value."""
        lines: set[int] = set()
        opened: list[int] = []
        for token in self._tokens:
            kind = tokenize.tok_name[token.type]
            if kind == "STRING":
                lines.update(range(token.start[0] + 1, token.end[0] + 1))
            elif kind in ("FSTRING_START", "TSTRING_START"):
                opened.append(token.start[0])
            elif kind in ("FSTRING_END", "TSTRING_END") and opened:
                lines.update(range(opened.pop() + 1, token.end[0] + 1))
        return frozenset(lines)

    def _end(self, token: tokenize.TokenInfo) -> int:
        return self.starts[token.end[0] - 1] + token.end[1]


def last_line(node: ast.expr | ast.stmt | ast.arg) -> int:
    return node.end_lineno or node.lineno
