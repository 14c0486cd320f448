"""The weights of a reference model that follows the policy, in each checkpoint.

TRL replaces or mixes the reference every few steps (`sync_ref_model`), but saves only the policy: after a resume the
reference would be the initial model again.

checkpoint-N/reference.safetensors    all weights of the reference, where it is not the initial model
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from safetensors.torch import load_file, save_file
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict, set_model_state_dict

from curate.artifacts.manifest import temporary_of
from curate.errors import UserError

REFERENCE: Final = "reference.safetensors"


def save_reference(model: Any, checkpoint: Path, *, writes: bool) -> None:  # Any: transformers has no types
    """Write a reference model's weights; every process takes part, one of them `writes`."""
    state = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True, cpu_offload=True))
    if writes:
        # tied weights are one tensor, which the format refuses to store twice
        unfinished = temporary_of(checkpoint / REFERENCE)
        save_file({name: value.clone() for name, value in state.items()}, unfinished)
        unfinished.rename(checkpoint / REFERENCE)


def load_reference(model: Any, checkpoint: Path, *, is_initial: bool) -> None:
    """Read a reference model's weights; `UserError` where an earlier version wrote none and it `is_initial` no more."""
    path = checkpoint / REFERENCE
    if not path.is_file():
        if is_initial:
            return
        raise UserError(
            f"{checkpoint}: holds no {REFERENCE}, so the reference model of sync_ref_model is lost; --force starts over"
        )
    set_model_state_dict(model, load_file(path), options=StateDictOptions(full_state_dict=True))
