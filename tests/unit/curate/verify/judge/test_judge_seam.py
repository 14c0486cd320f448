"""The judge in use: sampling stages, evaluation and rewards call it through one config, or not at all."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from support.judge_server import fair, says, serve
from support.model_pool import pool, problem, script

from curate.artifacts.artifact import open_artifact
from curate.engines.protocol import Completion
from curate.sampling.grading import GradingConfig, Problem, grade, verdicts
from curate.verify.verdict import Item
from train.rewards.rewards import Accuracy, Setting

GRADUS = Path(sys.executable).with_name("gradus")
TRUTH = "\\{1, 3, 5, \\ldots, 99\\}"  # the rules cannot interpret the dots
ANSWER = "so it is \\boxed{\\text{the odd numbers below one hundred}}"
ITEM = Item(ANSWER, TRUTH, question="Which numbers?")


def judged_by(url: str, **fields: object) -> GradingConfig:
    return GradingConfig(judge=json.dumps({"url": url, "model": "m", "num_tries": 1, **fields}))  # type: ignore[arg-type]


def test_without_a_judge_no_request_is_made_and_undecided_stays() -> None:
    assert GradingConfig().judge is None
    assert verdicts([ITEM], GradingConfig())[0].verdict == "undecided"


def test_a_graded_sample_takes_the_judges_verdict_if_rules_are_undecided() -> None:
    asked = Problem("k", "Which numbers?", TRUTH, "math", None)
    completion = Completion("k", 0, ANSWER, 9, "stop", 0)
    with serve(fair) as (url, bodies):
        sample = grade(asked, completion, judged_by(url))
        assert (sample.verdict, sample.verdict_reason) == ("correct", "judge")
        assert len(bodies) == 3  # both orders and the decoy
    with serve(lambda *_: says({"equivalent": False})) as (url, _):
        assert grade(asked, completion, judged_by(url)).verdict == "wrong"


def test_pairs_that_rules_decide_are_never_sent() -> None:
    with serve(fair) as (url, bodies):
        found = verdicts([Item("\\boxed{5}", "5"), Item("\\boxed{6}", "5")], judged_by(url))
        assert [v.verdict for v in found] == ["correct", "wrong"]
        assert bodies == []


def test_the_accuracy_reward_uses_the_same_judge() -> None:
    def rewards(config: GradingConfig) -> list[float | None]:
        reward = Accuracy(Setting(config, max_tokens=64, end_ids=frozenset({2})))
        texts = [[{"role": "assistant", "content": text}] for text in (ANSWER, "\\boxed{}")]
        return reward(texts, [[5, 2]] * 2, [TRUTH] * 2, ["math"] * 2, [None] * 2, ["Which numbers?"] * 2)

    assert rewards(GradingConfig()) == [None, 0.0]
    with serve(fair) as (url, _):
        assert rewards(judged_by(url)) == [1.0, 0.0]


def test_a_judge_without_a_reply_leaves_undecided() -> None:
    with serve(lambda *_: (500, {})) as (url, _):
        assert verdicts([ITEM], judged_by(url))[0].verdict == "undecided"


def test_the_judge_enters_the_fingerprint_and_its_address_options_do_not() -> None:
    plain = judged_by("http://localhost:1/v1").fingerprinted()
    assert plain != GradingConfig().fingerprinted()
    assert plain == judged_by("http://localhost:1/v1", timeout_s=9.0, num_in_flight=2).fingerprinted()


def test_difficulty_measures_with_the_judge_of_its_options(tmp_path: Path) -> None:
    pool(tmp_path / "pool", [problem("Which numbers?", TRUTH)])
    answers = script(tmp_path / "script.json", {"*": [ANSWER]})
    paths = [tmp_path / "pool", "--out", tmp_path / "out", "--script", answers]
    with serve(fair) as (url, bodies):
        judge = f"{{url: '{url}', model: m}}"
        command = [GRADUS, "curate", "difficulty", *paths, "--k", "4", "--keep", "1..4", "--judge", judge]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert bodies
    assert set(open_artifact(tmp_path / "out").read("samples")["verdict_reason"]) == {"judge"}


@pytest.mark.parametrize(
    "command", [("curate", "difficulty"), ("curate", "no-think"), ("train", "evaluate"), ("train", "grpo")]
)
def test_every_command_that_judges_completions_offers_the_judge(command: tuple[str, str]) -> None:
    shown = subprocess.run([GRADUS, *command, "--help"], capture_output=True, text=True, env={"COLUMNS": "200"})
    assert "--judge" in shown.stdout
