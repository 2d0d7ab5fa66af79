"""What a person can ask of a preview."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from graphlens.analysis.targets import known_target, target_from_json
from graphlens.capture.option_values import check_seconds, only_known
from graphlens.errors import UsageError
from graphlens.model import Target

DEFAULT_TARGET = "h100"


@dataclass(frozen=True, kw_only=True)
class PreviewOptions:
    """Options of ``graphlens.preview``.

    Attributes:
        target: The GPU.
        options: Inductor's, as of ``torch.compile``. What needs the GPU to time variants
            (``max_autotune``, ``coordinate_descent_tuning``) stays off.
        dynamic: As of ``torch.compile``.
        fullgraph: As of ``torch.compile``.
        backward: Whether backward passes are previewed, where outputs need gradients.
        numerics: Whether the generated program is run in Triton's interpreter and compared.
        budget: Seconds for the interpreter, for each graph.
        all_configs: Whether every configuration of a kernel is compiled, of which the GPU would
            time all and keep one; else the first.
        out: A folder to write the report to.
    """

    target: Target
    options: Mapping[str, Any] | None = None
    dynamic: bool | None = None
    fullgraph: bool = False
    backward: bool = True
    numerics: bool = True
    budget: float = 60.0
    all_configs: bool = True
    out: str = ""

    @property
    def compile_keywords(self) -> dict[str, Any]:
        """For ``torch.compile``, beside the backend."""
        return {"dynamic": self.dynamic, "fullgraph": self.fullgraph}


NAMES = tuple(one.name for one in fields(PreviewOptions))


def preview_options(given: Mapping[str, Any]) -> PreviewOptions:
    """Checks options by name and value.

    Raises:
        UsageError: A name is unknown or a value wrong.
    """
    only_known(given, NAMES)
    made = dict(given)
    made["target"] = target_named(made.get("target", DEFAULT_TARGET))
    check_seconds("budget", made.get("budget", PreviewOptions.budget), 60)
    for name in ("backward", "numerics", "all_configs", "fullgraph"):
        if not isinstance(made.get(name, True), bool):
            raise UsageError(f"{name} is {made[name]!r}; give True or False.")
    if made.get("dynamic") not in (None, True, False):
        raise UsageError(f"dynamic is {made['dynamic']!r}; give True, False or None.")
    if not isinstance(made.get("options") or {}, Mapping):
        raise UsageError(
            f"options is {made['options']!r}; give a dictionary of Inductor's settings."
        )
    if made.get("out") is not None:
        made["out"] = str(made["out"])
    return PreviewOptions(**made)


def target_named(given: object) -> Target:
    """A target by name, from a ``.json`` file, or as it is.

    Raises:
        UsageError: It is none.
    """
    if isinstance(given, Target):
        return given
    text = str(given)
    if not text.endswith(".json"):
        return known_target(text)
    try:
        return target_from_json(Path(text).read_text(), text)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{text} cannot be read: {error}. Give a target's name or file."
        ) from error
