"""Five architectures in the smallest sizes, without dropout, their weights always the same."""

import pytest
import torch


def _transformers():
    return pytest.importorskip("transformers", reason="transformers is not installed")


def _tokens(most: int = 64) -> torch.Tensor:
    return torch.randint(0, most, (2, 9), generator=torch.Generator().manual_seed(1))


def _images(size: int) -> torch.Tensor:
    return torch.randn(2, 3, size, size, generator=torch.Generator().manual_seed(1))


def resnet18():
    """Of torchvision, with a block of each kind."""
    resnet = pytest.importorskip("torchvision.models.resnet", reason="torchvision is not there")
    return resnet.ResNet(resnet.BasicBlock, [1, 1, 1, 1]), {"x": _images(32)}


def bert(dropout: float = 0.0):
    transformers = _transformers()
    config = transformers.BertConfig(
        vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout,
    )  # fmt: skip
    mask = torch.ones(2, 9, dtype=torch.int64)
    mask[1, 6:] = 0
    return transformers.BertModel(config), {"input_ids": _tokens(), "attention_mask": mask}


def gpt2():
    transformers = _transformers()
    config = transformers.GPT2Config(
        vocab_size=64, n_positions=16, n_embd=32, n_layer=2, n_head=2, use_cache=False,
        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=1, eos_token_id=2,
    )  # fmt: skip
    return transformers.GPT2LMHeadModel(config), {"input_ids": _tokens(), "labels": _tokens()}


def vit():
    transformers = _transformers()
    config = transformers.ViTConfig(
        image_size=16, patch_size=4, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
    )  # fmt: skip
    return transformers.ViTModel(config), {"pixel_values": _images(16)}


def t5():
    transformers = _transformers()
    config = transformers.T5Config(
        vocab_size=64, d_model=32, d_kv=16, d_ff=64, num_layers=1, num_heads=2, dropout_rate=0.0,
        use_cache=False, decoder_start_token_id=0, pad_token_id=0,
    )  # fmt: skip
    return transformers.T5ForConditionalGeneration(config), {
        "input_ids": _tokens(),
        "labels": _tokens(),
    }


SMALL_MODELS = {"resnet18": resnet18, "bert": bert, "gpt2": gpt2, "vit": vit, "t5": t5}


def small_model(name: str, dtype: torch.dtype):
    """A model in training mode and its inputs, both of a dtype."""
    torch.manual_seed(0)
    model, inputs = SMALL_MODELS[name]()
    inputs = {
        key: value.to(dtype) if value.is_floating_point() else value
        for key, value in inputs.items()
    }
    return model.to(dtype).train(), inputs
