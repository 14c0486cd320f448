"""Groups of problems that move together: those with the same source, level, ... as the problems' columns say."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from curriculum.config import CurriculumConfig
from curriculum.statistics.visits import Ints

MAX_GROUPS: Final = 16
# numbers with more distinct values than this are cut at quantiles
MAX_VALUES: Final = 8
NUM_BINS: Final = 4
REST: Final = "others"
ONE_GROUP: Final = "all"


def group_labels(problems: pl.DataFrame, config: CurriculumConfig) -> pl.Series:
    """The label of each problem's group; at most `MAX_GROUPS` labels, the problems of small groups are `others`."""
    found = {name: column for name in config.groups if (column := feature(problems, name)) is not None}
    frame = pl.DataFrame(found) if found else pl.DataFrame({"whole pool": np.full(problems.height, "")})
    parts = [pl.lit(f"{name}=") + pl.col(name) for name in found] or [pl.lit(ONE_GROUP)]
    # what was not measured need not be like what was
    unmeasured = pl.when(_is_measured(problems)).then(pl.lit("")).otherwise(pl.lit(" unmeasured"))
    label = pl.concat_str([pl.concat_str(parts, separator=" "), unmeasured]).alias("label")
    labels = frame.with_columns(label)["label"]
    sizes = labels.value_counts(name="num").sort(["num", "label"], descending=[True, False])
    if sizes.height <= MAX_GROUPS:
        return labels
    is_large = labels.is_in(sizes["label"].head(MAX_GROUPS - 1).implode())
    return labels.zip_with(is_large, pl.Series([REST]))


def group_names(problems: pl.DataFrame, config: CurriculumConfig) -> list[str]:
    """Names of the groups, in the order of their codes."""
    return codes(group_labels(problems, config))[1]


def codes(labels: pl.Series) -> tuple[Ints, list[str]]:
    """The position of each label in the sorted list of names, and that list."""
    names = sorted(labels.unique().to_list())
    place = pl.DataFrame({"label": names, "code": np.arange(len(names))})
    joined = pl.DataFrame({"label": labels}).join(place, on="label", how="left", maintain_order="left")
    return joined["code"].to_numpy().copy(), names


def _is_measured(problems: pl.DataFrame) -> pl.Series:
    """Whether each problem has counts; true for all where the dataset has none."""
    if not {"num_correct", "num_samples"} <= set(problems.columns):
        return pl.Series(np.ones(problems.height, np.bool_))
    return problems["num_correct"].is_not_null() & problems["num_samples"].is_not_null()


def feature(problems: pl.DataFrame, name: str) -> pl.Series | None:
    """A column or field of `extra` as text, many-valued numbers as quarters; None if no problem has it."""
    if name in problems.columns:
        column = problems[name].cast(pl.String, strict=False)
    elif "extra" in problems.columns:
        column = problems.select(pl.col("extra").cast(pl.String).str.json_path_match(f"$.{name}"))["extra"]
    else:
        return None
    if column.null_count() == len(column):
        return None
    numbers = column.cast(pl.Float64, strict=False)
    if numbers.null_count() == column.null_count() and numbers.n_unique() > MAX_VALUES:
        cuts = [float(numbers.quantile(i / NUM_BINS) or 0.0) for i in range(1, NUM_BINS)]
        quarter = pl.Series(np.searchsorted(cuts, numbers.fill_null(0.0).to_numpy()) + 1).cast(pl.String)
        column = ("quarter " + quarter).zip_with(numbers.is_not_null(), pl.Series([None], dtype=pl.String))
    return column.fill_null("?")
