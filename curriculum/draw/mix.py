"""Mixtures: the shares of a batch by part of the dataset, exact from batch to batch.

A part is the problems with one value of a column (`mix_by`: the source). A batch of n slots gives part p the quota
n w_p, rounded by the largest remainder; what rounding takes or gives is carried into the next batch, so that after any
number of batches a part has its share up to one slot. Inside a part the policy draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from curate.config import nearest
from curate.errors import UserError
from curriculum.config import CurriculumConfig
from curriculum.draw.slots import Mix
from curriculum.forecast.forecast import Forecast
from curriculum.forecast.groups import codes, feature
from curriculum.statistics.clock import Clock
from curriculum.statistics.parts import Parts
from curriculum.statistics.stats import ACTIVE
from curriculum.statistics.visits import Floats, Ints

MAX_PARTS: Final = 32
SAMPLED: Final = 4_096  # problems that stand for the pool in an adaptive mixture
GROUP_SIZE: Final = 8  # before the first batch


def parts_of(problems: pl.DataFrame, config: CurriculumConfig) -> Parts:
    """The parts of a dataset; one part where the column is missing, or has over `MAX_PARTS` values and no mixture.

    Raises `UserError` where the mixture names a part that is not there, or leaves one out.
    """
    column = feature(problems, config.mix_by)
    if column is None and config.mix is not None:
        raise UserError(f"curriculum.mix_by is {config.mix_by!r}, which is no column of the dataset, nor in extra")
    if column is None or (config.mix is None and column.n_unique() > MAX_PARTS):
        return Parts(("",), np.zeros(problems.height, np.int64))
    of, names = codes(column)
    if len(names) > MAX_PARTS:
        raise UserError(f"curriculum.mix_by {config.mix_by}: has {len(names)} values, over {MAX_PARTS}; mix by another")
    if isinstance(config.mix, Mapping):
        _refuse_others(config.mix, names, column, config.mix_by)
    return Parts(tuple(names), of)


def _refuse_others(mix: Mapping[str, float], names: list[str], column: pl.Series, by: str) -> None:
    if unknown := [name for name in mix if name not in names]:
        raise UserError(f"curriculum.mix: no problem has {by} {unknown[0]!r}; {nearest(unknown[0], names)}")
    if missing := [name for name in names if name not in mix]:
        num = int((column == missing[0]).sum())
        raise UserError(f"curriculum.mix leaves out {by} {missing[0]!r}, {num:,} problems; give it a share, or 0")


def next_mix(
    parts: Parts, forecast: Forecast, config: CurriculumConfig, num: int, clock: Clock
) -> tuple[Mix | None, dict[str, float]]:
    """The slots of each part in the next batch of `num`, None without a mixture, and what is carried after it."""
    if config.mix is None:
        return None, clock.mix_carried
    wanted = shares(parts, forecast, config, clock.group_size)
    slots, carried = quotas(wanted, num, np.array([clock.mix_carried.get(name, 0.0) for name in parts.names]))
    return Mix(parts.of, slots), dict(zip(parts.names, carried.tolist(), strict=True))


def shares(parts: Parts, forecast: Forecast, config: CurriculumConfig, group_size: int) -> Floats:
    """The share of each part in the next batch; 0 for a part without an active problem.

    Adaptive: in proportion to the expected share of groups with a signal among the part's active problems, above
    a floor that all parts have alike.
    """
    is_active = forecast.stats.status == ACTIVE
    num_active = np.bincount(parts.of[is_active], minlength=len(parts.names))
    if isinstance(config.mix, Mapping):
        wanted = np.array([config.mix[name] for name in parts.names], np.float64)
    else:
        wanted = _signal(parts, forecast, is_active, group_size or GROUP_SIZE)
    wanted = np.where(num_active > 0, wanted, 0.0)
    if not wanted.sum():
        wanted = (num_active > 0).astype(np.float64)
    found: Floats = wanted / max(wanted.sum(), 1e-300)
    if not isinstance(config.mix, Mapping):
        alike = (num_active > 0) / max(1, int((num_active > 0).sum()))
        found = config.mix_floor * alike + (1 - config.mix_floor) * found
    return found


def _signal(parts: Parts, forecast: Forecast, is_active: npt.NDArray[np.bool_], group_size: int) -> Floats:
    found = np.zeros(len(parts.names))
    for part in range(len(parts.names)):
        rows = np.flatnonzero(is_active & (parts.of == part))
        some = rows[:: -(-len(rows) // (SAMPLED // len(parts.names))) or 1]
        found[part] = (1.0 - forecast.no_signal(some, group_size)).mean() if len(some) else 0.0
    return found


def quotas(wanted: Floats, num: int, carried: Floats) -> tuple[Ints, Floats]:
    """Slots of each part in a batch of `num`, and what is carried into the next batch, which adds up to 0."""
    is_in = wanted > 0
    # what a part without problems is owed goes to the others
    carried = np.where(is_in, carried - carried[is_in].mean() if is_in.any() else 0.0, 0.0)
    owed = num * wanted + carried
    whole = np.where(is_in, np.maximum(np.floor(owed + 1e-9), 0.0), 0.0).astype(np.int64)
    order = np.argsort(-np.where(is_in, owed - whole, -np.inf), kind="stable")
    for place in range(num - int(whole.sum())):
        whole[order[place % max(1, int(is_in.sum()))]] += 1
    while whole.sum() > num:
        whole[np.argmin(np.where(whole > 0, owed - whole, np.inf))] -= 1
    return whole, owed - whole
