"""A GPU that is not there: what Inductor and Triton ask of one while they generate code.

Each is a name of torch or Triton that is replaced for the time of one block, and put back whatever
happens. ``torch.cuda.is_available`` stays as it is: with it AOTAutograd would save the random state
of a device, and the user's program would be told of a GPU. What torch remembers of its device in
caches of functions is forgotten at both ends. Seen on torch 2.11, 2.13 and 2.14.
"""

import importlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch

from graphlens._torch.probes import probe
from graphlens.model import Target

DEVICE = torch.device("cuda", 0)
_WARP = 32

# Functions that keep what they learned of the device, by module.
_REMEMBER = {
    "torch._inductor.runtime.hints": ("DeviceProperties.create",),
    "torch._inductor.utils": (
        "get_gpu_type",
        "is_big_gpu",
        "get_max_num_sms",
        "using_b200",
        "get_backend_num_stages",
        "get_device_tflops",
        "get_gpu_dram_gbps",
        "get_gpu_shared_memory",
    ),
    "torch._inductor.codecache": ("CacheBase.get_system",),
    "torch.utils._triton": (
        "_device_supports_tensor_descriptor",
        "has_triton_experimental_host_tma",
        "has_triton_tensor_descriptor_host_tma",
        "has_triton_tma",
        "has_triton_tma_device",
        "has_datacenter_blackwell_tma_device",
        "has_triton_stable_tma_api",
        "has_triton_reduction_ordering",
        "has_triton",
        "triton_backend",
        "triton_hash_with_backend",
    ),
}


@contextmanager
def pretend_gpu(target: Target) -> Iterator[None]:
    """Code generated in the block is for a GPU.

    Other threads that compile meanwhile are told of it too.

    Args:
        target: The GPU; it is ``cuda:0``.

    Raises:
        ImportError: Triton is not installed.
    """
    from torch._inductor import config

    with ExitStack() as stack:
        stack.callback(_forget)
        for place, name, value in _replaced(target):
            stack.enter_context(mock.patch.object(place, name, value))
        stack.enter_context(config.patch(_SETTINGS))
        _forget()
        yield


# No real device is there to record graphs on or to time variants on, and what is made for a
# pretended one must not be found in a cache by a program with a real one.
_SETTINGS = {
    "triton.cudagraphs": False,
    "triton.autotune_at_compile_time": False,
    "max_autotune": False,
    "max_autotune_gemm": False,
    "max_autotune_pointwise": False,
    "coordinate_descent_tuning": False,
    "force_disable_caches": True,
}


def _replaced(target: Target) -> list[tuple[Any, str, Any]]:
    """What is replaced: where, its name, and with what."""
    import torch._inductor.runtime.triton_helpers as helpers
    from torch._dynamo import device_interface
    from torch._inductor import compile_fx, scheduler
    from triton.runtime.driver import driver

    properties = device_properties(target)
    device_interface.get_interface_for_device("cuda")  # fills the table before it is copied
    pretended = _interface(properties, target)
    interfaces = {**device_interface.device_interfaces, "cuda": pretended, "cuda:0": pretended}
    active = SimpleNamespace(
        get_current_target=lambda: triton_target(target),
        get_current_device=lambda: 0,
        get_device_interface=lambda: torch.cuda,
    )
    return [
        (device_interface, "device_interfaces", interfaces),
        (torch.cuda, "get_device_properties", lambda _=None: properties),
        (torch.cuda, "get_device_capability", lambda _=None: target.capability),
        (torch.cuda, "get_device_name", lambda _=None: target.title),
        (torch.cuda, "current_device", lambda: 0),
        (torch.cuda, "device_count", lambda: 1),
        (torch.version, "cuda", torch.version.cuda or "13.0"),
        (driver, "_active", active),
        (scheduler, "has_triton", lambda: True),
        (helpers, "set_driver_to_gpu", lambda: None),
        # Shapes are known from the trace on the CPU; to run the graph again on fake CUDA tensors
        # would reach C++ code that needs a device.
        (compile_fx, "fake_tensor_prop", lambda _, inputs, *__: _fake_mode(inputs)),
    ]


def device_properties(target: Target) -> SimpleNamespace:
    """A target as ``torch.cuda.get_device_properties`` describes a device."""
    major, minor = target.capability
    return SimpleNamespace(
        name=target.title,
        gcnArchName="",
        major=major,
        minor=minor,
        multi_processor_count=target.multiprocessors,
        regs_per_multiprocessor=target.registers,
        max_threads_per_multi_processor=target.threads,
        max_threads_per_block=1024,
        warp_size=_WARP,
        total_memory=target.memory_bytes,
        shared_memory_per_multiprocessor=target.shared_bytes,
        shared_memory_per_block=48 << 10,
        shared_memory_per_block_optin=target.shared_bytes_per_block,
        L2_cache_size=target.l2_bytes,
    )


def triton_target(target: Target) -> Any:
    """A target as Triton names it."""
    from triton.backends.compiler import GPUTarget

    return GPUTarget("cuda", int(target.compute), _WARP)


def _interface(properties: SimpleNamespace, target: Target) -> type:
    from torch._dynamo.device_interface import CudaInterface

    def none(*_: object, **__: object) -> None:
        return None

    def zero(*_: object) -> int:
        return 0

    def given(_: object = None) -> SimpleNamespace:
        return properties

    class Worker:
        set_device = staticmethod(none)
        current_device = staticmethod(zero)
        get_device_properties = staticmethod(given)

    members: dict[str, Any] = {
        "Worker": Worker,
        "current_device": staticmethod(zero),
        "device_count": staticmethod(lambda: 1),
        "get_compute_capability": staticmethod(lambda _=None: int(target.compute)),
        "get_device_properties": staticmethod(given),
        "get_raw_stream": staticmethod(zero),
        "is_available": staticmethod(lambda: True),
        "is_bf16_supported": staticmethod(
            lambda including_emulation=False: including_emulation or target.capability >= (8, 0)
        ),
        "is_triton_capable": staticmethod(lambda _=None: True),
        "raise_if_triton_unavailable": staticmethod(none),
        "set_device": staticmethod(none),
        "synchronize": staticmethod(none),
    }
    return type("PretendedGpu", (CudaInterface,), members)


def _fake_mode(inputs: Any) -> Any:
    from torch._guards import detect_fake_mode

    return detect_fake_mode(inputs)


def _forget() -> None:
    for clear in _clearers():
        clear()


def _clearers() -> Iterator[Callable[[], None]]:
    for module, names in _REMEMBER.items():
        for name in names:
            found: Any = importlib.import_module(module)
            for part in name.split("."):
                found = getattr(found, part, None)  # not every release has each of them
            if hasattr(found, "cache_clear"):
                yield found.cache_clear


@probe("pretending a GPU", seen_on="2.11, 2.13, 2.14")
def _probe_pretended() -> str:
    from graphlens.analysis.targets import TARGETS

    try:
        import triton
    except ImportError:
        return "not tried: Triton is not installed (pip install triton)"
    # Looked for only: a probe runs beside the user's program, for which nothing is replaced.
    replaced = _replaced(TARGETS["h100"])
    missing = [name for place, name, _ in replaced if not hasattr(place, name)]
    if missing:
        raise AttributeError(f"torch or Triton has no {', '.join(missing)}")
    forgotten = len(list(_clearers()))
    return f"{len(replaced)} names, {forgotten} caches, Triton {triton.__version__}"
