"""The graphs of each compilation: live ones joined with torch's records of them."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from graphlens.analysis.cached_lines import with_present_lines
from graphlens.analysis.frames import by_compilation, start_of
from graphlens.analysis.placeholders import argument_index
from graphlens.analysis.readable_graph import parse_readable
from graphlens.analysis.symbols import symbols_in
from graphlens.model import Graph, ModuleCall, Node, SourceLocation, TraceRecord, Unavailable
from graphlens.model.base import Data

STAGES = {
    "dynamo_output_graph": "dynamo",
    "aot_forward_graph": "forward",
    "aot_backward_graph": "backward",
    "aot_inference_graph": "inference",
}
_CACHE_HITS = ("aotautograd_cache_hit", "fx_graph_cache_hit")
_AOT_ID = re.compile(r"AOT ID: \['\d+_(forward|backward|inference)'\]")

NodePlaces = Mapping[str, tuple[tuple[ModuleCall, ...], SourceLocation | None]]


class LiveGraph(Data, frozen=True, kw_only=True):
    """A Dynamo graph read from the live object, with the attempt it was made in."""

    attempt: int
    graph: Graph


class LoweredPlaces(Data, frozen=True, kw_only=True):
    """Modules and the user's own lines of the nodes of one lowered graph, by node name."""

    compile_id: str
    stage: str
    nodes: dict[str, tuple[tuple[ModuleCall, ...], SourceLocation | None]]


def collect_graphs(
    records: Sequence[TraceRecord], live: Sequence[LiveGraph], lowered: Sequence[LoweredPlaces]
) -> tuple[Graph, ...]:
    """Every graph, in the order of capture; lowered graphs follow their Dynamo graph."""
    by_id = by_compilation(records)
    live_by_id: dict[str, list[LiveGraph]] = defaultdict(list)
    for captured in live:
        live_by_id[captured.graph.compile_id].append(captured)
    places = {(found.compile_id, found.stage): found.nodes for found in lowered}
    result: list[Graph] = []
    for compile_id in dict.fromkeys([*by_id, *live_by_id]):
        one = _Compilation(compile_id, by_id.get(compile_id, []), live_by_id[compile_id], places)
        result.extend(one.graphs())
    return tuple(result)


def place_graph(graph: Graph, records: Sequence[TraceRecord]) -> Graph:
    """A Dynamo graph that was just captured, with what the records so far say of its function."""
    own = by_compilation(records).get(graph.compile_id, [])
    texts = [record for record in own if record.kind == "dynamo_output_graph"]
    compilation = _Compilation(graph.compile_id, own, [], {})
    return compilation.finished(graph, texts[-1] if texts else None, discarded=False)


class _Compilation:
    """The graphs of one compile id."""

    def __init__(
        self,
        compile_id: str,
        records: list[TraceRecord],
        live: list[LiveGraph],
        places: Mapping[tuple[str, str], NodePlaces],
    ) -> None:
        self.compile_id = compile_id
        self.records = records
        self.live = list(live)
        self.places = places
        self.start = start_of(records)
        self.used: dict[str, int] = defaultdict(int)

    def graphs(self) -> list[Graph]:
        found = []
        last_attempt = max((r.attempt for r in self.records if r.kind in STAGES), default=0)
        dynamo: Graph | None = None
        for record in self.records:
            stage = STAGES.get(record.kind)
            if stage == "dynamo":
                dynamo = self.dynamo_graph(record)
                found.append(self.finished(dynamo, record, record.attempt < last_attempt))
            elif stage:
                graph = self.lowered_graph(record, stage, dynamo)
                found.append(self.finished(graph, record, record.attempt < last_attempt))
        # Without the trace, or where an optimiser split the graph, the backend saw more.
        found += [self.finished(captured.graph, None, False) for captured in self.live]
        return found

    def dynamo_graph(self, record: TraceRecord) -> Graph:
        """The live graph of a record's attempt; its text where no backend of ours read it."""
        same = [captured for captured in self.live if captured.attempt == record.attempt]
        if same:
            self.live.remove(same[0])
            if same[0].graph.nodes:
                return same[0].graph
        known = same[0].graph if same else Graph(
            id="", compile_id=self.compile_id, stage="dynamo", nodes=()
        )  # fmt: skip
        nodes, subgraphs = parse_readable(record.payload)
        return msgspec.structs.replace(known, nodes=nodes, subgraphs=subgraphs, read_from="trace")

    def lowered_graph(self, record: TraceRecord, stage: str, dynamo: Graph | None) -> Graph:
        nodes, subgraphs = parse_readable(record.payload)
        places = self.places.get((self.compile_id, stage), {})
        nodes = tuple(_placed(node, places) for node in nodes)
        if dynamo is not None:
            nodes = tuple(_named_by(node, dynamo, stage) for node in nodes)
            if self.cached():
                nodes = with_present_lines(nodes, dynamo.nodes)
        return Graph(
            id="", compile_id=self.compile_id, stage=stage, nodes=nodes, subgraphs=subgraphs,
            read_from="trace", cached=self.cached(),
            inner_backend=dynamo.inner_backend if dynamo else Unavailable("not recorded"),
            hits=self.hits(stage, dynamo), compile_seconds=self.seconds(stage),
            output_code=self.output_code(stage),
        )  # fmt: skip

    def finished(self, graph: Graph, record: TraceRecord | None, discarded: bool) -> Graph:
        number = self.used[graph.stage]
        self.used[graph.stage] += 1
        suffix = f".{number + 1}" if number else ""
        code = record.payload if record else Unavailable("torch's trace was not recorded")
        return msgspec.structs.replace(
            graph,
            id=f"{self.compile_id}.{graph.stage}{suffix}",
            function=self.start.function if self.start else graph.function,
            source=self.start or graph.source,
            symbols=symbols_in(graph.nodes, self.records),
            cached=graph.cached or (graph.stage == "dynamo" and self.cached()),
            discarded=discarded,
            code=code,
        )

    def cached(self) -> bool:
        return any(record.kind in _CACHE_HITS for record in self.records)

    def hits(self, stage: str, dynamo: Graph | None) -> int | Unavailable:
        if stage == "backward" or dynamo is None:
            return Unavailable("calls of this graph are not counted")
        return dynamo.hits

    def seconds(self, stage: str) -> float | Unavailable:
        kind = "bwd_compilation_metrics" if stage == "backward" else "compilation_metrics"
        for record in self.records:
            seconds = record.data.get("inductor_compile_time_s")
            if record.kind == kind and isinstance(seconds, (int, float)):
                return float(seconds)
        if self.cached():
            return Unavailable("a cache answered, so nothing was compiled")
        return Unavailable("torch did not time this graph alone")

    def output_code(self, stage: str) -> str | Unavailable:
        for record in self.records:
            if record.kind == "inductor_output_code":
                named = _AOT_ID.search(record.payload)
                if named and named[1] == stage:
                    return record.payload
        return Unavailable("no generated program was recorded for this graph")


def _placed(node: Node, places: NodePlaces) -> Node:
    if node.name not in places:
        return node
    modules, called_from = places[node.name]
    return msgspec.structs.replace(node, modules=modules, called_from=called_from)


def _named_by(node: Node, dynamo: Graph, stage: str) -> Node:
    """A lowered placeholder in the words of the Dynamo argument it stands for."""
    if node.op != "placeholder" or node.role != "input":
        return node
    index = argument_index(node)
    if index is None:
        return msgspec.structs.replace(node, role="saved") if stage == "backward" else node
    arguments = [n for n in dynamo.nodes if n.op == "placeholder"]
    if index >= len(arguments) or arguments[index].shape != node.shape:
        return node
    same = arguments[index]
    return msgspec.structs.replace(node, role=same.role, origin=same.origin, modules=same.modules)
