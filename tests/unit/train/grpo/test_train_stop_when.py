"""Rules that end a run: rarely by chance, soon where there is a reason, and only with a checkpoint that holds all."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from support.training.toy_runs import copying_problems, small_toy, write_jsonl

from train.grpo.config import GrpoConfig
from train.grpo.stop_when import StopRules, e_value
from train.grpo.tables import StopWhen

pytestmark = pytest.mark.heavy
PROBLEMS, N, TESTS = 48, 4, 8


class Folder:
    """A run folder as the rules read it."""

    def __init__(self, path: Path) -> None:
        self.folder = path


def rules(path: Path, **settings: Any) -> StopRules:
    return StopRules(StopWhen(**settings), Folder(path), num_tests=TESTS, steps_per_draw=2)  # type: ignore[arg-type]


def evaluations(path: Path, counts: list[np.ndarray[Any, Any]]) -> None:
    lines = [
        {
            "step": 10 * at, "benchmark": "exam",
            "num_correct": {str(i): int(k) for i, k in enumerate(row)},
            "num_judged": {str(i): N for i in range(len(row))},
        }
        for at, row in enumerate(counts)
    ]  # fmt: skip
    (path / "evaluations.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


def test_an_e_value_has_an_expectation_of_at_most_one_at_the_edge_of_its_null() -> None:
    rng = np.random.default_rng(0)
    for edge in (0.0, 0.1):
        # rare large losses against frequent small gains: mean difference exactly at the edge
        values = []
        for _ in range(4_000):
            loses = rng.random(20) < 0.25
            values.append(e_value(np.where(loses, -0.6, (edge + 0.15) / 0.75).tolist(), edge))
        assert np.mean(values) < 1.15
    assert e_value([-0.5] * 40) > 1_000
    assert e_value([0.5] * 40) < 0.5
    assert e_value([-1.0] * 3_000) > 1e300


@pytest.mark.parametrize("concentration", [0.3, 2.0])
def test_a_model_that_stands_still_is_stopped_for_a_decline_less_often_than_stated(
    tmp_path: Path, concentration: float
) -> None:
    alpha, rng, stopped, runs = 0.2, np.random.default_rng(1), 0, 150
    for _ in range(runs):
        rates = rng.beta(concentration, concentration, PROBLEMS)
        evaluations(tmp_path, [rng.binomial(N, rates) for _ in range(TESTS + 1)])
        one = rules(tmp_path, decline=alpha)
        stopped += any(one.after_evaluation(10 * at) for at in range(1, TESTS + 1))
    assert stopped / runs <= alpha


def test_a_decline_is_found_and_named(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    rates = rng.beta(1, 1, PROBLEMS)
    evaluations(tmp_path, [rng.binomial(N, rates * (1 if at < 3 else 0.3)) for at in range(TESTS + 1)])
    one = rules(tmp_path, decline=0.05)
    assert [one.after_evaluation(10 * at) for at in (0, 1, 2)] == [None] * 3
    assert (one.after_evaluation(30) or "").startswith("exam is below step 0 (-0.")


def test_a_plateau_is_found_where_nothing_is_gained_and_not_where_something_is(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    flat = [rng.binomial(N, np.full(400, 0.9)) for _ in range(4)]
    rising = [rng.binomial(N, np.full(400, 0.3 + 0.15 * at)) for at in range(4)]
    settings = {"plateau": 0.05, "plateau_evals": 3, "plateau_gain": 0.1}
    evaluations(tmp_path, flat)
    assert "gained less than 0.1 since step 0" in (rules(tmp_path, **settings).after_evaluation(30) or "")
    assert rules(tmp_path, **settings).after_evaluation(20) is None
    evaluations(tmp_path, rising)
    assert rules(tmp_path, **settings).after_evaluation(30) is None


@pytest.mark.parametrize(
    ("settings", "figure", "good", "bad"),
    [
        ({"entropy_below": 0.1}, "entropy", 0.5, 0.05),
        ({"length_below": 20}, "completions/mean_length", 60, 10),
        ({"no_signal_above": 0.8}, "groups/mixed", 0.9, 0.1),
    ],
)
def test_a_bound_is_held_against_a_whole_window_also_after_a_resume(
    tmp_path: Path, settings: dict[str, float], figure: str, good: float, bad: float
) -> None:
    def ends(one: StopRules, values: list[float], first: int) -> list[int]:
        found = []
        for step, value in enumerate(values, first):
            control = SimpleNamespace(should_training_stop=False, should_save=False)
            one.on_step_end(None, SimpleNamespace(global_step=step, max_steps=99), control)
            if control.should_training_stop:
                assert control.should_save
                found.append(step)
            one.on_log(None, None, None, {figure: value, "loss": 0.0})
        return found

    whole = rules(tmp_path, window=3, **settings)
    # the third bad line is that of step 4; the run ends after the next step that closes a generation
    assert ends(whole, [good, bad, bad, bad, bad, bad, bad], 1)[0] == 6
    assert not ends(rules(tmp_path, window=3, **settings), [good] * 9, 1)
    (tmp_path / "log.jsonl").write_text("".join(json.dumps({figure: bad, "step": n}) + "\n" for n in (1, 2)))
    resumed = rules(tmp_path, window=3, **settings)
    resumed.on_train_begin(None, None, None)
    assert ends(resumed, [bad, bad], 3) == [4]
    assert json.loads((tmp_path / "ended.json").read_text())["step"] == 4


def test_tests_need_benchmarks() -> None:
    with pytest.raises(ValidationError, match="name them with eval_data"):
        GrpoConfig.model_validate({"stop_when": {"decline": 0.05}})


def test_a_run_ends_with_its_model_and_the_same_command_does_not_start_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import shutil

    from train.grpo.command import grpo

    small_toy(tmp_path / "toy")
    copying_problems(tmp_path / "problems.jsonl", 6)
    exam = write_jsonl(tmp_path / "exam.jsonl", [{"question": f"Say {n}.", "answer": str(n)} for n in range(4)])
    settings = {
        "num_problems": 2, "group_size": 2, "max_tokens": 4, "max_steps": 30, "save_steps": 10, "logging_steps": 1,
        "eval_data": [str(exam)], "eval_steps": 5, "eval_n": 1,
        # an untrained model solves nothing
        "stop_when": {"no_signal_above": 0.5, "window": 3},
    }  # fmt: skip
    config, run = GrpoConfig.model_validate(settings), tmp_path / "run"
    grpo(str(tmp_path / "toy"), tmp_path / "problems.jsonl", run, config)
    told = json.loads((run / "ended.json").read_text())
    assert told["step"] < 10
    assert "groups without a signal are 1, above 0.5" in told["reason"]
    assert f"training ends early, at step {told['step']}" in capsys.readouterr().out
    weights = (run / "model/model.safetensors").read_bytes()
    log = (run / "log.jsonl").read_bytes()
    # as after a kill before the model was written
    shutil.rmtree(run / "model")
    grpo(str(tmp_path / "toy"), tmp_path / "problems.jsonl", run, config)
    assert (run / "model/model.safetensors").read_bytes() == weights
    assert len((run / "log.jsonl").read_bytes().splitlines()) - len(log.splitlines()) <= 1
