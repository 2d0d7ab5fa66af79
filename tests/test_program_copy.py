"""Programs with some of their source changed, beside the user's own, which stay as they are."""

import functools
import gc
import linecache
import sys
import types
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import graphlens
from graphlens.capture.program_copy import CannotCopy, with_new_source

pytestmark = pytest.mark.usefixtures("compiles")

X = torch.ones(2, 3)
Load = Callable[..., types.ModuleType]


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Load:
    """Loads a module of the user's from its text."""

    def load(text: str, name: str = "users_module") -> types.ModuleType:
        path = tmp_path / f"{name}.py"
        path.write_text("import torch\n" + text)
        module = types.ModuleType(name)
        module.__file__ = str(path)
        monkeypatch.setitem(sys.modules, name, module)
        exec(compile(path.read_text(), str(path), "exec"), vars(module))
        return module

    yield load
    linecache.checkcache()


def rewritten(module: types.ModuleType, *changes: tuple[str, str]) -> tuple[str, str]:
    """A module's file, and its text with some parts replaced."""
    text = Path(module.__file__).read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return module.__file__, text


def result(program: object, *arguments: object) -> list[float]:
    return program(*(arguments or (torch.ones(2),))).tolist()


def test_a_function_and_what_it_calls(load: Load) -> None:
    module = load("""
FACTOR = 2

def inner(x, *, more=1):
    "What it does."
    return x * FACTOR + more

def outer(x):
    return inner(x) + 1

def unrelated(x):
    return x
""")
    before = dict(vars(module)), module.inner.__code__, module.outer.__code__
    copy = with_new_source(
        module.outer, (), *rewritten(module, ("x * FACTOR", "(\n\n        x * FACTOR * 5)"))
    )
    assert result(copy) == [12.0, 12.0]
    assert result(module.outer) == [4.0, 4.0]
    assert before == (dict(vars(module)), module.inner.__code__, module.outer.__code__)

    inner = copy.__globals__["inner"]
    assert inner is not module.inner
    assert inner.__doc__ == "What it does."
    assert inner.__kwdefaults__ == {"more": 1}
    assert (inner.__module__, inner.__qualname__) == ("users_module", "inner")
    assert copy.__globals__["unrelated"] is module.unrelated
    assert copy.__code__.co_firstlineno == module.outer.__code__.co_firstlineno + 2
    assert {f.__code__.co_filename for f in (copy, inner)} == {module.__file__}


def test_a_closure_with_lambdas_nested_functions_and_shared_variables(load: Load) -> None:
    module = load("""
def make():
    calls = 0
    def step(x):
        nonlocal calls
        calls += 1
        def inner(y):
            return (lambda z: z * 2)(y)
        return inner(x) + calls
    def seen():
        return calls
    def both(x):
        return step(x), seen()
    return both, seen

both, seen = make()
""")
    copy = with_new_source(module.both, (), *rewritten(module, ("z * 2", "z * 20")))
    assert copy(torch.ones(1)) == (torch.tensor([21.0]), 1)
    assert copy(torch.ones(1)) == (torch.tensor([22.0]), 2)
    assert module.seen() == 0


def test_methods_partials_and_callable_objects(load: Load) -> None:
    module = load("""
class Scaler:
    def __init__(self):
        self.by = 2
        self.calls = []
    def scale(self, x, extra):
        self.last = x
        return x * self.by + extra
    def __call__(self, x):
        return self.scale(x, 0)
""")
    change = rewritten(module, ("* self.by", "* self.by * 10"))
    scaler = module.Scaler()
    method = with_new_source(scaler.scale, (), *change)
    assert method(torch.ones(1), 1).tolist() == [21.0]
    partial = with_new_source(functools.partial(scaler.scale, extra=1), (), *change)
    assert result(partial, torch.ones(1)) == [21.0]
    called = with_new_source(scaler, (), *change)
    assert result(called, torch.ones(1)) == [20.0]
    assert isinstance(called, module.Scaler)
    assert vars(scaler) == {"by": 2, "calls": []}
    assert result(scaler, torch.ones(1)) == [2.0]


MODEL = """
class Base(torch.nn.Module):
    def forward(self, x):
        return self.linear(x) * 1

class Block(Base):
    scale = 3
    def __init__(self, linear):
        super().__init__()
        self.linear = linear
        self.steps = 0
    @property
    def more(self):
        return 0
    def forward(self, x):
        self.steps += 1
        return super().forward(x) + self.more

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        shared = torch.nn.Linear(3, 3)
        self.blocks = torch.nn.ModuleList([Block(shared), Block(shared)])
        self.register_buffer("mean", torch.zeros(3))
        self.norm = torch.nn.BatchNorm1d(3)
        self.plain = [self.blocks[0]]
        self.first = self.blocks[0].forward
    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        self.mean = x.mean(0)
        return self.norm(self.first(x))
"""


def test_a_class_of_a_module_that_is_not_registered(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = load("""
import logging
logger = logging.getLogger(__name__)
class Scaler:
    def __call__(self, x):
        logger.debug("called")
        return x * 2
""")
    monkeypatch.delitem(sys.modules, "users_module")
    copy = with_new_source(module.Scaler(), (), *rewritten(module, ("x * 2", "x * 3")))
    assert result(copy) == [3.0, 3.0]
    assert type(copy).__call__.__globals__["logger"] is module.logger


def test_a_module_shares_its_tensors_and_nothing_else(load: Load) -> None:
    module = load(MODEL)
    model = module.Model()
    state = {name: dict(vars(m)) for name, m in model.named_modules()}
    copy = with_new_source(
        model, (), *rewritten(module, ("self.linear(x) * 1", "self.linear(x) * 4"))
    )
    assert [id(p) for p in copy.parameters()] == [id(p) for p in model.parameters()]
    assert [id(b) for b in copy.buffers()] == [id(b) for b in model.buffers()]
    assert isinstance(copy, module.Model)
    assert type(copy.blocks[0]).__qualname__ == "Block"
    assert isinstance(copy.blocks[0], module.Block)
    assert copy.blocks[0].linear is copy.blocks[1].linear is not model.blocks[0].linear
    assert copy.plain[0] is copy.blocks[0]
    assert copy.first.__self__ is copy.blocks[0]

    linear = model.blocks[0].linear
    copy(X)
    expected = linear(linear(linear(X) * 4) * 4) * 4
    assert torch.allclose(copy.blocks[0](copy.blocks[1](copy.first(X))), expected)
    assert copy.blocks[0].steps == 4
    copy.added = torch.nn.Parameter(torch.ones(1))
    copy.register_forward_hook(lambda *_: None)
    assert {name: dict(vars(m)) for name, m in model.named_modules()} == state


def test_modules_that_a_function_reaches_are_copied(load: Load) -> None:
    module = load("""
class Counter(torch.nn.Module):
    steps = 0
    def forward(self, x):
        self.steps += 1
        return x
model = Counter()
def step(x):
    return model(x) + 1
""")
    copy = with_new_source(module.step, (), *rewritten(module, ("model(x) + 1", "model(x) + 2")))
    assert result(copy) == [3.0, 3.0]
    assert module.model.steps == 0


def test_a_compiled_program_is_what_was_compiled(load: Load) -> None:
    module = load("""
def helper(x):
    return x + 1
@torch.compile(backend="eager")
def run(x):
    return helper(x)
compiled_inside = run
def outer(x):
    return compiled_inside(x)
""")
    change = rewritten(module, ("x + 1", "x + 5"))
    assert result(with_new_source(module.run, (), *change)) == [6.0, 6.0]
    assert result(with_new_source(module.outer, (), *change)) == [6.0, 6.0]
    assert result(module.outer) == [2.0, 2.0]


def test_decorated_functions(load: Load) -> None:
    module = load("""
import functools
def twice(f):
    @functools.wraps(f)
    def wrapper(x):
        return f(f(x))
    return wrapper
@torch.no_grad()
@twice
def run(x):
    return x + 1
@functools.lru_cache
def size(x):
    return 1
class Tools:
    @staticmethod
    def add(x):
        return x + size(0)
    @classmethod
    def run(cls, x):
        return cls.add(x)
""")
    assert result(with_new_source(module.run, (), *rewritten(module, ("x + 1", "x + 3")))) == [
        7.0,
        7.0,
    ]
    copy = with_new_source(module.Tools.run, (), *rewritten(module, ("return 1", "return 8")))
    assert result(copy) == [9.0, 9.0]
    assert result(module.run) == [3.0, 3.0]
    assert module.size.cache_info().misses == 0


def test_a_custom_autograd_function(load: Load) -> None:
    module = load("""
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
def run(x):
    return Scale.apply(x)
""")
    copy = with_new_source(module.run, (), *rewritten(module, ("g * 2", "g * 7")))
    x = torch.ones(1, requires_grad=True)
    copy(x).backward()
    assert x.grad.tolist() == [7.0]


def test_functions_imported_into_other_files(load: Load) -> None:
    helpers = load(
        """
STATE = 10
def low(x):
    return x + STATE
def high(x):
    return low(x) * 2
""",
        "users_helpers",
    )
    module = load("""
import users_helpers
from users_helpers import high
def run(x):
    return high(x) + users_helpers.low(x)
""")
    copy = with_new_source(module.run, (), *rewritten(helpers, ("x + STATE", "x + STATE * 2")))
    assert result(copy) == [63.0, 63.0]
    assert result(module.run) == [33.0, 33.0]
    for _ in range(2):
        # Guards hold on the copy's own globals, across files, so nothing is compiled again.
        report = graphlens.explain(copy)(torch.ones(2))
        assert [len(g.operators) for g in report.graphs] == [4]
        assert report.recompiles == ()


def test_breaks_of_a_copy_are_at_its_lines(load: Load) -> None:
    module = load("""
def run(x):
    if x.sum() > 0:
        return x + 1
    return x - 1
""")
    (before,) = graphlens.explain(module.run)(torch.ones(2)).breaks
    file, text = rewritten(module, ("def run", "# A line more.\ndef run"), ("x + 1", "x + 2"))
    copy = with_new_source(module.run, (), file, text)
    (found,) = graphlens.explain(copy)(torch.ones(2)).breaks
    assert (found.file, found.line) == (before.file, before.line + 1)
    file, text = rewritten(module, ("if x.sum() > 0:", "if True:"))
    report = graphlens.explain(with_new_source(module.run, (), file, text))(torch.ones(2))
    assert report.breaks == ()
    (after,) = graphlens.explain(module.run)(torch.ones(2)).breaks
    assert (after.line, after.kind, after.code) == (before.line, before.kind, before.code)


def test_a_copy_does_not_keep_the_users_model(load: Load) -> None:
    module = load("""
def broken(x):
    torch._dynamo.graph_break()
    return x * 2
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))
    def forward(self, x):
        return broken(x.sin()) * self.weight
model = Model()
""")
    change = rewritten(module, ("x * 2", "x * 3"))
    copy = with_new_source(module.model, (), *change)
    graphlens.explain(copy)(X)
    weight = weakref.ref(module.model.weight)
    del copy, module.model
    gc.collect()
    assert weight() is None


CANNOT = [
    ("def f(x):\n    return x + 1\ndef run(x):\n    return x", "x + 1", "x + 2", "is not reached"),
    ("def run(x):\n    return x", "return x", "return (x", "is not valid Python"),
    ("def run(x):\n    return x", "return x", "return x * SCALE", "uses SCALE, which is new"),
    ("def run(x):\n    return x", "run(x)", "run(x, y=1)", "takes other arguments"),
    (
        "def make():\n    a = b = 1\n    def run(x):\n        return x + a\n    return run\nrun = make()",
        "x + a",
        "x + a + b",
        "uses other variables around it",
    ),
    (
        "class Meta(type):\n    def __init__(cls, *a):\n        print('made')\n"
        "class C(metaclass=Meta):\n    def f(self, x):\n        return x\n"
        "c = C()\ndef run(x):\n    return c.f(x)",
        "        return x",
        "        return x + 1",
        "the class C, whose metaclass is the program's own",
    ),
    (
        "class C:\n    __slots__ = ('a',)\n    def f(self, x):\n        return x\n"
        "c = C()\ndef run(x):\n    return c.f(x)",
        "        return x",
        "        return x + 1",
        "an object of the class C, which has no __dict__",
    ),
    (
        "class B:\n    def f(self, x):\n        return x\n"
        "class C(B):\n    def f(self, x):\n        return super(C, self).f(x) + 1\n"
        "c = C()\ndef run(x):\n    return c.f(x)",
        "return x\n",
        "return x * 2\n",
        "the class C, which calls super with its own name",
    ),
    (
        "@torch._dynamo.allow_in_graph\ndef f(x):\n    return x + 1\ndef run(x):\n    return f(x)",
        "x + 1",
        "x + 2",
        "f, which Dynamo knows by its identity",
    ),
]


@pytest.mark.parametrize(("text", "old", "new", "reason"), CANNOT)
def test_what_cannot_be_copied_is_said(
    load: Load, text: str, old: str, new: str, reason: str
) -> None:
    module = load(text + "\n")
    with pytest.raises(CannotCopy, match=reason):
        with_new_source(module.run, (), *rewritten(module, (old, new)))


def test_a_change_in_an_argument_and_a_stale_file(load: Load) -> None:
    module = load("""
class Scaler:
    def __call__(self, x):
        return x + 1
def run(x, scaler):
    return scaler(x)
""")
    file, text = rewritten(module, ("x + 1", "x + 2"))
    calls = [((torch.ones(2), module.Scaler()), {})]
    with pytest.raises(CannotCopy, match=r"the change is in an argument \(Scaler\)"):
        with_new_source(module.run, calls, file, text)
    Path(file).write_text("# edited\n" + text)
    linecache.checkcache()
    with pytest.raises(CannotCopy, match="is not as it was loaded"):
        with_new_source(module.run, (), file, text.replace("(x)", "(x + 1)"))
    with pytest.raises(CannotCopy, match="is not at hand"):
        with_new_source(module.run, (), "/nowhere/file.py", text)
