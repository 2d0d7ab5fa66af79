"""The text of a script that shows a divergence."""

import inspect
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from graphlens.checks import repro_helpers
from graphlens.checks.graph_calls import GraphCall, run
from graphlens.checks.random_nodes import same_bits
from graphlens.checks.repro_code import GraphSource, graph_source, importable, option_source
from graphlens.model import Accuracy, Divergence
from graphlens.version import __version__

_IMPORTS = ("import sys", "import torch", "from typing import Any")
_HELPERS = (repro_helpers.made_input, repro_helpers.run_once, repro_helpers.difference)


@dataclass(frozen=True)
class Repro:
    """A script, and what it needs beside it.

    Attributes:
        text: Of the script.
        data: For ``torch.save`` to the file that the script names; None where it needs none.
    """

    text: str
    data: Any = None


@dataclass
class Script:
    """A script for one graph.

    Attributes:
        part: The graph.
        call: Its inputs, with what is around.
        specs: From which the inputs are made; None where they are stored.
        backend: A name or callable.
        keywords: ``mode`` and ``options`` for it.
        data_name: File of the data.
    """

    part: torch.fx.GraphModule
    call: GraphCall
    specs: list[dict[str, Any]] | None
    backend: Any
    keywords: Mapping[str, Any]
    data_name: str

    def repro(self, accuracy: Accuracy) -> Repro:
        """The whole.

        Args:
            accuracy: Of the graph.

        Raises:
            UnwritableError: The graph has no source.
        """
        source = graph_source(self.part)
        data = self._data(source)
        imports, options, missing = option_source(self.keywords.get("options") or {})
        backend, more = self._backend()
        lines = {*_IMPORTS, *source.imports, *imports, *more}
        if data is not None:
            lines.add("import pathlib")
        constants = [
            f'DATA = torch.load(pathlib.Path(__file__).with_name("{self.data_name}"))'
            if data is not None
            else "",
            "\n".join(["OPTIONS = {", *options, "}"]),
            f"SETTINGS = {self._settings()!r}",
            "MISSING = " + repr(missing + ([] if backend else ["backend"])),
        ]
        parts = [
            self._heading(accuracy) + "\n\n" + "\n".join(sorted(lines)),
            "\n".join(one for one in constants if one),
            *[text.strip() for text in source.classes],
            *[inspect.getsource(one).strip() for one in _HELPERS],
            self._inputs(),
            _MAIN.format(backend=backend or '"inductor"  # give it', mode=self._mode()).strip(),
            'if __name__ == "__main__":\n    sys.exit(main())',
        ]
        return Repro("\n\n\n".join(parts) + "\n", data)

    def _heading(self, accuracy: Accuracy) -> str:
        here = accuracy.first_divergence
        place = ""
        if isinstance(here, Divergence):
            line = f", line {here.line} of {here.file}" if here.source else ""
            place = f"It begins at `{here.node}` ({here.operator}){line}, {here.part}."
        machine = f"{platform.system()} {platform.machine()}"
        capability = torch.backends.cpu.get_cpu_capability()
        device = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
        lines = [
            "Compiled code that does not give what eager gives.",
            "",
            accuracy.reason,
            *([place] if place else []),
            "",
            f"Written by graphlens {__version__}; torch {torch.__version__}, Python "
            f"{platform.python_version()}, {machine}, {capability}, "
            f"{torch.get_num_threads()} threads, {device}.",
        ]
        if self.specs is None:
            lines.append(f"The inputs are those of the run, in {self.data_name}.")
        return '"""' + "\n".join(lines).replace("\\", "\\\\").replace('"""', "'''") + '\n"""'

    def _data(self, source: GraphSource) -> Any:
        made: dict[str, Any] = {}
        if source.attributes:
            made["attributes"] = source.attributes
        if self.specs is None:
            made["inputs"] = [
                value.detach() if isinstance(value, torch.Tensor) else value
                for value in self.call.inputs
            ]
        return made or None

    def _inputs(self) -> str:
        if self.specs is None:
            grads = [
                at
                for at, value in enumerate(self.call.inputs)
                if isinstance(value, torch.Tensor) and value.requires_grad
            ]
            return _STORED.format(grads=grads, name=self.data_name).strip()
        lines = [f"    {spec!r}," for spec in self.specs]
        return "\n".join(["INPUTS = [", *lines, "]"]) + "\n\n\n" + _MADE.strip()

    def _settings(self) -> dict[str, Any]:
        around = self.call.around
        before = self.call.fresh()
        after = run(self.part, self.call, backward=False)
        return {
            "grad": around.grad,
            "autocast": dict(around.autocast),
            "seed": 0,
            "written": [
                at
                for at, pair in enumerate(zip(before, after.inputs, strict=False))
                if not same_bits(*pair)
            ],
        }

    def _backend(self) -> tuple[str, list[str]]:
        if isinstance(self.backend, str):
            return repr(self.backend), []
        found = importable(self.backend)
        return (found[1], [f"from {found[0]} import {found[1]}"]) if found else ("", [])

    def _mode(self) -> str:
        mode = self.keywords.get("mode")
        dynamic = any(isinstance(value, (int, torch.SymInt)) for value in self.call.inputs)
        keywords = [f"mode={mode!r}"] if mode else ["options=OPTIONS or None"]
        return ", ".join(keywords + (["dynamic=True"] if dynamic else []))


_MADE = """
def inputs():
    generator = torch.Generator().manual_seed(0)
    return [made_input(spec, generator) for spec in INPUTS]
"""
_STORED = """
def inputs():
    stored = torch.load(pathlib.Path(__file__).with_name("{name}"))["inputs"]
    return [
        value.requires_grad_() if at in {grads} else value for at, value in enumerate(stored)
    ]
"""
_MAIN = """
def main():
    if MISSING:
        print("Give what has no import path, then run this again:", ", ".join(MISSING))
    graph = Graph()
    compiled_graph = torch.compile(graph, backend={backend}, {mode})
    eager = run_once(graph, inputs(), SETTINGS)
    compiled = run_once(compiled_graph, inputs(), SETTINGS)
    differ = 0
    for name, value in eager.items():
        text = difference(value, compiled.get(name))
        print(name, "DIFFERS" if text else "is close")
        if text:
            differ = 1
            print("eager:", value, "compiled:", compiled.get(name), text, sep="\\n")
    print("eager and compiled code differ" if differ else "eager and compiled code agree")
    return differ
"""
