"""Plan of a recipe: its stages read from YAML, with settings checked and inputs found, before the first one runs.

A stage names its command, the model it starts from (`start`, `student`, or an earlier stage), its teacher if it needs
one, its data (`problems`, `cold_start`, or an earlier stage) and the settings that the paper gives.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Self

import yaml
from pydantic import Field, model_validator

from curate.config import Config, nearest, parse, read_yaml
from curate.difficulty.stage import DifficultyConfig
from curate.errors import UserError
from curate.tables import at, merged, nested, table_of

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


class Step(Config):
    """One stage of a recipe."""

    name: str
    command: Command
    model: str = "start"
    data: str = "problems"
    teacher: str | None = None
    config: dict[str, Any] = Field(default_factory=dict)  # Any: fields of the command's own config


class Part(Config):
    """A part of a method that can be switched off, by the settings of a stage without it."""

    about: str
    stage: str
    without: dict[str, Any]  # Any: fields of the command's own config


class Gpus(Config):
    """The GPUs that a recipe's settings are chosen for, for the plan of their memory."""

    num: int = Field(ge=1)
    gb: int = Field(ge=1)
    sharding: Literal["ddp", "fsdp", "zero2", "zero3"] = "ddp"


class Recipe(Config):
    """Content of a recipe file."""

    about: str
    gpus: Gpus | None = None
    stages: tuple[Step, ...]
    parts: dict[str, Part] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _looks_back(self) -> Self:
        known = {"start", "student", "problems", "cold_start"}
        for step in self.stages:
            for word in (step.model, step.data, step.teacher):
                if word is not None and word not in known:
                    raise ValueError(f"stage {step.name} needs {word}, which no earlier stage makes")
            known.add(step.name)
        if lost := [part.stage for part in self.parts.values() if part.stage not in known]:
            raise ValueError(f"a part names stage {lost[0]}, which the recipe lacks")
        return self


class Planned(NamedTuple):
    """A stage with its config resolved and its inputs found."""

    step: Step
    config: Config
    model: str
    data: Path
    out: Path


def recipe_names() -> list[str]:
    """Names of the recipes that Gradus ships."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load_recipe(name: str) -> Recipe:
    """A recipe by name, or by the path of a YAML file."""
    path = Path(name) if name.endswith((".yaml", ".yml")) else FOLDER / f"{name}.yaml"
    if not path.is_file():
        raise UserError(f"{name}: no such recipe; {nearest(name, recipe_names())}")
    return parse(Recipe, read_yaml(path), str(path))


def cut(chosen: Recipe, until: str) -> Recipe:
    """The recipe up to and including a stage."""
    names = [step.name for step in chosen.stages]
    if until not in names:
        raise UserError(f"--until: the recipe has no stage {until}; {nearest(until, names)}")
    return chosen.model_copy(update={"stages": chosen.stages[: names.index(until) + 1]})


def switched_off(chosen: Recipe, names: list[str]) -> Recipe:
    """The recipe without some of its parts; the order of the recipe decides where two set one setting."""
    if unknown := [name for name in names if name not in chosen.parts]:
        known = nearest(unknown[0], list(chosen.parts)) if chosen.parts else "it has no parts"
        raise UserError(f"--without: the recipe has no part {unknown[0]}; {known}")
    steps = {step.name: step for step in chosen.stages}
    for name, part in chosen.parts.items():
        if name in names:
            step = steps[part.stage]
            model = _config_model(step.command)
            config = merged(model, nested(model, step.config), nested(model, part.without))
            # trl is no table of ours: its settings are merged one by one
            config |= {"trl": {**step.config.get("trl", {}), **part.without["trl"]}} if "trl" in part.without else {}
            steps[part.stage] = step.model_copy(update={"config": config})
    return chosen.model_copy(update={"stages": tuple(steps[step.name] for step in chosen.stages)})


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
    """A stage's config: the recipe's settings and model names, with the changes applied over them."""
    model, where = _config_model(step.command), f"stage {step.name}"
    if "teacher" in named and "teacher" not in model.model_fields:
        raise UserError(f"{where}: {step.command} has no teacher; use distill-on-policy, or leave teacher out")
    try:
        table = {**nested(model, step.config), **named}
        for field, value in changed.items():
            table = merged(model, table, nested(model, at(_path(model, field, where), value)))
    except ValueError as error:
        raise UserError(f"{where}: {error}") from None
    return parse(model, table, where)


def _path(model: type[Config], field: str, where: str) -> tuple[str, ...]:
    """The tables and the setting of a dotted field; a field that is no table is changed as a whole."""
    first, *rest = field.split(".")
    if rest and first in model.model_fields and table_of(model.model_fields[first]) is None:
        raise UserError(f"{where}: {field} is not a setting; set {first} as a whole")
    return first, *rest


def _model(word: str, models: Mapping[str, str], out: Path) -> str:
    """A given model, or the one that an earlier stage writes."""
    return models.get(word, str(out / word / "model"))


def _config_model(command: Command) -> type[Config]:
    if command == "difficulty":
        return DifficultyConfig
    module, config, _ = MODELS[command]
    found: type[Config] = getattr(importlib.import_module(module), config)  # named in the table
    return found
