"""Drops problems that the model solves without thinking: they reward guesses and recall, not reasoning.

Kimi k1.5 (2501.12599, section 2.1) removes prompts whose answer is guessed without a chain of thought within N = 8
attempts; Qwen3 (2505.09388, section 4.1) removes those answered correctly without one. A short answer can be right by
luck: `beyond_chance` instead requires more successes than a blind guesser would have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, Literal

import polars as pl
from pydantic import Field

from curate.artifacts.folder import Scan
from curate.artifacts.samples import Sample
from curate.difficulty.chance import chance, fewest_beyond_chance, luck_p_value
from curate.engines import Completion, EngineConfig, Settled, open_engine, settle
from curate.records import ADDED
from curate.runner.stage import Run, Stage, Workspace, decide
from curate.sampling.grading import GradingConfig, Problem, grade
from curate.sampling.model_stage import Asked, Asking, open_asking, replica
from curate.sampling.tallies import Tally, tally
from curate.verify.rules.table import reference
from curate.verify.thinking import has_reasoning

COLUMNS: Final = ("num_no_think", "num_no_think_correct", "no_think_chance", "no_think_p_value")
EVIDENCE_CHARS: Final = 120
SPENT: Final = {
    "samples": pl.len(),
    "tokens": pl.col("num_tokens").sum(),
    "samples_that_thought_anyway": (pl.col("verdict_reason") == "thought_anyway").sum(),
}


class NoThinkConfig(GradingConfig, EngineConfig):
    """Drop problems that the model solves without reasoning.

    Makes up to N attempts with thinking switched off. Sampling of a problem stops at its first success; with
    --beyond-chance, once its successes exceed what luck explains, or can no longer do so.

    Example: gradus curate no-think runs/dedup --out runs/no_think --model models/toy --attempts 8 --max-tokens 64
    """

    thinking: Literal["off"] = Field("off", description="Always off in this stage.")
    attempts: int = Field(8, ge=1, description="Attempts without reasoning.")
    beyond_chance: bool = Field(False, description="Drop only what beats blind guessing.")
    alpha: float = Field(0.05, gt=0, lt=1, description="With --beyond-chance: drop if luck is less probable than this.")
    seed: int = Field(0, description="Seed of the run; each sample's seed derives from it, the key and the index.")


def stage(config: NoThinkConfig) -> Stage:
    """The stage that the command and a pipeline run; `UserError` if the model cannot be found."""
    settled = settle(config)
    return Stage(
        name="no-think",
        version=5,
        scope="batch",
        config=config,
        open=partial(_open, config),
        adds={name: ADDED[name].dtype for name in COLUMNS},
        inputs=settled.identity,
        has_samples=True,
        replica=replica(config),
        facts=partial(_facts, config, settled),
    )


def fewest_to_drop(config: NoThinkConfig, chance_rate: float) -> int:
    """Number of successes at which a problem is dropped."""
    return fewest_beyond_chance(config.attempts, chance_rate, config.alpha) if config.beyond_chance else 1


def owed(config: NoThinkConfig, needed: int, seen: Tally) -> int:
    """Number of attempts to make next: the fewest that any outcome still needs; 0 once the decision is final."""
    left = config.attempts - sum(seen)
    if needed > config.attempts:
        return 0
    to_drop = needed - seen.correct
    to_keep = left - to_drop + 1
    return max(0, min(to_drop, to_keep, left))


def judge(problem: Problem, completion: Completion, config: NoThinkConfig) -> Sample:
    """Judge an attempt; one that reasons despite the setting proves nothing and is undecided."""
    sample = grade(problem, completion, config)
    if has_reasoning(completion.text):
        return Sample(**{**vars(sample), "verdict": "undecided", "verdict_reason": "thought_anyway"})
    return sample


@contextmanager
def _open(config: NoThinkConfig, workspace: Workspace) -> Iterator[Run]:
    needed: dict[str, int] = {}

    def rule(problem: Problem, samples: Sequence[Sample]) -> int:
        return owed(config, needed[problem.key], tally(sample.verdict for sample in samples))

    asking = Asking("no-think", config.seed, rule, partial(judge, config=config), config.max_in_flight)
    with open_asking(asking, open_engine(config, workspace.engines), workspace) as ask:

        def run(rows: pl.DataFrame) -> pl.DataFrame:
            asked = rows.select("kind", "ground_truth", "choices").iter_rows()
            chances = [chance(reference(kind, truth or "") or truth, choices) for kind, truth, choices in asked]
            needed.update(zip(rows["key"], (fewest_to_drop(config, rate) for rate in chances), strict=True))
            return _judged(rows, ask(rows), chances, config)

        yield run


def _judged(rows: pl.DataFrame, asked: list[Asked], chances: list[float], config: NoThinkConfig) -> pl.DataFrame:
    tallies = [item.tally() for item in asked]
    added = {
        "num_no_think": [seen.correct + seen.wrong for seen in tallies],
        "num_no_think_correct": [seen.correct for seen in tallies],
        "no_think_chance": chances,
        "no_think_p_value": [
            luck_p_value(config.attempts, rate, seen.correct) for rate, seen in zip(chances, tallies, strict=True)
        ],
    }
    columns = pl.DataFrame(added, schema={name: ADDED[name].dtype for name in COLUMNS})
    decisions = [_decide(item, rate, config) for item, rate in zip(asked, chances, strict=True)]
    reason = pl.Series([reason for reason, _ in decisions], dtype=pl.String)
    detail = pl.Series([detail for _, detail in decisions], dtype=pl.String)
    return decide(rows.with_columns(columns), pl.lit(reason), pl.lit(detail))


def _decide(item: Asked, chance_rate: float, config: NoThinkConfig) -> tuple[str | None, str | None]:
    if item.unaskable is not None:
        return item.unaskable.reason, str(item.unaskable)
    seen = item.tally()
    if seen.correct < fewest_to_drop(config, chance_rate):
        return None, None
    first = next(sample for sample in item.samples if sample.verdict == "correct")
    luck = f", p {luck_p_value(config.attempts, chance_rate, seen.correct):.2g}" if config.beyond_chance else ""
    text = " ".join(first.text.split())[:EVIDENCE_CHARS]
    return "solved_without_thinking", f"{seen.correct} of {sum(seen)}{luck}; attempt {first.index}: {text}"


def _facts(config: NoThinkConfig, settled: Settled, scan: Scan) -> dict[str, Any]:  # Any: JSON values of the manifest
    rows = pl.concat([scan(part).select("no_think_chance", "num_no_think_correct") for part in ("kept", "dropped")])
    luck = [
        luck_p_value(config.attempts, rate, fewest_to_drop(config, rate))
        for (rate,) in rows.select("no_think_chance").collect().iter_rows()
    ]
    return {
        "model": settled.model_name,
        "no_think_by": settled.config.no_think_by,
        **scan("samples").select(**SPENT).collect().to_dicts()[0],
        "drops_expected_by_guessing": round(sum(luck), 3),
    }
