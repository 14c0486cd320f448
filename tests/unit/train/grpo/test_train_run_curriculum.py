"""The curriculum of a run: what is said where the pool is smaller than a draw."""

import polars as pl
import pytest

from curriculum import Curriculum, CurriculumConfig
from train.grpo.run_curriculum import print_small_pool


@pytest.mark.parametrize(
    ("num", "probe", "words"),
    [
        (1, 0, "warning: 1 problem for draws of 32: each is in a draw 32 times; "),
        (20, 0, "warning: 20 problems for draws of 32: each is in a draw up to 2 times; "),
        (34, 4, "warning: 30 problems for draws of 32: "),
        (32, 0, ""),
    ],
)
def test_a_pool_smaller_than_a_draw_is_said_once_with_what_to_change(
    num: int, probe: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    problems = pl.DataFrame({"key": [f"k{row}" for row in range(num)]})
    config = CurriculumConfig(probe_size=probe, probe_held_out=bool(probe))
    curriculum = Curriculum.create(problems, config, {})
    print_small_pool(curriculum, 32, "--num-problems")
    printed = capsys.readouterr().out
    assert printed.startswith(words)
    assert bool(printed) == bool(words)
    drawn = curriculum.draw(32)
    assert (len(set(drawn)) < 32) == bool(words)
