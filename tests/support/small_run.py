"""A small run of real stages through the real runner, as the folder that `curate run` would leave."""

import atexit
import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from curate.artifacts.artifact import open_artifact, seal
from curate.artifacts.folder import OutFolder
from curate.artifacts.manifest import read_manifest
from curate.artifacts.samples import Sample
from curate.config import Config
from curate.records import PROBLEM, problem_key, schema
from curate.runner.run import run_stage
from curate.runner.stage import Run, Stage, Workspace, bound, decide

HOSTILE = "<script>alert(1)</script> | `x` $\\frac{1}{2}$ </td> {{ 7*7 }}"


EVIDENCE = {"benchmark": "bench", "item": "7", "field": "prompt", "method": "exact", "score": 1.0, "matched": "a leak"}


class Threshold(Config):
    """Settings of the test stages."""

    limit: int = 8
    model: str = "models/tiny"


def problems(prompts: Sequence[str], source: str = "made_up") -> pl.DataFrame:
    rows = [
        {
            "key": problem_key(prompt),
            "prompt": prompt,
            "ground_truth": str(number),
            "kind": "math",
            "source": source,
            "source_row": number,
            "also_in": [],
            "extra": "{}",
        }
        for number, prompt in enumerate(prompts)
    ]
    return pl.DataFrame(rows, schema=schema(PROBLEM))


def write_pool(folder: Path, rows: pl.DataFrame) -> None:
    identity = {"stage": "ingest", "version": 1, "config": {}, "inputs": {"made_up": "0" * 64}}
    with OutFolder(folder, identity) as out:
        if out.complete() is None:
            is_empty = pl.col("prompt").str.strip_chars() == ""
            out.write_batch(0, decide(rows, pl.when(is_empty).then(pl.lit("no_prompt")), pl.lit("prompt is empty")))
            names = sorted(set(rows["source"]))
            out.finish(lambda _: {"sources": [{"name": name, "licence": "MIT", "revision": "r1"} for name in names]})


def decontaminate(limit: int) -> Stage:
    def run(rows: pl.DataFrame, config: Threshold) -> pl.DataFrame:
        leaked = pl.when(pl.col("prompt").str.contains("leak")).then(pl.lit("bench/7"))
        rows = rows.with_columns(contaminated_by=leaked)
        reason = pl.when(pl.col("contaminated_by").is_not_null()).then(pl.lit("contaminated"))
        return decide(rows, reason, pl.lit(json.dumps(EVIDENCE)))

    config = Threshold(limit=limit)
    adds = {"contaminated_by": pl.String()}
    return Stage(
        "decontaminate", 1, "batch", config, bound(run, config), adds=adds, inputs={"benchmark bench": "1" * 64}
    )


def difficulty(limit: int, facts: Mapping[str, object] | None = None) -> Stage:
    config = Threshold(limit=limit)

    @contextmanager
    def open_sampler(workspace: Workspace) -> Iterator[Run]:
        yield lambda rows: run(rows, workspace)

    def run(rows: pl.DataFrame, workspace: Workspace) -> pl.DataFrame:
        assert workspace.samples is not None
        correct = [int(row["key"], 16) % (limit + 1) for row in rows.iter_rows(named=True)]
        for key, number in zip(rows["key"], correct, strict=True):
            for index in range(limit):
                verdict = "correct" if index < number else "wrong"
                sample = Sample(key, index, f"{HOSTILE} answer {index}", 10 + index, "stop", verdict, "same", index)
                workspace.samples.append(sample)
        rows = rows.with_columns(num_correct=pl.Series(correct), num_samples=pl.lit(limit, dtype=pl.Int64))
        rows = rows.with_columns(pass_rate=pl.col("num_correct") / pl.col("num_samples"))
        reason = pl.when(pl.col("pass_rate") == 0).then(pl.lit("too_hard"))
        return decide(rows, reason, pl.col("num_correct").cast(pl.String) + " correct")

    adds = {"num_correct": pl.Int64(), "num_samples": pl.Int64(), "pass_rate": pl.Float64()}
    inputs = {"model": "2" * 64}
    stage = Stage("difficulty", 1, "corpus", config, open_sampler, adds=adds, inputs=inputs, has_samples=True)
    return replace(stage, facts=lambda _: dict(facts)) if facts else stage


def break_text(artifact: Path) -> None:
    """Put bytes that are no UTF-8 into the second kept prompt, under a manifest that is true all the same."""
    shard = artifact / "kept" / "part-00000.parquet"
    table = pq.read_table(shard)
    prompts = [prompt.encode() for prompt in table["prompt"].to_pylist()]
    prompts[1] = b"\xff\xfe no text"
    buffers = pa.array(prompts, pa.large_binary()).buffers()
    place = table.schema.get_field_index("prompt")
    broken = table.set_column(place, "prompt", pa.Array.from_buffers(pa.large_utf8(), len(prompts), buffers))
    pq.write_table(broken, shard)
    fields = read_manifest(artifact).model_dump(exclude={"files", "digest"})
    seal(artifact, fields)


PROMPTS = ["", "a leak from the bench", HOSTILE, *(f"What is {n} + {n}?" for n in range(30))]


def write_run(
    folder: Path, prompts: Sequence[str] = PROMPTS, *, limit: int = 4, facts: Mapping[str, object] | None = None
) -> Path:
    """Write a run folder of three stages over these prompts; `facts` are those of the difficulty stage.

    Equal runs are equal bytes, so each is made once and copied after that.
    """
    shutil.copytree(_made(tuple(prompts), limit, tuple((facts or {}).items())), folder)
    return folder


@cache
def _made(prompts: tuple[str, ...], limit: int, facts: tuple[tuple[str, object], ...]) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="gradus-small-run-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    write_pool(folder / "ingest", problems(prompts))
    run_stage(decontaminate(limit), open_artifact(folder / "ingest"), folder / "decontaminate")
    run_stage(difficulty(limit, dict(facts)), open_artifact(folder / "decontaminate"), folder / "difficulty")
    (folder / "pipeline.json").write_text(json.dumps({"stages": ["ingest", "decontaminate", "difficulty"]}))
    return folder
