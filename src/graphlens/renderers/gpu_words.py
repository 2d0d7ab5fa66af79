"""What is known of a kernel's compiled form, in words, and the programs that stand beside it."""

from collections.abc import Iterator, Sequence

from graphlens.model import Kernel, KernelBinary, Unavailable
from graphlens.renderers.escape import one_line
from graphlens.renderers.measures import brief_duration, percent, size_of_memory
from graphlens.renderers.wording import counted


def machine_facts(kernel: Kernel) -> Iterator[str]:
    """A sentence for the estimate and each configuration; none outside of a preview."""
    estimate = kernel.estimate
    if not isinstance(estimate, Unavailable):
        yield f"at least {brief_duration(estimate.seconds)}, bound by {estimate.bound}"
    if isinstance(kernel.binaries, Unavailable):
        if kernel.language == "Triton" and not isinstance(estimate, Unavailable):
            yield one_line(kernel.binaries.reason)
        return
    for binary in kernel.binaries:
        yield _of_binary(binary)


def machine_summary(kernel: Kernel) -> Iterator[str]:
    """Registers and occupancy of all configurations, in a few words; nothing outside a preview."""
    if isinstance(kernel.binaries, Unavailable) or not kernel.binaries:
        return
    registers = sorted(binary.registers for binary in kernel.binaries)
    shares = sorted(binary.occupancy for binary in kernel.binaries)
    yield f"{range_text([str(one) for one in registers])} registers"
    yield f"occupancy {range_text([percent(one) for one in shares])}"


def range_text(texts: Sequence[str]) -> str:
    """From the least to the most, in order: ``20 to 96``; one where they are the same."""
    return texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"


def _of_binary(binary: KernelBinary) -> str:
    sizes = ", ".join(f"{name} {size}" for name, size in binary.config)
    warps = counted(binary.warps, "warp")
    parts = [f"{sizes}; {warps}: {binary.registers} registers a thread"]
    parts += [f"{size_of_memory(binary.spilled_bytes)} spilled"] if binary.spilled_bytes else []
    parts += [f"{size_of_memory(binary.shared_bytes)} shared"] if binary.shared_bytes else []
    limits = f" (limited by {' and '.join(binary.limits)})" if binary.limits else ""
    parts.append(f"occupancy {percent(binary.occupancy)}{limits}")
    if not isinstance(binary.grid, Unavailable):
        parts.append(f"grid {' x '.join(map(str, binary.grid))}")
    return ", ".join(parts)


def other_programs(kernel: Kernel, cpu: Sequence[Kernel]) -> Iterator[tuple[str, str]]:
    """What the CPU runs for a kernel's operators, and the kernel as PTX."""
    for one in cpu:
        yield f"On the CPU: {one.name} ({one.language})", one.source or one.call
    if not isinstance(kernel.binaries, Unavailable) and kernel.binaries:
        yield "PTX of the first configuration", kernel.binaries[0].ptx
