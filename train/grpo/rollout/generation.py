"""Inference backend of a trainer: transformers, vLLM inside the trainer, or a vLLM server; checked beforehand.

On a GPU all three are TRL's own. On a CPU vLLM inside the trainer is adapted (`train.grpo.rollout.vllm_on_cpu`), and a
server is refused: TRL sends it new weights by NCCL, which supports only CUDA devices.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from curate.errors import UserError
from curate.parts import require
from train.environment import num_processes
from train.runs.output.announce import announce

# TRL's modules that import vLLM, where it is installed, on import
WITH_VLLM: Final = ("trl.generation.vllm_client", "trl.generation.vllm_generation")


def import_generation(*, uses_vllm: bool) -> None:
    """Import TRL's generation modules; call it before TRL's trainers are imported.

    TRL imports vLLM wherever it is installed, which takes half of a run's start-up. Without `--vllm`, vLLM is reported
    as missing during the import; with it, modules that were imported that way are reloaded.
    """
    from trl import import_utils

    if uses_vllm:
        for name in WITH_VLLM:
            if name in sys.modules and not sys.modules[name].is_vllm_available():
                importlib.reload(sys.modules[name])
        return
    really = import_utils.is_vllm_available
    import_utils.is_vllm_available = lambda min_version=None: False  # noqa: ARG005  # TRL's signature
    try:
        for name in WITH_VLLM:
            importlib.import_module(name)
    finally:
        import_utils.is_vllm_available = really


def prepare_generation(
    model: Path, trl: Mapping[str, Any], *, uses_vllm: bool
) -> dict[str, Any]:  # Any: values of TRL's fields
    """TRL's arguments for the backend; `UserError` where it cannot run, before any model is loaded."""
    if not uses_vllm:
        if given := [name for name in trl if name.startswith("vllm_")]:
            raise UserError(f"trl: {given[0]} does nothing without --vllm; add --vllm, or leave it out")
        return {"use_vllm": False}
    require("--vllm", "vllm", otherwise=", or leave --vllm out")
    import torch

    if not torch.cuda.is_available():
        _refuse_on_cpu(trl)
        from train.grpo.rollout.vllm_on_cpu import adapt_vllm, refuse_heads

        refuse_heads(model)
        adapt_vllm()
    announce("vLLM starts with the trainer")
    return {"use_vllm": True}


def _refuse_on_cpu(trl: Mapping[str, Any]) -> None:
    if trl.get("vllm_mode") == "server":
        raise UserError(
            "trl: vllm_mode is server, which needs a CUDA device: TRL sends new weights by NCCL; on a CPU leave it out "
            "(vLLM then runs inside the trainer)"
        )
    if num_processes() > 1:
        raise UserError("--vllm: on a CPU it works in one process only; leave --vllm out, or train in one process")
