"""Hand-built reports that every renderer is shown."""

from msgspec.structs import replace

from graphlens.analysis.kernel_bounds import bound_of
from graphlens.model import (
    Ceilings,
    Compilation,
    Counts,
    CudaGraphs,
    Difference,
    EagerOperators,
    Environment,
    Excerpt,
    Fix,
    Frame,
    Graph,
    GraphBreak,
    GuardFailure,
    Kernel,
    KernelBuffer,
    KernelTimes,
    Measured,
    ModuleCall,
    Node,
    Note,
    NotFused,
    Probe,
    ProductSpeed,
    Recompile,
    Report,
    SourceLocation,
    Speed,
    Subgraph,
    Symbol,
    TensorSpec,
    Trial,
    Unavailable,
)

ENVIRONMENT = Environment(
    graphlens="0.1.0",
    torch="2.14.1+cpu",
    python="3.11.7",
    platform="Linux x86_64",
    threads=2,
    probes=(Probe(name="trace log", ok=True, seen_on="2.11, 2.14"),),
)
DEMO = "/home/user/project/demo.py"
RESNET = "/opt/venv/lib/python3.11/site-packages/torchvision/models/resnet.py"


def tensor(*shape: int | str, dtype: str = "float32", device: str = "cpu") -> TensorSpec:
    """A contiguous tensor; strides are right for numbers and for one leading symbol."""
    stride: list[int | str] = []
    product: int | str = 1
    for size in reversed(shape):
        stride.insert(0, product)
        if isinstance(size, int) and isinstance(product, int):
            product *= size
        else:
            product = f"{product}*{size}" if product != 1 else size
    return TensorSpec(shape=shape, dtype=dtype, stride=tuple(stride), device=device)


def line(number: int, code: str = "", file: str = DEMO, function: str = "toy") -> SourceLocation:
    return SourceLocation(file=file, line=number, function=function, code=code)


def empty() -> Report:
    return Report(environment=ENVIRONMENT)


def unknown() -> Report:
    """A report without torch's trace: breaks and recompiles are not known."""
    reason = Unavailable("torch's trace could not be read; run graphlens doctor")
    note = Note(
        code="probe-failed",
        message="torch._logging._internal.trace_log is missing in torch 2.99.",
        hint="Install torch 2.11 to 2.14.",
    )
    return Report(
        environment=ENVIRONMENT,
        graphs=(toy_graph(),),
        breaks=reason,
        recompiles=reason,
        notes=(note,),
    )


def toy_graph() -> Graph:
    x, y = tensor("s0", 8), tensor(dtype="bool")
    source = line(5, "x = a / (torch.abs(a) + 1)")
    nodes = (
        Node(name="s0", op="placeholder", target="s0", role="symbol", value="Sym(s0)"),
        Node(
            name="l_a_", op="placeholder", target="l_a_", role="input", origin="L['a']",
            tensors=(x,),
        ),
        Node(
            name="abs_1", op="call_function", target="torch.abs", args=("l_a_",),
            inputs=("l_a_",), tensors=(x,), source=source,
        ),
        Node(
            name="add", op="call_function", target="_operator.add", args=("abs_1", "1"),
            inputs=("abs_1",), tensors=(x,), source=source,
        ),
        Node(
            name="truediv", op="call_function", target="_operator.truediv",
            args=("l_a_", "add"), inputs=("l_a_", "add"), tensors=(x,), source=source,
        ),
        Node(
            name="sum_1", op="call_method", target="sum", args=("l_a_",), inputs=("l_a_",),
            tensors=(tensor(),), source=line(6, "if b.sum() < 0:"),
        ),
        Node(
            name="lt", op="call_function", target="_operator.lt", args=("sum_1", "0"),
            inputs=("sum_1",), tensors=(y,), source=line(6, "if b.sum() < 0:"),
        ),
        Node(
            name="output", op="output", target="output", args=("(truediv, lt)",),
            inputs=("truediv", "lt"),
        ),
    )  # fmt: skip
    return Graph(
        id="0/0 dynamo", compile_id="0/0", stage="dynamo", nodes=nodes, function="toy",
        source=line(4), symbols=(Symbol(name="s0", hint=10, origin="L['a'].size()[0]"),),
        inner_backend="inductor", compile_seconds=1.2412, hits=3,
        ended_by="Data-dependent branching", code="def forward(self, a):\n    return a\n",
        output_code="cpp_fused_abs_add_0 = async_compile.cpp('''\nvoid kernel() { a < b; }\n''')\n",
    )  # fmt: skip


def block(index: int, size: int = 56) -> tuple[Node, ...]:
    """Convolution, batch norm and ReLU of a ResNet."""
    layer = f"layer{index // 4 + 1}.{index % 4}"
    value = tensor(8, 64, size, size)
    modules = (ModuleCall(path=layer, type="torchvision.models.resnet.BasicBlock"),)
    before = f"relu_{index - 1}" if index else "l_x_"
    weight = f"l_self_modules_{layer.replace('.', '_modules_')}_parameters_weight_"
    origin = f"L['self']._modules['{layer}']._modules['conv1']._parameters['weight']"

    def call(name: str, target: str, args: tuple[str, ...], module: str, at: int) -> Node:
        return Node(
            name=f"{name}_{index}",
            op="call_function",
            target=target,
            args=args,
            inputs=tuple(arg for arg in args if arg[0].isalpha() and arg != "None"),
            tensors=(value,),
            source=line(at, file=RESNET, function="forward"),
            modules=(*modules, ModuleCall(path=f"{layer}.{module}")),
        )

    return (
        Node(
            name=weight,
            op="placeholder",
            target=weight,
            role="parameter",
            origin=origin,
            tensors=(tensor(64, 64, 3, 3),),
        ),
        call(
            "conv2d",
            "torch.conv2d",
            (before, weight, "None", "(1, 1)", "(1, 1)", "(1, 1)", "1"),
            "conv1",
            92,
        ),
        call(
            "batch_norm", "torch.nn.functional.batch_norm", (f"conv2d_{index}", "None"), "bn1", 93
        ),
        call("relu", "torch.nn.functional.relu", (f"batch_norm_{index}", "True"), "relu", 94),
    )


def resnet_graph(blocks: int = 16) -> Graph:
    x = Node(
        name="l_x_",
        op="placeholder",
        target="l_x_",
        role="input",
        origin="L['x']",
        tensors=(tensor(8, 64, 56, 56),),
    )
    body = [node for index in range(blocks) for node in block(index)]
    last = f"relu_{blocks - 1}"
    output = Node(name="output", op="output", target="output", args=(f"({last},)",), inputs=(last,))
    return Graph(
        id="1/0 dynamo",
        compile_id="1/0",
        stage="dynamo",
        nodes=(x, *body, output),
        function="forward",
        source=line(266, file=RESNET, function="forward"),
        inner_backend="inductor",
        compile_seconds=21.53,
        hits=1,
    )


def lowered_graph() -> Graph:
    """A forward graph from a cache, with an operator that gives three tensors."""
    x = TensorSpec(shape=(4, 16), dtype="bfloat16", stride=(1, 4), device="cuda:0")
    row = TensorSpec(shape=(4, 1), dtype="float32", stride=(1, 1), device="cuda:0")
    nodes = (
        Node(name="primals_1", op="placeholder", target="primals_1", role="parameter",
             origin="norm.weight", tensors=(x,)),
        Node(name="primals_2", op="placeholder", target="primals_2", role="input",
             tensors=(x,)),
        Node(name="native_layer_norm", op="call_function",
             target="torch.ops.aten.native_layer_norm.default",
             args=("primals_2", "[16]", "primals_1", "None", "1e-05"),
             inputs=("primals_2", "primals_1"), tensors=(x, row, row),
             source=line(31, "h = self.norm(h)", function="forward"),
             modules=(ModuleCall(path="norm", type="torch.nn.LayerNorm"),)),
        Node(name="getitem", op="call_function", target="_operator.getitem",
             args=("native_layer_norm", "0"), inputs=("native_layer_norm",), tensors=(x,)),
        Node(name="true_graph_0", op="get_attr", target="true_graph_0"),
        Node(name="cond", op="call_function", target="torch.ops.higher_order.cond",
             args=("primals_2", "true_graph_0", "true_graph_0", "(getitem,)"),
             inputs=("primals_2", "true_graph_0", "getitem"), tensors=(x,),
             source=line(32, "return torch.cond(p, f, f, (h,))", function="forward")),
        Node(name="output", op="output", target="output", args=("(cond,)",), inputs=("cond",)),
    )  # fmt: skip
    sin = (
        Node(name="arg0_1", op="placeholder", target="arg0_1", role="input", tensors=(x,)),
        Node(name="sin", op="call_function", target="torch.ops.aten.sin.default",
             args=("arg0_1",), inputs=("arg0_1",), tensors=(x,)),
        Node(name="output", op="output", target="output", args=("(sin,)",), inputs=("sin",)),
    )  # fmt: skip
    return Graph(
        id="2/0 forward", compile_id="2/0", stage="forward", nodes=nodes, function="forward",
        source=line(30), read_from="trace", cached=True,
        subgraphs=(Subgraph(name="true_graph_0", nodes=sin),), kernels=lowered_kernels(),
        unassigned=(("getitem", "view"),),
        cuda_graphs=CudaGraphs(asked=True, used=False, skip_reasons=("control flow (cond)",)),
    )  # fmt: skip


def lowered_kernels() -> tuple[Kernel, ...]:
    """Of a Triton kernel all is known; of an operator of torch no numbers are."""
    norm = "triton_per_fused_native_layer_norm_0"
    source = (
        f"@triton.jit\ndef {norm}(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK : tl.constexpr):\n"
        "    tmp0 = tl.load(in_ptr0 + (x0), xmask)\n    tl.store(out_ptr0 + (x0), tmp0, xmask)\n"
    )
    buffer = {"shape": (4, 16), "dtype": "bfloat16", "bytes": 128}
    result = KernelBuffer(name="buf0", node="getitem", **buffer)
    return (
        Kernel(
            name=norm, language="Triton", handle=f"{norm}:1", source=source,
            call=f"{norm}.run(primals_2, primals_1, buf0, 4, stream=stream0)",
            nodes=("native_layer_norm",), origins=("layer_norm",), fused=1,
            places=(line(31, "h = self.norm(h)", function="forward"),), modules=("norm",),
            inputs=(KernelBuffer(name="primals_2", node="primals_2", **buffer),
                    KernelBuffer(name="primals_1", node="primals_1", **buffer)),
            outputs=(result,), read_bytes=256, written_bytes=128, flops=512,
            not_fused=(NotFused(kernel="torch.ops.higher_order.cond",
                                reason="memory deps did not match"),),
        ),
        Kernel(
            name="torch.ops.higher_order.cond", language="fallback", nodes=("cond",),
            call="torch.ops.higher_order.cond(primals_2)", inputs=(result,),
        ),
    )  # fmt: skip


CEILINGS = Ceilings(
    device="cuda:0",
    threads=2,
    copy=Speed(best=1e12, usual=Measured(median=9.9e11, low=9.7e11, high=1e12, rounds=7)),
    copy_bytes=512 * 2**20,
    cache_bytes=2**20,
    products=(ProductSpeed(dtype="bfloat16", size=8192, speed=Speed(
        best=4e14, usual=Measured(median=3.9e14, low=3.8e14, high=4e14, rounds=7))),),
    call_seconds=1e-6,
)  # fmt: skip


def micro(median: float) -> Measured:
    """Microseconds, give or take a tenth."""
    return Measured(median=median / 1e6, low=median * 0.9 / 1e6, high=median * 1.1 / 1e6, rounds=40)


def timed_graph() -> Graph:
    """The lowered graph with kernels that were timed, but for one.

    6 MB in 10 us are 60 % of a copy's 1 TB/s; 2 GFLOP in 10 us are 50 % of a product's 400 TFLOP/s.
    """
    graph = lowered_graph()
    out = (KernelBuffer(name="buf0", shape=(4, 16), dtype="bfloat16", bytes=128),)
    kernels = (
        Kernel(name="triton_per_fused_native_layer_norm_0", language="Triton",
               call="triton_per_fused_native_layer_norm_0.run(primals_2, buf0)", outputs=out,
               nodes=("native_layer_norm", "getitem"), places=(graph.nodes[2].source,),
               read_bytes=4_000_000, written_bytes=2_000_000, flops=1_000_000, fused=1,
               seconds=micro(10)),
        Kernel(name="extern_kernels.mm", language="extern", call="extern_kernels.mm(buf0, out=buf1)",
               outputs=out, nodes=("cond",), places=(graph.nodes[5].source,), read_bytes=256,
               written_bytes=128, flops=2_000_000_000, fused=1, seconds=micro(10)),
        Kernel(name="triton_poi_fused_sin_1", language="Triton",
               call="triton_poi_fused_sin_1.run(buf1)", outputs=out, nodes=(),
               seconds=Unavailable("a run of the graph did not call it")),
    )  # fmt: skip
    return replace(
        graph,
        kernels=tuple(replace(kernel, bound=bound_of(kernel, CEILINGS)) for kernel in kernels),
        unassigned=(),
        kernel_times=KernelTimes(
            kernels=micro(20), program=micro(22), graph=micro(25), between=micro(2),
            around=micro(3), covered=Measured(median=0.8, low=0.78, high=0.82, rounds=40),
            mark_seconds=5e-8,
        ),
    )  # fmt: skip


def toy_break() -> GraphBreak:
    return GraphBreak(
        file=DEMO, line=6, code="if b.sum() < 0:", function="toy",
        kind="Data-dependent branching", gb_code="GB0170",
        explanation=(
            "Detected data-dependent branching (e.g. `if my_tensor.sum() > 0:`). Dynamo does not "
            "support tracing dynamic control flow.\nThe branch condition involves a tensor "
            "computed as follows:\nlt = lt(sum_1, 0)"
        ),
        cause="data_dependent_branch", trigger="b.sum() < 0", caret=(3, 14),
        because="Which way the program goes depends on the value of `b.sum() < 0`, a tensor.",
        hints=(
            "This graph break is fundamental - it is unlikely that Dynamo will ever be able to "
            "trace through your code. Consider finding a workaround.",
            "Use `torch.cond` to express dynamic control flow.",
        ),
        advice=("Compute both sides and choose with torch.where.",),
        fixes=(
            Fix(
                kind="rewrite", title="Choose with torch.where in place of the branch",
                diff=f"--- {DEMO}\n+++ {DEMO}\n@@ -6,3 +6,2 @@\n-    if b.sum() < 0:\n"
                     "-        b = b * -1\n+    b = torch.where(b.sum() < 0, b * -1, b)\n"
                     "     return x * b\n",
                caution="both sides are computed",
                trial=Trial(
                    before=Counts(breaks=2, graphs=3, recompiles=1, eager_frames=1),
                    after=Counts(breaks=1, graphs=1, recompiles=0, eager_frames=1), helps=True,
                ),
            ),
        ),
        excerpt=Excerpt(first=5, lines=(
            "    x = a / (torch.abs(a) + 1)", "    if b.sum() < 0:", "        b = b * -1")),
        records=2, hits=3, compile_ids=("0/0",), context="attempted to jump with TensorVariable()",
        stack=(line(20, "print(toy(a, b))", function="main"), line(6, "if b.sum() < 0:")),
        link="https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0170.html",
    )  # fmt: skip


def skipped_break() -> GraphBreak:
    return GraphBreak(
        file=DEMO, line=14, code='print("row", row)', function="rows",
        kind="Failed to trace builtin operator", consequence="frame_skipped",
        cause="print_call", trigger='print("row", row)', caret=(0, 17),
        because='`print("row", row)` writes while the function runs, which a graph cannot do.',
        skipped_because="the line is in a loop, and torch cannot leave a function in the middle "
                        "of a loop",
        inside=line(13, "for row in x:"),
        fixes=(Fix(
            kind="switch", title="Put print off to the end of the graph",
            code="torch._dynamo.config.reorderable_logging_functions.add(print)",
            trial=Unavailable("tried, and the call failed: TypeError: unhashable"),
        ),),
        explanation="Dynamo does not know how to trace builtin operator `print`.",
        advice=("Use `torch._higher_order_ops.print` instead.",),
        compile_ids=("3/0",),
        points_to=SourceLocation(
            file="/opt/venv/lib/python3.11/site-packages/torch/_dynamo/polyfills/loops.py", line=7
        ),
    )  # fmt: skip


def typical() -> Report:
    """One of everything."""
    frames = (
        Frame(id="0", function="toy", file=DEMO, line=4, outcome="compiled", compilations=(
            Compilation(compile_id="0/0", outcome="compiled", seconds=1.31, operators=5, guards=12),
            Compilation(compile_id="0/1", outcome="compiled", seconds=0.8123, operators=5),
        )),
        Frame(id="1", function="forward", file=RESNET, line=266, outcome="compiled", compilations=(
            Compilation(compile_id="1/0", outcome="compiled", seconds=22.04, operators=48,
                        guards=240),
        )),
        Frame(id="3", function="rows", file=DEMO, line=12, outcome="skipped",
              reason="Failed to handle graph break gracefully. Skipping the function and falling "
                     "back to eager. Graph break encountered in a loop.",
              compilations=(Compilation(compile_id="3/0", outcome="skipped",
                                        reason="graph break in a loop"),)),
        Frame(id="4", function="helper", file=DEMO, line=40, outcome="skipped",
              reason="The function was marked as skipped by torch._dynamo.skip_frame."),
        Frame(id="5", function="broken", file=DEMO, line=50, outcome="failed",
              reason="TypeError: unsupported operand type(s) for +: 'int' and 'str'",
              compilations=(Compilation(compile_id="5/0", outcome="failed"),)),
        Frame(id="7", function="step", file=DEMO, line=70, outcome="recompile_limit",
              reason="Dynamo recompile limit exceeded\n  Explanation: Dynamo attempted to recompile "
                     "the code object too many times, exceeding the recompile_limit cache size "
                     "limit (currently set to 8). Excessive recompilations can degrade "
                     "performance.\n  Hint: To monitor recompilations, enable "
                     "TORCH_LOGS=recompiles.\n\n  Developer debug context: Limit type: "
                     "recompile_limit\n",
              compilations=(Compilation(compile_id="7/0", outcome="compiled", operators=2),
                            Compilation(compile_id="7/8", outcome="recompile_limit"))),
        Frame(id="6", function="settings", file=DEMO, line=60, outcome="no_graph"),
    )  # fmt: skip
    recompiles = (
        Recompile(
            frame="0", function="toy", file=DEMO, line=4, compile_id="0/1",
            causes=(GuardFailure(
                failed="0/0", source="a", expected="10", actual="12", kind="tensor_size",
                subject="argument `a`, dimension 0",
                guard="tensor 'a' size mismatch at index 0. expected 10, actual 12",
                user_line=line(5, "x = a / (torch.abs(a) + 1)")),),
            nearest="0/0", called_from=line(21, "toy(c, b)", function="main"),
            differences=(
                Difference(subject="argument `a`, dimension 0", before="10", after="12"),
                Difference(subject="global `STEP`", before="3", after="4"),
            ),
            advice=("Mark the size as dynamic: torch._dynamo.mark_dynamic(a, 0).",),
        ),
        Recompile(
            frame="7", function="step", file=DEMO, line=70, compile_id="7/8",
            causes=(GuardFailure(failed="7/7", guard="self.count == 7", source="self.count"),),
        ),
    )  # fmt: skip
    return Report(
        environment=ENVIRONMENT,
        frames=frames,
        graphs=(toy_graph(), resnet_graph(), lowered_graph()),
        breaks=(toy_break(), skipped_break()),
        recompiles=recompiles,
        eager=(
            EagerOperators(place=line(14, 'print("row", row)', function="rows"), count=12,
                           operators=("aten.mul.Tensor", "aten.add.Tensor")),
            EagerOperators(place=line(41, function="helper"), count=3,
                           operators=("aten.linear.default",),
                           inside="torch.nn.modules.linear.Linear.forward"),
        ),
        notes=(Note(
            code="cache-hit",
            message="AOTAutograd answered from its cache for 1 graph.",
            hint="Its graphs are read from the trace.",
        ),),
    )  # fmt: skip


HOSTILE = "</script><img src=x onerror=alert(1)>|`*_x_*`]]>&amp;\t\n\r\x1b[31m\x00\ud800"


def hostile() -> Report:
    """Markup, control codes and a lone surrogate in every text."""
    bad = HOSTILE
    spec = TensorSpec(shape=(bad, 1), dtype=bad, stride=(bad, 1), device=bad)
    where = SourceLocation(file=bad, line=1, function=bad, code=bad)
    node = Node(
        name=bad,
        op="call_function",
        target=bad,
        args=(bad,),
        kwargs=((bad, bad),),
        tensors=(spec,),
        value=bad,
        source=where,
        modules=(ModuleCall(path=bad, type=bad),),
    )
    state = Node(name="w", op="placeholder", target=bad, role="parameter", origin=bad)
    graph = Graph(
        id=bad,
        compile_id=bad,
        stage=bad,
        nodes=(state, node),
        function=bad,
        source=where,
        symbols=(Symbol(name=bad, hint=1, origin=bad),),
        subgraphs=(Subgraph(name=bad, nodes=(node,)),),
        inner_backend=bad,
        ended_by=bad,
        code=bad,
        output_code=bad,
        kernels=(hostile_kernel(bad, where),),
        unassigned=((bad, bad),),
        cuda_graphs=CudaGraphs(asked=True, used=False, skip_reasons=(bad,)),
    )
    return Report(
        environment=Environment(graphlens=bad, torch=bad, python=bad, platform=bad),
        frames=(Frame(id=bad, function=bad, file=bad, line=1, outcome="failed", reason=bad),),
        graphs=(graph,),
        breaks=(GraphBreak(file=bad, line=1, kind=bad, code=bad, function=bad, gb_code=bad,
                           explanation=bad, advice=(bad,), context=bad, link="javascript:" + bad,
                           stack=(where,), points_to=where, cause=bad, trigger=bad, caret=(0, 9),
                           because=bad, skipped_because=bad, inside=where, hints=(bad,),
                           operator=bad, excerpt=Excerpt(first=1, lines=(bad,)),
                           fixes=(Fix(kind=bad, title=bad, code=bad, diff=bad, caution=bad,
                                      trial=Unavailable(bad)),)),),
        recompiles=(Recompile(frame=bad, function=bad, file=bad, line=1, compile_id=bad,
                              causes=(GuardFailure(failed=bad, guard=bad, source=bad, expected=bad,
                                                   actual=bad, user_line=where, kind=bad,
                                                   subject=bad),),
                              nearest=bad, called_from=where, advice=(bad,),
                              differences=(Difference(subject=bad, before=bad, after=bad),)),),
        eager=(EagerOperators(place=where, count=1, operators=(bad,), inside=bad),),
        notes=(Note(code=bad, message=bad, hint=bad),),
    )  # fmt: skip


def hostile_kernel(bad: str, where: SourceLocation) -> Kernel:
    buffer = KernelBuffer(name=bad, shape=(bad, 1), dtype=bad, bytes=Unavailable(bad), node=bad)
    return Kernel(
        name=bad, language=bad, call=bad, handle=bad, source=bad, nodes=(bad,), origins=(bad,),
        places=(where,), modules=(bad,), inputs=(buffer,), outputs=(buffer,),
        read_bytes=Unavailable(bad), written_bytes=Unavailable(bad), flops=Unavailable(bad),
        fused=Unavailable(bad), not_fused=(NotFused(kernel=bad, reason=bad),),
    )  # fmt: skip


def large() -> Report:
    """A graph of 6,000 operators, beyond what a page shows in full."""
    return Report(environment=ENVIRONMENT, graphs=(resnet_graph(2000),))


CORPUS = {
    "empty": empty,
    "unknown": unknown,
    "typical": typical,
    "hostile": hostile,
    "large": large,
}
