"""Evaluation: a model's success rates on benchmarks, with their uncertainty.

Problems are sampled by the same engines and judged by the same verifier as in difficulty and training. Samples are
kept, a killed evaluation resumes, and a repeated one is reused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import polars as pl
import typer
from pydantic import Field, NonNegativeInt, PositiveInt, field_validator

from curate.agent.config import AgentOptions
from curate.agent.engine import open_agents, store_of
from curate.agent.grading import grade_sample
from curate.artifacts.artifact import write_shard
from curate.artifacts.manifest import write_atomic
from curate.artifacts.samples import LOG, SampleLog
from curate.decontaminate.benchmarks import BY_NAME
from curate.engines import Engine, EngineConfig, Shelf, open_engine, settle
from curate.errors import UserError
from curate.figures import Figures
from curate.ingest.sources import Source, sources_from
from curate.options import Maps, Names, Revisions, Splits
from curate.progress import Progress
from curate.records import SAMPLE, schema
from curate.runner.stage import Workspace
from curate.sampling.breakdown import cautions, described, no_answer_rate
from curate.sampling.grading import GradingConfig
from curate.sampling.model_stage import Asked, Asking, open_asking
from train.data.problems import problems_of
from train.evaluate.budgets import STOP_THINKING, BudgetEngine, Sweep, sweep_rows
from train.evaluate.scores import score
from train.runs.command_line import Force
from train.runs.folder import RunFolder
from train.runs.starting_model import load_tokenizer

RESULTS: Final = "results.json"
SAMPLES: Final = "samples.parquet"
BUDGETS: Final = "budgets.parquet"

Benchmarks = Annotated[
    list[str],
    typer.Option(
        "--data",
        metavar="<str>",
        help="Benchmark: artifact, file, Hub id, or a name of gradus curate benchmarks; repeatable.",
        show_default=False,
    ),
]
Out = Annotated[Path, typer.Option("--out", help="Folder for results, samples and plots.", show_default=False)]


class EvaluateConfig(AgentOptions, GradingConfig, EngineConfig):
    """Measure how often a model solves benchmarks.

    Each problem is sampled n times. The results are avg@n with its 95% interval, pass@k, maj@n, the shares of
    completions that were undecided or cut off, and the lengths of right and wrong answers; `gradus train compare`
    compares two evaluations. With --budgets the reasoning of each completion is also cut at each budget, and accuracy
    is plotted against the budget.

    Columns of files and of Hub datasets are detected as by `gradus curate ingest`, or named by --map; a Hub dataset is
    read at the commit of its --revision, by default the newest.

    Example: gradus train evaluate --model runs/grpo/model --data aime24.jsonl --data math500.jsonl --n 4 --out eval
    """

    n: PositiveInt = Field(4, description="Completions per problem.")
    seed: int = Field(0, description="Seed of the run; each completion's seed derives from it, the key and the index.")
    budgets: tuple[NonNegativeInt, ...] = Field((), description="Tokens at which reasoning is cut; repeatable.")
    stop_thinking: str = Field(STOP_THINKING, description="With budgets: end of the reasoning; contains </think>.")
    answer_tokens: PositiveInt = Field(1024, description="With budgets: tokens for the answer after the cut.")

    @field_validator("budgets")
    @classmethod
    def _in_order(cls, budgets: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(sorted(set(budgets)))

    @field_validator("stop_thinking")
    @classmethod
    def _ends_thinking(cls, text: str) -> str:
        if "</think>" not in text:
            raise ValueError("write </think> where the reasoning ends")
        return text

    @property
    def sweep(self) -> Sweep:
        """The thinking budgets and their settings."""
        return Sweep(self.budgets, self.n, self.stop_thinking, self.answer_tokens)


@dataclass(frozen=True)
class Stated:
    """Command-line options of the benchmarks other than their places, for `sources_from`."""

    maps: Maps = field(default_factory=list)
    names: Names = field(default_factory=list)
    splits: Splits = field(default_factory=list)
    revisions: Revisions = field(default_factory=list)

    def sources(self, data: Sequence[str]) -> list[Source]:
        """The benchmarks at `data`; `UserError` if two have one name."""
        facts = {"map": self.maps, "split": self.splits, "revision": self.revisions}
        sources = sources_from(data, self.names, facts, BY_NAME)
        if len({source.label() for source in sources}) < len(sources):
            raise UserError("--data: two benchmarks have the same name; name each by --name, in the order of --data")
        return sources


def evaluate(data: Benchmarks, out: Out, config: EvaluateConfig, stated: Stated, force: Force = False) -> Figures:
    """Sample, judge, and write results.json, samples.parquet and plots/."""
    settled = settle(config)
    if config.budgets and settled.folder is None:
        raise UserError("--budgets: only an engine in this process counts tokens; use --engine vllm or transformers")
    if config.budgets and config.agent.is_for_all:
        raise UserError(
            "--budgets: an episode with tools has no reasoning to cut; leave budgets or the python tool out"
        )
    benchmarks = {source.label(): problems_of(source) for source in stated.sources(data)}
    identity = {
        "command": "evaluate",
        "model": config.model,
        "data": list(data),
        "model_digest": settled.identity["model"],
        "data_digest": {name: rows.digest for name, rows in benchmarks.items()},
        # another map of the same bytes gives other problems
        "config": {**config.fingerprinted(), **settled.identity, **({"map": stated.maps} if stated.maps else {})},
    }
    with RunFolder(out, identity, force=force) as run:
        if not (run.folder / RESULTS).exists():
            frames = {name: rows.frame for name, rows in benchmarks.items()}
            _write(run.folder, ask_all(frames, config, run.folder), identity, config)
        (run.folder / LOG).unlink(missing_ok=True)
        results = read_results(run.folder)
        typer.echo(report(results))
    return results


def ask_all(benchmarks: dict[str, pl.DataFrame], config: EvaluateConfig, out: Path) -> dict[str, list[Asked]]:
    """Sample every benchmark's problems n times; a problem in two benchmarks is sampled once."""
    log = SampleLog(out)

    judge = partial(grade_sample, config=config, agent=config.agent, store=store_of(config))
    asking = Asking("evaluate", config.seed, config.sweep.owed, judge, config.max_in_flight, explains=False)
    with (
        Progress("evaluate", sum(frame.height for frame in benchmarks.values())) as progress,
        open_asking(asking, _opened(config, log), Workspace(log, progress)) as ask,
    ):
        asked = {name: ask(frame) for name, frame in benchmarks.items()}
    log.close()
    return asked


@contextmanager
def _opened(config: EvaluateConfig, log: SampleLog) -> Iterator[Engine]:
    opened = partial(open_engine, config)
    with open_agents(opened, config, config, store_of(config), Shelf()) as engine:
        folder = settle(config).folder
        yield BudgetEngine(engine, load_tokenizer(folder), log, config.sweep) if config.budgets and folder else engine


def read_results(folder: Path) -> dict[str, Any]:  # Any: JSON
    """The results that an evaluation left in its folder."""
    path = folder / RESULTS
    if not path.is_file():
        raise UserError(f"{folder}: holds no {RESULTS}; give the --out of a finished gradus train evaluate")
    results: dict[str, Any] = json.loads(path.read_bytes())
    return results


def report(results: dict[str, Any]) -> str:
    """A line per benchmark, why completions were not correct, warnings, and a line per thinking budget."""
    lines = []
    for name, figures in results["benchmarks"].items():
        lines += [_line(name, figures, results["n"]), *_why_not(name, figures)]
        lines += [_budget_line(row) for row in results.get("budgets", {}).get(name, ())]
    return "\n".join(lines)


def _why_not(name: str, figures: dict[str, Any]) -> list[str]:
    """The shares of reasons, and a warning where many completions are cut off or hold no answer."""
    reasons, num = figures.get("reasons"), figures["num_completions"]
    if not reasons or not num:
        return []  # all are correct, or an earlier version wrote the results
    found = cautions(figures["truncated_rate"], no_answer_rate(reasons, num))
    return [f"  {described(reasons, num)}", *(f"{name}: {line}" for line in found.values())]


def _budget_line(row: dict[str, Any]) -> str:
    mean = row["average"]
    limit = "no budget" if row["budget"] is None else f"budget {row['budget']}"
    rate = f"{mean['value']:.3f} [{mean['low']:.3f}, {mean['high']:.3f}]" if mean else "nothing judged"
    tokens = "" if row["mean_tokens"] is None else f"  {row['mean_tokens']:.0f} tokens"
    return f"  {limit}: {rate}  cut short {row['stopped_rate']:.1%}{tokens}"


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
    from train.evaluate.plots import plot_budgets, plot_scores

    plain = {name: [config.sweep.parts(item)[None] for item in items] for name, items in asked.items()}
    samples = _table(plain)
    write_shard(out / SAMPLES, samples)
    results = {
        **{name: identity[name] for name in ("model", "model_digest", "data_digest", "config")},
        "n": config.n,
        "benchmarks": {name: score(items, config.n, config.verify) for name, items in plain.items()},
    }
    plot_scores(results, samples, out / "plots")
    if config.budgets:
        cut = {
            b: {name: [config.sweep.parts(i)[b] for i in items] for name, items in asked.items()}
            for b in config.budgets
        }
        tables = [_table(part).with_columns(budget=pl.lit(budget, pl.Int64)) for budget, part in cut.items()]
        write_shard(out / BUDGETS, pl.concat(tables))
        sweeps = {name: sweep_rows(items, config.sweep, config.verify) for name, items in asked.items()}
        results["budgets"] = sweeps
        plot_budgets(sweeps, out / "plots")
    # results last: their presence means complete
    write_atomic(out / RESULTS, (json.dumps(results, indent=1) + "\n").encode())


def _table(asked: dict[str, list[Asked]]) -> pl.DataFrame:
    rows = [{"benchmark": name, **asdict(s)} for name, items in asked.items() for item in items for s in item.samples]
    return pl.DataFrame(rows, schema=pl.Schema({"benchmark": pl.String(), **schema(SAMPLE)}), orient="row")
