"""Suspects: agreement on an answer other than the truth, with a bound that holds at every time."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from curate.artifacts.artifact import seal, shard_path, write_shard
from curate.errors import UserError
from curriculum.answers.bound import log_evidence, lower_bound
from curriculum.answers.find import Said, find_suspects
from curriculum.commands import app
from curriculum.suspects.suspects import completions, said_by, suspects


def test_agreement_on_a_wrong_answer_is_suspect_and_agreement_on_the_truth_is_not() -> None:
    said = [Said("a", "7", False)] * 16 + [Said("b", "8", True)] * 16 + [Said("c", str(i), False) for i in range(16)]
    (found,) = find_suspects(said, 0.05)
    assert (found.key, found.answer, found.num, found.num_right, found.total) == ("a", "7", 16, 0, 16)
    assert 0.5 < found.bound < found.share == 1.0


def test_few_completions_no_majority_or_a_truth_that_is_given_as_often_is_no_evidence() -> None:
    assert not find_suspects([Said("a", "7", False)] * 6, 0.05)
    assert not find_suspects([Said("a", "7", False), Said("a", None, False), Said("a", None, False)] * 12, 0.05)
    assert not find_suspects([Said("a", "7", False), Said("a", "8", True)] * 40, 0.05)


def test_a_later_answer_needs_more_evidence() -> None:
    others = [Said("a", str(i), False) for i in range(6)]
    assert find_suspects([Said("a", "x", False)] * 12, 0.05)
    assert not find_suspects([*others, *[Said("a", "x", False)] * 9], 0.05)


def test_the_bound_is_passed_at_any_time_no_more_often_than_alpha() -> None:
    generator, misses = np.random.default_rng(0), 0
    for _ in range(200):
        hits = np.cumsum(generator.random(60) < 0.5)
        misses += any(log_evidence(int(k), n, 0.5) > np.log(10) for n, k in enumerate(hits, start=1))
    assert misses <= 200 * 0.1 + 12  # 0.1 and nearly three standard errors


def test_the_bound_grows_with_evidence_and_stays_below_the_share() -> None:
    bounds = [lower_bound(3 * n, 4 * n, 0.05) for n in (1, 4, 16, 64)]
    assert bounds == sorted(bounds)
    assert bounds[-1] < 0.75 < bounds[-1] + 0.12
    assert lower_bound(0, 0, 0.05) == lower_bound(0, 9, 0.05) == 0.0


def test_answers_in_other_spellings_agree() -> None:
    texts = [r"\boxed{7}", r"It is \boxed{ 7 }", "<think>7"]
    table = pl.DataFrame({"key": ["a"] * 3, "text": texts, "accuracy": [0.0, 1.0, None]})
    first, second, third = said_by([table], {"a"})
    assert first == Said("a", "7", False)
    assert second == Said("a", "7", True)
    assert third == Said("a", None, False)


def test_a_run_without_completions_and_a_bad_alpha_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="kept no completions"):
        completions(tmp_path)
    with pytest.raises(UserError, match="--alpha 2"):
        suspects(tmp_path, None, 2.0)


def test_the_command_adds_up_the_measured_samples_and_those_of_the_run(tmp_path: Path) -> None:
    data, run = tmp_path / "data", tmp_path / "run"
    problem = {"key": ["a"], "prompt": ["What is 3 + 4?"], "ground_truth": ["8"], "source": ["made"]}
    write_shard(shard_path(data, "kept", 0), pl.DataFrame(problem))
    sample = {"key": ["a"] * 8, "text": [r"\boxed{7}"] * 8, "verdict": ["wrong"] * 8}
    write_shard(shard_path(data, "samples", 0), pl.DataFrame(sample))
    counts = {"num_in": 1, "num_kept": 1, "num_dropped": 0, "reasons": {}}
    seal(data, {"stage": "difficulty", "version": 1, "fingerprint": "", "config": {}, "inputs": {}, **counts})
    (run / "completions").mkdir(parents=True)
    (run / "config.yaml").write_text(f"data: {data}\n", encoding="utf-8")
    drawn = {"key": ["a"] * 4, "text": [r"\boxed{7}"] * 4, "accuracy": [0.0] * 4}
    pl.DataFrame(drawn).write_parquet(run / "completions" / "draw-000001.parquet")
    (found,) = json.loads(CliRunner().invoke(app, ["suspects", str(run), "--json"]).stdout)
    assert (found["answer"], found["num"], found["total"], found["truth"]) == ("7", 12, 12, "8")
    shown = CliRunner().invoke(app, ["suspects", str(run)]).stdout
    assert "12 of 12 say 7 (share 1.00" in shown
    assert "0 the truth 8: What is 3 + 4?" in shown
