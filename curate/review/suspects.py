"""Suspects of a training run, as `gradus curriculum suspects RUN --json` prints them: truths that may be wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import polars as pl

from curate.errors import UserError

COLUMN: Final = "run_suspect"  # of a row under review: what the completions of a run say
FIGURES: Final = ("answer", "num", "num_right", "total", "bound")
MAKE: Final = "write it with gradus curriculum suspects RUN --json"


def read_suspects(path: Path) -> pl.DataFrame:
    """The suspects as a frame of `key`, `run_suspect` (evidence in JSON) and `margin` (the surest is the smallest)."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"--suspects {path}: no such file; {MAKE}") from None
    except (ValueError, OSError) as error:
        raise UserError(f"--suspects {path}: is not JSON ({error}); {MAKE}") from None
    if not isinstance(found, list) or not all(map(_is_suspect, found)):
        raise UserError(f"--suspects {path}: is no list of suspects; {MAKE}")
    rows = [(row["key"], json.dumps(_evidence(row), ensure_ascii=False), -float(row["bound"])) for row in found]
    schema = {"key": pl.String(), COLUMN: pl.String(), "margin": pl.Float64()}
    return pl.DataFrame(rows, schema=schema, orient="row").unique("key", keep="first", maintain_order=True)


def _is_suspect(row: Any) -> bool:  # Any: JSON
    return isinstance(row, dict) and {"key", *FIGURES} <= row.keys() and isinstance(row["bound"], int | float)


def _evidence(row: dict[str, Any]) -> dict[str, Any]:  # Any: JSON
    return {
        "completions agree on": str(row["answer"]),
        "share": f"{row['num']} of {row['total']}, at least {row['bound']:.2f} in the long run",
        "the truth is given by": f"{row['num_right']} of {row['total']}",
    }
