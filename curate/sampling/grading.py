"""Turns a completion into a judged sample: the verifier's verdict, or the configured verdict if it was truncated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import polars as pl
from pydantic import Field

from curate.artifacts.samples import Sample
from curate.config import Config
from curate.engines.protocol import Completion
from curate.records import with_all_columns
from curate.tables import AS_TEXT
from curate.verify.check import verify_many
from curate.verify.judge.config import JudgeConfig
from curate.verify.policy import Policy
from curate.verify.verdict import Item, Verdict

Grade = Callable[["Problem", Completion], Sample]


class GradingConfig(Config):
    """How completions are judged."""

    truncated: Literal["wrong", "undecided", "judged"] = Field(
        "wrong",
        description="Verdict of a completion cut off at --max-tokens; judged lets the verifier decide.",
    )
    verify: Policy = Field(
        Policy(), description="The verifier's policy, as YAML: '{boxes: last}'.", json_schema_extra=AS_TEXT
    )
    judge: JudgeConfig | None = Field(
        None,
        description="A model that decides what the verifier leaves undecided, as YAML: "
        "'{url: http://localhost:8000/v1, model: NAME}'. None by default: undecided stays undecided.",
        json_schema_extra=AS_TEXT,
    )


class Problem(NamedTuple):
    """The fields of a row that sampling and grading read."""

    key: str
    prompt: str
    ground_truth: str
    kind: str
    tests: str | None
    messages: str | None = None


def problems_of(rows: pl.DataFrame) -> list[Problem]:
    """The problems of a frame, in order; a missing ground truth becomes an empty one, which nothing matches."""
    rows = with_all_columns(rows)
    columns = rows.select("key", "prompt", pl.col("ground_truth").fill_null(""), "kind", "tests", "messages")
    return [Problem(*row) for row in columns.iter_rows()]


def grade(problem: Problem, completion: Completion, config: GradingConfig) -> Sample:
    """Judge one completion; may take up to the verifier's time limit, so call it in a thread."""
    verdict, reason = _verdict(problem, completion, config)
    return Sample(
        key=completion.key,
        index=completion.index,
        text=completion.text,
        num_tokens=completion.num_tokens,
        finish_reason=completion.finish_reason,
        verdict=verdict,
        verdict_reason=reason,
        seed=completion.seed,
    )


def verdicts(items: Sequence[Item], config: GradingConfig) -> list[Verdict]:
    """The verifier's verdict on each pair, in order; a judge, if configured, decides what it leaves undecided."""
    found = verify_many(items, policy=config.verify)
    is_settled = all(verdict.verdict != "undecided" for verdict in found)
    if config.judge is None or (is_settled and not config.judge.audit_rate):
        return found
    from curate.verify.judge.judge import shared_judge

    return shared_judge(config.judge).review(items, found)


def _verdict(problem: Problem, completion: Completion, config: GradingConfig) -> tuple[str, str]:
    if completion.finish_reason == "length" and config.truncated != "judged":
        return config.truncated, "truncated"
    item = Item(completion.text, problem.ground_truth, problem.kind, problem.prompt, problem.tests)
    judged = verdicts([item], config)[0]
    return judged.verdict, judged.reason
