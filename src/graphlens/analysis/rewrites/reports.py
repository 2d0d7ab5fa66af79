"""Calls that only tell something: prints, logs and warnings."""

import ast

from graphlens.analysis.rewrites import vocabulary
from graphlens.analysis.rewrites.calls import called, dotted
from graphlens.analysis.rewrites.effects import require_plain
from graphlens.analysis.rewrites.text import Refused

_PRINTS = vocabulary.words("print pprint pp")
_WRITES = vocabulary.words(
    "sys.stdout.write sys.stderr.write sys.stdout.flush sys.stderr.flush tqdm.write "
    "tqdm.tqdm.write console.print rich.print traceback.print_stack"
)
_WARNINGS = vocabulary.words("warnings.warn warnings.warn_explicit warn warn_once")
_CLOCKS = vocabulary.words(
    "time.time time.perf_counter time.monotonic time.process_time time.time_ns "
    "time.perf_counter_ns time.monotonic_ns time.process_time_ns perf_counter monotonic"
)
# Nothing but time passes, or a person looks.
_WITHOUT_RESULT = vocabulary.words(
    "breakpoint pdb.set_trace gc.collect time.sleep torch.cuda.synchronize"
)


def is_report(node: ast.expr) -> bool:
    """Whether a call only tells something, and nothing else hangs on it."""
    if not isinstance(node, ast.Call):
        return False
    name = dotted(node.func)
    told = name in _PRINTS | _WRITES | _WARNINGS or _is_log(node)
    return (told or name in _WITHOUT_RESULT | _CLOCKS) and _is_plain(node)


def is_clock(node: ast.expr) -> bool:
    """Whether a call reads a clock."""
    return isinstance(node, ast.Call) and dotted(node.func) in _CLOCKS and not node.args


def _is_log(node: ast.Call) -> bool:
    """``log.info(...)``, ``self.logger.warning(...)``; not a method of a tensor, such as log."""
    if not isinstance(node.func, ast.Attribute) or called(node) not in vocabulary.LOG_METHODS:
        return False
    made = called(node.func.value) in ("getLogger", "get_logger")
    return made or "log" in dotted(node.func.value).lower()


def _is_plain(node: ast.Call) -> bool:
    try:
        require_plain(*node.args, *(keyword.value for keyword in node.keywords))
    except Refused:
        return False
    return True
