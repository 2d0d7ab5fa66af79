"""Real models in small configurations, with random weights. No download."""

import pytest
import torch


def resnet18() -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    models = pytest.importorskip("torchvision.models", reason="torchvision is not installed")
    return models.resnet18(weights=None), (torch.randn(2, 3, 32, 32),)


def bert() -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    config = transformers.BertConfig(
        vocab_size=99,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
    )
    return transformers.BertModel(config), (torch.randint(0, 99, (2, 7)),)


def gpt2() -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    config = transformers.GPT2Config(
        vocab_size=99, n_positions=32, n_embd=32, n_layer=2, n_head=2, bos_token_id=1, eos_token_id=2,
        use_cache=False,
    )  # fmt: skip
    return transformers.GPT2LMHeadModel(config), (torch.randint(0, 99, (2, 7)),)


MODELS = {"resnet18": resnet18, "bert": bert, "gpt2": gpt2}
