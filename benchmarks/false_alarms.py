"""Whether `graphlens.compare` finds faults in well-known models in full size, where there are none.

    python benchmarks/false_alarms.py                       all; an hour on one core
    python benchmarks/false_alarms.py --only vit,t5 --dtypes float32
    python benchmarks/false_alarms.py --markdown docs/benchmarks.md

ResNet-18 and ViT-B/16 (224 x 224), BERT-base and GPT-2 (64 tokens), T5-small (32 tokens); random
weights, batch 2, no dropout; float32, bfloat16, float16; inference, and training with the whole
backward pass. Each is a process of its own. Fine is ``agrees`` and ``rounding``; all else is an
alarm, as Inductor has no known fault in them.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from importlib.metadata import version
from pathlib import Path

from sections import machine, with_section

BEGIN = "<!-- false alarms: written by benchmarks/false_alarms.py -->"
END = "<!-- false alarms: end -->"
MODELS = ("resnet18", "bert", "gpt2", "vit", "t5")
DTYPES = ("float32", "bfloat16", "float16")
FINE = ("agrees", "rounding")


def main() -> int:
    """Prints the table; 1 where there was an alarm."""
    arguments = _arguments()
    if arguments.worker:
        print(_row(*arguments.worker.split(",")))
        return 0
    rows = [
        _worker(name, dtype, part)
        for name in arguments.only.split(",")
        for dtype in arguments.dtypes.split(",")
        for part in ("inference", "training")
    ]
    alarms = sum(not any(f"| {fine} |" in row for fine in FINE) for row in rows)
    text = (
        f"torch {version('torch')}, {machine()}. "
        f"{len(rows)} comparisons, {alarms} false alarms.\n\n"
        "| model | dtype | | whole | graphs | tensors | seconds |\n|---|---|---|---|---|---|---|\n"
        + "\n".join(rows)
        + "\n"
    )
    print(text)
    if arguments.markdown:
        path = Path(arguments.markdown)
        path.write_text(with_section(path.read_text(), text, BEGIN, END))
    return int(alarms > 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(MODELS), help=f"of {', '.join(MODELS)}")
    parser.add_argument("--dtypes", default=",".join(DTYPES), help=f"of {', '.join(DTYPES)}")
    parser.add_argument("--markdown", help="write the table into this file, between the marks")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    return parser.parse_args()


def _worker(name: str, dtype: str, part: str) -> str:
    """The row of one, made in a fresh process with an empty cache."""
    print(f"{name}, {dtype}, {part} ...", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="graphlens-bench-") as folder:
        environment = os.environ | {
            "HF_HUB_OFFLINE": "1",
            "TORCHINDUCTOR_CACHE_DIR": folder,
            "TORCHINDUCTOR_COMPILE_THREADS": "1",
        }
        command = [sys.executable, __file__, "--worker", f"{name},{dtype},{part}"]
        done = subprocess.run(
            command, env=environment, check=True, stdout=subprocess.PIPE, text=True
        )
    row = done.stdout.strip().splitlines()[-1]
    print(row, file=sys.stderr, flush=True)
    return row


def _row(name: str, dtype: str, part: str) -> str:
    import torch

    import graphlens

    torch.manual_seed(0)
    model, inputs = _made(name)
    model = model.to(getattr(torch, dtype)).train(part == "training")
    for one in model.modules():
        if isinstance(one, torch.nn.Dropout):
            one.p = 0.0
    inputs = {
        key: value.to(getattr(torch, dtype)) if value.is_floating_point() else value
        for key, value in inputs.items()
    }
    start = time.perf_counter()
    with torch.set_grad_enabled(part == "training"):
        report = graphlens.compare(model, timing=False, locate=False)(**inputs)
    seconds = time.perf_counter() - start
    compared = [one.accuracy for one in report.graphs if one.stage == "dynamo"]
    graphs = Counter(one.verdict for one in compared)
    tensors = Counter(tensor.verdict for one in compared for tensor in one.tensors)
    cells = (name, dtype, part, report.accuracy.verdict, _told(graphs), _told(tensors))
    return f"| {' | '.join(cells)} | {seconds:.0f} |"


def _told(counts: "Counter[str]") -> str:
    return ", ".join(f"{number} {verdict}" for verdict, number in counts.most_common())


def _made(name: str):
    """A model and its keyword arguments."""
    import torch

    images = torch.randn(2, 3, 224, 224)
    if name == "resnet18":
        import torchvision

        return torchvision.models.resnet18(), {"x": images}
    import transformers

    ids = torch.randint(0, 1000, (2, 64))
    if name == "bert":
        return transformers.BertModel(transformers.BertConfig()), {"input_ids": ids}
    if name == "gpt2":
        config = transformers.GPT2Config(use_cache=False, embd_pdrop=0, resid_pdrop=0, attn_pdrop=0)
        return transformers.GPT2LMHeadModel(config), {"input_ids": ids, "labels": ids}
    if name == "vit":
        return transformers.ViTModel(transformers.ViTConfig()), {"pixel_values": images}
    config = transformers.T5Config(
        d_model=512, num_layers=6, num_heads=8, d_ff=2048, dropout_rate=0, use_cache=False,
        decoder_start_token_id=0, pad_token_id=0,
    )  # fmt: skip
    ids = ids[:, :32].contiguous()  # T5 takes a view of its labels
    return transformers.T5ForConditionalGeneration(config), {"input_ids": ids, "labels": ids}


if __name__ == "__main__":
    sys.exit(main())
