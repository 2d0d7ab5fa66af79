"""Classes of causes of graph breaks, by torch's kind and what it says of it.

Torch has more than 500 kinds (``torch/_dynamo/graph_break_registry.json``, 561 in 2.14): most are
of interest to those who change torch. These classes are what a person does something about.
"""

import re
import sys

from graphlens.analysis.places import is_library, is_torch
from graphlens.model import GraphBreak

CAUSES = {
    "data_dependent_branch": "a branch on the value of a tensor",
    "tensor_to_python_number": "a tensor turned into a Python number",
    "data_dependent_output_shape": "an operator whose output size depends on the data",
    "print_call": "a print",
    "logging_call": "a call of a logger",
    "warnings_call": "a warning",
    "untraceable_builtin": "a built-in or C function that Dynamo cannot trace",
    "untraceable_library": "a library that Dynamo cannot trace",
    "custom_op_without_fake": "a custom operator without a fake implementation",
    "disabled_function": "a function marked with torch.compiler.disable",
    "skipped_function": "a function that torch does not trace on purpose",
    "explicit_graph_break": "a graph break in the program itself",
    "break_by_torch": "a graph break in torch's own code",
    "backward_call": "a backward pass inside the function",
    "autograd_inside": "a gradient taken inside the function",
    "autograd_function": "a custom autograd.Function",
    "sparse_tensor": "a sparse tensor",
    "torchscript_function": "a TorchScript function or module",
    "user_exception": "an exception that the program raises",
    "exception_handling": "exception handling that Dynamo cannot trace",
    "context_manager": "a context manager that Dynamo cannot trace",
    "generator": "a generator",
    "hook": "a hook",
    "mutation": "a tensor changed in a way that Dynamo cannot trace",
    "side_effect": "a side effect that Dynamo cannot put off",
    "unsupported_type": "a kind of object that Dynamo cannot trace",
    "backend_failed": "a failure of the backend",
    "other": "something that Dynamo cannot trace",
}

_EXACT = {
    "Data-dependent branching": "data_dependent_branch",
    "Data dependent operator": "tensor_to_python_number",
    "Dynamic shape operator": "data_dependent_output_shape",
    "Dynamic shape operator (no meta kernel)": "data_dependent_output_shape",
    "Operator does not support running with fake tensors": "custom_op_without_fake",
    "Custom op missing fake impl during tracing": "custom_op_without_fake",
    "logging.Logger method not supported for non-export cases": "logging_call",
    "Unsupported Tensor.backward() call": "backward_call",
    "wrap_jit_function: missing _torchdynamo_inline": "torchscript_function",
    "Observed exception": "user_exception",
    "Failed to raise exception": "exception_handling",
    "Backend compiler exception": "backend_failed",
    "copy.deepcopy()": "untraceable_builtin",
    "torch.* op returned non-Tensor": "untraceable_builtin",
    "attempted to reorder a debugging function that can't actually be reordered": "print_call",
}
# The first that fits; to torch's kind, in lower case.
_PATTERNS = tuple(
    (re.compile(pattern), cause)
    for pattern, cause in (
        (r"torch\._dynamo\.graph_break", "explicit_graph_break"),
        (r"disable`?\(\)`?d function|torch\.(?:compiler|_dynamo)\.disable", "disabled_function"),
        (r"data-dependent|guard_scalar|torch\.cond|torch\.while_loop", "data_dependent_branch"),
        (
            r"tensor\.item\(\)|tolist|non-scalar tensor|index\(tensor\)|slicing with tensor",
            "tensor_to_python_number",
        ),
        (r"data-dependent output shape", "data_dependent_output_shape"),
        (r"fake impl|fake tensors", "custom_op_without_fake"),
        (r"sparse", "sparse_tensor"),
        (r"jit\.script|torchscript|scriptmodule|jit_function", "torchscript_function"),
        (r"autograd\.function|autogradfunction|custom (?:jvp|vjp)", "autograd_function"),
        (r"backward\(\)|_imperativeengine", "backward_call"),
        (r"autograd\.grad|_autograd_grad|grad_fn\b", "autograd_inside"),
        (r"fake ?tensor|running fx node", "unsupported_type"),
        (r"hook", "hook"),
        (r"context manager|contextlib|contextmanager|genericcontext|escaped", "context_manager"),
        (r"generator|yield|send with|iternext", "generator"),
        (r"exception|except_handler|traceback", "exception_handling"),
        (
            r"requires_grad_|resize|\.set_\(\)|inplace op|mutate tensor|tensor attribute|"
            r"tensor\.(?:requires_grad|random_|uniform_|retain_grad)|share_memory",
            "mutation",
        ),
        (
            r"side effect|mutat|immutable|store_|setattr|__delattr__|pending|attribute assignment|"
            r"weakref|partial graph",
            "side_effect",
        ),
        (r"function marked as skipped|skip_frame|forced graph break", "skipped_function"),
        (
            r"builtin|built-in|not implemented in python|untraceable|str\(\)|repr|deepcopy|"
            r"constant-like method",
            "untraceable_builtin",
        ),
        (r"numpy|ndarray", "untraceable_library"),
        (
            r"nestedtensor|subclass|opaque|rnn|wrap|unsupported type|user-defined|user defined|"
            r"attribute|not a python constant|sourceless|__\w+__|reconstruct",
            "unsupported_type",
        ),
    )
)  # fmt: skip
_CALLED = re.compile(r"^module: (?P<module>[\w.]+), qualname: (?P<name>[\w.]+)")
_SCHEMA = re.compile(r"unsupported operator: (?P<operator>[\w.:]+)")
# What these are does not depend on whose line it is.
_ANYWHERE = (
    "logging_call",
    "custom_op_without_fake",
    "disabled_function",
    "user_exception",
    "backend_failed",
)
# What these kinds say is only how a call failed, not of what.
_OF_A_CALL = re.compile(r"method call|function call|callable object|function marked as skipped")
_CONVERTED = re.compile(r"builtin operator `(?:complex|float|int|bool|round)` .* \['Tensor")


def classify(found: GraphBreak, libraries: frozenset[str] = frozenset()) -> str:
    """The class of cause of a break.

    Args:
        found: Without it.
        libraries: Modules whose functions the line calls, such as ``scipy`` in
            ``scipy.fft.dct(y)``; torch is none of them.
    """
    told = _by_explanation(found)
    if told:
        return told
    cause = _by_kind(found.kind)
    if cause == "tensor_to_python_number" and "numpy" in libraries and of_numpy(found):
        return "untraceable_library"
    place = found.points_to
    elsewhere = place is not None and place.file != found.file and is_library(place.file)
    if cause == "explicit_graph_break":
        return "break_by_torch" if elsewhere else cause
    if cause in _ANYWHERE:
        return cause
    if elsewhere and place is not None and not is_torch(place.file):
        return "untraceable_library"
    vague = cause == "other" or _OF_A_CALL.search(found.kind) is not None
    if vague and libraries - sys.stdlib_module_names:
        return "untraceable_library"
    if "the builtin `" in found.explanation:
        return "untraceable_builtin"
    if elsewhere and libraries:
        return "untraceable_library"
    return "untraceable_builtin" if vague and "method" in found.kind else cause


def _by_explanation(found: GraphBreak) -> str:
    """The class where torch's kind says less than its explanation; empty for most."""
    named = f"{found.explanation} {found.context}"
    if re.search(r"builtin (?:operator )?`?print\b", named):
        return "print_call"
    if re.search(r"builtin `_?warnings\.warn", named) or "qualname: warn," in found.context:
        return "warnings_call"
    if _CONVERTED.search(found.explanation):
        return "tensor_to_python_number"
    return "disabled_function" if "torch.compiler.disable`" in found.explanation else ""


def of_numpy(found: GraphBreak) -> bool:
    """Whether the number that breaks the graph is one that NumPy gave, where the line calls it."""
    asked = re.search(r"\.(?:item|tolist)\(|\b(?:float|int|bool)\(", found.code)
    place = found.points_to
    own = place is None or place.file == found.file
    return own and found.kind == "Data dependent operator" and asked is None


def _by_kind(kind: str) -> str:
    if kind in _EXACT:
        return _EXACT[kind]
    lower = kind.lower()
    return next((cause for pattern, cause in _PATTERNS if pattern.search(lower)), "other")


def called_name(found: GraphBreak) -> str:
    """The function that torch could not trace, such as ``time.perf_counter``; empty if unknown."""
    operator = _SCHEMA.search(found.context)
    if operator:
        return f"torch.ops.{operator['operator'].removesuffix('.default')}"
    match = _CALLED.match(found.context)
    if match:
        return f"{match['module']}.{match['name']}".removeprefix("builtins.")
    named = re.search(r"function `(?P<name>[\w.]+)`", found.explanation)
    return named["name"] if named else ""
