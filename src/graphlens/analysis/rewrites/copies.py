"""The same tensor given twice to an autograd function."""

import ast

from graphlens.analysis.rewrites.calls import called, dotted
from graphlens.analysis.rewrites.edits import Edit
from graphlens.analysis.rewrites.place import Draft, Place
from graphlens.analysis.rewrites.text import Refused


def copy_twins(place: Place) -> list[Draft]:
    """``F.apply(x, x)``: torch compiles it when the second one is a tensor of its own."""
    calls = [
        node
        for node in ast.walk(place.statement)
        if isinstance(node, ast.Call) and called(node) == "apply" and place.covers(node)
    ]
    if len(calls) != 1:
        raise Refused
    given = [argument for argument in calls[0].args if dotted(argument)]
    names = [dotted(argument) for argument in given]
    twins = {name for name in names if names.count(name) > 1}
    if len(twins) > 1:  # one of them is a tensor, and which is not known but for their look
        twins = {name for name in twins if name in place.evidence.tensors}
    edits = [
        Edit(place.text.end(argument), place.text.end(argument), ".clone()")
        for index, argument in enumerate(given)
        if names[index] in twins and names[index] in names[:index]
    ]
    if not edits or twins & place.evidence.numbers:
        raise Refused
    return [
        Draft(
            "Give the function a copy in place of the same tensor twice",
            tuple(edits),
            "the copy takes time and memory",
        )
    ]
