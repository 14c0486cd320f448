"""A million problems: CPU time of a draw and of loading, so that other work on the machine matters little."""

import statistics
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from curriculum import Curriculum, CurriculumConfig
from curriculum.draw.policies import POLICIES

NUM = 1_000_000


@pytest.fixture(scope="module")
def problems() -> pl.DataFrame:
    rng = np.random.default_rng(0)
    counts = {"num_correct": rng.binomial(8, rng.beta(0.5, 0.5, NUM)), "num_samples": np.full(NUM, 8)}
    return pl.DataFrame({"key": [f"{i:024x}" for i in range(NUM)], **counts})


@pytest.mark.parametrize("policy", POLICIES)
def test_a_draw_from_a_million_takes_under_50_ms(problems: pl.DataFrame, policy: str) -> None:
    curriculum = Curriculum.create(problems, CurriculumConfig(policy=policy), {})
    times = []
    for step in range(7):
        start = time.process_time()
        rows = curriculum.draw(512, step=step)
        times.append(time.process_time() - start)
        assert len(set(rows)) == 512
    assert statistics.median(times) < 0.05


def test_the_state_of_a_million_loads_in_under_2_s(problems: pl.DataFrame, tmp_path: Path) -> None:
    curriculum = Curriculum.create(problems, CurriculumConfig(), {})
    curriculum.save(tmp_path)
    start = time.process_time()
    loaded = Curriculum.load(tmp_path, problems, curriculum.config, {})
    assert time.process_time() - start < 2
    assert loaded.draw(64) == curriculum.draw(64)
