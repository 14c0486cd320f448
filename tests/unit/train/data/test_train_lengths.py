"""Lengths of prompts are those that the trainer meets, and prompts without room for a completion are named."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.training.generations import grpo_trainer
from support.training.toy_runs import small_toy, write_jsonl

from curate.errors import UserError
from train.data.lengths import PROMPTS, Room, fitting, left_out, num_prompt_tokens
from train.data.problems import read_problems
from train.data.prompts import to_rows
from train.grpo.config import GrpoConfig
from train.grpo.objectives import objective_named
from train.runs.folder import RunFolder
from train.runs.starting_model import load_tokenizer, room_of


def table(lengths: list[int], room: Room) -> pl.DataFrame:
    return fitting(pl.Series([f"k{place}" for place in range(len(lengths))]), lengths, room)


def test_a_prompt_fits_up_to_the_last_token_of_the_context() -> None:
    found = table([5, 6, 7], Room(16, 10))
    assert found["drop_reason"].to_list() == [None, None, "prompt_too_long"]
    assert found["drop_detail"].to_list() == [None, None, "7 + 10 > 16 tokens"]
    assert table([10**6], Room(None, 10))["drop_reason"].to_list() == [None]


def test_the_line_names_the_longest_ones_and_counts_the_others() -> None:
    line = str(left_out(table([1, 20, 40, 30, 50], Room(16, 10))))
    assert line.startswith("4 of 5 problems are left out")
    assert "k4 (50 + 10 > 16 tokens), k2 (40 + 10 > 16 tokens), k3 (30 + 10 > 16 tokens) and 1 more" in line
    assert left_out(table([1], Room(16, 10))) is None


def test_where_nothing_fits_the_run_is_refused() -> None:
    with pytest.raises(UserError, match=r"all 2 problems are too long.*lower --max-tokens"):
        left_out(table([30, 40], Room(16, 10)))


def test_vllms_own_limit_counts_where_it_is_smaller(tmp_path: Path) -> None:
    toy = small_toy(tmp_path / "toy")
    context = room_of(toy, {}, 8).context
    assert context is not None
    assert room_of(toy, {"vllm_max_model_length": context // 2}, 8).context == context // 2
    assert room_of(toy, {"vllm_max_model_length": context * 2}, 8).context == context


@pytest.mark.heavy
@pytest.mark.parametrize(
    "prompt",
    [
        {}, {"system": "Think first."}, {"template": "{prompt} Answer in \\boxed{}."}, {"thinking": "off"},
        {"prompt_format": "raw"},
    ],
    ids=["chat", "system", "template", "no thinking", "raw"],
)  # fmt: skip
def test_lengths_are_those_that_the_trainer_meets(tmp_path: Path, prompt: dict[str, Any]) -> None:
    small_toy(tmp_path / "toy")
    texts = ["Say 3.", "What is $\\frac{1}{2}$ of 12?", "<think> in a prompt", "äöü 数学 " * 9]
    write_jsonl(tmp_path / "problems.jsonl", [{"prompt": text, "answer": "3"} for text in texts])
    config = GrpoConfig.model_validate(
        {"num_problems": 2, "group_size": 2, "max_steps": 1, "max_tokens": 8, "prompt": prompt}
    )
    (tmp_path / "run").mkdir()
    trainer = grpo_trainer(tmp_path, config, objective_named("dr_grpo"), RunFolder(tmp_path / "run", {}))
    rows = to_rows(read_problems(tmp_path / "problems.jsonl").frame, config.prompt)
    prompts = [row["prompt"] for row in rows]
    wanted = [len(ids) for ids in trainer._tokenize_prompts(prompts)[0]]
    switches = trainer.chat_template_kwargs
    assert num_prompt_tokens(prompts, load_tokenizer(tmp_path / "toy"), switches) == wanted
    written = pl.read_parquet(tmp_path / "run" / PROMPTS)
    assert written["num_prompt_tokens"].to_list() == wanted
    assert written["key"].to_list() == [row["key"] for row in rows]


@pytest.mark.heavy
def test_a_problem_without_room_is_named_before_training_and_never_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small_toy(tmp_path / "toy")
    rows: list[dict[str, object]] = [{"prompt": f"Say {figure}.", "answer": str(figure)} for figure in range(5)]
    rows.insert(2, {"prompt": "Say 7. " * 900, "answer": "7"})
    write_jsonl(tmp_path / "problems.jsonl", rows)
    config = GrpoConfig(num_problems=2, group_size=2, max_steps=1, max_tokens=8)
    (tmp_path / "run").mkdir()
    trainer = grpo_trainer(tmp_path, config, objective_named("dr_grpo"), RunFolder(tmp_path / "run", {}))
    long = read_problems(tmp_path / "problems.jsonl").frame["key"][2]
    said = capsys.readouterr().out
    assert "1 of 6 problems are left out" in said
    assert long in said
    assert long not in trainer.curriculum.keys.to_list()
    assert [row["key"] for row in trainer._problems] == trainer.curriculum.keys.to_list()
    dropped = pl.read_parquet(tmp_path / "run" / PROMPTS).filter(pl.col("drop_reason").is_not_null())
    assert dropped["key"].to_list() == [long]
