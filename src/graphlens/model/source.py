"""Places in source code."""

from graphlens.model.base import Data


class SourceLocation(Data, frozen=True, kw_only=True):
    """A line of Python.

    Attributes:
        file: Path as torch gave it.
        line: 1-based line number; 0 when only the file is known.
        function: Name of the function the line is in; empty when unknown.
        code: The line's text, stripped; empty when unknown.
    """

    file: str
    line: int
    function: str = ""
    code: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Excerpt(Data, frozen=True, kw_only=True, tag="excerpt", tag_field="kind"):
    """Lines of a file.

    Attributes:
        first: Number of the first line.
        lines: Their text, without line ends.
    """

    first: int
    lines: tuple[str, ...]


class ModuleCall(Data, frozen=True, kw_only=True):
    """One ``nn.Module`` on the way from the root to a node.

    Attributes:
        path: Attribute path from the root module, such as ``layer1.0.conv1``; empty for the root.
        type: Qualified class name.
    """

    path: str
    type: str = ""
