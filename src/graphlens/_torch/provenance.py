"""Inductor's own account of which operators each kernel computes.

With ``trace.provenance_tracking_level`` 1 Inductor writes the record
``inductor_provenance_tracking_node_mappings`` and names each kernel's call in a comment of the
program it generates; the kernels stay the same. In torch 2.14 the level is part of the keys of
its caches of graphs, so that a program compiled with the account would share none with one that
was compiled without. Therefore the level is 0 while keys are made, and 1 from the records on that
torch writes when no cache has answered: right before its passes on the graph, and before it
generates code. Seen on torch 2.14.
"""

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from graphlens._torch import trace
from graphlens._torch.dynamo import current_attempt, current_compile_id
from graphlens._torch.probes import probe
from graphlens.analysis.generated_programs import REPLACED
from graphlens.model import TraceRecord

LEVEL = "trace.provenance_tracking_level"
_MOMENTS = ("aot_inference_graph", "before_post_grad_graph")

_wanted = threading.local()


@contextlib.contextmanager
def provenance(of: torch.fx.Graph | None = None) -> Iterator[None]:
    """Has the account written for what is compiled in the block, in this thread.

    A level that the user has set stays as it is.

    Args:
        of: The Dynamo graph, around the compilation of one graph that it was lowered to. Torch
            keeps it for a forward graph; a backward graph is compiled at its first use, when it
            is forgotten, and then the account would be empty.
    """
    from torch._inductor import config, debug

    if not _has_parts() or (config.trace.provenance_tracking_level and not _is_wanted()):
        yield
        return
    with contextlib.ExitStack() as stack:
        stack.enter_context(config.patch({LEVEL: 0}))
        if of is not None:
            stack.enter_context(debug.reset_provenance_globals())
            debug._pre_grad_graph_id = id(of)
        before, _wanted.on = _is_wanted(), True
        try:
            yield
        finally:
            _wanted.on = before


def _is_wanted() -> bool:
    return getattr(_wanted, "on", False)


def _switch_on() -> None:
    from torch._inductor import config

    if _is_wanted():
        config.trace.provenance_tracking_level = 1


for _moment in _MOMENTS:
    trace.moments[_moment] = _switch_on


def replaced_nodes(lowered: torch.fx.GraphModule) -> TraceRecord | None:
    """What Inductor's passes put in place of nodes of a graph that was just compiled.

    With the account on, torch notes on each node which ones it replaced, and in which pass.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    for node in lowered.graph.nodes:
        for old, by in dict.fromkeys(_replaced(node.meta.get("from_node", ()))):
            if old != node.name:
                found.setdefault(old, []).append((node.name, by))
    if not found:
        return None
    attempt = current_attempt()
    return TraceRecord(kind=REPLACED, compile_id=current_compile_id(), attempt=attempt, data=found)


def _replaced(sources: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """Names of nodes in a node's history that were replaced, with the pass that did it."""
    for source in sources:
        if any(action.value == "replace" for action in source.action or ()):
            yield source.name, source.pass_name
        yield from _replaced(source.from_node)


Callers = Mapping[str, str]


def callers(dynamo: torch.fx.Graph) -> Callers:
    """Dynamo nodes by the name that each had when it was made; those that share one left out.

    Dynamo names a node ``linear_1``, keeps that in its ``source_fn_stack``, and renames it after
    the variable that it is assigned to.
    """
    found: dict[str, str] = {}
    twice = set()
    for node in dynamo.nodes:
        for entry in node.meta.get("source_fn_stack", ())[-1:]:
            name = str(entry[0])
            twice |= {name} & set(found)
            found[name] = node.name
    return {name: node for name, node in found.items() if name not in twice}


def dynamo_origins(node: torch.fx.Node, known: Callers) -> tuple[str, ...]:
    """Names of the Dynamo nodes that a lowered node came from; of its forward one in a backward.

    Args:
        node: Of a lowered graph.
        known: From `callers`.
    """
    found = [name for name, _ in _created(node.meta.get("from_node", ()))]
    for key in ("source_fn_stack", "fwd_source_fn_stack"):
        made = [str(entry[0]) for entry in node.meta.get(key, ())[-1:] if not found]
        found += [known[name] for name in made if name in known]
    return tuple(dict.fromkeys(found))


def _created(sources: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """The ends of a node's history, as it was lowered: what it was before all passes."""
    for source in sources:
        if source.from_node:
            yield from _created(source.from_node)
        elif source.name:
            yield source.name, source.pass_name


def _has_parts() -> bool:
    from torch._inductor import config, debug

    return (
        hasattr(config.trace, "provenance_tracking_level")
        and hasattr(debug, "reset_provenance_globals")
        and hasattr(debug, "_pre_grad_graph_id")
    )


@probe("operators of each kernel", seen_on="2.14")
def _probe_provenance() -> str:
    from torch._inductor import config

    if not _has_parts():
        raise AttributeError(f"Inductor has no {LEVEL}, or keeps its account in another way")
    before = config.trace.provenance_tracking_level
    with provenance():
        _switch_on()
    if config.trace.provenance_tracking_level != before:
        raise TypeError(f"{LEVEL} was not put back")
    return f"setting {LEVEL}"
