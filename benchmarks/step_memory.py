"""Memory of a training step on a CPU: the estimate of `train.memory` beside the peak that a process reaches.

A model of random weights does one step in TRL's way: forward pass, log-probabilities of the completions at a
temperature, backward pass, AdamW. Each row is a process of its own, whose peak resident memory is compared with that of
the same process before the model. Run it as `python benchmarks/step_memory.py`.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from train.memory.estimate import Load, Machine, estimate
from train.memory.shape import shape_of

MODEL: Final = {
    "hidden_size": 256, "intermediate_size": 768, "num_hidden_layers": 8, "num_attention_heads": 8,
    "num_key_value_heads": 4, "tie_word_embeddings": True,
}  # fmt: skip
# vocabulary, tokens of a sequence, sequences of a pass, whether activations are recomputed
CASES: Final = (
    (1_000, 512, 4, False), (1_000, 512, 16, False), (1_000, 512, 16, True), (1_000, 2048, 4, False),
    (32_000, 512, 1, False), (32_000, 512, 4, False), (32_000, 512, 4, True), (32_000, 1024, 4, True),
)  # fmt: skip
# otherwise the C library keeps freed tensors, and the peak is that of its heap
GIVES_BACK: Final = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}


def main() -> None:
    """Print one line a case."""
    print(f"{'vocabulary':>10} {'tokens':>7} {'sequences':>9} {'recomputed':>10} {'estimated':>10} {'peak':>8}  ratio")
    for case in CASES:
        words = [sys.executable, __file__, json.dumps(case)]
        done = subprocess.run(words, env={**os.environ, **GIVES_BACK}, capture_output=True, text=True, check=True)
        peak, expected = json.loads(done.stdout.splitlines()[-1])
        vocabulary, tokens, micro, recomputes = case
        print(
            f"{vocabulary:>10,} {tokens:>7,} {micro:>9} {'yes' if recomputes else 'no':>10} {expected / 1e6:>7,.0f} MB "
            f"{peak / 1e6:>5,.0f} MB  {expected / peak:.2f}"
        )


def step(vocabulary: int, tokens: int, micro: int, recomputes: bool) -> tuple[int, float]:  # from JSON
    """Peak bytes over those before the model, and the estimate."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM
    from trl.trainer.utils import selective_log_softmax

    config = LlamaConfig(**MODEL, vocab_size=vocabulary, max_position_embeddings=tokens)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.json").write_text(config.to_json_string())
        shape = shape_of(folder)
    if shape is None:
        raise RuntimeError("the configuration has no known shape")
    before = _peak()
    model = LlamaForCausalLM(config).train()
    if recomputes:
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):  # the moments are there from the second step on
        ids = torch.randint(vocabulary, (micro, tokens))
        logits = model(input_ids=ids, use_cache=False).logits[:, :-1]
        logits = logits / 0.9
        selective_log_softmax(logits, ids[:, 1:]).mean().backward()
        del logits
        optimizer.step()
        optimizer.zero_grad()
    load = Load(tokens, tokens, is_half=False, recomputes=recomputes)
    return _peak() - before, estimate(shape, load, Machine(1, 1)).total(micro)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(step(*json.loads(sys.argv[1]))))
    else:
        main()
