"""The share of a device's memory that vLLM takes inside a trainer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from curate.engines.vllm import CPU_MEMORY
from train.memory.estimate import Case

DEFAULT: Final = 0.3  # TRL's vllm_gpu_memory_utilization


def vllm_share(trl: Mapping[str, Any], case: Case, *, uses_vllm: bool) -> float:  # Any: values of TRL's fields
    """The share for weights and cache; 0 without vLLM, or where vLLM is a server elsewhere."""
    if not uses_vllm or trl.get("vllm_mode") == "server":
        return 0.0
    share = float(trl.get("vllm_gpu_memory_utilization", DEFAULT))
    return share if case.is_gpu else min(share, CPU_MEMORY)
