"""Hand-built previews that the renderers are shown."""

from msgspec.structs import replace

from graphlens.analysis.targets import TARGETS
from graphlens.model import (
    Accuracy,
    CpuProgram,
    Environment,
    Estimate,
    Graph,
    Kernel,
    KernelBinary,
    Node,
    Report,
    SourceLocation,
    TensorSpec,
    Unavailable,
)

PLACE = SourceLocation(file="/home/user/model.py", line=7, function="forward", code="x.sin() @ w")


def spec(*shape: int) -> TensorSpec:
    return TensorSpec(shape=shape, dtype="float32", stride=(1,) * len(shape), device="cpu")


def node(name: str, target: str, *inputs: str, op: str = "call_function") -> Node:
    return Node(
        name=name, op=op, target=target, inputs=inputs, tensors=(spec(64, 64),), source=PLACE
    )


def binary(size: int, registers: int, resident: int, spilled: int = 0, limits=()) -> KernelBinary:
    return KernelBinary(
        config=(("XBLOCK", size),), warps=4, stages=1, registers=registers, spilled_bytes=spilled,
        shared_bytes=2048, resident_warps=resident, most_warps=64, limits=limits,
        grid=(4096 // size, 1, 1), ptx=".version 8.7\n.target sm_90a\n", cubin=b"\x7fELF",
    )  # fmt: skip


TRITON = (
    "import triton\n\n@triton_heuristics.pointwise(\n    size_hints={'x': 4096},\n)\n@triton.jit\n"
    "def triton_poi_fused_sin_0(in_ptr0, out_ptr0, xnumel, XBLOCK : tl.constexpr):\n"
    "    tmp0 = tl.load(in_ptr0 + (x0), None)\n    tmp1 = tl_math.sin(tmp0)\n"
    "    tl.store(out_ptr0 + (x0), tmp1, None)\n"
)
CPP = (
    '#include <torch/csrc/inductor/cpp_prefix.h>\nextern "C"  void  kernel(const float* in_ptr0,\n'
    "                       float* out_ptr0)\n{\n    {\n        for(int64_t x0=0; x0<4096; x0+=16)\n"
    "        {\n            auto tmp1 = tmp0.sin();\n        }\n    }\n}\n"
)


def previewed_graph() -> Graph:
    """Three kernels: one compiled in two ways, a library's, and one that did not compile."""
    kernels = (
        Kernel(
            name="triton_poi_fused_sin_0", language="Triton", call="triton_poi_fused_sin_0.run()",
            source=TRITON, nodes=("sin",), read_bytes=16384, written_bytes=16384, flops=4096,
            binaries=(binary(256, 20, 64), binary(1024, 96, 20, 8, ("registers",))),
            estimate=Estimate(seconds=9.78e-9, bound="memory", unit="float32"),
        ),
        Kernel(
            name="extern_kernels.mm", language="extern", call="extern_kernels.mm(buf0, w, out=buf1)",
            nodes=("mm",), read_bytes=32768, written_bytes=16384, flops=524288,
            estimate=Estimate(seconds=1.47e-8, bound="memory", unit="float32"),
        ),
        Kernel(
            name="triton_poi_fused_embedding_1", language="Triton", call="k.run()", source="",
            nodes=("embedding",), estimate=Unavailable("how much embedding reads depends on data"),
            binaries=Unavailable("Triton did not compile it: RuntimeError: out of registers"),
        ),
    )  # fmt: skip
    cpu = (
        Kernel(name="cpp_fused_sin_0", language="C++", call="k()", source=CPP, nodes=("sin",)),
        Kernel(name="extern_kernels.mm", language="extern", call="mm()", nodes=("mm",)),
        Kernel(name="cpp_fused_only_2", language="C++", call="k2()", source="{}", nodes=("cos",)),
    )
    return Graph(
        id="0/0.inference", compile_id="0/0", stage="inference", function="forward", source=PLACE,
        nodes=(
            node("x", "x", op="placeholder"),
            node("sin", "torch.ops.aten.sin.default", "x"),
            node("mm", "torch.ops.aten.mm.default", "sin"),
            node("embedding", "torch.ops.aten.embedding.default", "mm"),
            node("cos", "torch.ops.aten.cos.default", "embedding"),
            node("output", "output", "cos", op="output"),
        ),
        kernels=kernels, unassigned=(), output_code=TRITON, hits=1,
        cpu_program=CpuProgram(code=CPP, kernels=cpu, unassigned=()),
        accuracy=Accuracy(verdict="rounding", reason="output 0: off by little"),
    )  # fmt: skip


def preview_report() -> Report:
    graph = previewed_graph()
    why = Unavailable("Inductor generated no program for NVIDIA H100 SXM: BF16 is not supported")
    failed = replace(
        graph, id="1/0.inference", compile_id="1/0", kernels=why, unassigned=why, output_code=why,
        cpu_program=Unavailable("Inductor generated no program for the CPU: no compiler"),
        accuracy=Accuracy(verdict="not_comparable", reason=why.reason, calls=0),
    )  # fmt: skip
    return Report(
        environment=Environment(graphlens="0.1.0", torch="2.14.1", python="3.11.7"),
        graphs=(graph, failed),
        target=TARGETS["h100"],
        accuracy=Accuracy(verdict="not_comparable", reason=f"1/0.inference: {why.reason}"),
    )
