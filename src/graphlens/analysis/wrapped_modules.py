"""Modules of ``torch.nn`` that were compiled by themselves, in the user's terms.

Dynamo does not compile the forward of a module that is torch's own; it compiles a wrapper of its
own around it, so that the frame is ``inner`` in ``external_utils.py`` (torch 2.11 to 2.14).
"""

from collections.abc import Iterable, Sequence

import msgspec

from graphlens.model import Frame, Graph, Node, SourceLocation

_WRAPPER = "torch/_dynamo/external_utils.py"


def is_wrapper(place: SourceLocation | None) -> bool:
    """Whether a frame's place is Dynamo's wrapper around one of torch's modules."""
    return place is not None and place.file.endswith(_WRAPPER)


def root_class(nodes: Iterable[Node]) -> str:
    """Class name of the module that all of a graph is in; empty where there is none."""
    for node in nodes:
        for module in node.modules:
            if not module.path and module.type:
                return module.type.rpartition(".")[2]
    return ""


def with_module_names(frames: Sequence[Frame], graphs: Sequence[Graph]) -> tuple[Frame, ...]:
    """Frames that are such wrappers, with function and place of their graphs."""
    named = {graph.compile_id: graph for graph in graphs if graph.source}
    return tuple(_named(frame, named) for frame in frames)


def _named(frame: Frame, graphs: dict[str, Graph]) -> Frame:
    if not frame.file.endswith(_WRAPPER):
        return frame
    for compilation in frame.compilations:
        graph = graphs.get(compilation.compile_id)
        if graph is not None and graph.source is not None:
            place = graph.source
            return msgspec.structs.replace(
                frame, function=graph.function, file=place.file, line=place.line
            )
    return frame
