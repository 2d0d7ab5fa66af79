"""A backend that generates code for a GPU that is not there, and runs the graphs in eager."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from graphlens._torch.dynamo import current_compile_id
from graphlens._torch.generated_code import Generated, generate_code
from graphlens._torch.inductor import inductor_config, lower_with_inductor, stage_of
from graphlens._torch.pretend_gpu import pretend_gpu
from graphlens._torch.provenance import callers
from graphlens._torch.retarget import Retargeted, retargeted
from graphlens.analysis.compilation_graphs import NodePlace
from graphlens.analysis.generated_programs import generated_programs
from graphlens.capture.backend import OnLowered, compile_graph
from graphlens.capture.input_copies import copied_inputs
from graphlens.capture.options import LensOptions, lens_options
from graphlens.capture.recorder import Recorder, node_places
from graphlens.checks.graph_calls import GraphCall
from graphlens.checks.preview_options import PreviewOptions
from graphlens.checks.surroundings import surroundings
from graphlens.checks.watcher import graph_copy
from graphlens.model import Unavailable

CompiledFn = Callable[..., Any]
Progress = Callable[[str], None]


@dataclass
class PreviewedGraph:
    """A lowered graph with the programs that Inductor generates for it.

    Attributes:
        compile_id: As in the report.
        stage: As in the report.
        gm: The graph on the CPU; run in eager.
        origins: By node, the Dynamo nodes it came from.
        on_gpu: The graph moved to the target, or why it could not be.
        gpu: The program for the target, or why there is none.
        cpu: The program for the CPU, or why there is none.
        call: The first call; None where the program made none.
    """

    compile_id: str
    stage: str
    gm: torch.fx.GraphModule
    origins: dict[str, tuple[str, ...]]
    on_gpu: Retargeted | Unavailable
    gpu: Generated | Unavailable
    cpu: Generated | Unavailable
    call: GraphCall | None = None


@dataclass
class PreviewBackend:
    """Compiles nothing: keeps what would be compiled, for the target and for the CPU.

    Attributes:
        options: Of the preview.
        recorder: Gets torch's records of the programs for the target.
        progress: Told what is going on.
        graphs: Lowered graphs, in the order they were met.
    """

    options: PreviewOptions
    recorder: Recorder
    progress: Progress = lambda _: None
    graphs: list[PreviewedGraph] = field(default_factory=list)

    def __post_init__(self) -> None:
        given = dict(self.options.options) if self.options.options else None
        self.config = inductor_config(None, given)
        self.lens: LensOptions = lens_options({"show": "none", "inner": "inductor"})

    def backend(self, gm: torch.fx.GraphModule, inputs: Sequence[Any]) -> CompiledFn:
        """For ``torch.compile``."""
        return compile_graph(gm, inputs, self.lens, {}, compile_inner=self._lower)

    def _lower(
        self, gm: torch.fx.GraphModule, inputs: Sequence[Any], on_lowered: OnLowered
    ) -> CompiledFn:
        of, known = gm.graph, callers(gm.graph)

        def compile_lowered(
            lowered: torch.fx.GraphModule, given: Sequence[Any], **keywords: Any
        ) -> CompiledFn:
            on_lowered(lowered, stage_of(keywords))
            places = node_places(lowered, known)
            return self._kept(lowered, given, keywords, of, places)

        return lower_with_inductor(gm, inputs, self.config, compile_lowered)

    def _kept(
        self,
        lowered: torch.fx.GraphModule,
        given: Sequence[Any],
        keywords: dict[str, Any],
        of: torch.fx.Graph,
        places: Mapping[str, NodePlace],
    ) -> CompiledFn:
        name, stage = current_compile_id(), stage_of(keywords)
        self.progress(f"{name}.{stage}: generating code for {self.options.target.name}")
        on_gpu, gpu = self._for_target(lowered, given, keywords, of)
        if isinstance(gpu, Generated):
            for record in gpu.records:
                self.recorder.add_record(record)
        cpu = _generated(graph_copy(lowered), given, keywords, of, "the CPU")
        origins = {node: place.origins for node, place in places.items()}
        kept = PreviewedGraph(name, stage, lowered, origins, on_gpu, gpu, cpu)
        self.graphs.append(kept)
        return _runner(kept, keeps=self.options.numerics)

    def _for_target(
        self,
        lowered: torch.fx.GraphModule,
        given: Sequence[Any],
        keywords: dict[str, Any],
        of: torch.fx.Graph,
    ) -> tuple[Retargeted | Unavailable, Generated | Unavailable]:
        target = self.options.target
        try:
            moved = retargeted(lowered, given, target)
        except Exception as error:  # noqa: BLE001  what cannot be moved is a finding
            why = Unavailable(f"the graph could not be moved to a GPU: {_first_line(error)}")
            return why, why
        # What torch says of the pretended device, such as that TF32 is off, is no news to anyone.
        with pretend_gpu(target), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = _generated(moved.gm, moved.inputs, keywords, of, target.title)
        return moved, made


def _generated(
    gm: torch.fx.GraphModule,
    given: Sequence[Any],
    keywords: dict[str, Any],
    of: torch.fx.Graph,
    what: str,
) -> Generated | Unavailable:
    try:
        made = generate_code(gm, given, keywords, of)
    except Exception as error:  # noqa: BLE001  what Inductor cannot compile is a finding
        return Unavailable(f"Inductor generated no program for {what}: {_first_line(error)}")
    if not generated_programs(made.records):
        return Unavailable(f"Inductor logged no program for {what}")
    return made


def _runner(kept: PreviewedGraph, keeps: bool) -> CompiledFn:
    """Runs the graph in eager, and may keep the first call. Takes its inputs as one list."""

    def run(args: list[Any]) -> Any:
        given = list(args)
        args.clear()
        if kept.call is not None or not keeps:
            return kept.gm(*given)
        copies, _ = copied_inputs(tuple(given), {}, [], gradients=False)
        kept.call = GraphCall(list(copies), surroundings())
        return kept.gm(*given)

    return run


def _first_line(error: BaseException) -> str:
    text = (str(error).strip() or "without a message").partition("\n")[0]
    return f"{type(error).__name__}: {text}"
