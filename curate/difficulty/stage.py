"""Best-of-K difficulty: measures how often a model solves each problem, and drops problems outside the keep band.

Sampling is curtailed: it stops for a problem as soon as its decision can no longer change (`band`). The decision is the
one that all K samples would give. Precise mode (`target_error`) samples instead until the posterior is sure on which
side of the band the pass rate is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

import polars as pl
from pydantic import Field, model_validator

from curate.agent.config import AgentOptions
from curate.agent.engine import OpenEngine, open_agents, store_of
from curate.agent.grading import grade_sample
from curate.artifacts.folder import Scan
from curate.artifacts.samples import Sample
from curate.config import RUNTIME
from curate.difficulty.band import Band
from curate.difficulty.decision_rule import BandRule, DecisionRule, PreciseRule
from curate.difficulty.plot import histogram
from curate.engines import EngineConfig, open_engine, settle
from curate.engines.recorded import open_recorded
from curate.records import ADDED
from curate.runner.stage import Run, Stage, Workspace, decide
from curate.sampling.grading import GradingConfig, Problem
from curate.sampling.model_stage import Asked, Asking, open_asking, rate_columns, replica

COLUMNS: Final = (
    "num_correct",
    "num_wrong",
    "num_undecided",
    "num_samples",
    "pass_rate",
    "pass_rate_low",
    "pass_rate_high",
    "mean_tokens_correct",
    "mean_tokens_wrong",
)


class DifficultyConfig(AgentOptions, GradingConfig, EngineConfig):
    """Measure each problem's pass rate with a model and keep those inside a band.

    Of K judged samples, the keep band bounds the number of correct ones: 1..7 of 8 drops what is always or never
    solved, 0..0 keeps only what best-of-8 never solves. Sampling stops as soon as the decision can't change. A task of
    an agent is an episode of turns and tools in a box.

    Example: gradus curate difficulty runs/verifiable --out runs/difficulty --model models/toy --k 8 --keep 1..7
    """

    k: int = Field(8, ge=1, description="Judged samples that the band refers to.")
    keep: str | None = Field(
        None, coerce_numbers_to_str=True, description="Fewest and most correct samples to keep [default: 1..K-1]."
    )
    keep_rate: str | None = Field(None, description="The band as rates instead, e.g. 0.1..0.9.")
    early_stop: bool = Field(True, description="Stop sampling a problem once its decision can't change.")
    full_k_for_kept: bool = Field(
        False, description="Draw all K samples of problems inside the band: comparable pass rates for a curriculum."
    )
    max_undecided: int = Field(4, ge=0, description="Unjudgeable samples beyond which a problem is unverifiable.")
    target_error: float | None = Field(
        None, gt=0, lt=0.5, description="Sample until a wrong decision on --keep-rate is less probable than this."
    )
    chunk: int = Field(4, ge=1, description="Samples between two tests of the posterior, with --target-error.")
    max_samples: int = Field(64, ge=1, description="Most judged samples of a problem, with --target-error.")
    samples_from: Path | None = Field(
        None,
        description="Earlier artifact of this model whose samples are used, not drawn again.",
        json_schema_extra=RUNTIME,
    )
    seed: int = Field(0, description="Seed of the run; each sample's seed derives from it, the key and the index.")

    def rule(self) -> DecisionRule:
        """The rule that stops sampling and decides; raises `ValueError` if the band is invalid."""
        if self.keep_rate is None:
            text = self.keep or ("1.." + str(self.k - 1) if self.k > 1 else "0")
            return self._band_rule(Band.parse(text, self.k))
        low, high = _rates(self.keep_rate)
        if self.target_error is None:
            return self._band_rule(Band.of_rates(low, high, self.k))
        return PreciseRule(low, high, self.target_error, self.chunk, self.max_samples, self.max_undecided)

    def _band_rule(self, band: Band) -> BandRule:
        return BandRule(band, self.max_undecided, self.early_stop, self.full_k_for_kept)

    @model_validator(mode="after")
    def _rule_is_sound(self) -> Self:
        if self.keep is not None and self.keep_rate is not None:
            raise ValueError("keep and keep_rate are both set; give one of them")
        if self.target_error is not None and self.keep_rate is None:
            raise ValueError("target_error needs keep_rate, the band of pass rates that it refers to")
        if self.target_error is not None and self.full_k_for_kept:
            raise ValueError("full_k_for_kept and target_error are both set, and target_error has no K; give one")
        try:
            self.rule()
        except ValueError as error:
            name, value = ("keep", self.keep) if self.keep_rate is None else ("keep_rate", self.keep_rate)
            raise ValueError(f"{name} is {value}; {error}") from None
        return self


def stage(config: DifficultyConfig) -> Stage:
    """The stage that the command and a pipeline run; `UserError` if the model cannot be found."""
    settled = settle(config)
    identity = {**settled.identity, **config.agent_identity()}
    opened = partial(open_agents, partial(open_engine, config), config, config, store_of(config))
    if config.samples_from is not None:
        opened = partial(open_recorded, config.samples_from, identity, opened)
    return stage_with(config, identity, settled.model_name, opened)


def stage_with(config: DifficultyConfig, inputs: Mapping[str, str], model: str, opened: OpenEngine) -> Stage:
    """The stage with an engine of the caller's choice."""
    return Stage(
        name="difficulty",
        version=5,
        scope="batch",
        config=config,
        open=partial(_open, config, opened),
        adds={name: ADDED[name].dtype for name in COLUMNS},
        inputs=inputs,
        has_samples=True,
        replica=replica(config),
        facts=partial(facts, config, model),
        plots=partial(histogram, k=None if config.target_error else config.k, model=model),
    )


def judged(rows: pl.DataFrame, asked: list[Asked], rule: DecisionRule) -> pl.DataFrame:
    """The rows with their rates and the decisions on their samples."""
    decisions = [_decide(item, rule) for item in asked]
    rates = pl.DataFrame(rate_columns(asked), schema={name: ADDED[name].dtype for name in COLUMNS})
    reason = pl.Series([reason for reason, _ in decisions], dtype=pl.String)
    detail = pl.Series([detail for _, detail in decisions], dtype=pl.String)
    return decide(rows.with_columns(rates), pl.lit(reason), pl.lit(detail))


def facts(config: DifficultyConfig, model: str, scan: Scan) -> dict[str, Any]:  # Any: JSON values of the manifest
    """The samples and tokens spent, and how many samples a fixed K for every problem would have spent."""
    columns = ("num_correct", "num_wrong", "num_samples", "num_undecided")
    rows = pl.concat([scan(part).select(columns) for part in ("kept", "dropped")]).collect()
    drawn = int((rows["num_samples"] + rows["num_undecided"]).sum())
    figures: dict[str, Any] = {
        "model": model,
        "samples": drawn,
        "tokens": scan("samples").select(pl.col("num_tokens").sum()).collect().item(),
    }
    rule = config.rule()
    if isinstance(rule, PreciseRule):
        errors = [rule.error(c, w) for c, w, n, _ in rows.iter_rows() if n]
        worst = {"mean_decision_error": sum(errors) / len(errors), "max_decision_error": max(errors)} if errors else {}
        return figures | {name: round(value, 6) for name, value in worst.items()}
    num_fixed = config.k * rows.filter(pl.col("num_samples") > 0).height
    saved = 1 - int(rows["num_samples"].sum()) / num_fixed if num_fixed else 0.0
    return figures | {"samples_of_fixed_k": num_fixed, "samples_saved_rate": round(saved, 6)}


@contextmanager
def _open(config: DifficultyConfig, opened: OpenEngine, workspace: Workspace) -> Iterator[Run]:
    rule = config.rule()

    def owed(_: Problem, samples: Sequence[Sample]) -> int:
        return rule.owed([sample.verdict for sample in samples])

    judge = partial(grade_sample, config=config, agent=config.agent, store=store_of(config))
    asking = Asking("difficulty", config.seed, owed, judge, config.max_in_flight)
    with open_asking(asking, opened(workspace.engines), workspace) as ask:
        yield lambda rows: judged(rows, ask(rows), rule)


def _decide(item: Asked, rule: DecisionRule) -> tuple[str | None, str | None]:
    if item.unaskable is not None:
        return item.unaskable.reason, str(item.unaskable)
    decision = rule.decision([sample.verdict for sample in item.samples])
    seen = item.tally()
    if decision == "unverifiable":
        return decision, f"{seen.undecided} samples undecided: {item.undecided_reasons()}"
    return None if decision == "keep" else decision, f"{seen.correct} correct, {seen.wrong} wrong; {rule}"


def _rates(text: str) -> tuple[float, float]:
    low, dots, high = text.partition("..")
    try:
        ends = float(low), float(high if dots else low)
    except ValueError:
        raise ValueError("write the lowest and highest rate to keep, as 0.1..0.9") from None
    if not 0 <= ends[0] <= ends[1] <= 1:
        raise ValueError("use 0 <= low <= high <= 1")
    return ends
