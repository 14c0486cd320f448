"""A draw policy of the user's own: `policy: mine.py:pick`, held to what every policy promises.

The function is called as `pick(problems, num, rng)`. `problems` is a polars frame, a row per candidate, in the
dataset's order: `row` (position in the dataset), `rate` (mean success rate now), `visits`, `correct`, `wrong`,
`undecided`, `difficulty`, `last_step` (-1 if never visited) and `step` (the step of the draw). It returns the positions
in this frame of `num` distinct candidates. `rng` is a numpy Generator, the only source of chance that a resume repeats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from curate.errors import UserError
from curate.own_code import load, plain, told
from curriculum.config import POLICY_OPTION, CurriculumConfig
from curriculum.forecast.forecast import Forecast
from curriculum.statistics.visits import Ints

_SEEDED: set[str] = set()  # policies that were seen to depend on rng alone


def own_policy(forecast: Forecast, rows: Ints, num: int, rng: np.random.Generator, config: CurriculumConfig) -> Ints:
    """The candidates that the user's function picks; raises `UserError` where it breaks a promise of policies."""
    name = config.policy
    problems = _frame(forecast, rows)
    again = np.random.Generator(type(rng.bit_generator)())
    again.bit_generator.state = rng.bit_generator.state
    picked = _picked(name, problems, num, rng)
    if name not in _SEEDED:
        if not np.array_equal(picked, _picked(name, problems, num, again)):
            raise UserError(f"policy {plain(name)} picks other problems when called again; draw chance from rng alone")
        _SEEDED.add(name)
    return rows[picked]


def _frame(forecast: Forecast, rows: Ints) -> pl.DataFrame:
    stats = forecast.stats
    return pl.DataFrame(
        {
            "row": rows, "rate": forecast.mean_rate(rows), "visits": stats.num_visits[rows],
            "correct": stats.num_correct[rows], "wrong": stats.num_wrong[rows],
            "undecided": stats.num_undecided[rows], "difficulty": stats.difficulty[rows],
            "last_step": stats.last_step[rows], "step": np.full(len(rows), forecast.step, np.int64),
        }
    )  # fmt: skip


def _picked(name: str, problems: pl.DataFrame, num: int, rng: np.random.Generator) -> Ints:
    try:
        given: Any = load(name, POLICY_OPTION)(problems, num, rng)  # Any: whatever a user's function returns
    except UserError:
        raise
    except Exception as error:  # noqa: BLE001  # a user's code: its place in one line
        raise UserError(f"policy {plain(name)} failed: {told(error)}") from None
    try:
        picked = np.asarray(given)
        is_whole = picked.ndim == 1 and (picked.dtype.kind in "iu" or picked.size == 0)
    except ValueError:
        is_whole = False
    if not is_whole:
        raise UserError(f"policy {plain(name)} returned {type(given).__name__}; return a list of {num} positions")
    if len(picked) != num or len(np.unique(picked)) != num:
        distinct = len(np.unique(picked))
        raise UserError(f"policy {plain(name)} returned {distinct} distinct positions of {num}; return {num}")
    if num and not 0 <= picked.min() <= picked.max() < len(problems):
        raise UserError(f"policy {plain(name)} returned a position outside 0 to {len(problems) - 1}, the candidates")
    return picked.astype(np.int64)
