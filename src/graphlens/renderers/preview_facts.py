"""What a preview found, in a few sentences: the same for every format."""

from collections import Counter

from graphlens.model import Graph, Kernel, KernelBinary, Report, Unavailable
from graphlens.renderers.measures import percent, significant
from graphlens.renderers.wording import counted


def preview_facts(report: Report) -> list[tuple[str, str]]:
    """Names of facts with their texts; none where the report is no preview."""
    if report.target is None:
        return []
    graphs = [graph for graph in report.graphs if graph.cpu_program is not None]
    kernels = [one for graph in graphs for one in kernels_in(graph)]
    facts = [("target", _target(report))]
    if kernels:
        facts.append(("kernels", _counts(kernels)))
    binaries = [one for kernel in kernels for one in _binaries(kernel)]
    if binaries:
        facts.append(("machine code", _machine(binaries)))
    failed = [graph for graph in graphs if isinstance(graph.kernels, Unavailable)]
    if failed:
        facts.append(("no program", "; ".join(f"{g.id}: {_reason(g)}" for g in failed)))
    return facts


def kernels_in(graph: Graph) -> tuple[Kernel, ...]:
    """The kernels of a graph; none where they are not known."""
    return () if isinstance(graph.kernels, Unavailable) else graph.kernels


def _binaries(kernel: Kernel) -> tuple[KernelBinary, ...]:
    return () if isinstance(kernel.binaries, Unavailable) else kernel.binaries


def _reason(graph: Graph) -> str:
    return graph.kernels.reason if isinstance(graph.kernels, Unavailable) else ""


def _target(report: Report) -> str:
    target = report.target
    assert target is not None  # noqa: S101  asked before
    major, minor = target.capability
    peak = significant(target.peaks.float32 / 1e12)
    speed = significant(target.bandwidth / 1e12)
    return (
        f"{target.title} (compute capability {major}.{minor}, {speed} TB/s, {peak} TFLOP/s in "
        "float32)"
    )


def _counts(kernels: list[Kernel]) -> str:
    found = Counter(kernel.language for kernel in kernels)
    named = len({kernel.name for kernel in kernels if kernel.language == "Triton"})
    texts = []
    if found["Triton"]:
        calls = counted(found["Triton"], "call")
        texts.append(f"{calls} of {counted(named, 'Triton kernel')}")
    if found["extern"]:
        texts.append(counted(found["extern"], "library call"))
    if found["fallback"]:
        texts.append(f"{counted(found['fallback'], 'call')} of torch's own operators")
    return ", ".join(texts)


def _machine(binaries: list[KernelBinary]) -> str:
    spilled = sum(one.spilled_bytes > 0 for one in binaries)
    low = sum(one.occupancy < 0.5 for one in binaries)
    most = max(one.registers for one in binaries)
    texts = [f"at most {most} registers a thread"]
    texts.append(f"{counted(spilled, 'configuration')} spilled" if spilled else "nothing spilled")
    if low:
        texts.append(f"{counted(low, 'configuration')} with an occupancy below {percent(0.5)}")
    return ", ".join(texts)
