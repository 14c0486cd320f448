"""Mixtures: shares are exact over batches, parts that run out give theirs away, and a resume draws the same."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from curate.errors import UserError
from curriculum import Curriculum, CurriculumConfig, Visit
from curriculum.draw.mix import quotas
from curriculum.show.status import figures, status

SIZES = {"code": 30, "math": 300, "puzzle": 70}


def problems(sizes: dict[str, int] = SIZES) -> pl.DataFrame:
    sources = [name for name, num in sizes.items() for _ in range(num)]
    return pl.DataFrame({"key": [f"{n:024x}" for n in range(len(sources))], "source": sources})


def made(frame: pl.DataFrame | None = None, **settings: Any) -> Curriculum:
    config = CurriculumConfig.model_validate({"rule": "none", **settings})
    return Curriculum.create(problems() if frame is None else frame, config, {"dataset": "d"})


def counts(one: Curriculum, frame: pl.DataFrame, rows: list[int]) -> Counter[str]:
    return Counter(frame["source"][rows].to_list())


@pytest.mark.parametrize("num", [1, 3, 7, 16, 64])
@pytest.mark.parametrize("policy", ["uniform", "target", "easy_to_hard"])
def test_each_part_has_its_share_up_to_one_slot_after_any_number_of_batches(num: int, policy: str) -> None:
    mix, frame = {"math": 0.55, "code": 0.3, "puzzle": 0.15}, problems()
    one, total = made(frame, mix=mix, policy=policy), Counter[str]()
    for step in range(1, 60):
        rows = one.draw(num, step=step)
        assert len(set(rows)) == num
        total += counts(one, frame, rows)
        for name, share in mix.items():
            # a batch larger than a part of 30 takes the shortage elsewhere
            if num * share <= SIZES[name]:
                assert abs(total[name] - share * num * step) < 1.5, name


def test_quotas_add_up_and_carry_nothing_away() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        parts = int(rng.integers(1, 9))
        wanted = rng.dirichlet(np.full(parts, 0.3)) * (rng.random(parts) < 0.8)
        if not wanted.sum():
            continue
        wanted, carried = wanted / wanted.sum(), np.zeros(parts)
        for _ in range(30):
            num = int(rng.integers(1, 40))
            slots, carried = quotas(wanted, num, carried)
            assert slots.sum() == num
            assert slots.min() >= 0
            assert not slots[wanted == 0].any()
            assert abs(carried.sum()) < 1e-9
            assert np.abs(carried).max() < 1.5


def test_a_part_without_active_problems_gives_its_share_to_the_others() -> None:
    frame = problems({"math": 40, "code": 2})
    one = made(frame, mix={"math": 0.5, "code": 0.5}, park_after=1)
    rows = one.draw(8, step=1)
    # two problems of code for four slots
    assert counts(one, frame, rows) == {"math": 6, "code": 2}
    one.observe([Visit(row, 0, 8, 0) for row in (40, 41)], step=1)  # parked
    drawn = Counter[str]()
    for step in range(2, 40):
        drawn += counts(one, frame, one.draw(8, step=step))
    # they come back by the floor of parked problems alone
    assert drawn["math"] > 0.9 * drawn.total()


def test_an_adaptive_mixture_goes_where_the_signal_is_and_leaves_every_part_its_floor() -> None:
    frame = problems({"dead": 100, "live": 100})
    one = made(frame, mix="adaptive", mix_floor=0.2, policy="uniform")
    visits = [Visit(row, 0 if row < 100 else 4, 8 if row < 100 else 4, 0) for row in range(200)]
    for step in range(1, 6):
        one.observe(visits, step=step)
    drawn = Counter[str]()
    for step in range(6, 46):
        drawn += counts(one, frame, one.draw(20, step=step))
    share = drawn["dead"] / drawn.total()
    assert 0.1 <= share < 0.2


def test_a_resume_carries_on_with_the_same_draws(tmp_path: Path) -> None:
    one = made(mix={"math": 0.61, "code": 0.29, "puzzle": 0.1})
    for step in range(1, 5):
        one.observe([Visit(row, 3, 5, 0) for row in one.draw(7, step=step)], step=step)
    one.save(tmp_path)
    other = Curriculum.load(tmp_path, problems(), one.config, {"dataset": "d"})
    assert [one.draw(7, step=5), one.draw(7, step=6)] == [other.draw(7, step=5), other.draw(7, step=6)]


def test_figures_by_part_are_in_metrics_status_and_json(tmp_path: Path) -> None:
    one = made(mix={"math": 0.5, "code": 0.5, "puzzle": 0})
    visits = [Visit(0, 8, 0, 0), Visit(1, 2, 2, 4, num_truncated=3), Visit(40, 0, 8, 0, num_truncated=8)]
    one.observe(visits, step=1)
    found = one.metrics()
    assert found["by_part/code/rate"] == 10 / 12
    assert found["by_part/code/signal"] == 1 / 2
    assert found["by_part/code/undecided"] == 4 / 16
    assert found["by_part/code/truncated"] == 3 / 16
    assert found["by_part/math/truncated"] == 1
    assert "by_part/puzzle/rate" not in found
    one.save(tmp_path / "checkpoint-1")
    text = status(tmp_path)
    assert "mix {'math': 0.5, 'code': 0.5, 'puzzle': 0.0} by source" in text
    (line,) = (line.split() for line in text.splitlines() if line.strip().startswith("code "))
    assert line == ["code", "66.7%", "83.3%", "50.0%", "25.0%", "18.8%", "-"]
    assert figures(tmp_path)["parts"][0]["part"] == "code"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mix": {"math": 1, "code": 1}}, "leaves out source 'puzzle', 70 problems"),
        ({"mix": {"maths": 1, "code": 1, "puzzle": 1}}, "'maths'; did you mean math"),
        ({"mix": "adaptive", "mix_by": "colour"}, "'colour', which is no column"),
        ({"mix": {"math": 1}, "mix_by": "key"}, "over 32"),
    ],
)
def test_a_mixture_that_does_not_fit_the_dataset_is_one_line(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        made(**settings)


@pytest.mark.parametrize("mix", [{}, {"math": -1, "code": 2}, {"math": 0}])
def test_shares_are_not_negative_and_not_all_zero(mix: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="give each part a share"):
        CurriculumConfig(mix=mix)


def test_without_a_mixture_draws_are_those_of_before_with_parts_or_without() -> None:
    frame = problems()
    assert made(frame).draw(20, step=1) == made(frame.drop("source"), groups=()).draw(20, step=1)
