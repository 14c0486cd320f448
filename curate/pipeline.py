"""Runs a pipeline: sources and stages from one YAML file, in order, into one folder with an artifact per stage.

    RUN/pipeline.json   the stages in order
    RUN/ingest/         the first artifact, RUN/<stage>/ the ones after it

A stage's table holds the fields of its config and nothing else. A rerun reuses unchanged stages and resumes an
interrupted one; a changed stage is refused, unless `force`. Stages that use the same model with the same engine options
share one start of vLLM.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import Field

from curate.artifacts.artifact import open_artifact
from curate.artifacts.folder import prospect
from curate.artifacts.manifest import fingerprint, read_manifest, write_atomic
from curate.config import Config, nearest, parse, read_yaml
from curate.engines.warm import Shelf
from curate.errors import UserError
from curate.ingest.hub import pinned
from curate.ingest.plan import IngestConfig, Plan, plan
from curate.ingest.sources import Source
from curate.runner.run import Outcome, run_stage
from curate.runner.stage import Stage
from curate.stages import FIRST, STAGES

PIPELINE: Final = "pipeline.json"


class PipelineFile(Config):
    """The tables of a pipeline file."""

    # Any: checked one by one, so that an error names its source
    sources: tuple[dict[str, Any], ...] = Field(description="Paths or Hub ids, with what is to be known of them")
    stages: dict[str, dict[str, Any] | None] = Field({}, description="Settings by stage, in the order of the work")


class Pipeline(NamedTuple):
    """The content of a pipeline file: the planned sources, and the stages in order; the first one reads the sources."""

    plans: list[Plan]
    stages: dict[str, Config]

    def names(self) -> list[str]:
        """The folders of the run, in order."""
        return list(self.stages)


def read_pipeline(path: Path) -> Pipeline:
    """Read and check a pipeline file and plan its sources; `UserError` names the first mistake."""
    file = parse(PipelineFile, read_yaml(path), str(path))
    if not file.sources:
        raise UserError(f"{path}: sources is empty; name at least one path or hub id")
    if FIRST in list(file.stages)[1:]:
        raise UserError(f"{path}: stages.{FIRST} follows another stage; it is always first")
    sources = [parse(Source, table, str(path), f"sources.{at}") for at, table in enumerate(file.sources)]
    limits = parse(IngestConfig, file.stages.get(FIRST) or {}, str(path), f"stages.{FIRST}")
    others = {name: _config(name, table or {}, path) for name, table in file.stages.items() if name != FIRST}
    return Pipeline([plan(pinned(source), limits) for source in sources], {FIRST: limits, **others})


def run_pipeline(
    pipeline: Pipeline, out: Path, done: Callable[[Outcome], None], *, force: bool = False, executor: str = "local"
) -> None:
    """Run every stage in order; `done` is called after each. Raises `UserError` if an earlier run is in the way.

    Inputs of the stages (a benchmark, a model, rulings) are checked before the first stage starts.
    """
    stages = {name: _stage(name, pipeline) for name in pipeline.names()}
    _record(pipeline, out, force=force)
    engines = Shelf()
    with engines.opened():
        before: Path | None = None
        for name, stage in stages.items():
            pool = open_artifact(before) if before is not None else None
            where = executor if stage.scope == "batch" else "local"
            before = out / name
            done(run_stage(stage, pool, before, force=force, executor=where, engines=engines))


def plan_lines(pipeline: Pipeline, out: Path) -> Iterator[str]:
    """One line per stage: its settings and what a run would do with it; writes nothing."""
    digest: str | None = None
    for name, config in pipeline.stages.items():
        stage = _stage(name, pipeline)
        is_known = name == FIRST or digest is not None
        wanted = fingerprint(**stage.identity(digest)) if is_known else None
        settings = config.model_dump(mode="json", exclude_defaults=True)
        digest, state = _state(out / name, wanted)
        yield f"{name:<16} {state:<44} {json.dumps(settings, ensure_ascii=False) if settings else ''}".rstrip()


def stages_of(run: Path) -> list[str]:
    """The stages of a run folder, in order; raises `UserError` for any other folder."""
    try:
        names: list[str] = json.loads((run / PIPELINE).read_bytes())["stages"]
    except (FileNotFoundError, NotADirectoryError):
        raise UserError(f"{run}: holds no {PIPELINE}; give the folder that `gradus curate run` wrote") from None
    except (ValueError, KeyError):
        raise UserError(f"{run / PIPELINE}: is damaged; run the pipeline again") from None
    return names


def _config(name: str, table: dict[str, Any], path: Path) -> Config:  # Any: settings not yet checked
    if name not in STAGES:
        raise UserError(f"{path}: stages.{name} is no stage; {nearest(name, list(STAGES))}")
    model: type[Config] = getattr(importlib.import_module(STAGES[name].module), STAGES[name].config)
    return parse(model, table, str(path), f"stages.{name}")


def _stage(name: str, pipeline: Pipeline) -> Stage:
    module, config = importlib.import_module(STAGES[name].module), pipeline.stages[name]
    stage: Stage = module.stage(config, pipeline.plans) if name == FIRST else module.stage(config)
    return stage


def _record(pipeline: Pipeline, out: Path, *, force: bool) -> None:
    """Write the order of the stages before they run; raise `UserError` if the folder has another order."""
    if (out / PIPELINE).exists() and not force:
        earlier: Sequence[str] = stages_of(out)
        if earlier != pipeline.names():
            raise UserError(
                f"{out}: holds a run of {', '.join(earlier)}; choose another folder, or --force to replace what differs"
            )
    try:
        write_atomic(out / PIPELINE, (json.dumps({"stages": pipeline.names()}, indent=1) + "\n").encode())
    except OSError as error:
        raise UserError(f"{out}: cannot write here ({error.strerror}); choose another folder") from None


def _state(folder: Path, wanted: str | None) -> tuple[str | None, str]:
    """The digest of a finished artifact with this fingerprint, and a description of what a run would do."""
    what = prospect(folder, wanted)
    if what == "reuse":
        manifest = read_manifest(folder)
        return manifest.digest, f"reuse ({manifest.num_kept:,} of {manifest.num_in:,} kept)"
    return None, "replace with --force: settings or input changed" if what == "replace" else what
