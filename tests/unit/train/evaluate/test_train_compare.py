"""Comparison of evaluations: pass@1 and pass@k, problems newly solved and lost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from curate.errors import UserError
from train.evaluate.compare import compare, comparisons


def evaluation(folder: Path, correct: Sequence[int], n: int = 4, undecided: Sequence[int] = ()) -> Path:
    """An evaluation in which problem i was solved by `correct[i]` of n; `undecided` problems lack one verdict."""
    rows = [
        {"benchmark": "made", "key": f"{place:03}", "verdict": "correct" if index < num else "wrong"}
        for place, num in enumerate(correct)
        for index in range(n)
    ]
    for place in undecided:
        rows[place * n + n - 1]["verdict"] = "undecided"
    folder.mkdir()
    pl.DataFrame(rows).write_parquet(folder / "samples.parquet")
    return folder


def test_a_model_that_is_oftener_right_on_the_same_problems_is_sharpened(tmp_path: Path) -> None:
    before, after = evaluation(tmp_path / "a", [1] * 40 + [0] * 20), evaluation(tmp_path / "b", [4] * 40 + [0] * 20)
    first, second, third = compare(before, after)
    assert first.startswith("made: 0.167 -> 0.667  difference +0.500")
    assert second.startswith("  pass@4: 0.667 -> 0.667  difference +0.000")
    assert second.endswith("sharpened: oftener right, no rise of pass@k shown")
    assert "newly solved by one of 4: 0.000" in third


def test_problems_newly_solved_and_lost_are_counted_apart(tmp_path: Path) -> None:
    before = evaluation(tmp_path / "a", [2] * 10 + [0] * 30)
    after = evaluation(tmp_path / "b", [0] * 4 + [2] * 26 + [0] * 10)
    found = comparisons(before, after)["made"]
    assert found.gained is not None
    assert found.lost is not None
    assert found.gained.value == 20 / 40
    assert found.lost.value == 4 / 40
    assert found.gained.low < 0.5 < found.gained.high
    *_, pass_k, _ = compare(before, after)
    assert pass_k.endswith("solves more problems")


def test_one_completion_has_no_pass_at_k_and_an_undecided_one_costs_only_its_problem(tmp_path: Path) -> None:
    single = evaluation(tmp_path / "a", [1, 0], n=1)
    assert len(list(compare(single, single))) == 1
    before = evaluation(tmp_path / "b", [1, 2, 3], undecided=[0])
    found = comparisons(before, evaluation(tmp_path / "c", [1, 2, 3]))["made"]
    assert (found.num, found.k, found.num_k) == (3, 4, 2)


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    before = evaluation(tmp_path / "a", [1])
    with pytest.raises(UserError, match=r"holds no samples\.parquet"):
        comparisons(before, tmp_path)
