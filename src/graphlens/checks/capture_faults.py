"""Why a program as Dynamo captured it, run without any compiler, disagrees with eager."""

from collections.abc import Iterator, Sequence

from graphlens._torch.compile_error import made_guards, user_place
from graphlens.checks.disagreements import Again, Found, setting_tried, told
from graphlens.checks.handlers import handler_of
from graphlens.checks.program_results import CallResult
from graphlens.checks.result_differences import Differences, differences
from graphlens.model import Unavailable

# Hooks added to a module after it was compiled are not noticed by default (torch 2.11 to 2.14).
HOOKS = "skip_nnmodule_hook_guards"
GUARD_MISSING = (
    "a guard is missing: the call ran what was compiled for another call, and is right when it is "
    "compiled by itself"
)


def capture_fault(
    captured: Differences,
    results: Sequence[CallResult],
    eager: Sequence[CallResult],
    again: Again,
) -> Found:
    """Why it disagrees, by running it in more ways.

    Args:
        captured: What differs.
        results: Its calls as captured.
        eager: Its calls in eager.
        again: Runs it.
    """
    said = told(captured.wrong)
    if differences(eager, again.eager()).places >= captured.places:
        return Found("not_comparable", f"two runs in eager differ too: {said}", "capture")
    in_eager, in_captured = again.draws()
    if in_captured and not in_eager:
        return Found("not_comparable", f"{_OTHER_GENERATOR}: {said}", "capture")
    hooks = again.with_setting(HOOKS, False)
    if not isinstance(hooks, Unavailable):
        tried = setting_tried(f"{HOOKS} = False", differences(eager, hooks))
        # Not what helps is seen where a run without it comes out right too (limits, torch 2.11).
        if tried.helps and differences(eager, again.with_backend("eager")).wrong:
            return Found("diverges", f"{_HOOK_LATE}: {said}", "capture", (tried,))
    because = next(_reasons(results, eager, again), _UNKNOWN)
    return Found("diverges", f"{because}: {said}", "capture")


def _reasons(
    results: Sequence[CallResult], eager: Sequence[CallResult], again: Again
) -> Iterator[str]:
    anew = again.each_call_anew()
    if not isinstance(anew, Unavailable) and not differences(eager, anew).wrong:
        yield GUARD_MISSING
    yield from _errors(results, eager)
    plain, functions = again.without_custom_backward()
    if functions and not differences(results, plain).wrong:
        yield (
            "capture drops the backward of the custom autograd.Function "
            f"{' and '.join(functions)}, and gives the derivative of its forward"
        )
    uncached, functions = again.without_caches()
    if functions and not differences(results, uncached).wrong:
        yield (
            f"capture ignores functools.lru_cache of {' and '.join(functions)}: captured code runs "
            "the function at every call, where eager takes its value from the cache"
        )


def _errors(results: Sequence[CallResult], eager: Sequence[CallResult]) -> Iterator[str]:
    """What is known of an error that only captured code raises."""
    for one, two in zip(eager, results, strict=True):
        if two.error is None or one.error is not None:
            continue
        place = user_place(two.error)
        if made_guards(two.error):
            captured = f"what it captured, last at line {place[1]}" if place else "what it captured"
            kind = type(two.error).__name__
            yield f"Dynamo itself raises {kind} while it makes the guards of {captured}"
        if place is not None:
            yield from _unreached(*place, two.error)


def _unreached(file: str, line: int, raised: BaseException) -> Iterator[str]:
    """Said where the program itself would have taken an error."""
    for error in _chain(raised):
        handler = handler_of(file, line, error)
        if handler is not None:
            yield (
                f"line {line} raises {type(error).__name__} while it is captured, and the "
                f"program's own except at line {handler}, which eager runs, is not reached"
            )


def _chain(error: BaseException) -> Iterator[BaseException]:
    """What was raised first, then what Dynamo made of it."""
    before = error.__cause__ or error.__context__
    if before is not None:
        yield from _chain(before)
    yield error


_OTHER_GENERATOR = (
    "captured code takes random numbers from torch's generator where eager takes them from "
    "NumPy's or Python's, whose seed has no effect on compiled code"
)
_HOOK_LATE = "a hook that was added to a module after it was compiled is not called"
_UNKNOWN = "the program as Dynamo captured it gives it too"
