"""A policy of one's own draws what it picks, and what it must not do is one line."""

from pathlib import Path

import polars as pl
import pytest
from pydantic import ValidationError

from curate.errors import UserError
from curriculum import Curriculum, CurriculumConfig, Visit
from curriculum.config import POLICY_NAMES
from curriculum.draw.policies import POLICIES

HARDEST = """
import numpy as np
def pick(problems, num, rng):
    assert problems.columns[:2] == ["row", "rate"] and problems["step"].n_unique() == 1
    return (-problems["rate"].to_numpy() + 1e-9 * rng.random(len(problems))).argsort()[-num:]
"""


def curriculum(file: Path, num: int = 12) -> Curriculum:
    problems = pl.DataFrame({"key": [f"{n:024x}" for n in range(num)]})
    config = CurriculumConfig(policy=f"{file}:pick", floor=1e-9, rule="none")
    return Curriculum.create(problems, config, {"dataset": "d"})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(HARDEST)
    return tmp_path / "mine.py"


def test_the_names_are_those_of_the_table() -> None:
    assert set(POLICY_NAMES) == set(POLICIES)


def test_what_the_function_picks_is_drawn_and_repeats_from_a_saved_state(file: Path, tmp_path: Path) -> None:
    one = curriculum(file)
    one.observe([Visit(row, 8 if row < 6 else 0, 0 if row < 6 else 8, 0) for row in range(12)], step=1)
    assert set(one.draw(6, step=2)) == set(range(6, 12))
    one.save(tmp_path / "state")
    problems = pl.DataFrame({"key": one.keys})
    loaded = Curriculum.load(tmp_path / "state", problems, one.config, {"dataset": "d"})
    assert [one.draw(3, step=3) for _ in range(3)] == [loaded.draw(3, step=3) for _ in range(3)]
    file.write_text(HARDEST + "\n# another version")
    changed = CurriculumConfig(policy=f"{file}:pick", floor=1e-9, rule="none")
    with pytest.raises(UserError, match="policy"):
        Curriculum.load(tmp_path / "state", problems, changed, {"dataset": "d"})


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return [0] * num", "returned 1 distinct positions of 3"),
        ("return range(num + 1)", "returned 4 distinct positions of 3"),
        ("return [100 + n for n in range(num)]", "outside 0 to 11"),
        ("return [-1 - n for n in range(num)]", "outside 0 to 11"),
        ("return 'abc'", "returned str"),
        ("return None", "returned NoneType"),
        ("return [0.5, 1.5, 2.5]", "returned list"),
        ("return problems['nothing']", "failed: ColumnNotFoundError"),
        ("import numpy; return numpy.random.default_rng().permutation(len(problems))[:num]", "when called again"),
    ],
)
def test_a_broken_promise_is_one_line(tmp_path: Path, body: str, message: str) -> None:
    (tmp_path / "mine.py").write_text(f"def pick(problems, num, rng):\n    {body}\n")
    one = curriculum(tmp_path / "mine.py")
    with pytest.raises(UserError, match=message) as caught:
        one.draw(3, step=1)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("policy", "message"),
    [("targt", "did you mean target"), ("mine.py:pick", "no such file"), ("numpy:no_such", "has no function")],
)
def test_a_policy_that_does_not_exist_is_refused(policy: str, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        CurriculumConfig(policy=policy)
