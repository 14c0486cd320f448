"""Turns a completion into a judged sample: the verifier's verdict, or the configured verdict if it was truncated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import ClassVar, Literal, NamedTuple, Self

import polars as pl
import yaml
from pydantic import Field, field_validator, model_validator

from curate.artifacts.samples import Sample
from curate.config import Config, parse
from curate.engines.protocol import Completion
from curate.errors import UserError
from curate.records import with_all_columns
from curate.tables import AS_TEXT, short
from curate.verify.check import verify_many
from curate.verify.judge.config import JudgeConfig
from curate.verify.policy import Policy
from curate.verify.verdict import Item, Verdict

Grade = Callable[["Problem", Completion], Sample]


class GradingConfig(Config):
    """How completions are judged."""

    panel: ClassVar[str] = "Verifier"

    truncated: Literal["wrong", "undecided", "judged"] = Field(
        "wrong",
        description="Verdict of a completion cut off at --max-tokens; judged lets the verifier decide.",
    )
    verify: Policy = Field(
        Policy(),
        description="The verifier's policy, as YAML: '{boxes: last}'.",
        json_schema_extra=AS_TEXT | short(verifier="verifiers"),
    )
    verify_by_source: str | None = Field(
        None,
        description="Policy settings for the problems of single sources, as YAML: '{scibench: {rel_tol: 0.02}}'.",
    )
    judge: JudgeConfig | None = Field(
        None,
        description="A model that decides what the verifier leaves undecided, as YAML: "
        "'{url: http://localhost:8000/v1, model: NAME}'. None by default: undecided stays undecided.",
        json_schema_extra=AS_TEXT,
    )

    @field_validator("verify_by_source", mode="before")
    @classmethod
    def _as_text(cls, given: object) -> object:
        """A table of a settings file as the text that an option gives."""
        return yaml.safe_dump(given, default_flow_style=True).strip() if isinstance(given, dict) else given

    @model_validator(mode="after")
    def _are_policies(self) -> Self:
        policies(self)
        return self


class Problem(NamedTuple):
    """The fields of a row that sampling and grading read."""

    key: str
    prompt: str
    ground_truth: str
    kind: str
    tests: str | None
    messages: str | None = None
    source: str | None = None
    proof: str | None = None


def problems_of(rows: pl.DataFrame) -> list[Problem]:
    """The problems of a frame, in order; a missing ground truth becomes an empty one, which nothing matches."""
    rows = with_all_columns(rows)
    truth = pl.col("ground_truth").fill_null("")
    proof = pl.col("proof") if "proof" in rows.columns else pl.lit(None, pl.String).alias("proof")
    columns = rows.select("key", "prompt", truth, "kind", "tests", "messages", "source", proof)
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
    found = _verified(items, config)
    is_settled = all(verdict.verdict != "undecided" for verdict in found)
    if config.judge is None or (is_settled and not config.judge.audit_rate):
        return found
    from curate.verify.judge.judge import shared_judge

    return shared_judge(config.judge).review(items, found)


def policies(config: GradingConfig) -> dict[str, Policy]:
    """The policy of each source that has settings of its own; raises `ValueError` on a wrong one."""
    return _policies(config.verify, config.verify_by_source) if config.verify_by_source else {}


@lru_cache(maxsize=100)
def _policies(common: Policy, text: str) -> dict[str, Policy]:
    try:
        tables = yaml.safe_load(text)
    except yaml.YAMLError:
        tables = None
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise ValueError("write a table of settings by source, such as {scibench: {rel_tol: 0.02}}")
    common_settings = common.model_dump()
    try:
        return {str(name): parse(Policy, common_settings | table, str(name)) for name, table in tables.items()}
    except UserError as error:
        raise ValueError(str(error)) from None


def _verified(items: Sequence[Item], config: GradingConfig) -> list[Verdict]:
    """The verifier's verdicts, each under the policy of the item's source."""
    known = policies(config)
    groups: dict[Policy, list[int]] = {}
    for index, item in enumerate(items):
        groups.setdefault(known.get(item.source or "", config.verify), []).append(index)
    found: dict[int, Verdict] = {}
    for policy, indexes in groups.items():
        found |= dict(zip(indexes, verify_many([items[i] for i in indexes], policy=policy), strict=True))
    return [found[index] for index in range(len(items))]


def _verdict(problem: Problem, completion: Completion, config: GradingConfig) -> tuple[str, str]:
    if completion.finish_reason == "length" and config.truncated != "judged":
        return config.truncated, "truncated"
    item = Item(
        completion.text, problem.ground_truth, problem.kind, problem.prompt, problem.tests, source=problem.source
    )
    judged = verdicts([item], config)[0]
    return judged.verdict, judged.reason
