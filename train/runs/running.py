"""Training with a built TRL trainer: resume from a checkpoint if there is one, train, save, rename into place."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import typer

from curate.errors import Stopped, UserError
from train.environment import is_main_process
from train.runs.checkpoints import step_of
from train.runs.folder import UNFINISHED, RunFolder
from train.runs.model_card import model_card
from train.runs.settings import TrainerConfig

NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG)
# for errors without a number: safetensors and polars quote the system, torch only says that it wrote fewer bytes
IN_WORDS: Final = {
    **{f"os error {number}": os.strerror(number) for number in NO_ROOM},
    **dict.fromkeys(("inline_container.cc", "iostream error"), "a file could not be written whole, as on a full disk"),
}


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

    ends: exceptions that end training early but are no failure. Raises `Stopped` after a signal, with a checkpoint.
    """
    from transformers import PrinterCallback

    trainer.remove_callback(PrinterCallback)
    vars(trainer)["create_model_card"] = _no_card
    checkpoint = run.checkpoint()
    if checkpoint and (step_of(checkpoint) >= trainer.args.max_steps or step_of(checkpoint) == run.ended_at()):
        # only the model is missing; the trainer would do one more step before it sees that it is finished
        vars(trainer)["_run_epoch"] = _no_steps
    with room_to_write(run):
        metrics = _train(trainer, run, str(checkpoint) if checkpoint else None, ends)
        save_model(trainer, run)
    return metrics


def _train(
    trainer: Any, run: RunFolder, checkpoint: str | None, ends: tuple[type[Exception], ...]
) -> Mapping[str, Any]:
    from train.runs.logs import Reporter

    (reporter,) = (callback for callback in trainer.callback_handler.callbacks if isinstance(callback, Reporter))
    metrics: Mapping[str, float] = {}
    try:
        with reporter.request:
            metrics = trainer.train(resume_from_checkpoint=checkpoint).metrics
    except ends as end:
        if is_main_process():
            typer.echo(f"training ends early: {end}")
        save_state(trainer, run)
    finally:
        reporter.close()
    if reporter.stopped_by is not None:
        if not is_main_process():
            raise SystemExit(128 + reporter.stopped_by)
        step = trainer.state.global_step
        place = f"{run.folder}: stopped at step {step} of {trainer.state.max_steps}"
        raise Stopped(f"{place}; checkpoint-{step} is saved, and the same command resumes from it", reporter.stopped_by)
    return metrics


def _no_steps(**_: Any) -> None:
    """An epoch without steps."""


def _no_card(**_: Any) -> None:
    """TRL's card beside the checkpoints, which names no base; `model/` gets the card of `model_card`."""


def save_state(trainer: Any, run: RunFolder) -> None:
    """Write a checkpoint of the step that training has reached, unless there is one."""
    step = trainer.state.global_step
    last = run.checkpoint()
    if last is None or last.name != f"checkpoint-{step}":
        trainer._save_checkpoint(trainer.model, trial=None)  # noqa: SLF001  # the trainer has no public one
        trainer.control = trainer.callback_handler.on_save(trainer.args, trainer.state, trainer.control)


@contextmanager
def room_to_write(run: RunFolder) -> Iterator[None]:
    """Turn a full disk, in whichever library it shows, into one line that names what can be resumed from."""
    from polars.exceptions import PolarsError
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, RuntimeError, UserError, PolarsError, SafetensorError) as error:
        if (reason := _lack_of_room(error)) is None:
            raise
        last = run.checkpoint()
        rest = f"resumes from {last.name}" if last else "starts over, since no checkpoint is whole"
        raise UserError(f"{run.folder}: {reason}; make room: the same command then {rest}") from error


def _lack_of_room(error: BaseException | None) -> str | None:
    """The words for an error that a full disk caused, also for one that was raised while handling it."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            return str(error.strerror)
        if found := next((reason for words, reason in IN_WORDS.items() if words in str(error)), None):
            return found
        error = error.__cause__ or error.__context__
    return None


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
        (unfinished / "README.md").write_text(model_card(run.identity, run.folder.name), encoding="utf-8")
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
