"""Recipes: published trainings as small YAML files, run stage by stage or only planned with their cost.

Each stage has its own run folder under --out, so a recipe that was stopped resumes.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from curate.artifacts.artifact import open_artifact
from curate.config import Config
from curate.difficulty.stage import DifficultyConfig
from curate.difficulty.stage import stage as difficulty_stage
from curate.engines.model_files import model_folder
from curate.engines.prompts import PromptConfig
from curate.errors import UserError
from curate.runner.run import run_stage
from curate.tables import dotted
from train.data.problems import read_problems
from train.grpo.config import GrpoConfig
from train.memory.shape import num_parameters
from train.recipes.cost import Cost, cost_of
from train.recipes.memory import memory_lines
from train.recipes.plan import (
    MODELS,
    Planned,
    Recipe,
    Step,
    changes,
    cut,
    load_recipe,
    plan,
    recipe_names,
    switched_off,
)
from train.runs.command_line import Force
from train.runs.settings import TrainerConfig
from train.runs.starting_model import find_model
from train.tuning.distill import DistillConfig
from train.tuning.on_policy import OnPolicyConfig

Name = Annotated[str, typer.Argument(help="Name of a recipe, or a YAML file; without it, all are listed.")]
Start = Annotated[str | None, typer.Option("--model", help="Model to start from: a folder or a Hub name.")]
Problems = Annotated[Path | None, typer.Option("--data", help="Artifact folder, or JSONL or Parquet file.")]
Folder = Annotated[Path | None, typer.Option("--out", help="Folder for the run folders of the stages.")]
ColdStart = Annotated[Path | None, typer.Option("--cold-start", help="Prompts with completions for the cold start.")]
Student = Annotated[str | None, typer.Option("--student", help="Model to distil into, for recipes that distil.")]
Until = Annotated[str | None, typer.Option("--until", help="Stop after this stage.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="<str>", help="Change a setting: STAGE.FIELD=VALUE; repeatable.")
]
Without = Annotated[
    list[str] | None,
    typer.Option(
        "--without", metavar="<str>", help="Leave out a part of the method; --dry-run lists them; repeatable."
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the plan and its cost, and run nothing.")]


@dataclass(frozen=True)
class Given:
    """Command-line arguments of a recipe: its name, its inputs, and the part to run."""

    name: Name = ""
    model: Start = None
    data: Problems = None
    out: Folder = None
    cold_start: ColdStart = None
    student: Student = None
    until: Until = None
    without: Without = None
    settings: Settings = None


def recipe(given: Given, dry_run: DryRun = False, force: Force = False) -> None:
    """Run a published training, or print its plan and cost.

    The stages run in order, each in its own folder under --out; after a stop, the same command resumes.

    Example: gradus train recipe dr_grpo --model Qwen/Qwen2.5-1.5B --data runs/difficulty --out runs/dr_grpo --dry-run
    """
    if not given.name:
        typer.echo("\n".join(f"{known:<12} {load_recipe(known).about}" for known in recipe_names()))
        return
    model, data, out = given.model, given.data, given.out
    if model is None or data is None or out is None:
        missing = [option for option, value in (("--model", model), ("--data", data), ("--out", out)) if value is None]
        raise UserError(f"recipe {given.name}: needs {', '.join(missing)} as well")
    chosen = load_recipe(given.name) if given.until is None else cut(load_recipe(given.name), given.until)
    inputs = {"problems": data, **({"cold_start": given.cold_start} if given.cold_start else {})}
    chosen = switched_off(chosen, given.without or [])
    models = {"start": model, **({"student": given.student} if given.student else {})}
    stages = plan(chosen, models, inputs, out, changes(given.settings or []))
    if dry_run:
        problems = read_problems(data).frame
        typer.echo(described(chosen, stages, num_parameters(model), problems.height))
        if chosen.gpus is not None:
            typer.echo("\n".join(["", *memory_lines(chosen.gpus, stages, model, problems)]))
        return
    _refuse_missing_inputs(stages, models, inputs)
    for stage in stages:
        typer.echo(f"{stage.step.name}: gradus {_room(stage.step)} {stage.step.command}")
        _run(stage, force=force)


def described(chosen: Recipe, stages: list[Planned], parameters: int | None, pool_size: int) -> str:
    """The plan and its cost, for a terminal."""
    lines = [chosen.about, *(f"  --without {name}: no {part.about}" for name, part in chosen.parts.items())]
    total = Cost()
    for stage in stages:
        cost = cost_of(stage.config, parameters, pool_size)
        total = total + cost
        lines.append(f"\n{stage.step.name}: gradus {_room(stage.step)} {stage.step.command}")
        lines.append(f"  model {stage.model}\n  data  {stage.data}\n  out   {stage.out}")
        given = stage.config.model_dump(mode="json", exclude_defaults=True, exclude={"model"})
        lines += [f"  {name}: {value}" for name, value in dotted(given).items()]
        lines.append(f"  cost  {cost.line()}")
    return "\n".join([*lines, f"\ntotal  {total.line()}", Cost.ASSUMED])


def _room(step: Step) -> str:
    return "curate" if step.command == "difficulty" else "train"


def _refuse_missing_inputs(stages: list[Planned], models: Mapping[str, str], inputs: Mapping[str, Path]) -> None:
    """Refuse what a late stage lacks before the first one runs."""
    for model in models.values():
        model_folder(model)
    if (cold_start := inputs.get("cold_start")) and not cold_start.exists():
        raise UserError(
            f"{cold_start}: no such file or folder; give --cold-start an artifact, or a JSONL or Parquet file"
        )
    for stage in stages:
        if stage.step.command == "difficulty" and stage.data.is_file():
            raise UserError(
                f"{stage.data}: stage {stage.step.name} samples the problems of an artifact, not of a file; make one "
                f"with gradus curate ingest {stage.data} --out FOLDER"
            )
        _refuse_unfit(stage, _ancestor(stage.step.model, stages, models))


def _refuse_unfit(stage: Planned, model: str) -> None:
    """Refuse a stage whose prompt settings its given model does not support."""
    prompt, max_tokens = _asking(stage.config)
    if prompt is None:
        return
    try:
        find_model(model, prompt, max_tokens=max_tokens)
    except UserError as error:
        raise UserError(f"stage {stage.step.name}: {error}") from None


def _asking(config: Config) -> tuple[PromptConfig | None, int]:
    """Prompt settings of a stage, and the completion tokens that must fit the context beside the prompt."""
    match config:
        case GrpoConfig():
            return config.prompt, config.sampling.max_tokens
        case OnPolicyConfig() | DistillConfig():
            return config.prompt, config.max_tokens
        case TrainerConfig():
            return config.prompt, 0
        case DifficultyConfig():
            return config, config.max_tokens
    return None, 0


def _ancestor(word: str, stages: list[Planned], models: Mapping[str, str]) -> str:
    """The given model that a stage's model is trained from."""
    if word in models:
        return models[word]
    return _ancestor(next(stage.step.model for stage in stages if stage.step.name == word), stages, models)


def _run(stage: Planned, *, force: bool) -> None:
    if isinstance(stage.config, DifficultyConfig):
        run_stage(difficulty_stage(stage.config), open_artifact(stage.data), stage.out, force=force)
        return
    module, _, function = MODELS[stage.step.command]
    run = getattr(importlib.import_module(module), function)  # named in the table
    run(stage.model, stage.data, stage.out, stage.config, force)
