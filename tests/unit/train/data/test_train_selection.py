"""Examples from samples: only right, finished answers; the shortest by length; pairs as Kimi k1.5 describes them."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from support.model_pool import pool, script, sums

from curate.difficulty.stage import DifficultyConfig, stage
from curate.engines.prompts import EMPTY_THINK
from curate.errors import UserError
from curate.runner.run import run_stage
from train.data.flags import NO_THINK, THINK, flagged
from train.data.selection import preference_pairs, right_answers, shortest_right_answers
from train.tuning.fuse import FuseConfig, fused


def sample(text: str, num_tokens: int, finish_reason: str = "stop") -> dict[str, Any]:
    return {"text": text, "num_tokens": num_tokens, "finish_reason": finish_reason}


RIGHT, WRONG = "\\boxed{7}", "\\boxed{8}"
MIXED = [sample(f"a {RIGHT}", 20), sample(f"b {RIGHT}", 10), sample(f"c {WRONG}", 30), sample(f"d {WRONG}", 5)]
SOLVED = [sample(f"e {RIGHT}", 8), sample(f"f {RIGHT}", 9), sample(f"g {RIGHT}", 12), sample(f"h {RIGHT}", 4, "length")]


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    """Three problems sampled four times: one solved sometimes, one nearly always (so dropped), one never."""
    rows = sums(3)
    answers = {rows[0]["prompt"]: MIXED, rows[1]["prompt"]: SOLVED, rows[2]["prompt"]: [sample(WRONG, 5)]}
    config = DifficultyConfig(
        script=script(tmp_path / "script.json", answers), k=4, keep="1..2", early_stop=False, truncated="undecided"
    )
    run_stage(stage(config), pool(tmp_path / "pool", rows), tmp_path / "difficulty")
    return tmp_path / "difficulty"


def test_right_answers_of_kept_and_of_dropped_problems_are_examples(samples: Path) -> None:
    found = right_answers(samples, per_problem=2).frame
    assert sorted(text[0] for text in found["completion"]) == ["a", "b", "e", "f"]
    assert set(found["prompt"]) == {row["prompt"] for row in sums(2)}


def test_the_shortest_right_answer_is_taken_where_there_are_enough(samples: Path) -> None:
    assert sorted(text[0] for text in shortest_right_answers(samples, 2).frame["completion"]) == ["b", "e"]
    assert [text[0] for text in shortest_right_answers(samples, 3).frame["completion"]] == ["e"]


def test_pairs_reject_longer_wrong_answers_and_right_ones_half_as_long_again(samples: Path) -> None:
    pairs = preference_pairs(samples, 1.5).frame
    # d is wrong but shorter, f is right and hardly longer, h was cut off
    assert sorted((row["chosen"][0], row["rejected"][0]) for row in pairs.to_dicts()) == [
        ("b", "a"),
        ("b", "c"),
        ("e", "g"),
    ]


def test_samples_that_give_no_example_are_one_line(samples: Path) -> None:
    with pytest.raises(UserError, match="none of its samples is usable"):
        shortest_right_answers(samples, 9)


def test_fusion_makes_a_thinking_and_an_empty_example_of_each_row() -> None:
    config = FuseConfig(unflagged_rate=0, overruled_rate=0)
    thinking, direct = fused("1+1=", "<think>one and one</think>2", config=config)
    assert thinking == (f"1+1= {THINK}", "<think>one and one</think>2", None)
    assert direct == (f"1+1= {NO_THINK}", f"{EMPTY_THINK}2", None)


def test_a_flag_stands_in_the_question_of_a_conversation() -> None:
    turns = [{"role": "system", "content": "s"}, {"role": "user", "content": "1+1="}]
    config = FuseConfig(unflagged_rate=0, overruled_rate=0)
    thinking, _ = fused("s\n\n1+1=", "<think>a</think>2", json.dumps(turns), config=config)
    assert thinking.prompt == f"s\n\n1+1= {THINK}"
    assert json.loads(thinking.messages or "") == [turns[0], {"role": "user", "content": f"1+1= {THINK}"}]


@pytest.mark.parametrize("completion", ["2", "<think>one", "<think>one</think>", "<think>one</think>  ", "x</think>2"])
def test_a_completion_without_closed_reasoning_and_answer_is_no_example(completion: str) -> None:
    assert list(fused("1+1=", completion, config=FuseConfig())) == []


@pytest.mark.parametrize("flag", [THINK, NO_THINK])
def test_the_last_flag_is_the_one_that_counts(flag: str) -> None:
    prompts = [flagged("1+1=", flag, 1.0, random.Random(seed)) for seed in range(20)]
    assert all(prompt.split()[-1] == flag for prompt in prompts)
    other = {THINK: NO_THINK, NO_THINK: THINK}[flag]
    assert any(other in prompt.split() for prompt in prompts)


def test_fusion_depends_on_the_seed_and_the_prompt_alone() -> None:
    def made(prompts: list[str]) -> set[Any]:
        return {example for prompt in prompts for example in fused(prompt, "<think>a</think>b", config=FuseConfig())}

    prompts = [f"{n}+1=" for n in range(30)]
    assert made(prompts) == made(prompts[::-1])
