"""From a completion to a judged sample: the verifier's verdict, and what being cut off counts as."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import polars as pl
import yaml
from pydantic import Field, field_validator

from curate.config import Config
from curate.engines.protocol import Completion
from curate.samples import Sample
from curate.verify.policy import Policy

Grade = Callable[["Problem", Completion], Sample]


class GradingConfig(Config):
    """How completions are judged."""

    truncated: Literal["wrong", "undecided", "judged"] = Field(
        "wrong",
        description="What a completion cut off at --max-tokens counts as; judged asks the verifier what stands there.",
    )
    verify: Policy = Field(Policy(), description="The verifier's policy, as YAML: '{boxes: last}'.")

    @field_validator("verify", mode="before")
    @classmethod
    def _from_text(cls, policy: Any) -> Any:  # Any: pydantic checks what comes out
        return yaml.safe_load(policy) if isinstance(policy, str) else policy


class Problem(NamedTuple):
    """What sampling and grading need of a row."""

    key: str
    prompt: str
    ground_truth: str
    kind: str
    tests: str | None


def problems_of(rows: pl.DataFrame) -> list[Problem]:
    """The problems of a frame, in order; a missing ground truth becomes an empty one, which nothing matches."""
    columns = rows.select("key", "prompt", pl.col("ground_truth").fill_null(""), "kind", "tests")
    return [Problem(*row) for row in columns.iter_rows()]


def grade(problem: Problem, completion: Completion, config: GradingConfig) -> Sample:
    """Judge one completion; may take up to the verifier's time limit, so it belongs into a thread."""
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


def _verdict(problem: Problem, completion: Completion, config: GradingConfig) -> tuple[str, str]:
    from curate.verify import verify

    if completion.finish_reason == "length" and config.truncated != "judged":
        return config.truncated, "truncated"
    judged = verify(
        completion.text,
        problem.ground_truth,
        kind=problem.kind,
        policy=config.verify,
        question=problem.prompt,
        tests=problem.tests,
    )
    return judged.verdict, judged.reason
