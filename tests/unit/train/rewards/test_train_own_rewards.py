"""Rewards of one's own: what they may return, and one clear line for everything else."""

from pathlib import Path
from typing import Any

import pytest

from curate.errors import UserError
from curate.own_code import with_digest
from curate.sampling.grading import GradingConfig
from train.rewards.own import OPTION, OwnReward, try_out
from train.rewards.rewards import Setting, rewards_named

CHAT = [[{"role": "assistant", "content": text}] for text in ("a", "bb", "ccc")]
ROW = {
    "key": "k", "prompt": [{"role": "user", "content": "1+1"}], "question": "1+1", "ground_truth": "2", "kind": "math",
    "tests": None, "source": "s", "solution": "one and one", "extra": "{}",
}  # fmt: skip
GOOD = """\
import numpy, torch
def brevity(completions, **_): return [-len(c[0]["content"]) for c in completions]
def unsure(completions, **_): return [None, float("nan"), True]
def scalars(completions, **_): return torch.tensor([1, 0, 1])
def array(completions, **_): return numpy.array([0.5, 1, 2])
async def later(completions, solution=None, **_): return [1.0 for _ in completions]
def columns(completions, ground_truth, question, kind, source, solution, extra, trainer_state, **_):
    return [float(truth == "2" and state.global_step == 0) for truth, state in zip(ground_truth, [trainer_state] * 99)]
class Grader:
    def __call__(self, prompts, completions, **_): return [1] * len(prompts)
grader = Grader()
"""
BAD = {
    "few": ("return [1]", "returned 1 values for 3 completions"),
    "text": ("return 'abc'", "returned str; return a list of numbers"),
    "number": ("return 1.0", "returned float; return a list of numbers"),
    "words": ("return ['a', 'b', 'c']", "returned str for a completion"),
    "infinite": ("return [1, 2, float('inf')]", "returned inf; return a finite number"),
    "table": ("return {'a': 1, 'b': 2, 'c': 3}", "returned dict"),
    "raises": ("return [1 / 0]", "failed: ZeroDivisionError at mine.py:"),
    "leaves": ("raise SystemExit(3)", "failed: SystemExit at mine.py:"),
    "hangs": ("\n    while True: pass", "took over 0.2 s for a batch"),
    "nothing": ("pass", "returned NoneType"),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    bodies = [f"def {name}(completions, **_): {body}" for name, (body, _) in BAD.items()]
    (tmp_path / "mine.py").write_text("\n".join([GOOD, *bodies]))
    return tmp_path / "mine.py"


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("brevity", [-1, -2, -3]), ("unsure", [None, None, 1]), ("scalars", [1, 0, 1]), ("array", [0.5, 1, 2]),
        ("later", [1, 1, 1]),
    ],
)  # fmt: skip
def test_numbers_of_any_kind_are_rewards(file: Path, name: str, wanted: list[Any]) -> None:
    assert OwnReward(f"{file}:{name}", 5)(CHAT) == wanted


@pytest.mark.parametrize("name", BAD)
def test_everything_else_is_one_line_that_names_the_function(file: Path, name: str) -> None:
    with pytest.raises(UserError, match=name) as refused:
        OwnReward(f"{file}:{name}", 0.2)(CHAT)
    assert BAD[name][1] in str(refused.value)
    assert "\n" not in str(refused.value)


def test_rewards_of_trl_work_as_they_are() -> None:
    (_, reward) = rewards_named(["accuracy", "trl.rewards:think_format_reward"], Setting(GradingConfig(), 64))
    thought = [{"role": "assistant", "content": "<think>\nso\n</think>\nit is 2"}]
    assert reward(completions=[thought, CHAT[0]], prompts=["", ""]) == [1.0, 0.0]


def test_they_are_tried_on_made_completions_with_all_columns(file: Path) -> None:
    rewards = [OwnReward(f"{file}:{name}", 5) for name in ("columns", "grader", "later")]
    lines = try_out(rewards, [ROW])
    assert lines[0] == "reward columns on 10 made completions: " + ", ".join(["1"] * 10)
    assert len(lines) == 3
    with pytest.raises(UserError, match="few returned 1 values for 10"):
        try_out([OwnReward(f"{file}:few", 5)], [ROW])


def test_a_changed_file_is_another_reward(file: Path) -> None:
    name = with_digest(f"{file}:brevity", OPTION)
    assert name.startswith(f"{file}:brevity@")
    assert OwnReward(name, 5)(CHAT) == [-1, -2, -3]
    assert with_digest(name, OPTION) == name
    file.write_text(GOOD.replace("-len", "-2 * len"))
    assert with_digest(name, OPTION) != name
    assert OwnReward(name, 5)(CHAT) == [-2, -4, -6]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("{}:other", "has no function other"), ("gone.py:f", "no such file"), ("no.such.module:f", "No module named"),
        ("{}.broken.py:f", "cannot be imported: SyntaxError"),
    ],
)  # fmt: skip
def test_what_is_not_there_is_refused_by_name(file: Path, name: str, told: str) -> None:
    Path(f"{file}.broken.py").write_text("def f(:")
    with pytest.raises(UserError, match=told):
        OwnReward(name.format(file), 5)
