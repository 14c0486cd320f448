"""Transfer of statistics between datasets and runs, by key."""

from __future__ import annotations

import numpy as np
import polars as pl

from curriculum.config import CurriculumConfig
from curriculum.forecast.forecaster import Forecaster
from curriculum.forecast.groups import group_names
from curriculum.forecast.prior import new_stats
from curriculum.pools.retirement import restart
from curriculum.state.files import Saved
from curriculum.statistics.stats import ACTIVE, CANARY, HELD_OUT, NEVER, Stats
from curriculum.statistics.visits import Ints


def by_key(
    saved: Saved, problems: pl.DataFrame, config: CurriculumConfig, step_0: int = 0
) -> tuple[Stats, Forecaster, pl.DataFrame]:
    """Statistics over `problems`: the saved ones for known keys, initial ones for new keys; and their forecaster.

    Also returns the rows of known keys: a frame of `row` (before) and `to` (now). `step_0` is the saved run's step that
    becomes step 0: a visit 30 steps before it gets step -30, and problems that join were measured then.
    """
    stats, names = new_stats(problems, config), group_names(problems, config)
    new, old = _match(saved.keys, problems["key"])
    known, group = saved.stats.take(old), stats.group.copy()
    known.seen_at -= step_0
    if step_0:
        moved = saved.forecaster.regrouped(names, stats).progress.mean
        stats.scale_at[:], stats.shift_at[:] = moved[:, group]
    stats.put(new, known)
    stats.group[:] = group
    return stats, saved.forecaster.regrouped(names, stats, step_0), pl.DataFrame({"row": old, "to": new})


def begin_again(stats: Stats, saved: Saved, config: CurriculumConfig) -> None:
    """Turn the final statistics of an earlier run into the initial ones of a new run.

    A re-check due in 30 steps stays due in 30 steps. Another p0 or rule restarts the retirement tests: evidence against
    one p0 is none against another.
    """
    stats.next_check[:] = np.maximum(stats.next_check - saved.clock["step"], 0)
    stats.last_step[:] = NEVER
    stats.status[np.isin(stats.status, (HELD_OUT, CANARY))] = ACTIVE
    if (saved.config["rule"], saved.config["p0"]) != (config.rule, config.p0):
        restart(stats, np.arange(len(stats)))


def changes(old_keys: pl.Series, new_keys: pl.Series) -> dict[str, list[str]]:
    """Keys that joined and keys that are gone."""
    joined = new_keys.filter(~new_keys.is_in(old_keys.implode()))
    vanished = old_keys.filter(~old_keys.is_in(new_keys.implode()))
    return {"joined": joined.to_list(), "vanished": vanished.to_list()}


def _match(old_keys: pl.Series, new_keys: pl.Series) -> tuple[Ints, Ints]:
    """Row positions of the shared keys, in the new and in the old series."""
    old = pl.DataFrame({"key": old_keys, "old": np.arange(len(old_keys))})
    new = pl.DataFrame({"key": new_keys, "new": np.arange(len(new_keys))})
    both = new.join(old, on="key", how="inner").sort("new")
    return both["new"].to_numpy(), both["old"].to_numpy()
