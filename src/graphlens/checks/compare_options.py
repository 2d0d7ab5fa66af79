"""What a person can ask of a comparison."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from graphlens.capture.option_values import check_seconds, only_known
from graphlens.errors import UsageError


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """Options of ``graphlens.compare``.

    Attributes:
        inner: The backend that is compared with eager.
        mode: For Inductor, as of ``torch.compile``.
        options: For Inductor, as of ``torch.compile``.
        dynamic: As of ``torch.compile``.
        fullgraph: As of ``torch.compile``.
        candidates: More ways to run each graph, timed beside eager and ``inner``: such as
            ``aot_eager``, ``inductor:max-autotune``, ``onednn`` or a registered backend's name.
        accuracy: Whether values are compared.
        timing: Whether times are measured.
        backward: Whether backward passes are compared and timed, where outputs need gradients.
        budget: Seconds for all timing together.
        epoch_steps: Calls that make an epoch of training; compiling pays after so many epochs, too.
        locate: Whether the first wrong operator of a graph that diverges is looked for.
        repro: A folder for a script that reproduces each divergence; none is written without it.
        out: A folder to write the report to.
    """

    inner: str = "inductor"
    mode: str | None = None
    options: Mapping[str, Any] | None = None
    dynamic: bool | None = None
    fullgraph: bool = False
    candidates: tuple[str, ...] = ()
    accuracy: bool = True
    timing: bool = True
    backward: bool = True
    budget: float = 30.0
    epoch_steps: int = 0
    locate: bool = True
    repro: str = ""
    out: str = ""

    @property
    def compile_keywords(self) -> dict[str, Any]:
        """For ``torch.compile``, beside the backend."""
        return {"dynamic": self.dynamic, "fullgraph": self.fullgraph}

    @property
    def inner_keywords(self) -> dict[str, Any]:
        """For the backend."""
        given = {"mode": self.mode, "options": dict(self.options) if self.options else None}
        return {name: value for name, value in given.items() if value is not None}


NAMES = tuple(one.name for one in fields(CompareOptions))


def compare_options(given: Mapping[str, Any]) -> CompareOptions:
    """Checks options by name and value.

    Raises:
        UsageError: A name is unknown or a value wrong.
    """
    only_known(given, NAMES)
    made = dict(given)
    candidates = made.get("candidates", ())
    made["candidates"] = (candidates,) if isinstance(candidates, str) else tuple(candidates)
    check_seconds("budget", made.get("budget", CompareOptions.budget), 30)
    steps = made.get("epoch_steps", 0)
    if not isinstance(steps, int) or isinstance(steps, bool) or steps < 0:
        raise UsageError(f"epoch_steps is {steps!r}; give the steps of an epoch, such as 1000.")
    for name in ("repro", "out"):
        if made.get(name) is not None:
            made[name] = str(made[name])
    return CompareOptions(**made)
