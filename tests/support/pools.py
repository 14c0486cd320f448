"""Small pools for tests: problems from a few words, and the run of a stage on a frame without any folder."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from curate.records import PROBLEM, problem_key, schema
from curate.runner.stage import Stage, Workspace


def pool_of(rows: Sequence[str | dict[str, Any]]) -> pl.DataFrame:
    """A pool of problems from prompts or from tables of columns; what is not given has a plain default."""
    tables = [{"prompt": row} if isinstance(row, str) else row for row in rows]
    full = [
        {
            **dict.fromkeys(PROBLEM),
            "key": problem_key(table["prompt"], table.get("kind", "math"), table.get("choices")),
            "kind": "math",
            "source": "test",
            "source_row": number,
            "extra": "{}",
            **table,
        }
        for number, table in enumerate(tables)
    ]
    return pl.DataFrame(full, schema=schema(PROBLEM), orient="row")


def run(stage: Stage, pool: pl.DataFrame) -> pl.DataFrame:
    """The pool as the stage returns it."""
    with stage.open(Workspace(pool=lambda: iter([pool]))) as run_batch:
        return run_batch(pool)
