"""Selected elements that are only reduced: the others can be counted as zero."""

import ast
from dataclasses import dataclass, field

from graphlens.analysis.rewrites.conversion import ATOMS
from graphlens.analysis.rewrites.edits import Edit, apply
from graphlens.analysis.rewrites.effects import may_be_unbounded
from graphlens.analysis.rewrites.flow import Flow
from graphlens.analysis.rewrites.masked import Selection
from graphlens.analysis.rewrites.place import Draft, Place
from graphlens.analysis.rewrites.reductions import Reduction, held, reduction
from graphlens.analysis.rewrites.text import Refused

_TIGHT = (ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Subscript, ast.Await)


def unmask(place: Place) -> list[Draft]:
    """``x[mask].sum()`` and the like, as ``torch.where(mask, x, 0).sum()``."""
    found = [
        node
        for node in ast.walk(place.statement)
        if isinstance(node, (ast.Subscript, ast.Call))
        and place.covers(node)
        and held(node, place.evidence)
    ]
    if not found:
        raise Refused
    work = _Unmasking(place)
    for node in found:
        work.take(node)
    return [work.draft()]


@dataclass
class _Unmasking:
    place: Place
    reductions: dict[ast.expr, Reduction] = field(default_factory=dict)
    names: dict[str, tuple[ast.Assign, Selection]] = field(default_factory=dict)

    def take(self, node: ast.expr) -> None:
        """Follows a selection to where it is reduced, through a name that holds it."""
        parent = self.place.program.parents[node]
        if isinstance(parent, ast.Assign):
            self.name(parent, node)
            return
        found = reduction(node, self.place.evidence)
        if found.node in self.reductions:
            return
        self.reductions[found.node] = found
        for leaf, _ in found.leaves:
            if isinstance(leaf, ast.Name):
                value = self.place.function.only_value(leaf.id)
                if value is not None:
                    self.take(value)

    def name(self, statement: ast.Assign, node: ast.expr) -> None:
        target, selected = statement.targets[0], held(node, self.place.evidence)
        if not isinstance(target, ast.Name) or len(statement.targets) != 1 or selected is None:
            raise Refused
        if self.place.function.only_value(target.id) is not node:
            raise Refused
        if target.id not in self.names:
            self.names[target.id] = (statement, selected)
            for use in self.place.function.uses(target.id):
                self.take(use)

    def draft(self) -> Draft:
        selections = [leaf for found in self.reductions.values() for _, leaf in found.leaves]
        if not selections or len({ast.dump(each.mask) for each in selections}) != 1:
            raise Refused
        kinds = {each.kind for each in selections}
        if "rows" in kinds and len(kinds) > 1:
            raise Refused
        kind = kinds.pop() if len(kinds) == 1 else "unknown"
        mask, edits = self.mask(selections[0], kind)
        for statement, selected in self.names.values():
            array = self.place.text.of(selected.array)
            new = f"{self.place.torch}.where({mask.filled}, {array}, 0)"
            edits.append(Edit(*self.place.text.span(statement.value), new))
        for found in self.reductions.values():
            edits += _reduced(found, kind, mask, self.place)
        title = "Fill what is not selected with zeros in place of selecting"
        return Draft(title, tuple(edits), self.caution(kind))

    def mask(self, selected: Selection, kind: str) -> "tuple[_Mask, list[Edit]]":
        """How to write the mask; it gets a name where a name holds what it selects."""
        text = self.place.text.of(selected.mask)
        tight = text if isinstance(selected.mask, ATOMS) else f"({text})"
        filled = f"{tight}.unsqueeze(-1)" if kind == "rows" else text
        if not self.names or (isinstance(selected.mask, ast.Name) and kind != "rows"):
            return _Mask(filled, tight), []
        statement, _ = next(iter(self.names.values()))
        if len(self.names) > 1 or self.place.text.before(statement).strip():
            raise Refused
        name = self.place.function.unused("keep")
        at, line = self.place.text.start(statement), statement.lineno
        between = f"{self.place.text.line_end(line)}{self.place.text.indent(line)}"
        value = f"({filled})" if "\n" in filled else filled
        return _Mask(name, name), [Edit(at, at, f"{name} = {value}{between}")]

    def caution(self, kind: str) -> str:
        found = self.reductions.values()
        parts: list[str] = []
        if kind == "unknown":
            parts.append("right only where the mask has the shape of what it selects from")
        if any(each.kind in ("count", "numel") for each in found):
            parts.append("the number is a tensor")
        if any(each.kind == "mean" for each in found):
            parts.append("the sum has the tensor's dtype before it is divided")
        if any(may_be_unbounded(each.inner) for each in found):
            parts.append("an inf or NaN of what is not selected makes the gradient NaN")
        return "; ".join(parts)


@dataclass(frozen=True)
class _Mask:
    """A mask's text: to fill by, and to count."""

    filled: str
    counted: str


def _reduced(found: Reduction, kind: str, mask: _Mask, place: Place) -> list[Edit]:
    if found.kind in ("count", "numel"):
        if found.kind == "numel" and kind == "rows":
            raise Refused
        flow = Flow(place.evidence)
        flow.follow(found.node)
        if flow.branches:
            raise Refused
        return [Edit(*place.text.span(found.node), f"{mask.counted}.sum()")]
    summed = _filled(found, mask, place)
    if kind == "rows":
        if found.first:
            summed += ".flatten(0, -2).sum(0)"
        elif found.kind == "mean":
            raise Refused
        else:
            summed += ".sum()"
    elif found.first and kind != "same":
        raise Refused
    else:
        summed += ".sum()"
    if found.kind == "mean":
        summed = f"{summed} / {mask.counted}.sum()"
        if isinstance(place.program.parents[found.node], _TIGHT):
            summed = f"({summed})"
    return [Edit(*place.text.span(found.node), summed)]


def _filled(found: Reduction, mask: _Mask, place: Place) -> str:
    text = place.text
    if isinstance(found.inner, ast.Name):
        return found.inner.id  # it is filled already, by its assignment
    edits: list[Edit] = []
    for leaf, selected in found.leaves:
        if not isinstance(leaf, ast.Name):
            edits.append(_without_mask(leaf, selected, place))
    inner = apply(text.source, edits, text.span(found.inner))
    return f"{place.torch}.where({mask.filled}, {inner}, 0)"


def _without_mask(leaf: ast.expr, selected: Selection, place: Place) -> Edit:
    array = place.text.of(selected.array)
    tight = array if isinstance(selected.array, ATOMS) else f"({array})"
    return Edit(*place.text.span(leaf), tight)
