"""AOTAutograd with graphs run eagerly.

Seen on torch 2.11, 2.13 and 2.14.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from graphlens._torch.probes import probe

CompiledFn = Callable[..., Any]
OnLowered = Callable[[torch.fx.GraphModule, str], None]


def compile_aot_eager(
    gm: torch.fx.GraphModule, inputs: Sequence[Any], on_lowered: OnLowered
) -> CompiledFn:
    """Lowers a Dynamo graph to ATen and runs the lowered graphs eagerly, as ``aot_eager`` does.

    Args:
        gm: The graph.
        inputs: Its example inputs.
        on_lowered: Called with each ATen graph and its stage.
    """
    from torch._dynamo.backends.common import aot_autograd
    from torch._dynamo.backends.debugging import boxed_nop
    from torch._functorch.partitioners import min_cut_rematerialization_partition

    def compiler(stage: str) -> Callable[..., Any]:
        def compile_lowered(lowered: torch.fx.GraphModule, example_inputs: Sequence[Any]) -> Any:
            on_lowered(lowered, stage)
            return boxed_nop(lowered, list(example_inputs))

        return compile_lowered

    backend = aot_autograd(
        fw_compiler=compiler("forward"),
        bw_compiler=compiler("backward"),
        inference_compiler=compiler("inference"),
        partition_fn=min_cut_rematerialization_partition,
        keep_inference_input_mutations=True,
    )
    return backend(gm, inputs)


@probe("AOTAutograd with own compilers", seen_on="2.11, 2.13, 2.14")
def _probe_aot() -> str:
    from torch._dynamo.backends.common import aot_autograd
    from torch._dynamo.backends.debugging import boxed_nop

    return f"{aot_autograd.__name__}, {boxed_nop.__name__}"
