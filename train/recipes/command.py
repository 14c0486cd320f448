"""Recipes: published trainings as small YAML files, run stage by stage or only reckoned up.

A stage names its command, the model it starts from (`start`, `student`, or an earlier stage), its teacher if it needs
one, its data (`problems`, `cold_start`, or an earlier stage) and the settings that the paper gives. Each stage is a run
folder of its own under --out, so a recipe that was stopped goes on where it was.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, Self

import typer
import yaml
from pydantic import Field, model_validator

from curate.artifacts.artifact import open_artifact
from curate.config import Config, nearest, parse, read_yaml
from curate.difficulty.stage import DifficultyConfig
from curate.difficulty.stage import stage as difficulty_stage
from curate.engines.model_files import model_folder
from curate.engines.prompts import PromptConfig
from curate.errors import UserError
from curate.runner.run import run_stage
from curate.tables import at, dotted, merged, nested, table_of
from train.data.problems import read_problems
from train.grpo.config import GrpoConfig
from train.recipes.cost import Cost, cost_of, num_parameters
from train.runs.command_line import Force
from train.runs.settings import TrainerConfig
from train.runs.starting_model import find_model
from train.tuning.distill import DistillConfig
from train.tuning.on_policy import OnPolicyConfig

FOLDER: Final = Path(__file__).parent
Command = Literal["sft", "grpo", "distill", "distill-on-policy", "fuse", "shortest", "difficulty"]
MODELS: Final = {
    "sft": ("train.tuning.sft", "SftConfig", "sft"),
    "grpo": ("train.grpo.command", "GrpoConfig", "grpo"),
    "distill": ("train.tuning.distill", "DistillConfig", "distill"),
    "distill-on-policy": ("train.tuning.on_policy", "OnPolicyConfig", "distill_on_policy"),
    "fuse": ("train.tuning.fuse", "FuseConfig", "fuse"),
    "shortest": ("train.tuning.shortest", "ShortestConfig", "shortest"),
}
Name = Annotated[str, typer.Argument(help="Recipe, or a YAML file; without a name they are listed.")]
Start = Annotated[str | None, typer.Option("--model", help="Model folder or hub name to start from.")]
Problems = Annotated[Path | None, typer.Option("--data", help="Artifact folder, or JSONL or Parquet file.")]
Folder = Annotated[Path | None, typer.Option("--out", help="Folder to write a run folder for each stage in.")]
ColdStart = Annotated[Path | None, typer.Option("--cold-start", help="Prompts with completions for the cold start.")]
Student = Annotated[str | None, typer.Option("--student", help="Model to distil into at the end, where a recipe does.")]
Until = Annotated[str | None, typer.Option("--until", help="Stop after this stage.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", metavar="<str>", help="Change a setting: STAGE.FIELD=VALUE; repeatable.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the plan and what it will cost, and do nothing.")]


class Step(Config):
    """One stage of a recipe."""

    name: str
    command: Command
    model: str = "start"
    data: str = "problems"
    teacher: str | None = None
    config: dict[str, Any] = Field(default_factory=dict)  # Any: fields of the command's own config


class Recipe(Config):
    """What a recipe file holds."""

    about: str
    stages: tuple[Step, ...]

    @model_validator(mode="after")
    def _looks_back(self) -> Self:
        known = {"start", "student", "problems", "cold_start"}
        for step in self.stages:
            for word in (step.model, step.data, step.teacher):
                if word is not None and word not in known:
                    raise ValueError(f"stage {step.name} needs {word}, which no earlier stage makes")
            known.add(step.name)
        return self


class Planned(NamedTuple):
    """A stage with its config resolved and its inputs found."""

    step: Step
    config: Config
    model: str
    data: Path
    out: Path


@dataclass(frozen=True)
class Given:
    """What the command line says of a recipe: which one, its inputs, and what of it to run."""

    name: Name = ""
    model: Start = None
    data: Problems = None
    out: Folder = None
    cold_start: ColdStart = None
    student: Student = None
    until: Until = None
    settings: Settings = None


def recipe(given: Given, dry_run: DryRun = False, force: Force = False) -> None:
    """Run a published training, or print plan and cost.

    Its stages run one after the other, each in a folder of its own under --out; the same command goes on where it was.

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
    models = {"start": model, **({"student": given.student} if given.student else {})}
    stages = plan(chosen, models, inputs, out, changes(given.settings or []))
    if dry_run:
        typer.echo(described(chosen, stages, num_parameters(model), read_problems(data).frame.height))
        return
    _refuse_late_surprises(stages, models, inputs)
    for stage in stages:
        typer.echo(f"{stage.step.name}: gradus {_room(stage.step)} {stage.step.command}")
        _run(stage, force=force)


def recipe_names() -> list[str]:
    """The recipes that come with Gradus."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load_recipe(name: str) -> Recipe:
    """A recipe by name, or by the path of a YAML file of one's own."""
    path = Path(name) if name.endswith((".yaml", ".yml")) else FOLDER / f"{name}.yaml"
    if not path.is_file():
        raise UserError(f"{name}: no such recipe; {nearest(name, recipe_names())}")
    return parse(Recipe, read_yaml(path), str(path))


def cut(chosen: Recipe, until: str) -> Recipe:
    """The recipe up to and with a stage."""
    names = [step.name for step in chosen.stages]
    if until not in names:
        raise UserError(f"--until: the recipe has no stage {until}; {nearest(until, names)}")
    return chosen.model_copy(update={"stages": chosen.stages[: names.index(until) + 1]})


def changes(settings: list[str]) -> dict[str, dict[str, Any]]:
    """`STAGE.FIELD=VALUE` options as values by stage and field, `sampling.temperature` in a table; values are YAML."""
    tables: dict[str, dict[str, Any]] = {}
    for text in settings:
        place, sign, value = text.partition("=")
        stage, dot, field = place.partition(".")
        if not sign or not dot:
            raise UserError(f"--set is {text!r}; write STAGE.FIELD=VALUE, e.g. --set rl.max_steps=100")
        tables.setdefault(stage, {})[field] = yaml.safe_load(value)
    return tables


def plan(
    chosen: Recipe,
    models: Mapping[str, str],
    inputs: Mapping[str, Path],
    out: Path,
    changed: Mapping[str, dict[str, Any]],
) -> list[Planned]:
    """Every stage with its settings checked, before the first one runs."""
    names = [step.name for step in chosen.stages]
    if unknown := [stage for stage in changed if stage not in names]:
        raise UserError(f"--set: the recipe has no stage {unknown[0]}; {nearest(unknown[0], names)}")
    planned = []
    for step in chosen.stages:
        if step.data == "cold_start" and "cold_start" not in inputs:
            raise UserError(f"stage {step.name} needs examples to start from; give --cold-start FILE")
        if step.model == "student" and "student" not in models:
            raise UserError(f"stage {step.name} needs a model to distil into; give --student MODEL, or stop by --until")
        start = _model(step.model, models, out)
        named = {
            **({"teacher": _model(step.teacher, models, out)} if step.teacher else {}),
            **({"model": start} if step.command == "difficulty" else {}),
        }
        config = _config(step, named, changed.get(step.name, {}))
        planned.append(Planned(step, config, start, inputs.get(step.data, out / step.data), out / step.name))
    return planned


def _config(step: Step, named: Mapping[str, str], changed: Mapping[str, Any]) -> Config:
    """A stage's config: what the recipe says, models by name, and over it what was changed."""
    model, where = _config_model(step.command), f"stage {step.name}"
    if "teacher" in named and "teacher" not in model.model_fields:
        raise UserError(f"{where}: {step.command} learns from no teacher; distill-on-policy does, or leave teacher out")
    try:
        table = {**nested(model, step.config), **named}
        for field, value in changed.items():
            table = merged(model, table, nested(model, at(_path(model, field, where), value)))
    except ValueError as error:
        raise UserError(f"{where}: {error}") from None
    return parse(model, table, where)


def _path(model: type[Config], field: str, where: str) -> tuple[str, ...]:
    """The tables and the setting of a dotted field; what is no table is changed as a whole."""
    first, *rest = field.split(".")
    if rest and first in model.model_fields and table_of(model.model_fields[first]) is None:
        raise UserError(f"{where}: {field} is not a setting; set {first} as a whole")
    return first, *rest


def _model(word: str, models: Mapping[str, str], out: Path) -> str:
    """A model that was given, or the one that an earlier stage leaves."""
    return models.get(word, str(out / word / "model"))


def described(chosen: Recipe, stages: list[Planned], parameters: int | None, pool_size: int) -> str:
    """The plan and its cost, for a terminal."""
    lines = [chosen.about]
    total = Cost()
    for stage in stages:
        cost = cost_of(stage.config, parameters, pool_size)
        total = total + cost
        lines.append(f"\n{stage.step.name}: gradus {_room(stage.step)} {stage.step.command}")
        lines.append(f"  model {stage.model}\n  data  {stage.data}\n  out   {stage.out}")
        given = stage.config.model_dump(mode="json", exclude_defaults=True, exclude={"model"})
        lines += [f"  {name}: {value}" for name, value in dotted(given).items()]
        lines.append(f"  cost  {cost.line()}")
    return "\n".join([*lines, f"\nall together  {total.line()}", Cost.ASSUMED])


def _config_model(command: Command) -> type[Config]:
    if command == "difficulty":
        return DifficultyConfig
    module, config, _ = MODELS[command]
    found: type[Config] = getattr(importlib.import_module(module), config)  # the table names it
    return found


def _room(step: Step) -> str:
    return "curate" if step.command == "difficulty" else "train"


def _refuse_late_surprises(stages: list[Planned], models: Mapping[str, str], inputs: Mapping[str, Path]) -> None:
    """What a late stage would find missing is said before the first one runs."""
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
                f"by gradus curate ingest {stage.data} --out FOLDER"
            )
        _refuse_unfit(stage, _ancestor(stage.step.model, stages, models))


def _refuse_unfit(stage: Planned, model: str) -> None:
    """A given model that cannot be asked as a stage will ask what it has become by then."""
    prompt, max_tokens = _asking(stage.config)
    if prompt is None:
        return
    try:
        find_model(model, prompt, max_tokens=max_tokens)
    except UserError as error:
        raise UserError(f"stage {stage.step.name}: {error}") from None


def _asking(config: Config) -> tuple[PromptConfig | None, int]:
    """How a stage asks its model, and the completion tokens that the context must hold beside the prompt."""
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
    run = getattr(importlib.import_module(module), function)  # the table names it
    run(stage.model, stage.data, stage.out, stage.config, force)
