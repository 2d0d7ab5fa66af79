"""What the names of a function plainly hold."""

import ast
from dataclasses import replace

from graphlens.analysis.rewrites import vocabulary
from graphlens.analysis.rewrites.calls import dotted
from graphlens.analysis.rewrites.evidence import Evidence
from graphlens.analysis.rewrites.names import Function


def learn(function: Function, torch: str, kept: frozenset[str] = frozenset()) -> Evidence:
    """What is known in a function.

    Args:
        function: The function.
        torch: Its name for torch.
        kept: Names of numbers that a rewrite makes tensors.
    """
    evidence = Evidence(function, torch)
    sure = kept | _sure_tensors(function, torch)
    # Taken for granted until one of its values tells otherwise: a loop may add to it.
    guess = sure | _with_values(function)
    while guess != evidence.tensors:
        evidence = replace(evidence, tensors=guess)
        guess = sure | {name for name in guess if _holds(name, evidence)}
    given = _sure_numbers(function)
    numbers = (given | _with_values(function)) - sure
    while numbers != evidence.numbers:
        evidence = replace(evidence, numbers=numbers)
        numbers = frozenset(name for name in numbers if _counts(name, evidence))
    return evidence


def _with_values(function: Function) -> frozenset[str]:
    return frozenset(
        name
        for name, bindings in function.all_bindings.items()
        if name not in function.parameters
        and all(binding.value or binding.added for binding in bindings)
        and any(binding.value for binding in bindings)
    )


def _holds(name: str, evidence: Evidence) -> bool:
    values = [binding.value for binding in evidence.function.bindings(name)]
    return name not in evidence.function.parameters and all(
        evidence.is_tensor(value) for value in values if value is not None
    )


def _counts(name: str, evidence: Evidence) -> bool:
    return all(
        evidence.is_number(value)
        for binding in evidence.function.bindings(name)
        if (value := binding.value or binding.added) is not None
    )


def _sure_tensors(function: Function, torch: str) -> frozenset[str]:
    """By their annotation, or by a method that is called on them."""
    annotated = {
        name
        for name, parameter in function.parameters.items()
        if dotted(parameter.annotation) in ("Tensor", f"{torch}.Tensor")
    }
    return frozenset(
        annotated.union(
            node.func.value.id
            for node in ast.walk(function.node)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.attr in vocabulary.TENSOR_METHODS
            and function.binds(node.func.value.id)
        )
    )


def _sure_numbers(function: Function) -> frozenset[str]:
    plain = Evidence(function, "")
    return frozenset(
        name
        for name, parameter in function.parameters.items()
        if dotted(parameter.annotation) in ("int", "float")
        or (name in function.defaults and plain.is_number(function.defaults[name]))
    )
