"""Hand-built reports of comparisons that every renderer is shown.

The numbers fit together, so that what a renderer computes from them can be checked by hand: the
step takes 12.4 ms, of which 65 % are spent in graph 1/0; a call saves 2.85 ms, and 3.53 s of
compilation are paid back by 3.53 / 0.00285 = 1,239 calls.
"""

from msgspec.structs import replace

import report_corpus as corpus
from graphlens.model import (
    Accuracy,
    Bound,
    CandidateTiming,
    CastChange,
    CompilePhase,
    Divergence,
    Errors,
    Graph,
    Kernel,
    KernelTimes,
    Measured,
    ModuleCall,
    Note,
    Payback,
    Report,
    StepPart,
    StepParts,
    SwitchTried,
    TensorAccuracy,
    Timing,
    Unavailable,
)
from report_corpus import ENVIRONMENT, HOSTILE, RESNET, line

MS = 1e-3


def measured(median: float, low: float, high: float, rounds: int = 40) -> Measured:
    return Measured(median=median, low=low, high=high, rounds=rounds)


def ms(median: float, low: float, high: float) -> Measured:
    return measured(median * MS, low * MS, high * MS)


def candidate(name: str, seconds: Measured | Unavailable, speedup: Measured | Unavailable,
              compile_seconds: float = 0.0, peak: int = 0) -> CandidateTiming:  # fmt: skip
    return CandidateTiming(
        candidate=name, seconds=seconds, speedup=speedup,
        compile_seconds=compile_seconds or Unavailable("not compiled"),
        peak_bytes=peak or Unavailable("not measured on this device"),
    )  # fmt: skip


def diverging() -> Accuracy:
    """Of the toy graph: a fused kernel gives other values."""
    return Accuracy(
        verdict="diverges", calls=3, origin="inductor",
        reason="compiled is 40,000 times further from the reference than eager",
        tensors=(
            TensorAccuracy(
                name="output 0", role="output", shape=("s0", 8), dtype="float32", call=1,
                verdict="diverges", reason="beyond what rounding explains",
                eager=Errors(max_abs=3.1e-6, max_rel=2.4e-7, max_ulp=2.0, cosine=1.0, unequal=12),
                compiled=Errors(max_abs=0.125, max_rel=0.0312, max_ulp=262144.0, cosine=0.99871,
                                unequal=80, nan=2, inf=1),
                between=Errors(max_abs=0.125, max_rel=0.0312, max_ulp=262144.0, cosine=0.99871,
                               unequal=80, nan=2, inf=1),
            ),
            TensorAccuracy(
                name="gradient of argument `a`", role="gradient", shape=(10, 8), dtype="float32",
                verdict="rounding",
                eager=Errors(max_abs=1.19e-7, max_rel=1.2e-7, max_ulp=1.0, cosine=1.0, unequal=3),
                compiled=Errors(max_abs=2.38e-7, max_rel=2.1e-7, max_ulp=2.0, cosine=1.0,
                                unequal=5),
                between=Errors(max_abs=2.38e-7, max_rel=2.1e-7, max_ulp=2.0, cosine=1.0,
                               unequal=5),
            ),
            TensorAccuracy(
                name="output 1", role="output", shape=(), dtype="bool", verdict="agrees",
                eager=Unavailable("a bool has no reference"),
                compiled=Unavailable("a bool has no reference"),
                between=Errors(max_abs=0.0, max_rel=0.0),
            ),
        ),
        first_divergence=Divergence(
            node="truediv", operator="_operator.truediv",
            source=line(5, "x = a / (torch.abs(a) + 1)"),
            kernels=("cpp_fused_abs_add_div_0",), culprit="fusion",
            because="compiled by itself it agrees, and with fusion turned off it agrees",
            tried=(
                SwitchTried(code="torch._inductor.config.cpp.vec_isa_ok = False",
                            verdict="diverges", helps=False),
                SwitchTried(code="torch._inductor.config.max_fusion_size = 1", verdict="rounding",
                            helps=True),
            ),
            errors=Errors(max_abs=0.12, max_rel=0.03, max_ulp=250000.0, unequal=80),
        ),
        remarks=("strides of output 0: (8, 1) eager, (1, 10) compiled",),
    )  # fmt: skip


def changed_precision() -> Accuracy:
    """Of the ResNet: a cast inside of a fused kernel is gone."""
    place = line(92, "out = self.conv1(x)", file=RESNET, function="forward")
    return Accuracy(
        verdict="precision_changed", calls=1, reference="float32 (no float64 kernel)",
        reason="rounding to bfloat16 between two operators of one kernel is left out",
        tensors=(
            TensorAccuracy(
                name="output 0", role="output", shape=(8, 64, 56, 56), dtype="bfloat16",
                verdict="precision_changed",
                eager=Errors(max_abs=0.0156, max_rel=0.0078, max_ulp=2.0, cosine=0.9999812,
                             unequal=120000),
                compiled=Errors(max_abs=0.0078, max_rel=0.0039, max_ulp=1.0, cosine=0.9999954,
                                unequal=90000),
                between=Errors(max_abs=0.0156, max_rel=0.0078, max_ulp=2.0, cosine=0.9999871,
                               unequal=150000),
            ),
        ),
        casts=(
            CastChange(node="conv2d_0", operator="torch.conv2d", change="removed",
                       dtype="bfloat16", source=place,
                       called_from=line(33, "y = self.net(x)", function="forward")),
            CastChange(node="relu_0", operator="torch.nn.functional.relu", change="removed",
                       dtype="bfloat16", source=line(94, file=RESNET, function="forward"),
                       called_from=line(33, "y = self.net(x)", function="forward")),
        ),
        tried=(SwitchTried(code="torch._inductor.config.emulate_precision_casts = True",
                           verdict="agrees", helps=True),),
        origin="inductor",
    )  # fmt: skip


def timings() -> tuple[Timing, ...]:
    base = Unavailable("it is what the others are measured against")
    return (
        Timing(
            graph="", part="whole", verdict="faster", threads=2, warm_up=5,
            candidates=(
                candidate("eager", ms(15.25, 15.0, 15.6), base),
                candidate("inductor", ms(12.4, 12.1, 12.9), measured(1.23, 1.19, 1.28), 3.53),
                candidate("inductor:max-autotune", ms(11.9, 11.6, 12.2),
                          measured(1.281, 1.24, 1.33), 21.4),
            ),
        ),
        Timing(
            graph="0/0 dynamo", part="inference", verdict="slower", threads=2, warm_up=4,
            candidates=(
                candidate("eager", ms(0.0104, 0.0101, 0.0109), base, peak=2048),
                candidate("inductor", ms(0.0124, 0.0121, 0.0131), measured(0.84, 0.80, 0.88),
                          1.24, 960),
                candidate("inductor:max-autotune", ms(0.0089, 0.0085, 0.0093),
                          measured(1.17, 1.12, 1.22), 9.2, 960),
            ),
        ),
        Timing(
            graph="1/0 dynamo", part="forward", verdict="faster", threads=2, warm_up=5,
            candidates=(
                candidate("eager", ms(11.1, 10.9, 11.4), base, peak=6_553_600),
                candidate("inductor", ms(8.06, 7.95, 8.2), measured(1.377, 1.34, 1.41), 21.53,
                          4_404_019),
                candidate("inductor:max-autotune", Unavailable("the time budget was used up"),
                          Unavailable("not timed")),
            ),
        ),
        Timing(
            graph="1/0 dynamo", part="backward", verdict="same", threads=2, warm_up=5,
            candidates=(
                candidate("eager", ms(22.0, 21.5, 22.9), base, peak=13_107_200),
                candidate("inductor", ms(21.8, 21.2, 22.8), measured(1.009, 0.97, 1.05), 21.53,
                          13_107_200),
            ),
        ),
    )  # fmt: skip


def step() -> StepParts:
    return StepParts(
        seconds=ms(12.4, 12.1, 12.9),
        parts=(
            StepPart(what="graph", seconds=ms(8.06, 7.95, 8.2), graph="1/0 forward"),
            StepPart(what="eager", seconds=ms(2.1, 2.05, 2.2),
                     place=line(12, "def rows(x):", function="rows")),
            StepPart(what="between", seconds=ms(1.02, 1.01, 1.05), runs=3,
                     place=line(6, "if b.sum() < 0:")),
            StepPart(what="rest", seconds=ms(0.79, 0.7, 0.9)),
            StepPart(what="guards", seconds=ms(0.31, 0.3, 0.33), runs=4),
            StepPart(what="graph", seconds=ms(0.0372, 0.0363, 0.0393), graph="0/0 forward", runs=3),
        ),
        covered=12.3172 / 12.4,
        eager=ms(15.25, 15.0, 15.6),
        speedup=measured(1.23, 1.19, 1.28),
        disagreement="alone, the graphs are 1.38x faster; 3.23 ms of a step are spent between them",
    )  # fmt: skip


def payback() -> Payback:
    return Payback(
        cold=(
            CompilePhase(name="Dynamo", seconds=1.31),
            CompilePhase(name="AOTAutograd", seconds=0.62),
            CompilePhase(name="Inductor", seconds=1.05),
            CompilePhase(name="C++ compiler", seconds=0.55),
        ),
        warm=(
            CompilePhase(name="Dynamo", seconds=0.21),
            CompilePhase(name="Inductor", seconds=0.046),
        ),
        saved=ms(2.85, 2.52, 3.21),
        calls=measured(3.53 / 0.00285, 3.53 / 0.00321, 3.53 / 0.00252),
        calls_warm=measured(0.256 / 0.00285, 0.256 / 0.00321, 0.256 / 0.00252),
    )  # fmt: skip


def compared() -> Report:
    """A diverging, a changed and a not comparable graph; three candidates; it pays."""
    random = Accuracy(
        verdict="not_comparable",
        reason="torch.ops.aten.bernoulli.default draws random numbers, in another order compiled",
    )
    whole = Accuracy(
        verdict="diverges", calls=3, origin="inductor", tensors=diverging().tensors[:1],
        reason="output 0 of call 2 is wrong",
    )  # fmt: skip
    typical = corpus.typical()
    times = timings()
    toy = replace(corpus.toy_graph(), accuracy=diverging(), timing=times[1])
    resnet = replace(corpus.resnet_graph(2), accuracy=changed_precision(), timing=times[2])
    lowered = replace(corpus.timed_graph(), accuracy=random)
    return replace(
        typical,
        ceilings=corpus.CEILINGS,
        graphs=(toy, resnet, lowered),
        eager=Unavailable("counted by graphlens.explain only, as counting slows the program down"),
        timings=times,
        step=step(),
        payback=payback(),
        accuracy=whole,
    )


def never() -> Report:
    """One graph that is right, slower, and never pays; memory and warm caches are not known."""
    graph = replace(corpus.toy_graph(), hits=12)
    agrees = Accuracy(
        verdict="agrees", calls=12,
        tensors=(TensorAccuracy(
            name="output 0", role="output", shape=(10, 8), dtype="float32", verdict="agrees",
            eager=Errors(max_abs=0.0, max_rel=0.0, max_ulp=0.0, cosine=1.0),
            compiled=Errors(max_abs=5.96e-8, max_rel=6e-8, max_ulp=1.0, cosine=1.0, unequal=1),
            between=Errors(max_abs=5.96e-8, max_rel=6e-8, max_ulp=1.0, cosine=1.0, unequal=1),
        ),),
    )  # fmt: skip
    none = Unavailable("it is what the others are measured against")
    timing = Timing(
        graph="0/0 dynamo", part="inference", verdict="slower", threads=2, warm_up=3,
        candidates=(
            candidate("eager", ms(0.0104, 0.0101, 0.0109), none),
            candidate("inductor", ms(0.0124, 0.0121, 0.0131), measured(0.84, 0.80, 0.88), 1.24),
        ),
    )  # fmt: skip
    return Report(
        environment=ENVIRONMENT,
        graphs=(replace(graph, accuracy=agrees, timing=timing),),
        timings=(timing,),
        step=StepParts(
            seconds=ms(0.0301, 0.0295, 0.0312),
            parts=(
                StepPart(what="guards", seconds=ms(0.0165, 0.016, 0.0171)),
                StepPart(what="graph", seconds=ms(0.0124, 0.0121, 0.0131), graph="0/0 forward"),
                StepPart(what="rest", seconds=ms(0.0012, 0.001, 0.0015)),
            ),
            covered=1.0,
            eager=ms(0.0104, 0.0101, 0.0109),
            speedup=measured(0.3455, 0.33, 0.361),
        ),
        payback=Payback(
            cold=(CompilePhase(name="Dynamo", seconds=0.31),
                  CompilePhase(name="Inductor", seconds=0.93)),
            warm=Unavailable("the time budget was used up"),
            saved=ms(-0.0197, -0.0211, -0.0186),
            calls=Unavailable("it never pays"),
            calls_warm=Unavailable("it never pays"),
            never=True,
        ),
        accuracy=agrees,
    )  # fmt: skip


def partly() -> Report:
    """A comparison that was stopped: what is missing says why."""
    stopped = Unavailable("stopped before it was reached; compare again with a larger --budget")
    graph = replace(corpus.toy_graph(), accuracy=stopped, timing=stopped, kernel_times=stopped)
    return Report(
        environment=ENVIRONMENT, graphs=(graph,), timings=stopped, step=stopped, payback=stopped,
        accuracy=stopped,
        notes=(Note(code="interrupted", message="The comparison was interrupted."),),
    )  # fmt: skip


def many(graphs: int = 60, candidates: int = 5) -> Report:
    """Many graphs of very different size, with long names, and many candidates."""
    names = ("eager", "inductor", "inductor:max-autotune-no-cudagraphs", "aot_eager",
             "TorchScript with oneDNN Graph fusion")[:candidates]  # fmt: skip
    made: list[Graph] = []
    for number in range(graphs):
        base = 0.05 * 1.13**number
        timing = Timing(
            graph=f"{number}/0 dynamo", part="forward", threads=2,
            candidates=tuple(
                candidate(
                    name,
                    ms(base / (1 + 0.2 * k), base / (1 + 0.2 * k) * 0.97,
                       base / (1 + 0.2 * k) * 1.04),
                    measured(1 + 0.2 * k, 0.97 + 0.2 * k, 1.04 + 0.2 * k),
                )
                for k, name in enumerate(names)
            ),
        )  # fmt: skip
        function = f"torch_dynamo_resume_in_forward_with_a_long_name_at_{number}"
        made.append(
            replace(
                corpus.toy_graph(),
                id=timing.graph,
                compile_id=f"{number}/0",
                function=function if number % 2 else "forward",
                timing=timing,
            )
        )
    times = tuple(graph.timing for graph in made if isinstance(graph.timing, Timing))
    return Report(environment=ENVIRONMENT, graphs=tuple(made), timings=times)


def hostile() -> Report:
    """Markup and control codes in every text of a comparison."""
    bad = HOSTILE
    where = line(1, bad, file=bad, function=bad)
    missing = Unavailable(bad)
    errors = Errors(max_abs=1.0, max_rel=1.0)
    tried = (SwitchTried(code=bad, verdict=bad, helps=True),
             SwitchTried(code=bad, verdict=bad, helps=False))  # fmt: skip
    tensor = TensorAccuracy(name=bad, role=bad, shape=(bad,), dtype=bad, verdict=bad, reason=bad,
                            eager=missing, compiled=errors, between=errors)  # fmt: skip
    first = Divergence(node=bad, operator=bad, part=bad, source=where, called_from=where,
                       modules=(ModuleCall(path=bad, type=bad),), kernels=(bad,), culprit=bad,
                       because=bad, tried=tried, errors=errors)  # fmt: skip
    cast = CastChange(node=bad, operator=bad, change=bad, dtype=bad, source=where)
    wrong = Accuracy(verdict="diverges", reason=bad, reference=bad, tensors=(tensor,),
                     first_divergence=first, tried=tried, origin=bad, remarks=(bad,))  # fmt: skip
    changed = replace(wrong, verdict="precision_changed", casts=(cast,), first_divergence=None)
    random = replace(wrong, verdict="not_comparable", first_divergence=missing, tensors=())
    times = tuple(
        Timing(graph=graph, part=bad, verdict="slower", threads=missing,
               candidates=(candidate(bad, ms(1, 1, 1), missing),
                           candidate(bad + "2", ms(2, 2, 2), measured(0.5, 0.5, 0.5))))
        for graph in ("", bad)
    )  # fmt: skip
    report = corpus.hostile()
    part = ms(1, 1, 1)
    kernel = Kernel(name=bad, language=bad, call=bad, places=(where,), seconds=part,
                    bound=Bound(by=bad, of_copy=missing, of_product=missing))  # fmt: skip
    kernels = (kernel, replace(kernel, seconds=missing), replace(kernel, bound=missing))
    sums = KernelTimes(kernels=part, program=part, graph=part, between=part, around=part,
                       covered=measured(1, 1, 1))  # fmt: skip
    graph = replace(report.graphs[0], accuracy=wrong, kernels=kernels, kernel_times=sums)
    others = (replace(graph, id=bad + "1", accuracy=changed),
              replace(graph, id=bad + "2", accuracy=random))  # fmt: skip
    return replace(
        report,
        ceilings=replace(corpus.CEILINGS, device=bad),
        graphs=(graph, *others),
        accuracy=wrong,
        timings=times,
        step=StepParts(
            seconds=part,
            parts=(StepPart(what=bad, seconds=part, graph=bad, place=where),
                   StepPart(what="graph", seconds=part, graph=bad),
                   StepPart(what="between", seconds=part, place=where)),
            covered=1.0, eager=missing, speedup=missing, disagreement=bad,
        ),
        payback=Payback(cold=(CompilePhase(name=bad, seconds=1.0),), warm=missing, saved=missing,
                        calls=missing, calls_warm=missing),
    )  # fmt: skip


CORPUS = {"compared": compared, "never": never, "partly": partly, "hostile": hostile}
