"""What is measured: a function of one operator, and BERT with random weights (no download)."""

import types
from collections.abc import Callable
from typing import Any

import torch

SMALL = {
    "num_hidden_layers": 2,
    "hidden_size": 128,
    "num_attention_heads": 2,
    "intermediate_size": 256,
    "vocab_size": 1000,
}


def _add_one(x: torch.Tensor) -> torch.Tensor:
    return x + 1


def make(name: str) -> tuple[Callable[..., Any], tuple[torch.Tensor, ...]]:
    """A fresh callable and its arguments: ``one-operator``, ``bert-small`` or ``bert-base``.

    Each call gives a function with a code object of its own: Dynamo keeps compiled programs by
    code object, and two backends in one process must not share a list of them.
    """
    torch.manual_seed(0)
    if name == "one-operator":
        function = types.FunctionType(_add_one.__code__.replace(), globals(), "add_one")
        return function, (torch.randn(8),)
    if name in ("bert-small", "bert-base"):
        return _bert(SMALL if name == "bert-small" else {})
    raise ValueError(f"unknown workload {name!r}: one-operator, bert-small, bert-base")


def _bert(sizes: dict[str, int]) -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    from transformers import BertConfig, BertModel

    # Dropout off: both backends then do the same arithmetic on the same numbers.
    config = BertConfig(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, **sizes)
    model = BertModel(config)
    return model, (torch.randint(0, config.vocab_size, (2, 32)),)


def train(compiled: Callable[..., Any], inputs: tuple[torch.Tensor, ...]) -> None:
    """One forward and backward pass."""
    compiled(*inputs).last_hidden_state.square().mean().backward()
