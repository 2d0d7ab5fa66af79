"""What a call calls, by name."""

import ast


def called(node: ast.expr) -> str:
    """The last name of what is called: ``sum`` for ``x.y.sum()``; nothing where it has none."""
    return last_name(node.func) if isinstance(node, ast.Call) else ""


def last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def root(node: ast.expr) -> str:
    """The name that a chain of attributes starts from."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def dotted(node: ast.expr | None) -> str:
    """``torch.nn.functional`` as text; nothing for what is not only names and dots."""
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value)
        return f"{owner}.{node.attr}" if owner else ""
    return node.id if isinstance(node, ast.Name) else ""
