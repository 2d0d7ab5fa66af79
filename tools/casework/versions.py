"""Where torch versions differ in what they say of a case.

``EXPECT`` is what torch 2.13 says. Entries here were measured as it was.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

Expect = Mapping[str, Any]

_MASK = "Transformers builds the attention mask inside the graph"

VERSIONS: dict[tuple[str, str], dict[str, Any]] = {
    ("autograd_function_twice", "2.11"): {
        "why": "a tensor passed twice is no reason to break, and half of its gradient is lost",
        "break_count": 0,
        "breaks": [],
        "agrees": False,
        "agrees_without_inductor": False,
        "mismatch": ["call 0 arg0.grad"],
    },
    ("except_index_error", "2.11"): {
        "why": "the error comes out as one of Dynamo's own",
        "mismatch": ["call 1: eager None, compiled TorchRuntimeError"],
        "raises": {0: {"compiled_inductor": "TorchRuntimeError"}},
    },
    ("jit_unit_function", "2.11"): {
        "why": "an error at the TorchScript function goes to the user; no break is recorded",
        "break_count": 0,
        "breaks": [],
    },
    ("model_gpt2_decode", "2.11"): {"why": _MASK, "ops_per_graph": [70, 68, 71]},
    ("model_llama_static_cache", "2.11"): {"why": _MASK, "ops_per_graph": [103, 101]},
    ("model_t5_encoder", "2.11"): {"why": _MASK, "ops_per_graph": [85, 85]},
    ("threads_share_function", "2.11"): {
        "why": "two threads that compile one function",
        "may_end": "crash (SIGSEGV)",
    },
    ("data_dependent_while", "2.14"): {
        "why": "the guard on the loop's count quotes the loop's head, not the line that reads it",
        "recompiles": {0: {"line": 12}},
    },
    ("dropout_alias_write", "2.14"): {
        "why": "the fault is gone",
        "agrees": True,
        "mismatch": [],
    },
    ("lru_cache_helper", "2.14"): {
        "why": "guards from the wrapped function quote the line that calls it",
        "recompiles": {0: {"line": 22}, 1: {"line": 22}},
    },
    ("recursive_tree", "2.14"): {
        "why": "the guard's text names the class that it expects",
        "recompiles": {
            0: {
                "guard": "expected type of 'node[1][1]' to be <class 'torch.Tensor'>, "
                "but found <class 'list'>"
            }
        },
    },
    ("scipy_call", "2.14"): {
        "why": "a call of SciPy's dispatcher has a reason of its own",
        "breaks": {
            0: {"torch_reason": "call to a callable object with no traceable __call__"},
        },
    },
    ("uint8_negation", "2.14"): {"why": "the fault is gone", "agrees": True, "mismatch": []},
}
"""What other torch versions say, by case and version; all else is as ``EXPECT`` has it.

Measured as ``EXPECT`` was. ``why`` says what is different in torch; a list is given by the places
in it that differ; ``may_end`` is how torch itself may end the process.
"""


def expected(case: Path, expect: Expect, torch_version: str) -> Expect:
    """``EXPECT`` as it is for a torch version, by the table and its own ``versions``."""
    minor = ".".join(torch_version.split(".")[:2])
    result = dict(expect)
    for other in (VERSIONS.get((case.stem, minor)), expect.get("versions", {}).get(minor)):
        for name, value in (other or {}).items():
            result[name] = _patched(result.get(name), value)
    return result


def known_to_end(case: Path, ended: str, torch_version: str) -> bool:
    """Whether this torch itself is known to end the case's process so."""
    return bool(ended) and expected(case, {}, torch_version).get("may_end") == ended


def _patched(before: Any, change: Any) -> Any:
    if not isinstance(before, list) or not isinstance(change, dict):
        return change
    return [{**entry, **change.get(i, {})} for i, entry in enumerate(before)]
