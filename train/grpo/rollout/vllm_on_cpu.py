"""Adaptation of vLLM to generation inside the trainer on a machine without a GPU.

On a CPU vLLM repacks linear weights on loading, after which the trainer cannot write new weights into them; here they
are not repacked. Unseeded sampling and the model are compiled, which needs a C++ compiler and more time than a small
run; here nothing is compiled, and every completion has its own seed, which also makes runs repeatable.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from curate.engines.model_files import context_tokens
from curate.engines.vllm import CPU_BATCHED_TOKENS, CPU_MEMORY, memory_bytes
from curate.errors import UserError


def adapt_vllm() -> None:
    """Adapt vLLM and TRL's use of it to a CPU; call it before the trainer is built."""
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
    from trl.generation import vllm_generation
    from vllm import LLM
    from vllm.model_executor.layers import utils

    class CpuLLM(LLM):  # type: ignore[misc]  # vllm has no types
        """vLLM's `LLM` with arguments for a CPU and a seed for each completion."""

        def __init__(self, **trl: Any) -> None:
            super().__init__(**trl | _arguments(Path(trl["model"]), min(trl["gpu_memory_utilization"], CPU_MEMORY)))

        def generate(self, prompts: Sequence[Any], sampling_params: Any, **more: Any) -> Any:
            return super().generate(prompts, _seeded(sampling_params, len(prompts)), **more)

    utils.dispatch_cpu_unquantized_gemm = _keep_plain
    vllm_generation.LLM = CpuLLM


def refuse_heads(model: Path) -> None:
    """Raise `UserError` where vLLM does not support the model's attention head size on a CPU."""
    from transformers import AutoConfig
    from vllm.v1.attention.backends.cpu_attn import CPUAttentionBackend

    config = AutoConfig.from_pretrained(model).get_text_config().to_dict()
    size = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
    known = CPUAttentionBackend.get_supported_head_sizes()
    if size not in known:
        raise UserError(
            f"--vllm: on a CPU vLLM supports attention heads of {', '.join(map(str, known))}; "
            f"those of {model} have {size}; leave --vllm out"
        )


def _arguments(model: Path, memory_share: float) -> dict[str, Any]:
    return {
        "enforce_eager": True,
        "dtype": "float32",
        "enable_chunked_prefill": False,
        # without chunks a prompt must fit a batch
        "max_num_batched_tokens": max(CPU_BATCHED_TOKENS, context_tokens(model) or 0),
        # a size, not a share: vLLM subtracts the trainer's memory from a share, which may leave nothing
        "kv_cache_memory_bytes": int(memory_share * memory_bytes()),
        "use_tqdm_on_load": False,
        "disable_log_stats": True,
    }


def _seeded(sampling: Any, num: int) -> list[Any]:
    """A copy of the parameters for each prompt, with a seed from torch, which the trainer seeds for every draw."""
    import torch

    parts = [sampling.clone() for _ in range(num)]
    for part, seed in zip(parts, torch.randint(2**31, (num,)).tolist(), strict=True):
        part.seed = seed
    return parts


def _keep_plain(layer: Any, remove_weight: bool) -> None:  # noqa: ARG001  # vLLM's signature
    import torch

    layer.cpu_linear = torch.nn.functional.linear
