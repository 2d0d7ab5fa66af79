"""Random programs that break graphs on purpose, and what torch has to do with each of them.

A program is composed as a tree of statements and written twice, line by line the same: as a user
would have it, and with a log call in front of every statement. The second runs eager and tells in
which order lines were run. From that order and the tree alone `expected_breaks` works out the
breaks, by these rules of Dynamo (found by experiment, the same on torch 2.13 and 2.14):

- What is called is traced inside its caller as long as it has no break. If it has one, the caller
  breaks at the call, and what was called is traced as a frame of its own.
- A break splits: the rest of the function is a new frame. ``with torch.no_grad()`` and plain ``if``
  do not matter.
- In a loop it gives the frame up: all of it, from the last split on, runs eager, so that its
  further breaks are met by nobody. What it calls is traced as frames of its own. A frame that was
  given up is not looked at again.
- In a ``try`` block or a context manager of the user's own, torch goes back to the last statement
  that is in no such block, ``for`` loop or ``with``, or to a ``try`` that is in ``try`` blocks alone.
  Where more than one call was in the graph by then, it compiles up to there, and the rest of the
  function runs eager; else it gives the frame up.
- A break ends a graph only if operators came before it in the frame; where none did, nothing
  counts how often it is run through.
"""

import importlib.util
import itertools
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from hypothesis import strategies as st


@dataclass(frozen=True)
class Form:
    """A statement that breaks.

    Attributes:
        text: The statement.
        kind: Torch's name for the break.
        before: How many operators the statement runs before it breaks.
        after: How many it runs after that.
    """

    text: str
    kind: str
    before: int = 0
    after: int = 0


BRANCH = "Data-dependent branching"
FORMS = (
    Form('print("here")', "Failed to trace builtin operator"),
    Form('print("type", x.dtype)', "Failed to trace builtin operator"),
    # Always 0: another number each time would be a recompile each time.
    Form(
        "x = x + (x * 0).sum().int().item()",
        "Unsupported Tensor.item() call with capture_scalar_outputs=False",
        before=3,
        after=1,
    ),
    Form("torch._dynamo.graph_break()", "Call to `torch._dynamo.graph_break()`"),
    Form('warnings.warn("careful")', "Attempted to call function marked as skipped"),
    Form('LOG.info("here")', "logging.Logger method not supported for non-export cases"),
    Form("x = x + torch.nonzero(x).sum() / 64", "Dynamic shape operator", after=3),
    Form("x = uncompiled(x)", "Skip calling `torch.compiler.disable()`d function"),
    Form("began = time.perf_counter()", "Attempted to call function marked as skipped"),
    Form("values = x.tolist()", "Tensor.tolist() with non-integer tensor"),
    Form("values = x.long().tolist()", "Data dependent operator", before=1),
)

# Statements without a break, and how many operators they run.
STEPS = {
    "x = x + 0.5": 1,
    "x = torch.sin(x)": 1,
    "x = x.relu() - 0.25": 2,
    "x = [x, x.cos()][1]": 1,
    "x = {'a': x * 0.5}['a']": 1,
    "count = len('abc') + 1": 0,
    "assert x is not None": 0,
    "name = f'size {x.dim()}'": 0,
}

CONDITIONS = ("x.sum() > 0", "x.max() < 0.4", "(x > -9).all()")  # two operators each

NO_GRAD = "with torch.no_grad():"
# How a block is opened and closed.
BLOCKS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "if": (("if True:",), ()),
    "flag": (("if FLAG:",), ("else:", "    x = x + FLAG")),
    "no_grad": ((NO_GRAD,), ()),
    "for": (("for lap in range(2):",), ()),
    "while": (("turn = 0", "while turn < 2:", "    turn += 1"), ()),
    "try": (("try:",), ("except ValueError:", "    x = x + 9")),
    "finally": (("try:",), ("finally:", "    name = 'end'")),
    "generator": (("with own_generator():",), ()),
    "class": (("with OwnContext():",), ()),
}
LOOPS = ("for", "while")
FIRM = ("try", "finally", "generator", "class")  # nothing resumes inside of these
TRIES = ("try", "finally")
STACKED = ("for", "no_grad", "generator", "class")  # something of them is on Python's stack

HEAD = """\
import contextlib
import logging
import time
import warnings

import torch

LOG = logging.getLogger("composed")
LOG.setLevel(logging.ERROR)
FLAG = 1
EVENTS = []


def at(line):
    EVENTS.append(("at", line, torch.is_grad_enabled()))


def done(line):
    EVENTS.append(("done", line, torch.is_grad_enabled()))


@contextlib.contextmanager
def no_grad_at(line):
    was = torch.is_grad_enabled()
    if was:
        at(line)
    with torch.no_grad():
        yield
    if was:
        at(line)


@torch.compiler.disable
def uncompiled(x):
    return x + 0.125


@contextlib.contextmanager
def own_generator():
    yield


class OwnContext:
    def __enter__(self):
        return self

    def __exit__(self, *raised):
        return None
"""


@dataclass(frozen=True)
class Step:
    text: str


@dataclass(frozen=True)
class Break:
    form: Form


@dataclass(frozen=True)
class Branch:
    condition: str
    body: "Body"
    orelse: "Body"


@dataclass(frozen=True)
class Block:
    name: str
    body: "Body"


@dataclass(frozen=True)
class Function:
    """What can be called: a ``function``, a ``module``, a ``method`` of one, or ``nested``."""

    how: str
    body: "Body"


@dataclass(frozen=True)
class Call:
    function: Function


Statement = Step | Break | Branch | Block | Call
Body = tuple[Statement, ...]


@st.composite
def programs(draw: st.DrawFn) -> Function:
    """A function or module to compile, with all that it calls, up to three deep."""
    below: list[Function] = []
    for _ in range(3):
        new = draw(st.lists(_functions(below), max_size=2))
        below = [*below, *new]
    return Function(draw(st.sampled_from(("function", "module"))), draw(_bodies(below, 2, 3, 7)))


@st.composite
def _functions(draw: st.DrawFn, below: list[Function]) -> Function:
    how = draw(st.sampled_from(("function", "module", "method", "nested")))
    return Function(how, draw(_bodies(below, 1, 1, 4)))


@st.composite
def _bodies(draw: st.DrawFn, below: list[Function], deep: int, least: int, most: int) -> Body:
    """Statements that may call some functions, with blocks up to a depth."""
    simple: list[st.SearchStrategy[Statement]] = [
        st.sampled_from(tuple(STEPS)).map(Step),
        st.sampled_from(FORMS).map(Break),
    ]
    if below:
        simple.append(st.sampled_from(below).map(Call))
    if deep:
        inner = _bodies(below, deep - 1, 1, 2)
        names = st.sampled_from(tuple(BLOCKS))
        conditions = st.sampled_from(CONDITIONS)
        simple.append(st.builds(Block, names, inner))
        simple.append(st.builds(Branch, conditions, inner, st.just(()) | inner))
    return tuple(draw(st.lists(st.one_of(simple), min_size=least, max_size=most)))


@dataclass(frozen=True)
class Around:
    """What is around a statement in its function.

    Attributes:
        loops: Whether a loop.
        firm: Whether a block that nothing resumes in.
        stacked: Whether a block that has something on Python's stack.
        held: Lines of the blocks that torch goes back to the beginning of; the innermost is last.
        no_grad: Whether gradients are off because of the function itself.
    """

    loops: bool = False
    firm: bool = False
    stacked: bool = False
    held: tuple[int, ...] = ()
    no_grad: bool = False

    def within(self, block: str, line: int) -> "Around":
        begins = not self.stacked if block in TRIES else block in STACKED and not self.held
        return Around(
            loops=self.loops or block in LOOPS,
            firm=self.firm or block in FIRM,
            stacked=self.stacked or block in STACKED,
            held=(*self.held, line) if begins else self.held,
            no_grad=self.no_grad or block == "no_grad",
        )


@dataclass(frozen=True)
class Line:
    """What stands on a line of a program.

    Attributes:
        around: What is around it.
        kind: Torch's name for the break; empty where there is none.
        before: How many operators the line runs, before it breaks if it does.
        after: How many it runs after the break.
        calls: Number of the function that is called; 0 for none.
        branches: Whether what follows depends on data.
        switches: Whether it turns gradients off or on, which is a call in the graph but no operator.
    """

    around: Around
    kind: str = ""
    before: int = 0
    after: int = 0
    calls: int = 0
    branches: bool = False
    switches: bool = False


@dataclass
class Program:
    """The text of a program, the text that logs, and what is on its lines."""

    source: list[str] = field(default_factory=list)
    logging: list[str] = field(default_factory=list)
    lines: dict[int, Line] = field(default_factory=dict)
    entry: str = ""

    def text(self, logs: bool = False) -> str:
        return "\n".join(self.logging if logs else self.source) + "\n"


def write(root: Function, callers_first: bool = False) -> Program:
    """The program of a composed function.

    Args:
        root: The function.
        callers_first: Whether callers stand before what they call.
    """
    writer = _Writer()
    writer.write(root, callers_first)
    return writer.program


# Torch takes a nested function for one of another file if their code is the same but for the
# file's name, which Python does not compare: numbers, and so names, are used once in a process.
_NUMBERS = itertools.count(1)


class _Writer:
    def __init__(self) -> None:
        self.program = Program()
        self.numbers: dict[int, int] = {}  # by id(), as equal functions are written each

    def write(self, root: Function, callers_first: bool) -> None:
        for text in HEAD.splitlines():
            self.plain(text)
        called_first = list(_called_first(root))
        for function in called_first:
            self.numbers[id(function)] = next(_NUMBERS)
        for function in reversed(called_first) if callers_first else called_first:
            self.define(function)
        self.plain("")
        self.plain("")
        for function in called_first:
            if function.how != "function":
                number = self.numbers[id(function)]
                self.plain(f"PART{number} = Part{number}()")
        number = self.numbers[id(root)]
        self.program.entry = f"f{number}" if root.how == "function" else f"PART{number}"

    def plain(self, text: str) -> None:
        """A line that is the same in both texts."""
        self.program.source.append(text)
        self.program.logging.append(text)

    def statement(self, indent: str, text: str, line: Line) -> None:
        number = len(self.program.source) + 1
        self.program.lines[number] = line
        self.program.source.append(indent + text)
        if line.branches:  # one line, so that both texts have the same numbers
            logged = text.replace("if ", f"if at({number}) or ", 1)
        else:
            logged = f"at({number}); {text}"
            logged += f"; done({number})" if line.calls else ""
        self.program.logging.append(indent + logged)

    def define(self, function: Function) -> None:
        """Writes a function of the module's level."""
        number = self.numbers[id(function)]
        self.plain("")
        self.plain("")
        if function.how == "function":
            self.function("", f"def f{number}(x):", function, owns=False)
            return
        name = "forward" if function.how == "module" else "step"
        self.plain(f"class Part{number}(torch.nn.Module):")
        self.plain("    def __init__(self):")
        self.plain("        super().__init__()")
        owned = [c for c in _called(function.body) if c.how in ("module", "method")]
        for inner in dict.fromkeys(self.numbers[id(called)] for called in owned):
            self.plain(f"        self.part{inner} = Part{inner}()")
        self.plain("")
        self.function("    ", f"def {name}(self, x):", function, owns=True)

    def function(self, indent: str, head: str, function: Function, owns: bool) -> None:
        self.plain(indent + head)
        self.body(indent + "    ", function.body, Around(), owns)
        self.plain(indent + "    return x")

    def body(self, indent: str, body: Body, around: Around, owns: bool) -> None:
        """Statements of one block.

        Args:
            indent: Of its lines.
            body: The statements.
            around: What is around them.
            owns: Whether the submodules are at hand as attributes of ``self``.
        """
        for statement in body:
            match statement:
                case Step(text):
                    self.statement(indent, text, Line(around, before=STEPS[text]))
                case Break(form):
                    line = Line(around, form.kind, form.before, form.after)
                    self.statement(indent, form.text, line)
                case Branch(condition, taken, orelse):
                    line = Line(around, BRANCH, before=2, branches=True)
                    self.statement(indent, f"if {condition}:", line)
                    self.body(indent + "    ", taken, around, owns)
                    if orelse:
                        self.plain(f"{indent}else:")
                        self.body(indent + "    ", orelse, around, owns)
                case Block(name, inner):
                    self.block(indent, name, inner, around, owns)
                case Call(function):
                    self.call(indent, function, around, owns)

    def block(self, indent: str, name: str, body: Body, around: Around, owns: bool) -> None:
        opening, closing = BLOCKS[name]
        first = len(self.program.source) + 1
        for text in opening:
            self.plain(indent + text)
        if name == "no_grad":
            self.program.lines[first] = Line(around, before=1, switches=True)
            self.program.logging[-1] = f"{indent}with no_grad_at({first}):"
        self.body(indent + "    ", body, around.within(name, first), owns)
        for text in closing:
            self.plain(indent + text)

    def call(self, indent: str, function: Function, around: Around, owns: bool) -> None:
        if function.how == "nested":
            number = self.nested(indent, function)
        else:
            number = self.numbers[id(function)]
        part = f"self.part{number}" if owns else f"PART{number}"
        name = {"module": part, "method": f"{part}.step"}.get(function.how, f"f{number}")
        self.statement(indent, f"x = {name}(x)", Line(around, calls=number))

    def nested(self, indent: str, function: Function) -> int:
        """A function written anew wherever it is called, so that each is one of its own."""
        number = next(_NUMBERS)
        self.function(indent, f"def f{number}(x):", function, owns=False)
        return number


def _called_first(root: Function) -> Iterator[Function]:
    """The functions of the module's level, each once and after those it calls."""
    seen: set[int] = set()

    def visit(function: Function) -> Iterator[Function]:
        for called in _called(function.body):
            if id(called) not in seen and called.how != "nested":
                seen.add(id(called))
                yield from visit(called)
        yield function

    return visit(root)


def _called(body: Body) -> Iterator[Function]:
    """The functions of the module's level that statements call, those of nested ones included."""
    for statement in body:
        match statement:
            case Call(function):
                yield function
                if function.how == "nested":
                    yield from _called(function.body)
            case Branch(_, taken, orelse):
                yield from _called(taken)
                yield from _called(orelse)
            case Block(_, inner):
                yield from _called(inner)


@contextmanager
def imported(path: Path) -> Iterator[ModuleType]:
    """A file as a module, known to Python while the block runs."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules[path.stem]


@dataclass(frozen=True)
class Item:
    """A line that was run, with gradients or not; for a call also what was run inside it."""

    number: int
    line: Line
    grad: bool
    inside: tuple["Item", ...] = ()


def read_events(events: list[tuple[str, int, bool]], lines: dict[int, Line]) -> tuple[Item, ...]:
    """What one call of a program ran, in order."""
    opened: list[list[Item]] = [[]]
    for what, number, grad in events:
        line = lines[number]
        if what == "at" and line.calls:
            opened.append([])
        elif what == "at":
            opened[-1].append(Item(number, line, grad))
        else:
            inside = opened.pop()
            opened[-1].append(Item(number, line, grad, tuple(inside)))
    (ran,) = opened
    return tuple(ran)


@dataclass(frozen=True)
class Expected:
    """A break as it has to be reported.

    Attributes:
        line: Its line.
        kind: Torch's name for it.
        consequence: ``split``, ``frame_skipped``, or ``rest_eager`` where the rest of the function
            runs eager.
        hits: How often it was run through as a split; None where nothing can count that.
    """

    line: int
    kind: str
    consequence: str
    hits: int | None


def expected_breaks(calls: list[tuple[Item, ...]]) -> list[Expected]:
    """The breaks of a program that was called several times, by the rules above."""
    met = _Met()
    for items in calls:
        _Frame(met, 0, grad=True).run(items)
    return [met.expected(line) for line in met.kinds]


class _Met:
    """What Dynamo met so far."""

    def __init__(self) -> None:
        self.kinds: dict[int, str] = {}
        self.consequences: defaultdict[int, set[str]] = defaultdict(set)
        self.given_up: set[tuple[int, ...]] = set()
        self.hits: Counter[int] = Counter()
        self.uncounted: set[int] = set()

    def expected(self, line: int) -> Expected:
        worst_first = ("frame_skipped", "rest_eager", "split")
        worst = next(one for one in worst_first if one in self.consequences[line])
        hits = self.hits[line] if worst == "split" and line not in self.uncounted else None
        return Expected(line, self.kinds[line], worst, hits)


class _Frame:
    """A function that is called from code Dynamo does not trace; what follows a split is its rest.

    Attributes:
        part: Of the function: it, or what follows a split.
        traced: Whether Dynamo still traces it, and it does not run eager.
        calls: How many calls are in the graph so far.
        operators: Whether one of them is an operator.
        held: The blocks that torch would go back to the beginning of.
        before: How many calls were in the graph at the beginning of the last.
    """

    def __init__(self, met: _Met, function: int, grad: bool) -> None:
        self.met = met
        self.function = function
        self.grad = grad
        self.start((function,), calls=0, operators=False)

    def start(self, part: tuple[int, ...], calls: int, operators: bool) -> None:
        self.part = part
        self.traced = part not in self.met.given_up
        self.calls = calls
        self.operators = operators
        self.held: tuple[int, ...] = ()
        self.before = 0

    def run(self, items: tuple[Item, ...]) -> None:
        for index, item in enumerate(items):
            after = items[index + 1].number if items[index + 1 :] else 0
            if self.traced:
                self.trace(item, after)
            if item.line.calls:
                _Frame(self.met, item.line.calls, item.grad).run(item.inside)

    def trace(self, item: Item, after: int) -> None:
        line = item.line
        held = line.around.held
        if not held or held != self.held[: len(held)]:  # not where an inner one has ended
            self.held, self.before = held, self.calls
        met = _first_break(item)
        if met is None:
            self.calls += _calls(item)
            self.operators = self.operators or _has_operators(item)
            return
        consequence = self.consequence(line.around)
        self.met.kinds.setdefault(met.number, met.line.kind)
        self.met.consequences[met.number].add(consequence)
        if met is item:
            self.met.hits[met.number] += 1
            if not (self.operators or line.before):
                self.met.uncounted.add(met.number)
        if consequence == "split":
            part = (self.function, item.number, after if line.branches else 0)
            switches = int(line.around.no_grad and self.grad)
            self.start(part, line.after + switches, operators=line.after > 0)
            return
        self.traced = False
        if consequence == "frame_skipped":
            self.met.given_up.add(self.part)

    def consequence(self, around: Around) -> str:
        if not around.firm:
            return "frame_skipped" if around.loops else "split"
        return "rest_eager" if self.before > 1 else "frame_skipped"


def _first_break(item: Item) -> Item | None:
    if item.line.kind:
        return item
    return next((found for inner in item.inside if (found := _first_break(inner))), None)


def _calls(item: Item) -> int:
    return item.line.before + sum(map(_calls, item.inside))


def _has_operators(item: Item) -> bool:
    own = item.line.before > 0 and not item.line.switches
    return own or any(map(_has_operators, item.inside))


def entry(module: ModuleType, program: Program) -> Any:
    """What a program compiles: a function, or a module in evaluation mode."""
    return getattr(module, program.entry)
