"""The graphs of each compilation: live ones joined with torch's records of them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from graphlens.analysis.break_records import collect_breaks
from graphlens.analysis.cached_lines import with_present_lines
from graphlens.analysis.compilations import (
    CompilationKey,
    by_compilation,
    start_of,
    start_stack,
)
from graphlens.analysis.generated_programs import GeneratedProgram, generated_programs
from graphlens.analysis.graph_ends import with_ends
from graphlens.analysis.kernels import kernels_of
from graphlens.analysis.placeholders import argument_index
from graphlens.analysis.places import user_frame
from graphlens.analysis.readable_graph import parse_readable
from graphlens.analysis.symbols import symbols_in
from graphlens.analysis.wrapped_modules import is_wrapper, root_class
from graphlens.model import Graph, ModuleCall, Node, SourceLocation, TraceRecord, Unavailable

STAGES = {
    "dynamo_output_graph": "dynamo",
    "aot_forward_graph": "forward",
    "aot_backward_graph": "backward",
    "aot_inference_graph": "inference",
}
# AOTAutograd's cache replays the text of the run that filled it; Inductor's own cache of
# generated programs is asked later, with a graph that was lowered now.
REPLAY = "aotautograd_cache_hit"
_NO_PROGRAM = Unavailable("no generated program was recorded for this graph")
_CACHE_HITS = (REPLAY, "fx_graph_cache_hit")


class NodePlace(NamedTuple):
    """What a lowered node's metadata says and torch's text of the graph does not.

    Attributes:
        modules: Module calls around it, outermost first.
        source: The line that made it.
        called_from: The user's own line, where that is in a library.
        origins: Names of the Dynamo nodes it came from.
    """

    modules: tuple[ModuleCall, ...]
    source: SourceLocation | None
    called_from: SourceLocation | None
    origins: tuple[str, ...] = ()


class LiveGraph(NamedTuple):
    """A Dynamo graph that a backend of ours was given.

    Attributes:
        epoch: See `CompilationKey`.
        attempt: How often the tracing had been started again.
        graph: The graph, read from the live object; without nodes if that failed.
        lowered: Places of the nodes of what it was lowered to, by stage and node name.
    """

    epoch: int
    attempt: int
    graph: Graph
    lowered: Mapping[str, Mapping[str, NodePlace]]


def collect_graphs(records: Sequence[TraceRecord], live: Sequence[LiveGraph]) -> tuple[Graph, ...]:
    """Every graph, in the order of capture; lowered graphs follow their Dynamo graph."""
    by_key = by_compilation(records)
    live_by_key: dict[CompilationKey, list[LiveGraph]] = defaultdict(list)
    for captured in live:
        live_by_key[CompilationKey(captured.epoch, captured.graph.compile_id)].append(captured)
    return tuple(
        graph
        for key in dict.fromkeys([*by_key, *live_by_key])
        for graph in _Compilation(key, by_key.get(key, []), live_by_key[key]).graphs()
    )


def place_graph(live: LiveGraph, records: Sequence[TraceRecord]) -> Graph:
    """A graph that was just captured, with what the records so far say of its function."""
    key = CompilationKey(live.epoch, live.graph.compile_id)
    own = by_compilation(records).get(key, [])
    (graph,) = with_ends(_Compilation(key, own, [live]).graphs(lowered=False), collect_breaks(own))
    return graph


class _Compilation:
    """The graphs of one compilation."""

    def __init__(
        self, key: CompilationKey, records: list[TraceRecord], live: list[LiveGraph]
    ) -> None:
        self.key = key
        self.records = records
        self.live = live
        self.start = start_of(records)
        self.caller = user_frame(start_stack(records)[:-1])
        self.cached = any(record.kind in _CACHE_HITS for record in records)
        self.programs = generated_programs(records)
        self.used: dict[str, int] = defaultdict(int)

    def graphs(self, lowered: bool = True) -> Iterator[Graph]:
        """Each Dynamo graph and what it was lowered to, attempt by attempt."""
        attempts = {r.attempt for r in self.records if STAGES.get(r.kind) == "dynamo"}
        attempts |= {captured.attempt for captured in self.live}
        last = max(attempts, default=0)
        for attempt in sorted(attempts):
            for graph in self.attempt(attempt, lowered):
                yield msgspec.structs.replace(graph, discarded=attempt < last)

    def attempt(self, attempt: int, lowered: bool) -> Iterator[Graph]:
        """The graphs of one attempt.

        One record and one live graph are the same graph. An optimiser for distributed training
        splits a graph: then there are several live ones, and the record is of the whole.
        """
        own = [record for record in self.records if record.attempt == attempt]
        texts = [record for record in own if record.kind == "dynamo_output_graph"]
        live = [captured for captured in self.live if captured.attempt == attempt]
        whole = len(live) <= 1
        pieces = [self.live_graph(one, texts if whole else []) for one in live]
        pieces = pieces or [self.text_graph(text) for text in texts]
        for number, piece in enumerate(pieces):
            dynamo = self.finished(piece)
            yield dynamo
            if lowered:
                places = live[number].lowered if live else {}
                for record in self.lowered_records(own, number, len(pieces)):
                    known = places.get(STAGES[record.kind], {})
                    graph = self.finished(self.lowered_graph(record, piece, known))
                    yield msgspec.structs.replace(
                        graph, function=dynamo.function, source=dynamo.source
                    )

    def lowered_records(
        self, records: list[TraceRecord], number: int, pieces: int
    ) -> Iterator[TraceRecord]:
        """Records of what a piece was lowered to: all of them, or one a stage of several pieces."""
        seen: dict[str, int] = defaultdict(int)
        for record in records:
            if STAGES.get(record.kind, "dynamo") == "dynamo":
                continue
            if pieces == 1 or seen[record.kind] == number:
                yield record
            seen[record.kind] += 1

    def live_graph(self, captured: LiveGraph, texts: list[TraceRecord]) -> Graph:
        graph = captured.graph
        if not texts:
            why = "torch logs this graph only as part of a larger one, or not at all"
            return msgspec.structs.replace(graph, code=Unavailable(why))
        if graph.nodes:
            return msgspec.structs.replace(graph, code=texts[-1].payload)
        return self.text_graph(texts[-1], graph)

    def text_graph(self, record: TraceRecord, known: Graph | None = None) -> Graph:
        nodes, subgraphs = parse_readable(record.payload)
        graph = known or Graph(id="", compile_id=self.key.compile_id, stage="dynamo", nodes=())
        return msgspec.structs.replace(
            graph, nodes=nodes, subgraphs=subgraphs, read_from="trace", code=record.payload
        )

    def lowered_graph(
        self, record: TraceRecord, dynamo: Graph, places: Mapping[str, NodePlace]
    ) -> Graph:
        stage = STAGES[record.kind]
        nodes, subgraphs = parse_readable(record.payload)
        nodes = tuple(_placed(node, places.get(node.name)) for node in nodes)
        nodes = tuple(_named_by(node, dynamo, stage) for node in nodes)
        if any(record.kind == REPLAY for record in self.records):
            nodes = with_present_lines(nodes, dynamo.nodes)
        program = self.program(stage)
        uncounted = Unavailable("calls of backward graphs are not counted")
        graph = Graph(
            id="",
            compile_id=self.key.compile_id,
            stage=stage,
            nodes=nodes,
            subgraphs=subgraphs,
            read_from="trace",
            inner_backend=dynamo.inner_backend,
            hits=uncounted if stage == "backward" else dynamo.hits,
            compile_seconds=self.seconds(stage),
            code=record.payload,
        )
        if program is None:
            return msgspec.structs.replace(graph, output_code=_NO_PROGRAM)
        origins = {name: place.origins for name, place in places.items()}
        found = kernels_of(graph, program, origins)
        return msgspec.structs.replace(
            graph,
            nodes=tuple(_from_logged(node, stage, program) for node in nodes),
            output_code=program.code,
            kernels=found.kernels,
            unassigned=found.unassigned,
            cuda_graphs=program.cuda_graphs,
        )

    def finished(self, graph: Graph) -> Graph:
        """The graph with its id, its function, its symbols, and whether a cache answered."""
        number = self.used[graph.stage]
        self.used[graph.stage] += 1
        suffix = f".{number + 1}" if number else ""
        function = self.start.function if self.start else graph.function
        source = self.start or graph.source
        if is_wrapper(self.start):
            function = root_class(graph.nodes) or function
            source = self.caller or source
        return msgspec.structs.replace(
            graph,
            id=self.key.unique(f"{self.key.compile_id}.{graph.stage}{suffix}"),
            function=function,
            source=source,
            symbols=symbols_in(graph.nodes, self.records),
            cached=self.cached,
        )

    def seconds(self, stage: str) -> float | Unavailable:
        kind = "bwd_compilation_metrics" if stage == "backward" else "compilation_metrics"
        for record in self.records:
            seconds = record.data.get("inductor_compile_time_s")
            if record.kind == kind and isinstance(seconds, (int, float)):
                return float(seconds)
        if self.cached:
            return Unavailable("a cache answered, so nothing was compiled")
        return Unavailable("torch did not time this graph alone")

    def program(self, stage: str) -> GeneratedProgram | None:
        """What was generated for the graph of a stage that is made next."""
        number = self.used[stage]
        programs = [program for program in self.programs if program.stage == stage]
        return programs[number] if number < len(programs) else None


def _placed(node: Node, place: NodePlace | None) -> Node:
    # A placeholder's metadata is that of a value it was saved from, or of its first use.
    if place is None or node.op == "placeholder":
        return node
    return msgspec.structs.replace(
        node,
        modules=place.modules,
        source=place.source or node.source,
        called_from=place.called_from,
        came_from=place.origins,
    )


def _from_logged(node: Node, stage: str, program: GeneratedProgram) -> Node:
    """The node with the Dynamo nodes that torch logged; of a backward graph it logs too few."""
    logged = program.origins.get(node.name, ())
    if node.came_from or not node.is_operator or not logged or stage == "backward":
        return node
    return msgspec.structs.replace(node, came_from=tuple(logged))


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
