"""The devices of this start: their memory, and how accelerate spreads a model over them."""

from __future__ import annotations

import os

from curate.engines.vllm import memory_bytes
from train.environment import num_processes
from train.memory.estimate import Machine


def this_machine() -> Machine:
    """The devices that train together; on a CPU, each process has its part of the memory."""
    import torch

    num = num_processes()
    if torch.cuda.is_available():
        return spread(num, torch.cuda.get_device_properties(0).total_memory, _sharding())
    return Machine(num, memory_bytes() // int(os.environ.get("LOCAL_WORLD_SIZE", "1")), is_gpu=False)


def spread(num: int, num_bytes: int, sharding: str) -> Machine:
    """`num` GPUs and what a kind of sharding spreads over them: ddp nothing, zero1 the optimizer, fsdp everything."""
    return Machine(
        num,
        num_bytes,
        weight_shards=num if sharding in ("fsdp", "zero3") else 1,
        gradient_shards=num if sharding in ("fsdp", "zero3", "zero2") else 1,
        optimizer_shards=num if sharding in ("fsdp", "zero3", "zero2", "zero1") else 1,
    )


def _sharding() -> str:
    if os.environ.get("ACCELERATE_USE_FSDP", "").lower() == "true":
        return "fsdp"
    if os.environ.get("ACCELERATE_USE_DEEPSPEED", "").lower() == "true":
        return f"zero{os.environ.get('ACCELERATE_DEEPSPEED_ZERO_STAGE', '2')}"
    return "ddp"
