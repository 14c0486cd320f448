"""One training run, from a command's settings to `model/`: the steps that all trainers share.

A `Training` holds the differences: settings, data, TRL's classes and their arguments. Mistakes in settings, model and
data are refused before the run folder is claimed, mistakes in `trl` before any weight is loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Generic, NamedTuple, TypeVar

import typer

from curate.engines.model_files import context_tokens, model_digest, model_folder
from train.environment import is_main_process, num_processes
from train.memory.choice import chosen
from train.memory.devices import this_machine
from train.memory.estimate import Case, estimate
from train.memory.shape import shape_of
from train.runs.folder import RunFolder
from train.runs.output.announce import announce, described
from train.runs.running import lora, train_and_save
from train.runs.settings import Split, TrainerConfig, check_passthrough, shared_arguments, split_step
from train.runs.starting_model import find_model, load_tokenizer
from train.runs.trackers import tracked

Content = TypeVar("Content")
BYTES_OF_A_TOKEN: Final = 3


@dataclass(frozen=True)
class Job:
    """Arguments of a training command; `fork` is the run and step that it begins from, for config.yaml."""

    command: str
    model: str
    data: Path
    out: Path
    force: bool = False
    fork: Mapping[str, Any] | None = None  # Any: JSON values


@dataclass(frozen=True)
class Material(Generic[Content]):
    """Checked training data and their digest; `also` holds digests of other inputs, recorded in config.yaml."""

    content: Content
    digest: str
    also: Mapping[str, str] = field(default_factory=dict)


class Start(NamedTuple):
    """Start of a trainer: the model's folder, its tokenizer, the claimed run folder, and a step on one device."""

    model: Path
    tokenizer: Any  # transformers has no types
    run: RunFolder
    split: Split


class Classes(NamedTuple):
    """A TRL trainer and its config class."""

    trainer: Any  # trl has no types
    config: Any


class Parts(NamedTuple):
    """Arguments of one kind of training: for TRL's config, beyond the shared ones, and for its trainer."""

    arguments: Mapping[str, Any]  # Any: values of TRL's fields
    dataset: Any  # datasets has no types
    trainer: Mapping[str, Any] = {}


def loss_and_time(metrics: Mapping[str, float]) -> str:
    """Loss and run time of a finished run, for the terminal."""
    return f"loss {metrics['train_loss']:.4f}  {metrics['train_runtime']:.0f} s"


@dataclass(frozen=True)
class Training(Generic[Content]):
    """One kind of training, by its differences from the others.

    sequences_per_step: sequences of an optimizer step, over all processes.
    sequences_per_generation: sequences that are sampled together, over all processes; 0 if nothing is generated.
    read: reads and checks the data; `UserError` where they are unusable.
    classes: imports TRL's classes. parts: builds their arguments, once the run folder is claimed.
    own: fields of TRL's config that the `trl` setting must not touch.
    max_tokens: completion tokens that the model's context must hold beside a prompt; 0 if nothing is generated.
    max_time_s: seconds after which training stops.
    steps_per_draw: optimizer steps between two generations, after which a run can stop and resume.
    adopts_data: whether an unfinished run continues with other data.
    ends: exceptions that end training early but are no failure.
    prompt_bytes: bytes of the longest prompt.
    closing: figures printed after the model's path when the run is finished.
    """

    config: TrainerConfig
    sequences_per_step: int
    read: Callable[[], Material[Content]]
    classes: Callable[[], Classes]
    parts: Callable[[Content, Start], Parts]
    own: frozenset[str]
    max_tokens: int = 0
    sequences_per_generation: int = 0
    max_time_s: float | None = None
    steps_per_draw: int = 1
    adopts_data: bool = False
    ends: tuple[type[Exception], ...] = ()
    prompt_bytes: Callable[[Content], int] = lambda _: 0
    closing: Callable[[Mapping[str, float]], str] = loss_and_time


def run_training(job: Job, training: Training[Content]) -> None:
    """Train from the last whole checkpoint and write the model to `out/model`; a finished run is reused."""
    split_step(training.config, training.sequences_per_step)
    announce(f"reading {job.model} and {job.data}")
    model = find_model(job.model, training.config.prompt, max_tokens=training.max_tokens)
    material = training.read()
    with claimed(job, material, training.config, adopts_data=training.adopts_data) as run:
        if run is None:
            return
        trainer = build_trainer(training, material.content, model, run)
        metrics = train_and_save(trainer, run, training.ends)
        if is_main_process():
            typer.echo(f"{run.model}  {training.closing(metrics)}")


@contextmanager
def claimed(
    job: Job, material: Material[Content], config: TrainerConfig, *, adopts_data: bool = False
) -> Iterator[RunFolder | None]:
    """The job's locked run folder; None, after a printed line, if an earlier start has finished it."""
    identity = {
        "command": job.command,
        "model": job.model,
        "data": str(job.data),
        "model_digest": model_digest(model_folder(job.model)),
        "data_digest": material.digest,
        "config": {**config.fingerprinted(), **material.also},
        **({"fork": dict(job.fork)} if job.fork else {}),
    }
    runtime = {"micro_batch_size": config.compute.micro_batch_size, "logging_steps": config.logging.steps}
    with RunFolder(job.out, identity, force=job.force, adopts_data=adopts_data, runtime=runtime) as run:
        if not run.is_finished():
            yield run
            return
        typer.echo(f"{run.model} (reused: same settings, {'models' if material.also else 'model'} and data)")
        yield None


def split_that_fits(training: Training[Content], content: Content, model: Path) -> Split:
    """A step on one device, in the given forward passes, else in as few as its memory allows; prints the estimate."""
    config = training.config
    split = split_step(config, training.sequences_per_step)
    per_device = split.micro * split.num_passes
    shape, machine = shape_of(model), this_machine()
    context = context_tokens(model) or sys.maxsize
    num_prompt = min(num_prompt_tokens(training.prompt_bytes(content)), context)
    num_generated = training.sequences_per_generation // num_processes()
    load = config.load(Case(num_prompt, num_generated, is_gpu=machine.is_gpu))
    if shape is None or load is None:
        return split
    load = replace(load, num_tokens=min(load.num_tokens, context))
    choice = chosen(estimate(shape, load, machine), per_device, config.compute.micro_batch_size)
    for line in choice.lines:
        announce(line)
    return Split(choice.micro, per_device // choice.micro)


def num_prompt_tokens(num_bytes: int) -> int:
    """Tokens of a text of this many bytes, rather too many; the trainer counts them with the tokenizer."""
    return num_bytes // BYTES_OF_A_TOKEN + 1


def build_trainer(training: Training[Content], content: Content, model: Path, run: RunFolder) -> Any:
    """TRL's trainer for the model in a folder; the model libraries print only errors."""
    from train.runs.output.quiet import quiet

    announce("loading torch, transformers and TRL")
    quiet()
    classes, config = training.classes(), training.config
    from train.runs.logs import Reporter
    from train.runs.output.window import LogWindow

    check_passthrough(config.trl, classes.config, training.own)
    split = split_that_fits(training, content, model)
    shared = shared_arguments(config, run.folder, split)
    shared |= tracked(config.logging.report_to, run)
    start = Start(model, load_tokenizer(model), run, split)
    announce(described(model, config.max_steps, run.checkpoint()))
    parts = training.parts(content, start)
    window = LogWindow()
    reporter = Reporter(
        run,
        keep_checkpoints=config.saving.keep_checkpoints,
        max_time_s=training.max_time_s,
        steps_per_draw=training.steps_per_draw,
    )
    trainer = classes.trainer(
        model=str(model),
        args=classes.config(**{**shared, **parts.arguments, **config.trl}),
        train_dataset=parts.dataset,
        processing_class=start.tokenizer,
        # the reporter marks a checkpoint as whole, so it comes last
        callbacks=[window, reporter],
        peft_config=lora(config),
        **parts.trainer,
    )
    window.trainer = trainer
    return trainer
