"""Who else sees it when a tensor is written to."""

import ast

from graphlens.analysis.rewrites.calls import called
from graphlens.analysis.rewrites.evidence import Evidence
from graphlens.analysis.rewrites.forms import is_fresh


def is_own(name: str, evidence: Evidence) -> bool:
    """Whether a name holds what was made in the function, and nothing else can see it."""
    values = [b.value for b in evidence.function.bindings(name) if not b.added]
    return (
        bool(values)
        and name not in evidence.function.parameters
        and all(v and (is_fresh(v, evidence) or evidence.is_number(v)) for v in values)
        and not is_shared(name, evidence)
    )


def is_shared(name: str, evidence: Evidence) -> bool:
    """Whether another name or container may hold the same tensor, or a view of it."""
    program = evidence.function.program
    for use in evidence.function.uses(name):
        parent = program.parents[use]
        if isinstance(parent, (ast.List, ast.Dict, ast.Set, ast.NamedExpr, ast.keyword, ast.For)):
            return True
        if isinstance(parent, ast.Tuple) and not isinstance(program.parents[parent], ast.Return):
            return True
        statement = program.statement(use)
        if isinstance(statement, ast.Assign) and not is_fresh(statement.value, evidence):
            return True
        if isinstance(parent, ast.Call) and called(parent) in ("append", "extend", "setdefault"):
            return True
    return False


def names_in(node: ast.expr) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def is_written(name: str, evidence: Evidence) -> bool:
    function, parents = evidence.function, evidence.function.program.parents
    if any(binding.added for binding in function.bindings(name)):
        return True
    for use in function.uses(name):
        parent = parents[use]
        if isinstance(parent, ast.Subscript) and not isinstance(parent.ctx, ast.Load):
            return True
        if isinstance(parent, ast.Attribute) and (
            not isinstance(parent.ctx, ast.Load) or parent.attr.endswith("_")
        ):
            return True
    return False
