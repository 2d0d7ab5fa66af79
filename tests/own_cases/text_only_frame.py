"""A compiled function that only builds text."""


def fn(shape, name):
    parts = [f"{name}{i}:{size}" for i, size in enumerate(shape)]
    return " ".join(parts)


def make():
    return fn, [((2, 3), "d"), ((2, 3), "d")]


EXPECT = {
    "torch": "2.13.0+cpu",
    "kind": "graph without any op",
    "graphs": 0,
    "ops_per_graph": [],
    "break_count": 0,
    "breaks": [],
    "recompile_count": 0,
    "recompiles": [],
    "notes": "There is no tensor operation, so nothing is compiled; no finding.",
    "cause": {},
}
