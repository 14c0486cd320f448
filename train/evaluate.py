"""Evaluation: how often does a model solve the problems of a benchmark, and how sure can one be of that?

Problems are sampled by the same engines and judged by the same verifier as in difficulty and training. What was sampled
is kept, a killed evaluation goes on, and a repeated one is reused.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import polars as pl
import typer
from pydantic import Field, PositiveInt

from curate.artifact import write_shard
from curate.engines import EngineConfig, open_engine, settle
from curate.errors import UserError
from curate.grading import GradingConfig, Problem, grade
from curate.manifest import write_atomic
from curate.model_stage import Asked, Asking, open_asking
from curate.progress import Progress
from curate.records import SAMPLE, schema
from curate.samples import LOG, Sample, SampleLog
from curate.sources import source_at
from curate.stage import Workspace
from train.command_line import Force
from train.problems import read_problems
from train.run_folder import RunFolder
from train.scores import score

RESULTS: Final = "results.json"
SAMPLES: Final = "samples.parquet"

Benchmarks = Annotated[
    list[Path], typer.Option("--data", help="Benchmark: artifact or file; give it once for each.", show_default=False)
]
Out = Annotated[Path, typer.Option("--out", help="Folder for results, samples and plots.", show_default=False)]


class EvaluateConfig(GradingConfig, EngineConfig):
    """Measure how often a model solves the problems of one or more benchmarks.

    Each problem is asked n times. Written are avg@n with its 95% interval, pass@k, maj@n, the shares that could not be
    judged or were cut off, and the lengths of right and wrong answers; `gradus train compare` sets two evaluations
    side by side.

    Example: gradus train evaluate --model runs/grpo/model --data aime24.jsonl --data math500.jsonl --n 4 --out eval
    """

    n: PositiveInt = Field(4, description="Completions per problem.")
    seed: int = Field(0, description="Seed of the run; each completion's seed derives from it, the key and the index.")


def evaluate(data: Benchmarks, out: Out, config: EvaluateConfig, force: Force = False) -> None:
    """Sample, judge, and write results.json, samples.parquet and plots/."""
    settled = settle(config)
    benchmarks = {_name(path): read_problems(path) for path in data}
    if len(benchmarks) < len(data):
        raise UserError("--data: two benchmarks have one name; rename one of the files")
    identity = {
        "command": "evaluate",
        "model": config.model,
        "data": [str(path) for path in data],
        "model_digest": settled.identity["model"],
        "data_digest": {name: rows.digest for name, rows in benchmarks.items()},
        "config": {**config.fingerprinted(), **settled.identity},
    }
    with RunFolder(out, identity, force=force) as run:
        if not (run.folder / RESULTS).exists():
            frames = {name: rows.frame for name, rows in benchmarks.items()}
            _write(run.folder, ask_all(frames, config, run.folder), identity, config)
        typer.echo(report(read_results(run.folder)))


def ask_all(benchmarks: dict[str, pl.DataFrame], config: EvaluateConfig, out: Path) -> dict[str, list[Asked]]:
    """Every benchmark's problems, asked n times; a problem that stands in two of them is asked once."""
    log = SampleLog(out)

    def owed(_: Problem, samples: Sequence[Sample]) -> int:
        return config.n - len(samples)

    asking = Asking("evaluate", config.seed, owed, partial(grade, config=config), config.max_in_flight)
    with (
        Progress("evaluate", sum(frame.height for frame in benchmarks.values())) as progress,
        open_asking(asking, open_engine(config), Workspace(log, progress)) as ask,
    ):
        asked = {name: ask(frame) for name, frame in benchmarks.items()}
    log.close()
    return asked


def read_results(folder: Path) -> dict[str, Any]:  # Any: JSON
    """The results that an evaluation left in its folder."""
    path = folder / RESULTS
    if not path.is_file():
        raise UserError(f"{folder}: holds no {RESULTS}; give the --out of a finished gradus train evaluate")
    results: dict[str, Any] = json.loads(path.read_bytes())
    return results


def report(results: dict[str, Any]) -> str:
    """One line a benchmark."""
    return "\n".join(_line(name, figures, results["n"]) for name, figures in results["benchmarks"].items())


def _line(name: str, figures: dict[str, Any], n: int) -> str:
    mean = figures["average"]
    if mean is None:
        return (
            f"{name}: none of {figures['num_problems']} problems could be judged; see samples.parquet for the reasons"
        )
    last = max(figures["pass_at_k"], key=int, default=None)
    parts = [
        f"{name}: avg@{n} {mean['value']:.3f} [{mean['low']:.3f}, {mean['high']:.3f}]",
        f"pass@{last} {figures['pass_at_k'][last]:.3f}" if last else "",
        f"maj@{n} {figures['majority']:.3f}" if figures["majority"] is not None else "",
        f"undecided {figures['undecided_rate']:.1%}",
        f"cut off {figures['truncated_rate']:.1%}",
        f"{figures['num_problems']} problems",
    ]
    return "  ".join(part for part in parts if part)


def _write(out: Path, asked: dict[str, list[Asked]], identity: dict[str, Any], config: EvaluateConfig) -> None:
    from train.evaluation_plots import plot_scores

    rows = [{"benchmark": name, **asdict(s)} for name, items in asked.items() for item in items for s in item.samples]
    columns = pl.Schema({"benchmark": pl.String(), **schema(SAMPLE)})
    samples = pl.DataFrame(rows, schema=columns, orient="row")
    write_shard(out / SAMPLES, samples)
    results = {
        **{name: identity[name] for name in ("model", "model_digest", "data_digest", "config")},
        "n": config.n,
        "benchmarks": {name: score(items, config.n, config.verify) for name, items in asked.items()},
    }
    plot_scores(results, samples, out / "plots")
    # results last: their presence means complete
    write_atomic(out / RESULTS, (json.dumps(results, indent=1) + "\n").encode())
    (out / LOG).unlink()


def _name(path: Path) -> str:
    return source_at(str(path)).label()
