"""Conversion of a state, as an earlier version of gradus wrote it, to the current form.

Version 2 had one gain for the whole pool, in logits per step of age, and no groups. Its problems form one group, whose
progress and evidence have the shifts that give the same extrapolation; loading it for training groups them.
"""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from curriculum.config import CurriculumConfig

PRIOR_RATE: Final = 0.02  # standard deviation of the gain in version 2


def in_current_form(header: dict[str, Any], problems: pl.DataFrame) -> tuple[dict[str, Any], pl.DataFrame]:
    """The header and the table of problems with what version 3 added; those of version 3 are unchanged."""
    if header["version"] > 2:
        return header, problems
    clock = dict(header["clock"])
    drift = clock.pop("drift")
    rate = drift["score"] / (drift["information"] + PRIOR_RATE**-2)
    zero = pl.lit(0.0)
    problems = problems.with_columns(scale_at=zero, shift_at=rate * pl.col("seen_at"), group=pl.lit(0, pl.Int32))
    config = {"groups": list(CurriculumConfig().groups), **header["config"]}
    progress = {"mean": [[0.0], [rate * clock["step"]]], "covariance": [[0.0, 0.0], [0.0, 0.0]], "step": drift["step"]}
    return {**header, "clock": clock, "config": config, "progress": progress}, problems
