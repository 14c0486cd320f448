"""Who generates while a trainer runs: transformers, vLLM inside the trainer, or a vLLM server; checked beforehand.

On a GPU all three are TRL's own. On a CPU vLLM inside the trainer is adapted (`train.vllm_on_cpu`), and a server is
refused: TRL sends it new weights by NCCL, which knows only CUDA devices.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from curate.errors import UserError
from train.environment import num_processes


def prepare_generation(
    model: Path, trl: Mapping[str, Any], *, uses_vllm: bool
) -> dict[str, Any]:  # Any: values of TRL's fields
    """TRL's arguments for who generates; `UserError` where it cannot, before any model is loaded."""
    if not uses_vllm:
        if given := [name for name in trl if name.startswith("vllm_")]:
            raise UserError(f"trl: {given[0]} does nothing without --vllm; add --vllm, or leave it out")
        return {"use_vllm": False}
    if importlib.util.find_spec("vllm") is None:
        raise UserError("--vllm: vLLM is not installed; pip install 'gradus-rlvr[vllm]', or leave --vllm out")
    import torch

    if not torch.cuda.is_available():
        _refuse_on_cpu(trl)
        from train.vllm_on_cpu import adapt_vllm, refuse_heads

        refuse_heads(model)
        adapt_vllm()
    return {"use_vllm": True}


def _refuse_on_cpu(trl: Mapping[str, Any]) -> None:
    if trl.get("vllm_mode") == "server":
        raise UserError(
            "trl: vllm_mode is server, which needs a CUDA device: TRL sends new weights by NCCL; on a CPU leave it out "
            "(vLLM then runs inside the trainer)"
        )
    if num_processes() > 1:
        raise UserError("--vllm: on a CPU it works in one process only; leave --vllm out, or train in one process")
