"""What differs between two outcomes of one case."""

from typing import Any

Outcome = dict[str, Any]
LONGEST = 300


def differences(reference: Outcome, candidate: Outcome) -> list[str]:
    """Every difference, each with its place and both values; empty when all is the same.

    Differing values are compared only where neither call raised.
    """
    found = _unequal(
        "", "ended", reference["ended"] or "normally", candidate["ended"] or "normally"
    )
    if len(reference["calls"]) != len(candidate["calls"]):
        found += _unequal("", "calls", len(reference["calls"]), len(candidate["calls"]))
    for i, (a, b) in enumerate(zip(reference["calls"], candidate["calls"], strict=False)):
        found += _of_call(f"call {i} ", a, b)
    found += _unequal("", "printed", reference["printed"], candidate["printed"])
    found += _unequal("", "files written", reference["written"], candidate["written"])
    return found


def verdict(reference: Outcome, candidate: Outcome) -> str:
    """``same``, ``both raise X``, ``both crash``, ``skipped`` or ``differs``, in one phrase."""
    for outcome in (reference, candidate):
        if outcome["ended"].startswith("needs "):
            return f"skipped: {outcome['ended']}"
    found = differences(reference, candidate)
    if found:
        return "differs: " + found[0] + (f" (and {len(found) - 1} more)" if found[1:] else "")
    return f"same, {described(reference)}"


def agrees(text: str) -> bool:
    """Whether a verdict says that nothing differs."""
    return text.startswith("same")


def described(outcome: Outcome) -> str:
    """An outcome in a few words: what it raised, or how many values it gave."""
    if outcome["ended"]:
        return f"ended: {outcome['ended'].partition(':')[0]}"
    raised = sorted({call["error"].partition(":")[0] for call in outcome["calls"] if call["error"]})
    calls = len(outcome["calls"])
    values = sum(len(call["values"]) for call in outcome["calls"])
    text = f"{calls} call{'s'[: calls != 1]}, {values} values"
    return text + (f", raises {', '.join(raised)}" if raised else "")


def _of_call(where: str, a: Outcome, b: Outcome) -> list[str]:
    found = _unequal(where, "raised", a["error"] or "nothing", b["error"] or "nothing")
    if not found:
        found += _unequal(where, "type of the output", a["type"], b["type"])
        for path in a["values"] | b["values"]:
            found += _unequal(
                where, path, a["values"].get(path, "missing"), b["values"].get(path, "missing")
            )
    for name in a["generators"]:
        found += _unequal(
            where, f"{name}'s random state", a["generators"][name], b["generators"].get(name)
        )
    return found


def _unequal(where: str, what: str, a: object, b: object) -> list[str]:
    return [] if a == b else [f"{where}{what}: {_line(a)} in the reference, {_line(b)} here"]


def _line(value: object) -> str:
    """A value as one line of bounded length."""
    text = " ".join(str(value).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 4] + " ..."
