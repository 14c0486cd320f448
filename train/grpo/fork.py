"""A new run from a checkpoint of an earlier one: its weights, its curriculum and its settings, some of them changed.

Weights, success rates, pools and draw numbers are those of the checkpoint; steps count from 0, and the optimizer starts
anew, since its moments and learning rate belong to the earlier settings. What the curriculum's statistics depend on
(model, tokens, temperature, group size) may not change.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from curate.config import parse, read_yaml
from curate.errors import UserError
from curate.tables import dotted, merged
from train.environment import is_main_process
from train.grpo.command import train_job
from train.grpo.config import GrpoConfig
from train.runs import checkpoints
from train.runs.command_line import Force, Out
from train.runs.earlier import in_current_form
from train.runs.folder import CONFIG
from train.runs.frame import Job

Source = Annotated[
    str,
    typer.Argument(metavar="RUN[@STEP]", help="Run of train grpo, and a saved step.", show_default=False),
]
OtherData = Annotated[
    Path | None, typer.Option("--data", help="Other data; by default those of the run.", show_default=False)
]
HELP = """Begin a new run from a checkpoint of another one, with some settings changed.

Weights and curriculum are those of the checkpoint, all settings those of the run except the ones that are given; steps
count from 0, by default as many as the run had left, and the optimizer starts anew. The changed settings are printed
and recorded in config.yaml.

Example: gradus train fork runs/grpo@200 --out runs/lower --learning-rate 1e-7
"""


def fork(source: Source, out: Out, config: GrpoConfig, data: OtherData = None, force: Force = False) -> None:
    """Train from the checkpoint."""
    run, step, checkpoint = _found(source)
    identity = in_current_form(read_yaml(run / CONFIG))
    if identity.get("command") != "grpo":
        raise UserError(f"{run}: is a run of train {identity.get('command')}; fork takes runs of train grpo")
    if (checkpoint / "adapter_config.json").exists():
        raise UserError(f"{checkpoint}: holds adapters without their base; fork takes runs with lora_rank 0")
    before: dict[str, Any] = {**identity["config"]}
    given = config.model_dump(mode="json", exclude_unset=True)
    left = max(1, int(before["max_steps"]) - step)
    # a rerun finds the same settings whether they are given or the run's
    chosen = merged(GrpoConfig, {**before, "max_steps": left, "curriculum_from": str(checkpoint)}, given)
    new = parse(GrpoConfig, {name: value for name, value in chosen.items() if name in GrpoConfig.model_fields}, "--")
    changed = _changed(before, new.fingerprinted())
    lineage = {"run": str(run), "step": step, "changed": changed}
    if is_main_process():
        typer.echo(f"fork of {run} at step {step}: the optimizer starts anew")
        for name, (was, now) in changed.items():
            typer.echo(f"  {name}: {was} -> {now}")
    train_job(Job("grpo", str(checkpoint), data or Path(str(identity["data"])), out, force, lineage), new)


def _found(source: str) -> tuple[Path, int, Path]:
    """The run, the step and its whole checkpoint."""
    place, at, number = source.rpartition("@")
    run = Path(place if at and number.isdecimal() else source)
    if not (run / CONFIG).is_file():
        raise UserError(f"{run}: is no run of train grpo; write RUN@STEP with a run's folder")
    whole = {checkpoints.step_of(path): path for path in checkpoints.checkpoints_of(run) if checkpoints.is_whole(path)}
    step = int(number) if at and number.isdecimal() else max(whole, default=0)
    if step not in whole:
        known = ", ".join(map(str, sorted(whole))) or "none"
        raise UserError(f"{run}: has no whole checkpoint of step {step}; steps with one: {known}")
    return run, step, whole[step]


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, list[Any]]:  # Any: JSON values
    old, new = dotted(before), dotted(now)
    names = sorted({*old, *new} - {"curriculum_from"})
    return {name: [old.get(name), new.get(name)] for name in names if old.get(name) != new.get(name)}
