"""How the kernels of a graph are named beside its nodes."""

from graphlens.analysis.kernels import nodes_of
from graphlens.model import Graph, Measured, Unavailable


def kernel_numbers(graph: Graph) -> dict[str, list[int]]:
    """By node, the kernels that compute it, by their place in the order of execution, from 0."""
    found: dict[str, list[int]] = {}
    if not isinstance(graph.kernels, Unavailable):
        for number, kernel in enumerate(graph.kernels):
            for name in nodes_of(kernel):
                found.setdefault(name, []).append(number)
    return found


def kernel_seconds(graph: Graph) -> dict[str, dict[int, float]]:
    """By node, the seconds of its kernels, by their numbers; none where one is not known."""
    kernels = () if isinstance(graph.kernels, Unavailable) else graph.kernels
    known = {
        number: kernel.seconds.median
        for number, kernel in enumerate(kernels)
        if isinstance(kernel.seconds, Measured)
    }
    return {
        name: {number: known[number] for number in numbers}
        for name, numbers in kernel_numbers(graph).items()
        if all(number in known for number in numbers)
    }


def kernel_labels(graph: Graph) -> dict[str, str]:
    """By node, the number and name of the kernel that computes it; of several, the numbers."""
    kernels = () if isinstance(graph.kernels, Unavailable) else graph.kernels
    return {
        name: f"{numbers[0] + 1} {kernels[numbers[0]].name}"
        if len(numbers) == 1
        else ", ".join(str(number + 1) for number in numbers)
        for name, numbers in kernel_numbers(graph).items()
    }
