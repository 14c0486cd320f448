"""Expert iteration: rounds of sampling and fine-tuning on the right answers, with the curriculum that GRPO uses.

A round draws problems from the curriculum, samples from the previous round's model, reports the outcomes to the
curriculum and fine-tunes on the right answers (rejection fine-tuning; Singh et al., arXiv 2312.06585). Each round has
its own folder with its samples, its model and the curriculum's state after it: a kill costs at most one round.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

import polars as pl
import typer
from pydantic import Field, PositiveInt, model_validator

from curate.artifacts.manifest import canonical_json, write_atomic
from curate.artifacts.samples import Sample, SampleLog
from curate.engines import EngineConfig, open_engine, settle
from curate.engines.config import EngineName
from curate.progress import Progress
from curate.runner.stage import Workspace
from curate.sampling.grading import GradingConfig, Problem, grade
from curate.sampling.model_stage import Asked, Asking, open_asking
from curate.tables import AS_TEXT, short
from curriculum import Curriculum, CurriculumConfig, PoolExhausted
from train.data.problems import read_problems
from train.data.rows import Rows
from train.grpo.rollout.groups import Group
from train.grpo.run_curriculum import print_notices
from train.grpo.tables import Sampling
from train.runs.command_line import DataFile, Force, Model, Out
from train.runs.folder import DRAWS, RunFolder
from train.runs.frame import Job, Material, claimed
from train.runs.running import unfinished_model
from train.tuning.sft import SftConfig, fine_tune

RECORD: Final = "draw.json"
CORRECTNESS: Final = {"correct": 1.0, "wrong": 0.0, "undecided": float("nan")}


class EngineSampling(Sampling):
    """Sampling of completions by an engine."""

    engine: EngineName = Field("auto", description="Inference backend; auto is vllm if installed, else transformers.")


class ExpertIterationConfig(GradingConfig, SftConfig):
    """Fine-tune a model on its own right answers, round by round.

    Each round draws problems from the curriculum as `gradus train grpo` does, samples completions and fine-tunes on
    the right ones. Data is an artifact of `gradus curate`, or a file with problems and answers. After a stop, the same
    command resumes in its last round. The model is written to OUT/model. To compare with RL on the same completions,
    use `gradus train grpo --objective raft`, which differs from other objectives in one flag.

    Example: gradus train expert-iteration --model runs/sft/model --data runs/difficulty --out runs/experts --rounds 4
    """

    rounds: PositiveInt = Field(4, description="Rounds of sampling and fine-tuning.")
    num_problems: PositiveInt = Field(256, description="Problems per round.")
    group_size: PositiveInt = Field(8, description="Completions per problem.")
    sampling: EngineSampling = Field(
        EngineSampling(), description="Sampling of completions.", json_schema_extra=short("engine", "temperature")
    )
    curriculum: CurriculumConfig = Field(
        CurriculumConfig(),
        description="Curriculum settings as YAML: '{policy: prioritized, p0: 0.9}'.",
        json_schema_extra=AS_TEXT,
    )

    @model_validator(mode="after")
    def _has_no_canaries(self) -> Self:
        if self.curriculum.canaries:
            raise ValueError("curriculum.canaries is for gradus train grpo; use --objective raft there, or set it to 0")
        return self

    def engine_config(self, model: Path | str) -> EngineConfig:
        """Engine settings for the model of a round."""
        asked = {**self.prompt.model_dump(), **self.sampling.model_dump()}
        return EngineConfig(**asked, max_tokens=self.max_tokens, model=str(model))


def expert_iteration(
    model: Model, data: DataFile, out: Out, config: ExpertIterationConfig, force: Force = False
) -> None:
    """Run the rounds and write the model to `out/model`."""
    rows = read_problems(data)
    settle(config.engine_config(model))
    job = Job("expert-iteration", model, data, out, force)
    with claimed(job, Material(rows, rows.digest), config) as run:
        if run is None:
            return
        last = Path(model)
        for number in range(1, config.rounds + 1):
            try:
                last = _round(number, last, rows, config, run)
            except PoolExhausted as end:
                typer.echo(f"training ends early: {end}")
                break
        shutil.copytree(last, unfinished_model(run), dirs_exist_ok=True)
        unfinished_model(run).rename(run.model)
        typer.echo(str(run.model))


def _round(number: int, model: Path, rows: Rows, config: ExpertIterationConfig, run: RunFolder) -> Path:
    """Run one round and return its model's folder; a finished round is not run again."""
    folder = run.folder / "rounds" / f"{number:03d}"
    trained = folder / "sft" / "model"
    if trained.is_dir():
        run.append(DRAWS, json.loads((folder / RECORD).read_text()))
        return trained
    curriculum = _curriculum(number, rows, config, run)
    drawn = curriculum.draw(config.num_problems, step=number)
    frame = rows.frame[sorted(set(drawn))]
    asked = _ask(frame, config, model, folder, number)
    place = {key: row for row, key in enumerate(curriculum.keys)}
    groups = [group_of(item, place[item.problem.key]) for item in asked if item.samples]
    curriculum.observe([group.visit() for group in groups], step=number)
    print_notices(curriculum, number)
    curriculum.save(folder / "curriculum")
    record = _record(number, curriculum, groups)
    write_atomic(folder / RECORD, json.dumps(record).encode())
    right = [
        (item.problem.prompt, item.problem.messages, s.text)
        for item in asked
        for s in item.samples
        if s.verdict == "correct"
    ]
    typer.echo(f"round {number}: {len(right):,} right of {sum(len(item.samples) for item in asked):,} completions")
    if not right:
        run.append(DRAWS, record)
        return model
    columns = dict.fromkeys(("prompt", "messages", config.completion_column), pl.String())
    examples = pl.DataFrame(right, schema=columns, orient="row")
    settings = SftConfig(**{name: getattr(config, name) for name in SftConfig.model_fields})
    digest = f"{rows.digest}:{number}"
    fine_tune(Job("sft", str(model), folder, folder / "sft", force=False), Rows(examples, digest), settings)
    run.append(DRAWS, record)
    return trained


def group_of(item: Asked, row: int) -> Group:
    """The samples of one problem as a group of GRPO."""
    samples = item.samples
    return Group(
        row,
        tuple(CORRECTNESS[sample.verdict] for sample in samples),
        tuple(sample.num_tokens for sample in samples),
        tuple(sample.verdict_reason for sample in samples),
    )


def _ask(frame: pl.DataFrame, config: ExpertIterationConfig, model: Path, folder: Path, number: int) -> list[Asked]:
    folder.mkdir(parents=True, exist_ok=True)
    log = SampleLog(folder)

    def owed(_: Problem, samples: Sequence[Sample]) -> int:
        return config.group_size - len(samples)

    asked = config.engine_config(model)
    # a problem that is drawn again gets other completions
    seed = config.seed + 1_000_003 * number
    asking = Asking("expert-iteration", seed, owed, partial(grade, config=config), asked.max_in_flight)
    with (
        Progress("sampling", frame.height) as progress,
        open_asking(asking, open_engine(asked), Workspace(log, progress)) as ask,
    ):
        answers = ask(frame)
    log.close()
    return answers


def _curriculum(number: int, rows: Rows, config: ExpertIterationConfig, run: RunFolder) -> Curriculum:
    """The curriculum after the previous round; a new one in the first round."""
    sampling = {
        **config.sampling.model_dump(mode="json", include=set(Sampling.model_fields)),
        "max_tokens": config.max_tokens,
        "group_size": config.group_size,
    }
    prompt = config.prompt.model_dump(mode="json")
    binding = {"dataset": rows.digest, "sampling": canonical_json(sampling), "prompt": canonical_json(prompt)}
    if number == 1:
        return Curriculum.create(rows.frame, config.curriculum, binding)
    before = run.folder / "rounds" / f"{number - 1:03d}" / "curriculum"
    return Curriculum.load(before, rows.frame, config.curriculum, binding)


def _record(number: int, curriculum: Curriculum, groups: list[Group]) -> dict[str, Any]:
    visits = [asdict(group.visit()) for group in groups]
    names = ("num_correct", "num_wrong", "num_undecided")
    columns = {name: [visit[name] for visit in visits] for name in names}
    keys = [curriculum.keys[group.row] for group in groups]
    return {"step": number, "draw": curriculum.clock.draw_number, "keys": keys, **columns}
