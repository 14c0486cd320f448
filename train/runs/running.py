"""Training with a built TRL trainer: resume from a checkpoint if there is one, train, save, rename into place."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from curate.errors import UserError
from train.environment import is_main_process
from train.runs.folder import UNFINISHED, RunFolder
from train.runs.settings import TrainerConfig


def lora(config: TrainerConfig) -> Any:  # Any: peft has no types
    """The adapters to train, or None to train all weights."""
    if config.lora.rank == 0:
        return None
    from peft import LoraConfig

    return LoraConfig(
        r=config.lora.rank, lora_alpha=config.lora.alpha, target_modules="all-linear", task_type="CAUSAL_LM"
    )


def train_and_save(trainer: Any, run: RunFolder, ends: tuple[type[Exception], ...] = ()) -> Mapping[str, float]:
    """Train from the last whole checkpoint, save the model, and return the trainer's final metrics.

    ends: exceptions that end training early but are no failure.
    """
    from transformers import PrinterCallback

    trainer.remove_callback(PrinterCallback)
    checkpoint = run.checkpoint()
    metrics: Mapping[str, float] = {}
    try:
        metrics = trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None).metrics
    except ends as end:
        typer.echo(f"training ends early: {end}")
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
            raise
        raise UserError(f"{run.folder}: {error.strerror}; make room and run the same command again") from error
    save_model(trainer, run)
    return metrics


def save_model(trainer: Any, run: RunFolder) -> None:
    """Write `model/` atomically; adapters are merged, so that every engine can load it."""
    unfinished = unfinished_model(run)
    if is_main_process():
        shutil.rmtree(unfinished, ignore_errors=True)
    trainer.accelerator.wait_for_everyone()
    trainer.save_model(str(unfinished))
    if is_main_process():
        if (unfinished / "adapter_config.json").exists():
            _merge(unfinished)
        trainer.processing_class.save_pretrained(unfinished)
        unfinished.rename(run.model)
    trainer.accelerator.wait_for_everyone()


def unfinished_model(run: RunFolder) -> Path:
    """Folder to which a model is written before it is renamed to `model/`."""
    return run.folder / UNFINISHED


def _merge(folder: Path) -> None:
    from peft import AutoPeftModelForCausalLM

    merged = AutoPeftModelForCausalLM.from_pretrained(folder, dtype="auto").merge_and_unload()
    shutil.rmtree(folder)
    merged.save_pretrained(folder)
