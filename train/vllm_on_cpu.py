"""What vLLM needs to generate inside the trainer on a machine without a GPU; the one place where it is adapted.

On a CPU vLLM repacks linear weights when it loads them, and new weights from the trainer can then not be written into
them; compiling would take longer than a small run. So weights stay plain and nothing is compiled.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any, Final

# a share of the machine's memory: the rest is the trainer's
MEMORY_SHARE: Final = 0.2


def adapt_vllm() -> None:
    """Adapt vLLM and TRL's use of it to a CPU; call it before the trainer is built."""
    os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
    from trl.generation import vllm_generation
    from vllm.model_executor.layers import utils

    utils.dispatch_cpu_unquantized_gemm = _keep_plain
    vllm_generation.LLM = partial(
        vllm_generation.LLM, enforce_eager=True, dtype="float32", enable_chunked_prefill=False
    )


def _keep_plain(layer: Any, remove_weight: bool) -> None:  # noqa: ARG001  # vLLM's signature
    import torch

    layer.cpu_linear = torch.nn.functional.linear
