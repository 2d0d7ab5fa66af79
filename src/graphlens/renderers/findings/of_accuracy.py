"""Compiled code that is wrong, that rounds otherwise, or that could not be compared."""

from collections.abc import Iterable, Iterator, Sequence

from graphlens.analysis.operators import operator_label
from graphlens.analysis.places import is_library
from graphlens.analysis.report_parts import compared_graphs
from graphlens.model import (
    Accuracy,
    CastChange,
    Divergence,
    Errors,
    Graph,
    Node,
    Report,
    SourceLocation,
    SwitchTried,
    Unavailable,
)
from graphlens.renderers.escape import one_line
from graphlens.renderers.findings.finding import (
    NOT_COMPARABLE,
    PRECISION,
    WRONG,
    CodeLine,
    Finding,
    Remedy,
)
from graphlens.renderers.measures import error_with_holes
from graphlens.renderers.wording import counted, location_text

CULPRITS = {
    "lowering": "the backend's own code for this operator",
    "decomposition": "the decomposition of this operator into simpler ones",
    "fusion": "the fusion of this operator with others into one kernel",
    "pass": "a pass of the compiler over the graph",
    "custom_pass": "a custom pass that was given to the compiler",
    "vectorization": "the vectorised form of the kernel",
    "precision": "the precision in which it is computed",
    "capture": "the capture by Dynamo, before any backend",
    "autograd": "AOTAutograd, before the code is generated",
}
ORIGINS = {
    "capture": "in the capture by Dynamo: it differs also without a backend",
    "autograd": "in AOTAutograd: it differs also with aot_eager, which generates no code",
    "inductor": "in Inductor: with aot_eager all agrees",
}
_MOST_CASTS = 6
_Compared = tuple[Graph | None, Accuracy]


def of_accuracy(report: Report, root: str) -> Iterator[Finding]:
    """Findings of a comparison's results; what the graphs tell is not told of the program again."""
    compared = compared_graphs(report)
    for verdict, make in (("diverges", _wrong), ("not_comparable", _not_comparable)):
        for graph, accuracy in _with_verdict(report, compared, verdict):
            yield make(graph, accuracy, root)
    by_line: dict[tuple[str, int], list[_Compared]] = {}
    for graph, accuracy in _with_verdict(report, compared, "precision_changed"):
        where = _place(accuracy.casts[0] if accuracy.casts else None, graph)
        by_line.setdefault((where.file, where.line), []).append((graph, accuracy))
    for group in by_line.values():
        yield _precision(group, root)


def _with_verdict(
    report: Report, compared: Sequence[tuple[Graph, Accuracy]], verdict: str
) -> list[_Compared]:
    found: list[_Compared] = [pair for pair in compared if pair[1].verdict == verdict]
    whole = report.accuracy
    if not found and isinstance(whole, Accuracy) and whole.verdict == verdict:
        found.append((None, whole))
    return found


def _wrong(graph: Graph | None, accuracy: Accuracy, root: str) -> Finding:
    first = accuracy.first_divergence
    divergence = first if isinstance(first, Divergence) else None
    where = _place(divergence, graph)
    facts = list(_divergence_facts(divergence, root))
    if isinstance(first, Unavailable):
        facts.append(("first operator", f"not found: {first.reason}"))
    if accuracy.origin:
        facts.append(("begins", ORIGINS.get(accuracy.origin, f"in {accuracy.origin}")))
    tried = [*(divergence.tried if divergence else ()), *accuracy.tried]
    return Finding(
        kind=WRONG,
        title=one_line(_wrong_title(graph, accuracy, divergence)),
        cause=one_line(divergence.culprit) if divergence else "",
        place=_shown(where, root),
        line=where.line,
        function=one_line(where.function or (graph.function if graph else "")),
        code=_code(where),
        why=tuple(map(one_line, _wrong_reasons(accuracy, divergence))),
        weight=_size(accuracy),
        remedies=_remedies(tried),
        facts=_clean([*facts, *_did_not_help(tried)]),
        details=_clean(("also differs", text) for text in accuracy.remarks),
    )


def _wrong_title(graph: Graph | None, accuracy: Accuracy, first: Divergence | None) -> str:
    name = _name(graph)
    if not accuracy.tensors and accuracy.reason:  # such as an error that only compiled code raises
        return f"{name}: {accuracy.reason}"
    if first is None:
        return f"{name} gives other results compiled than in eager"
    part = " of the backward pass" if first.part == "backward" else ""
    at = f"first at `{_label(first.operator)}`{part}"
    return f"{name} gives other results compiled than in eager, {at}"


def _wrong_reasons(accuracy: Accuracy, first: Divergence | None) -> Iterator[str]:
    if accuracy.tensors:
        yield _off_by(accuracy)
    if accuracy.reason and accuracy.tensors:
        yield _sentence(accuracy.reason)
    if first is not None and isinstance(first.errors, Errors):
        part = "its gradient" if first.part == "backward" else "its value"
        yield (
            f"`{_label(first.operator)}` (node {first.node}) is the first to leave the reference: "
            f"{part} is off by {error_with_holes(first.errors)}."
        )
    if first is not None and first.culprit:
        culprit = CULPRITS.get(first.culprit, first.culprit)
        because = f": {first.because}" if first.because else ""
        yield _sentence(f"At fault is {culprit}{because}")


def _off_by(accuracy: Accuracy) -> str:
    """How far eager and compiled are from the reference, in the worst tensor."""
    worst = accuracy.tensors[0]
    if isinstance(worst.compiled, Unavailable) or isinstance(worst.eager, Unavailable):
        if isinstance(worst.between, Errors):
            apart = error_with_holes(worst.between)
            return _sentence(f"{worst.name}: compiled and eager are {apart} apart")
        reason = next(x for x in (worst.compiled, worst.eager) if isinstance(x, Unavailable))
        return _sentence(f"{worst.name}: {reason.reason}")
    return _sentence(
        f"{worst.name}: compiled is off by {error_with_holes(worst.compiled)}, "
        f"eager by {error_with_holes(worst.eager)}, measured against {accuracy.reference}"
    )


def _sentence(text: str) -> str:
    """Begins with a capital, unless with a name of code, and ends with a full stop."""
    text = one_line(text)
    end = "" if text.endswith((".", "!", "?")) else "."
    capital = text[:1].upper() if text.partition(" ")[0].isalpha() else text[:1]
    return f"{capital}{text[1:]}{end}"


def _divergence_facts(first: Divergence | None, root: str) -> Iterator[tuple[str, str]]:
    if first is None:
        return
    if first.source and first.called_from and first.source != first.called_from:
        code = f": `{first.source.code}`" if first.source.code else ""
        yield "in the library", f"{location_text(first.source, root)}{code}"
    modules = [module for module in first.modules if module.path]
    if modules:
        kind = f" ({modules[-1].type.rpartition('.')[2]})" if modules[-1].type else ""
        yield "module", f"{modules[-1].path}{kind}"
    if not isinstance(first.kernels, Unavailable) and first.kernels:
        yield ("kernel" if len(first.kernels) == 1 else "kernels"), ", ".join(first.kernels)


def _precision(group: Sequence[_Compared], root: str) -> Finding:
    """Graphs whose precision changed first at one line."""
    graph, accuracy = group[0]
    casts = list(dict.fromkeys(cast for _, one in group for cast in one.casts))
    where = _place(casts[0] if casts else None, graph)
    tried = [switch for _, one in group for switch in one.tried]
    names = ", ".join(dict.fromkeys(_name(each) for each, _ in group))
    told = [] if len(group) == 1 else [("graphs", names)]
    told += [("cast", _cast(cast, root)) for cast in casts[:_MOST_CASTS]]
    if casts[_MOST_CASTS:]:
        told.append(("and", counted(len(casts) - _MOST_CASTS, "more cast")))
    reasons = [_off_by(accuracy)] if accuracy.tensors else []
    reasons += [_sentence(accuracy.reason)] if accuracy.reason else []
    return Finding(
        kind=PRECISION,
        title=one_line(_precision_title(group, casts)),
        place=_shown(where, root),
        line=where.line,
        function=one_line(where.function or (graph.function if graph else "")),
        code=_code(where),
        why=tuple(map(one_line, reasons)),
        weight=float(len(group)),
        remedies=_remedies(tried),
        facts=_clean([*told, *_did_not_help(tried)]),
        details=_clean(("also differs", text) for _, one in group for text in one.remarks),
    )


def _precision_title(group: Sequence[_Compared], casts: Sequence[CastChange]) -> str:
    name = _name(group[0][0]) if len(group) == 1 else counted(len(group), "graph")
    if not casts:
        return f"{name}: rounding changed"
    cast = casts[0]
    more = f", and {len(casts) - 1:,} more like it" if casts[1:] else ""
    return f"{name}: rounding to {cast.dtype} at `{_label(cast.operator)}` is {cast.change}{more}"


def _cast(cast: CastChange, root: str) -> str:
    place = location_text(cast.called_from or cast.source, root)
    at = f", {place}" if place else ""
    what = f"`{_label(cast.operator)}` (node {cast.node})"
    return f"rounding to {cast.dtype} is {cast.change} at {what}{at}"


def _not_comparable(graph: Graph | None, accuracy: Accuracy, root: str) -> Finding:
    where = _place(None, graph)
    return Finding(
        kind=NOT_COMPARABLE,
        title=one_line(f"{_name(graph)} could not be compared"),
        place=_shown(where, root),
        line=where.line,
        function=one_line(graph.function if graph else ""),
        code=_code(where),
        why=(_sentence(accuracy.reason),) if accuracy.reason else (),
        details=_clean(("also differs", text) for text in accuracy.remarks),
    )


def _place(found: Divergence | CastChange | None, graph: Graph | None) -> SourceLocation:
    """The user's line of an operator, else the first line of the graph's function."""
    if found is not None and found.source is not None:
        inside = is_library(found.source.file) and found.called_from is not None
        return found.called_from if inside and found.called_from else found.source
    if graph is not None and graph.source is not None:
        return graph.source
    return SourceLocation(file="", line=0)


def _shown(where: SourceLocation, root: str) -> str:
    return location_text(where, root) if where.file else "the whole program"


def _label(operator: str) -> str:
    return operator_label(Node(name="", op="call_function", target=operator))


def _code(where: SourceLocation) -> tuple[CodeLine, ...]:
    return (CodeLine(where.line, one_line(where.code)),) if where.code else ()


def _name(graph: Graph | None) -> str:
    if graph is None:
        return "the program"
    function = f" ({graph.function})" if graph.function else ""
    return f"graph {graph.compile_id} {graph.stage}{function}"


def _remedies(tried: Iterable[SwitchTried]) -> tuple[Remedy, ...]:
    """Settings with which compiled code agrees with eager."""
    helping = dict.fromkeys(one for one in tried if one.helps)
    return tuple(
        Remedy(
            title="Compile with this setting",
            code=one_line(one.code),
            tried=f"tried: {_outcome(one.verdict)}",
        )
        for one in helping
    )


def _did_not_help(tried: Iterable[SwitchTried]) -> list[tuple[str, str]]:
    failed = dict.fromkeys(f"`{one.code}` ({_outcome(one.verdict)})" for one in tried
                           if not one.helps)  # fmt: skip
    return [("tried in vain", "; ".join(failed))] if failed else []


def _outcome(verdict: str) -> str:
    words = {
        "agrees": "then it agrees",
        "rounding": "then only rounding is left",
        "diverges": "it still diverges",
    }
    return words.get(verdict) or one_line(verdict.replace("_", " "))


def _size(accuracy: Accuracy) -> float:
    """What ranks wrong results: those that are not numbers first, then by how far they are off."""
    if not accuracy.tensors:
        return float("inf")
    worst = accuracy.tensors[0]
    errors = worst.between if isinstance(worst.compiled, Unavailable) else worst.compiled
    if isinstance(errors, Unavailable):
        return 0.0
    return float("inf") if errors.nan or errors.inf else errors.max_rel


def _clean(facts: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((one_line(name), one_line(text)) for name, text in facts)
