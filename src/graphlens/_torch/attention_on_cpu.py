"""A GPU's operators of attention on CPU tensors, computed by the CPU's own, in the GPU's layouts.

Seen on torch 2.11, 2.13 and 2.14.
"""

from typing import Any

import torch

from graphlens._torch.attention import padded_rows


def register_on_cpu() -> Any:
    """Gives the operators of a GPU implementations on the CPU, while the result is kept.

    They compute what the CPU's own operator does, and return it in the layout of the GPU's.
    """
    library: Any = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
    for name, function in _ON_CPU.items():
        library.impl(name, function, "CPU")
    return library


def on_cpu(target: Any) -> Any:
    """A function that computes a GPU's attention operator on the CPU; others as they are."""
    return _ON_CPU.get(getattr(target, "__name__", "").partition(".")[0], target)


def _efficient_on_cpu(
    query: Any, key: Any, value: Any, mask: Any, _: bool, dropout: float = 0.0,
    causal: bool = False, *, scale: float | None = None,
) -> tuple[torch.Tensor, ...]:  # fmt: skip
    out, logsumexp = _forward_on_cpu(query, key, value, dropout, causal, mask, scale)
    rows = logsumexp.shape[-1]
    padded = torch.nn.functional.pad(logsumexp, (0, padded_rows(rows) - rows))
    seed = torch.zeros((), dtype=torch.int64)
    return _rows_first(out), padded.contiguous(), seed, seed.clone()


def _flash_on_cpu(
    query: Any, key: Any, value: Any, dropout: float = 0.0, causal: bool = False,
    _: bool = False, *, scale: float | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    out, logsumexp = _forward_on_cpu(query, key, value, dropout, causal, None, scale)
    rows = query.shape[-2], key.shape[-2]
    state = torch.zeros(2, dtype=torch.uint64), torch.zeros((), dtype=torch.uint64)
    made = torch.empty_like(query).copy_(out)
    return made, logsumexp.contiguous(), None, None, *rows, *state, query.new_empty(0)


def _efficient_backward_on_cpu(
    gradient: Any, query: Any, key: Any, value: Any, mask: Any, out: Any, logsumexp: Any,
    _seed: Any, _offset: Any, dropout: float, _wanted: Any, causal: bool = False, *,
    scale: float | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    logsumexp = logsumexp[..., : query.shape[-2]]
    made = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward(
        gradient, query, key, value, out, logsumexp, dropout, causal, attn_mask=mask, scale=scale
    )
    return *map(_rows_first, made), None


def _flash_backward_on_cpu(
    gradient: Any, query: Any, key: Any, value: Any, out: Any, logsumexp: Any, _q: Any, _k: Any,
    _rows: int, _columns: int, dropout: float, causal: bool, _seed: Any, _offset: Any, *,
    scale: float | None = None,
) -> tuple[Any, ...]:  # fmt: skip
    made = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward(
        gradient, query, key, value, out, logsumexp, dropout, causal, scale=scale
    )
    given = (query, key, value)
    return tuple(torch.empty_like(g).copy_(one) for g, one in zip(given, made, strict=True))


def _forward_on_cpu(
    query: Any, key: Any, value: Any, dropout: float, causal: bool, mask: Any, scale: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    made = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        query, key, value, dropout, causal, attn_mask=mask, scale=scale
    )
    return made[0], made[1]


def _rows_first(value: torch.Tensor) -> torch.Tensor:
    """In memory by batch, row, head, as the memory-efficient operator's results are."""
    return value.transpose(1, 2).contiguous().transpose(1, 2)


_ON_CPU = {
    "_scaled_dot_product_efficient_attention": _efficient_on_cpu,
    "_scaled_dot_product_efficient_attention_backward": _efficient_backward_on_cpu,
    "_scaled_dot_product_flash_attention": _flash_on_cpu,
    "_scaled_dot_product_flash_attention_backward": _flash_backward_on_cpu,
}
