"""Graphs from the readable code in torch's trace.

Torch writes each graph as Python (``GraphModule.print_readable``): that text is all there is of a
graph that came from a cache, was compiled by somebody else's backend, or was logged on another
machine. Seen on torch 2.11, 2.13 and 2.14.
"""

import re
from dataclasses import dataclass, field

from graphlens.analysis.annotations import parse_value
from graphlens.analysis.expressions import INPLACE, Call, parse_call
from graphlens.analysis.placeholders import placeholder_role
from graphlens.analysis.places import is_torch
from graphlens.analysis.unpacking import completed
from graphlens.model import Node, SourceLocation, Subgraph

_CLASS = re.compile(r"^(?P<indent>\s*)class (?P<name>\S+?)\(")
_COMMENT = re.compile(
    r"^\s*#.*?File: (?P<file>.*?):(?P<line>\d+)(?: in (?P<function>\S+?))?,"
    r"(?: code: (?P<code>.*))?$"
)
_NO_SOURCE = re.compile(r"^\s*# No stacktrace found")
_PARAMETER = re.compile(
    r"(?P<name>\w+)(?:\s*:\s*\"(?P<value>[^\"]*)\")?(?:\s*=\s*[^,]*?)?,?\s*(?:#\s*(?P<note>.*))?$"
)
_STATEMENT = re.compile(r"^\s*(?P<name>\w+)(?:\s*:\s*\"(?P<value>[^\"]*)\")?\s*=\s*(?P<call>.*)$")
_FREED = re.compile(r";  (?:\w+ = )+None\s*(?P<comment>#.*)?$")
_SET_ITEM = re.compile(
    r"^\s*(?P<owner>\w+)\[(?P<index>.*?)\] = (?P<other>.*);  (?P<name>\w+)"
    r"(?:\s*:\s*\"(?P<value>[^\"]*)\")? = (?P=owner)$"
)
_IN_PLACE = re.compile(
    r"^\s*(?P<owner>\w+) (?P<sign>\S+?)= (?P<other>.*);  (?P<name>\w+)"
    r"(?:\s*:\s*\"(?P<value>[^\"]*)\")? = (?P=owner)$"
)


def parse_readable(text: str) -> tuple[tuple[Node, ...], tuple[Subgraph, ...]]:
    """Reads one graph.

    Args:
        text: As ``print_readable`` writes it, bodies of higher-order operators as inner classes.

    Returns:
        The graph's nodes, and the bodies of its higher-order operators.
    """
    bodies: list[tuple[str, _Body]] = []
    open_bodies: list[tuple[int, _Body]] = []
    for line in _logical_lines(text):
        started = _CLASS.match(line)
        if started:
            indent = len(started["indent"])
            while open_bodies and open_bodies[-1][0] >= indent:
                open_bodies.pop()
            body = _Body()
            bodies.append((started["name"], body))
            open_bodies.append((indent, body))
        elif open_bodies:
            open_bodies[-1][1].read(line)
    if not bodies:
        return (), ()
    names = {name for name, _ in bodies[1:]}
    whole, *inner = [completed(body.nodes, names) for _, body in bodies]
    named = zip(bodies[1:], inner, strict=True)
    return whole, tuple(Subgraph(name=name, nodes=nodes) for (name, _), nodes in named)


def _logical_lines(text: str) -> list[str]:
    """Lines; a signature or return that torch broke over several lines counts as one."""
    result: list[str] = []
    closer = ""
    for line in text.splitlines():
        if closer:
            result[-1] += "\n" + line
            if line.strip().startswith(closer):
                closer = ""
            continue
        result.append(line)
        stripped = line.strip()
        if stripped == "def forward(" or stripped == "return (":
            closer = ")"
        elif stripped == "return [":
            closer = "]"
    return result


@dataclass
class _Body:
    """The statements of one forward function, as they are read."""

    nodes: list[Node] = field(default_factory=list)
    names: dict[str, None] = field(default_factory=dict)  # in order, for look-up
    source: SourceLocation | None = None
    parameters: dict[str, Node] = field(default_factory=dict)

    def read(self, line: str) -> None:
        stripped = line.strip()
        if not stripped:
            return
        if stripped.startswith("def forward("):
            self.signature(stripped)
        elif stripped.startswith("#"):
            self.comment(line)
        elif stripped.startswith("return"):
            self.output(stripped[len("return") :].strip().rstrip(";"))
        else:
            self.statement(line)

    def signature(self, text: str) -> None:
        inside = text[len("def forward(") :].rpartition(")")[0]
        parts = inside.split("\n") if "\n" in inside else re.split(r",\s+(?=\w+\s*:|\w+$)", inside)
        for part in parts:
            match = _PARAMETER.match(part.strip())
            if match and match["name"] != "self":
                self.placeholder(match["name"], match["value"] or "", match["note"] or "")

    def placeholder(self, name: str, value: str, note: str) -> None:
        tensors, other = parse_value(value)
        role, origin, modules = placeholder_role(name, note, other)
        node = Node(
            name=name,
            op="placeholder",
            target=name,
            tensors=tensors,
            value=other,
            role=role,
            origin=origin,
            modules=modules,
        )
        self.parameters[name] = node
        self.append(node)

    def comment(self, line: str) -> None:
        match = _COMMENT.match(line)
        if match:
            place = SourceLocation(
                file=match["file"],
                line=int(match["line"]),
                function=match["function"] or "",
                code=(match["code"] or "").strip(),
            )
            # A line of torch's own is where the operator is made, not what asked for it.
            self.source = None if is_torch(place.file) else place
        elif _NO_SOURCE.match(line):
            self.source = None

    def statement(self, line: str) -> None:
        line = _FREED.sub("", line)
        changed = _IN_PLACE.match(line) or _SET_ITEM.match(line)
        if changed:
            self.change(changed)
            return
        match = _STATEMENT.match(line)
        if not match:
            # Shown as it stands: an operator must not be lost because it is printed in a new way.
            self.call(self.unique("unread"), None, Call("call_function", "unread", (line.strip(),)))
            return
        text = match["call"]
        if text in self.parameters and not match["value"]:
            self.rename(text, match["name"])
            return
        self.call(match["name"], match["value"], parse_call(text, self.names))

    def change(self, match: re.Match[str]) -> None:
        """``x += y`` and ``x[i] = y``, which FX prints as statements of their own."""
        known = match.groupdict()
        args: tuple[str, ...]
        if "index" in known:
            target, args = "operator.setitem", (known["owner"], known["index"], known["other"])
        else:
            sign = known["sign"]
            target, args = "operator." + INPLACE.get(sign, sign), (known["owner"], known["other"])
        inputs = parse_call(f"({', '.join(args)},)", self.names).inputs
        call = Call("call_function", target, args, (), inputs)
        self.call(known["name"], known["value"], call)

    def call(self, name: str, value: str | None, call: Call) -> None:
        tensors, other = parse_value(value or "")
        self.append(
            Node(
                name=name,
                op=call.op,
                target=call.target,
                args=call.args,
                kwargs=call.kwargs,
                inputs=call.inputs,
                tensors=tensors,
                value=other,
                source=self.source,
            )
        )

    def rename(self, parameter: str, name: str) -> None:
        """FX prints ``l_x_ = L_x_`` for a placeholder whose name is not its argument's."""
        old = self.parameters[parameter]
        position = next(i for i, node in enumerate(self.nodes) if node is old)
        new = Node(
            name=name,
            op="placeholder",
            target=old.target,
            tensors=old.tensors,
            value=old.value,
            role=old.role,
            origin=old.origin,
            modules=old.modules,
        )
        self.nodes[position] = new
        self.names[name] = None

    def output(self, text: str) -> None:
        value = _on_one_line(text)
        inputs = parse_call(value or "None", self.names).inputs
        name = self.unique("output")
        self.append(Node(name=name, op="output", target="output", args=(value,), inputs=inputs))

    def unique(self, name: str) -> str:
        """A name that no node has yet, chosen as FX does."""
        candidate, number = name, 0
        while candidate in self.names:
            number += 1
            candidate = f"{name}_{number}"
        return candidate

    def append(self, node: Node) -> None:
        self.nodes.append(node)
        self.names[node.name] = None


def _on_one_line(text: str) -> str:
    """``(x, y)`` from a return value that torch broke over lines, each with a comment."""
    if "\n" not in text:
        return text
    inside = " ".join(re.sub(r"#[^\n]*", "", text).split())[1:-1].strip().rstrip(",")
    opening, closing = text[0], {"(": ")", "[": "]"}[text[0]]
    comma = "," if opening == "(" and "," not in inside else ""
    return f"{opening}{inside}{comma}{closing}"
