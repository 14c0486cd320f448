"""Opens a run, an artifact or a dataset as three tables with the stages behind them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import polars as pl

from curate.artifacts.artifact import Artifact, open_artifact
from curate.artifacts.manifest import MANIFEST, Manifest, read_manifest
from curate.errors import UserError
from data_cards.dataset.lineage import DATASET, added_columns, open_chain
from data_cards.dataset.parts import gather

MAX_SHOWN: Final = 5


@dataclass(frozen=True)
class Tables:
    """All rows of a folder; `adds` lists, for each stage, the columns that it added."""

    folder: Path
    stages: tuple[Manifest, ...]
    adds: tuple[tuple[str, ...], ...]
    kept: pl.LazyFrame
    dropped: pl.LazyFrame
    samples: pl.LazyFrame

    def find(self, key: str) -> dict[str, Any]:
        """The row whose key begins with `key`, or that comes from `source#row`; `stage` is the stage that dropped it.

        Raises `UserError` if there is none, or more than one.
        """
        wanted = _at_place(key) if "#" in key else pl.col("key").str.starts_with(key)
        found = [table.filter(wanted).head(MAX_SHOWN).collect() for table in (self.kept, self.dropped)]
        rows = [row for table in found for row in table.to_dicts()] if key else []
        if len(rows) == 1:
            return {"stage": None, "drop_reason": None, "drop_detail": None, **rows[0]}
        if not rows:
            raise UserError(f"{key!r}: no such problem in {self.folder}; give a key, its first digits, or source#row")
        raise UserError(f"{key}: begins {len(rows)} keys or more; choose from {', '.join(row['key'] for row in rows)}")


@contextmanager
def readable(name: Path | str) -> Iterator[None]:
    """Turn read errors while the tables are used, such as text that is not UTF-8, into one line about `name`."""
    try:
        yield
    except pl.exceptions.ComputeError as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{name}: cannot be read ({reason}); run the stage that wrote it again") from None


def open_tables(folder: Path) -> Tables:
    """The tables of a run folder, an artifact or a dataset, after verifying every file."""
    if (folder / MANIFEST).exists() and read_manifest(folder).stage == DATASET:
        chain: tuple[Artifact, ...] = (open_artifact(folder),)
        facts = chain[0].manifest.facts
        stages, adds = [Manifest.model_validate(entry) for entry in facts["chain"]], facts["adds"]
    else:
        chain = open_chain(folder)
        stages, adds = [artifact.manifest for artifact in chain], added_columns(chain)
    parts = [gather(chain, part) for part in ("kept", "dropped", "samples")]
    return Tables(folder, tuple(stages), tuple(tuple(names) for names in adds), *parts)


def _at_place(place: str) -> pl.Expr:
    source, _, row = place.rpartition("#")
    here = (pl.col("source") == source) & (pl.col("source_row").cast(pl.String) == row)
    return here | pl.col("also_in").list.contains(place).fill_null(value=False)
