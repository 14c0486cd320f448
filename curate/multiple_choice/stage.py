"""Finds problems whose answer can be guessed from a closed list; drops them or turns them into open questions.

`guessable` decides and `open_question` rewrites; this module is the stage around them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Literal

import polars as pl
from pydantic import Field

from curate.config import Config
from curate.multiple_choice.guessable import Guessable, guessable
from curate.multiple_choice.rewrite import OpenQuestion, open_question
from curate.records import with_all_columns
from curate.runner.stage import Stage, bound, decide


class MultipleChoiceConfig(Config):
    """Drop multiple-choice, true/false and yes/no problems, or rewrite them as open questions.

    Such problems reward guesses: one in four is right, or one in two. The stage finds options in a column or in the
    text, in many shapes; stems without options whose answer is a bare letter; and closed lists in the stem. With
    `--mode rewrite` a problem whose right option is a checkable value and whose stem is complete becomes an open
    question; it keeps its key, and `extra` keeps the original.

    Example: gradus curate multiple-choice runs/pool --out runs/open --mode rewrite
    """

    mode: Literal["drop", "rewrite"] = Field(
        "drop", description="Drop guessable problems, or rewrite those that can be open questions and drop the others."
    )


def stage(config: MultipleChoiceConfig) -> Stage:
    """The stage `multiple-choice`: drops with reason `multiple_choice` or `true_false`."""
    return Stage(
        "multiple-choice", 4, "batch", config, bound(run, config), facts=_facts if config.mode == "rewrite" else None
    )


def run(problems: pl.DataFrame, config: MultipleChoiceConfig) -> pl.DataFrame:
    """Decide on each problem; if `mode` is `rewrite`, also change prompt, ground_truth, choices and extra."""
    columns = problems.select("prompt", "ground_truth", "kind", "choices")
    found = [
        guessable(prompt, truth, choices) if kind == "math" else None
        for prompt, truth, kind, choices in columns.iter_rows()
    ]
    if config.mode == "rewrite":
        is_text = with_all_columns(problems)["messages"].is_null()  # the turns of a conversation are not rewritten
        rewritten = [
            open_question(prompt, truth, choices, how) if how is not None and can_change else None
            for (prompt, truth, _, choices), how, can_change in zip(columns.iter_rows(), found, is_text, strict=True)
        ]
        problems = _replace(problems, rewritten)
        found = [how if new is None else None for how, new in zip(found, rewritten, strict=True)]
    reason = pl.Series("reason", [how.reason if how else None for how in found], dtype=pl.String)
    detail = pl.Series("detail", [_evidence(how) if how else None for how in found], dtype=pl.String)
    return decide(problems, pl.lit(reason), pl.lit(detail))


def _facts(scan: Callable[[str], pl.LazyFrame]) -> dict[str, Any]:  # Any: see curate.artifacts.folder.Facts
    is_rewritten = pl.col("extra").str.json_path_match("$.multiple_choice.prompt").is_not_null()
    return {"rewritten": scan("kept").select(is_rewritten.sum()).collect().item()}


def _evidence(how: Guessable) -> str:
    return json.dumps({"shape": how.shape, "matched": how.matched}, ensure_ascii=False)


def _replace(problems: pl.DataFrame, rewritten: list[OpenQuestion | None]) -> pl.DataFrame:
    """Replace originals by their open questions; the originals go to `extra.multiple_choice`."""
    rows = problems.to_dicts()
    for row, new in zip(rows, rewritten, strict=True):
        if new is not None:
            original = {name: row[name] for name in ("prompt", "ground_truth", "choices")}
            row.update(prompt=new.prompt, ground_truth=new.ground_truth, choices=None)
            row["extra"] = json.dumps({**_extra(row["extra"]), "multiple_choice": original}, ensure_ascii=False)
    return pl.DataFrame(rows, schema=problems.schema)


def _extra(text: str | None) -> dict[str, Any]:  # Any: a source's own columns, of whatever type
    loaded: dict[str, Any] = json.loads(text) if text else {}
    return loaded
