"""Fixtures: a clean torch before and after every test that touches it, and nothing of ours left."""

import os
import sys
from collections.abc import Iterator

import pytest

os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
# What a developer has set must not change what the tests see.
for name in ("GRAPHLENS_SHOW", "GRAPHLENS_OUT", "TORCH_TRACE", "TORCH_LOGS"):
    os.environ.pop(name, None)


@pytest.fixture(autouse=True)
def nothing_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Resets Dynamo around a test, and checks that no hook or setting of ours stays."""
    if "torch" not in sys.modules and "compiles" not in request.fixturenames:
        yield
        return
    _stop_ours()
    before = _torch_state()
    yield
    _stop_ours()
    after = _torch_state()
    changed = {
        name: (before.get(name), now) for name, now in after.items() if before.get(name) != now
    }
    assert not changed, "the test left a trace handler, setting or recorder behind"
    _reset_dynamo()


@pytest.fixture
def compiles() -> None:
    """Marks a test that uses torch: skipped with the reason where there is none."""
    pytest.importorskip("torch", reason="torch is not installed")
    _reset_dynamo()


@pytest.fixture
def fresh_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """An empty compile cache for one test."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path_factory.mktemp("inductor")))


def _stop_ours() -> None:
    process = sys.modules.get("graphlens.capture.process")
    if process is not None:
        process.stop_process_recorder()
    display = sys.modules.get("graphlens.display")
    if display is not None:
        display.reset_display()


def _torch_state() -> dict[str, object]:
    import torch._dynamo.config
    import torch._functorch.config
    import torch._inductor.config
    from torch._logging._internal import trace_log

    recorder = sys.modules.get("graphlens.capture.recorder")
    state: dict[str, object] = {
        # Torch's own lazy handler takes itself off at the first record.
        "handlers": [h for h in trace_log.handlers if type(h).__module__.startswith("graphlens")],
        "recorders": recorder.active_recorders() if recorder else (),
    }
    for config in (torch._dynamo.config, torch._inductor.config, torch._functorch.config):
        for name, value in config.get_config_copy().items():
            # The order of a set is not the same each time.
            shown = sorted(map(repr, value)) if isinstance(value, (set, frozenset)) else repr(value)
            state[f"{config.__name__}.{name}"] = shown
    return state


def _reset_dynamo() -> None:
    import torch._dynamo

    torch._dynamo.reset()
