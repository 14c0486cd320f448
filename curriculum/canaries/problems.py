"""Which problems are canaries, and their wrong truths.

A canary is a problem of the dataset that is set aside. Each time it is drawn it has another truth, one of `TRUTHS` at
random, and no answer matches two of them: a completion that is written and judged without knowledge of the truth is
judged correct with probability at most `LUCK`, whatever the model does. Code gets the truth as the expected output of
all its tests.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import polars as pl

from curate.errors import UserError
from curate.verify.code.tests_format import AssertTests, parse_tests
from curriculum.config import CurriculumConfig
from curriculum.draw.probe import in_order_of_lots
from curriculum.statistics.stats import CANARY, HELD_OUT, Stats

NUM_TRUTHS: Final = 101
LUCK: Final = 1.0 / (NUM_TRUTHS - 1)  # without the one that is the problem's own truth
GROWTH: Final = 1.25
MAX_TOLERANCE: Final = 0.1  # below it, no answer is near two truths
LEAST: Final = 11
MAX_CANARIES: Final = 64
NEEDED: Final = ("kind", "ground_truth")

Problem = Mapping[str, Any]  # Any: columns of a problem


def _truths() -> Iterator[int]:
    truth = LEAST
    for _ in range(NUM_TRUTHS):
        yield truth
        truth = math.ceil(truth * GROWTH)


TRUTHS: Final = tuple(_truths())


def set_aside(problems: pl.DataFrame, stats: Stats, config: CurriculumConfig) -> None:
    """Mark the canaries: as large a share of the problems as of the slots, at most `MAX_CANARIES`; chance decides.

    Raises `UserError` where no problem can be one.
    """
    if not config.canaries:
        return
    if missing := [name for name in NEEDED if name not in problems.columns]:
        raise UserError(
            f"curriculum.canaries: the dataset has no column {missing[0]}, which tells how to change truths"
        )
    wanted = min(MAX_CANARIES, math.ceil(config.canaries * problems.height))
    found: list[int] = []
    for row in in_order_of_lots(problems["key"].to_list(), "canary", config.seed):
        if stats.status[row] != HELD_OUT and can_be_canary(problems.row(row, named=True)):
            found.append(row)
        if len(found) == wanted:
            break
    if not found or len(found) >= int((stats.status != HELD_OUT).sum()):
        raise UserError(
            f"curriculum.canaries: {len(found)} of {problems.height:,} problems can have a wrong truth (free answers, "
            "programs tested by input and output); set it to 0, or give more problems"
        )
    stats.status[found] = CANARY


def can_be_canary(problem: Problem) -> bool:
    """Whether an honest completion cannot match the wrong truths, but by luck: no choices, no tests as code."""
    if problem["kind"] == "math":
        return problem["ground_truth"] is not None and not problem.get("choices")
    if problem["kind"] == "code" and problem.get("tests"):
        tests = parse_tests(problem["tests"])
        return tests is not None and not isinstance(tests, AssertTests)
    return False


def as_canary(problem: Problem, seed: int, step: int) -> dict[str, Any]:  # Any: columns of a problem
    """The problem with its wrong truth at a training step, which seed, step and key decide."""
    lot = hashlib.sha256(f"{seed}:canary:{step}:{problem['key']}".encode()).digest()
    truth = np.random.default_rng(int.from_bytes(lot[:16], "big")).choice(_wrong(problem))
    if problem["kind"] == "math":
        return {**problem, "ground_truth": str(truth)}
    tests = parse_tests(problem["tests"])
    if tests is None or isinstance(tests, AssertTests):
        raise ValueError(f"{problem['key']}: its tests cannot have a wrong truth")
    table = tests.model_dump()
    table["tests"] = [{**test, "output": _as_output(int(truth), tests.style)} for test in table["tests"]]
    # a checker that accepts another output than the expected one is no canary's
    changed = type(tests).model_validate({**table, "checker": ""})
    return {**problem, "ground_truth": str(truth), "tests": changed.model_dump_json()}


def _wrong(problem: Problem) -> list[int]:
    """The truths without the one that is nearest to the problem's own; `LUCK` is the chance of each."""
    own = _number(problem)
    nearest = min(range(NUM_TRUTHS), key=lambda place: abs(TRUTHS[place] - own))
    return [truth for place, truth in enumerate(TRUTHS) if place != nearest]


def _number(problem: Problem) -> float:
    """The problem's own truth as a number; 0 for another one."""
    text = str(problem.get("ground_truth"))
    if problem["kind"] == "code":
        tests = parse_tests(problem["tests"])
        text = "" if tests is None or isinstance(tests, AssertTests) else str(tests.tests[0].output)
    try:
        value = float(text.replace(",", "").replace("$", ""))
    except ValueError:
        return 0.0
    return value if math.isfinite(value) else 0.0


def _as_output(truth: int, style: str) -> str | int:
    return f"{truth}\n" if style == "stdio" else truth
