"""A model's votes make a ground truth suspect only where they agree on another answer."""

from pathlib import Path
from typing import Any

import pytest
from support.model_pool import pool, problem, script

from curate.artifacts.artifact import Artifact, open_artifact
from curate.config import parse
from curate.errors import UserError
from curate.runner.run import run_stage
from curate.verifiable.stage import VerifiableConfig, stage


def vote(tmp_path: Path, answers: list[str], truth: str = "4", **settings: Any) -> Artifact:
    source = pool(tmp_path / "pool", [problem("What is it?", truth), problem("Prove it.", truth)])
    script_file = script(tmp_path / "script.json", {"*": [f"So \\boxed{{{answer}}}" for answer in answers]})
    config = parse(VerifiableConfig, {"script": script_file, **settings}, "--")
    run_stage(stage(config), source, tmp_path / "out")
    return open_artifact(tmp_path / "out")


def reasons(made: Artifact) -> list[str]:
    return sorted(made.read("dropped")["drop_reason"])


def test_votes_for_one_other_answer_make_the_truth_suspect(tmp_path: Path) -> None:
    made = vote(tmp_path, ["1/2", "\\frac12", "0.5", "\\dfrac{1}{2}", "7", "0.50", "1/2", "1/2"])
    assert reasons(made) == ["proof", "suspect_answer"]
    detail = made.read("dropped").filter(drop_reason="suspect_answer")["drop_detail"][0]
    assert detail == "6 of 7 samples say 1/2; the source says 4"


@pytest.mark.parametrize(
    "answers",
    [
        ["4"],
        ["5", "6", "7", "8", "9"],
        ["5", "5", "5", "4", "4", "4"],
        ["5", "5", "5", "5", "5", "4", "4", "4"],
        ["\\text{I do not know}", ""],
    ],
)
def test_a_truth_with_some_confirming_or_scattered_votes_stays(tmp_path: Path, answers: list[str]) -> None:
    assert reasons(vote(tmp_path, answers)) == ["proof"]


def test_voting_ends_when_no_answer_can_win(tmp_path: Path) -> None:
    made = vote(tmp_path, ["4"])
    # six of eight are needed: they are drawn together, and after six correct ones the two left cannot win
    assert made.read("samples").height == 6


def test_dropped_problems_get_no_votes(tmp_path: Path) -> None:
    made = vote(tmp_path, ["5"])
    assert made.read("samples")["key"].n_unique() == 1


def test_without_a_model_there_is_no_vote(tmp_path: Path) -> None:
    source = pool(tmp_path / "pool", [problem("What is it?", "4")])
    made = stage(VerifiableConfig())
    assert not made.has_samples
    run_stage(made, source, tmp_path / "out")
    with pytest.raises(UserError):
        open_artifact(tmp_path / "out").read("samples")


def test_an_engine_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--model"):
        stage(VerifiableConfig(engine="transformers"))
