"""Commands of the train room, built from a table: `gradus train <command> [options]`.

A command's options are the fields of its config model; its help is the model's docstring, which ends in an example.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import typer

from curate.config import Config
from curate.figures import with_figures
from curate.options import with_options, with_records
from curate.panels import Commands
from curate.parts import PARTS, require
from train.environment import is_main_process, leave_together
from train.evaluate.compare import compare_command
from train.grpo import fork
from train.grpo.config import GrpoConfig
from train.grpo.explain import explain
from train.recipes.command import recipe
from train.runs.following import following
from train.runs.launch import accelerate_config
from train.runs.trace import trace


class Entry(NamedTuple):
    """Location of a command: its module, its config model and its function."""

    module: str
    config: str
    function: str


COMMANDS: Final[dict[str, Entry]] = {
    "sft": Entry("train.tuning.sft", "SftConfig", "sft"),
    "grpo": Entry("train.grpo.command", "GrpoConfig", "grpo"),
    "expert-iteration": Entry("train.tuning.expert_iteration", "ExpertIterationConfig", "expert_iteration"),
    "distill": Entry("train.tuning.distill", "DistillConfig", "distill"),
    "distill-on-policy": Entry("train.tuning.on_policy", "OnPolicyConfig", "distill_on_policy"),
    "fuse": Entry("train.tuning.fuse", "FuseConfig", "fuse"),
    "shortest": Entry("train.tuning.shortest", "ShortestConfig", "shortest"),
    "evaluate": Entry("train.evaluate.command", "EvaluateConfig", "evaluate"),
}

WITH_FIGURES: Final = ("evaluate",)  # the others log as they go

app = Commands(
    result_callback=leave_together,
    help="SFT, GRPO with the curriculum, and evaluation, on TRL.",
)


def _add(name: str, entry: Entry) -> None:
    module = importlib.import_module(entry.module)
    model: type[Config] = getattr(module, entry.config)  # named in the table
    command = with_options(_needing_parts(name, getattr(module, entry.function)), model)
    app.command(name, help=model.__doc__)(with_figures(command) if name in WITH_FIGURES else command)


def _needing_parts(name: str, command: Callable[..., Any]) -> Callable[..., Any]:
    """The command, which first checks that its libraries are installed; evaluation needs those of its engine only."""

    @functools.wraps(command)
    def checked(*values: object, **options: object) -> Any:
        if name != "evaluate":
            require(f"gradus train {name}", *PARTS["train"])
        result = command(*values, **options)
        out = options.get("out")
        if isinstance(out, Path) and is_main_process() and (line := following(name, out)) is not None:
            typer.echo(line)
        return result

    return checked


for _name, _entry in COMMANDS.items():
    _add(_name, _entry)


app.command("fork", help=fork.HELP)(with_options(fork.fork, GrpoConfig))
app.command("recipe")(with_records(recipe))
app.command("compare")(with_figures(compare_command))
app.command("explain")(explain)
app.command("trace")(trace)
app.command("accelerate-config")(accelerate_config)


@app.callback()
def _room() -> None:
    pass
