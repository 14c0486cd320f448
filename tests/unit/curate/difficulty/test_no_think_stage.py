"""The no-think stage on scripted answers: what is dropped, with which evidence, and what luck explains."""

from pathlib import Path
from typing import Any

import pytest
from support.model_pool import pool, problem, says, script, sums

from curate.artifacts.artifact import Artifact, open_artifact
from curate.config import parse
from curate.difficulty.chance import chance, fewest_beyond_chance, luck_p_value
from curate.difficulty.no_think import NoThinkConfig, stage
from curate.runner.run import run_stage


def attempt(tmp_path: Path, answers: dict[str, Any], rows: Any = None, **settings: Any) -> Artifact:
    source = pool(tmp_path / "pool", rows or sums(2))
    config = parse(NoThinkConfig, {"script": script(tmp_path / "script.json", answers), **settings}, "--")
    run_stage(stage(config), source, tmp_path / "out")
    return open_artifact(tmp_path / "out")


def test_one_success_drops_a_problem_and_is_its_last_attempt(tmp_path: Path) -> None:
    made = attempt(tmp_path, {"0 + 7 = ?": says("wwcwwwww"), "*": says("w")})
    row = made.read("dropped").to_dicts()[0]
    assert row["drop_reason"] == "solved_without_thinking"
    assert row["drop_detail"] == "1 of 3; attempt 2: \\boxed{7}"
    assert (row["num_no_think"], row["num_no_think_correct"]) == (3, 1)
    assert made.read("kept")["num_no_think"].to_list() == [8]
    assert made.manifest.facts["samples"] == 3 + 8


def test_an_attempt_that_reasons_despite_the_setting_is_undecided(tmp_path: Path) -> None:
    made = attempt(tmp_path, {"*": ["<think>6 and 1</think>\\boxed{7}"]})
    assert made.manifest.num_kept == 2
    assert set(made.read("samples")["verdict_reason"]) == {"thought_anyway"}
    assert made.manifest.facts["samples_that_thought_anyway"] == 2 * 8


def test_an_empty_think_block_is_no_reasoning(tmp_path: Path) -> None:
    assert attempt(tmp_path, {"*": ["<think>\n\n</think>\n\n\\boxed{7}"]}).manifest.num_dropped == 2


def test_beyond_chance_keeps_what_luck_explains_and_writes_the_p_value(tmp_path: Path) -> None:
    # a one-digit answer: two of eight are luck at 19%, three at 4%
    answers = {"0 + 7 = ?": says("cwcwwwww"), "1 + 6 = ?": says("cwcwwwcw")}
    made = attempt(tmp_path, answers, beyond_chance=True)
    assert made.read("kept")["prompt"].to_list() == ["0 + 7 = ?"]
    row = made.read("dropped").to_dicts()[0]
    assert row["no_think_p_value"] == pytest.approx(luck_p_value(8, 0.1, 3))
    assert ", p 0.038;" in row["drop_detail"]


def test_yes_or_no_needs_nearly_every_attempt_right(tmp_path: Path) -> None:
    rows = [problem("Is it prime?", "Yes"), problem("Is it even?", "Yes")]
    answers = {"Is it prime?": ["\\boxed{Yes}"], "Is it even?": ["\\boxed{Yes}", "\\boxed{No}"]}
    made = attempt(tmp_path, answers, rows, beyond_chance=True)
    assert made.read("dropped")["prompt"].to_list() == ["Is it prime?"]
    assert made.manifest.facts["samples"] < 2 * 8


def test_thinking_cannot_be_switched_on_here() -> None:
    with pytest.raises(Exception, match="off"):
        parse(NoThinkConfig, {"thinking": "on"}, "--")


@pytest.mark.parametrize(
    ("ground_truth", "choices", "rate"),
    [
        ("Yes", None, 1 / 2),
        ("否", None, 1 / 2),
        ("B", ["a", "b", "c", "d", "e"], 1 / 5),
        ("(C)", None, 1 / 4),
        ("7", None, 1 / 10),
        ("$42$", None, 1 / 100),
        ("-3", None, 1 / 20),
        ("1234", None, 0.0),
        ("\\frac{1}{2}", None, 0.0),
        ("x + 1", None, 0.0),
        (None, None, 0.0),
    ],
)
def test_chance_is_one_in_the_answers_of_that_form(
    ground_truth: str | None, choices: list[str] | None, rate: float
) -> None:
    assert chance(ground_truth, choices) == pytest.approx(rate)


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.1, 0.25, 0.5])
def test_the_fewest_successes_beyond_chance_are_the_first_that_luck_rarely_has(rate: float) -> None:
    fewest = fewest_beyond_chance(8, rate, 0.05)
    assert luck_p_value(8, rate, fewest) < 0.05
    assert fewest == 1 or luck_p_value(8, rate, fewest - 1) >= 0.05
