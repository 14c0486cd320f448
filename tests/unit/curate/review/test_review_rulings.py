"""Rulings: the log, the majority, agreement, error rates, and how the stage `reviewed` applies them."""

import json
import math
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.pools import pool_of
from support.review_pool import make_artifact
from support.small_run import write_pool

from curate.artifacts.artifact import open_artifact, seal, shard_path, write_shard
from curate.errors import UserError
from curate.records import DECISION
from curate.review.agreement import agreements, cohen_kappa, error_rates, wilson
from curate.review.log import Ruling, append_ruling, read_rulings, settled, split_keys
from curate.review.queue import QueueConfig, build_queue
from curate.review.reviewed import ReviewedConfig, stage
from curate.runner.run import run_stage


def ruling(key: str, decision: str, reviewer: str = "ada", **more: str | None) -> Ruling:
    answer = {"ground_truth": "42"} if decision == "fix" else {}
    fields = {"queue": "audit", "time": "2030-01-01T00:00:00+00:00", **answer, **more}
    return Ruling(key=key, reviewer=reviewer, decision=decision, **fields)


def test_the_log_only_grows_and_the_last_ruling_counts(tmp_path: Path) -> None:
    log = tmp_path / "new" / "verdicts.jsonl"
    append_ruling(log, ruling("a", "keep"))
    before = log.read_bytes()
    append_ruling(log, ruling("a", "drop"))
    assert log.read_bytes().startswith(before)
    assert len(read_rulings(log)) == 2
    assert settled(read_rulings(log))["a"].decision == "drop"


def test_a_torn_line_damages_no_other_line(tmp_path: Path) -> None:
    log = tmp_path / "verdicts.jsonl"
    append_ruling(log, ruling("a", "keep"))
    log.write_bytes(log.read_bytes() + b'{"key": "b", "revie')
    append_ruling(log, ruling("c", "drop"))
    assert [it.key for it in read_rulings(log)] == ["a", "c"]


def test_a_line_that_is_not_a_ruling_is_named(tmp_path: Path) -> None:
    log = tmp_path / "verdicts.jsonl"
    log.write_text(ruling("a", "keep").model_dump_json() + '\n{"key": "b"}\n')
    with pytest.raises(UserError, match=r"verdicts\.jsonl: line 2 is not a ruling"):
        read_rulings(log)


def test_the_majority_decides_and_a_split_leaves_it_open() -> None:
    rulings = [
        ruling("a", "keep", "ada"), ruling("a", "drop", "bob"), ruling("a", "drop", "eve"),
        ruling("b", "keep", "ada"), ruling("b", "drop", "bob"),
        ruling("c", "fix", "ada", ground_truth="1"), ruling("c", "fix", "bob", ground_truth="2"),
    ]  # fmt: skip
    assert {key: it.decision for key, it in settled(rulings).items()} == {"a": "drop"}
    assert split_keys(rulings) == ["b", "c"]


def test_kappa_is_cohens() -> None:
    # Cohen's textbook table: 20 both yes, 5 and 10 apart, 15 both no: p_o = .7, p_e = .5
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    assert cohen_kappa(pairs) == pytest.approx(0.4)
    assert cohen_kappa([("y", "n"), ("n", "y")]) == pytest.approx(-1.0)
    with pytest.raises(ValueError, match="no problem"):
        cohen_kappa([])


CATEGORIES = st.sampled_from(["keep", "drop", "fix"])


@given(st.lists(st.tuples(CATEGORIES, CATEGORIES), min_size=1))
def test_kappa_is_symmetric_bounded_and_one_for_full_agreement(pairs: list[tuple[str, str]]) -> None:
    kappa = cohen_kappa(pairs)
    assert kappa <= 1.0
    assert math.isclose(kappa, cohen_kappa([(other, one) for one, other in pairs]), abs_tol=1e-12)
    assert cohen_kappa([(one, one) for one, _ in pairs]) == 1.0


def test_agreement_counts_problems_that_both_judged() -> None:
    rulings = [ruling(key, "keep", who) for who in ("ada", "bob") for key in "ab"] + [ruling("c", "drop", "ada")]
    assert agreements(rulings) == {("ada", "bob"): (1.0, 2)}


def test_error_rates_use_random_problems_only() -> None:
    rulings = [
        ruling("a", "keep", drop_reason="contaminated"), ruling("b", "drop", drop_reason="contaminated"),
        ruling("c", "fix"), ruling("d", "keep"), ruling("e", "keep"), ruling("f", "keep"),
        ruling("g", "keep", queue="near_threshold", drop_reason="contaminated"),
    ]  # fmt: skip
    rates = error_rates(rulings)
    assert (rates["contaminated"].num_errors, rates["contaminated"].num_reviewed) == (1, 2)
    assert (rates["kept"].num_errors, rates["kept"].num_reviewed) == (1, 4)


def test_a_second_reviewer_does_not_enlarge_the_sample() -> None:
    alone = [ruling("a", "keep", drop_reason="proof"), ruling("b", "drop", drop_reason="proof")]
    agreeing = [ruling(word.key, word.decision, "bob", drop_reason="proof") for word in alone]
    assert error_rates(alone) == error_rates(alone + agreeing)
    split = error_rates([*alone, ruling("b", "keep", "bob", drop_reason="proof")])["proof"]
    assert (split.num_errors, split.num_reviewed) == (1.5, 2)


def test_the_interval_is_wilsons() -> None:
    low, high = wilson(1, 10)
    assert (round(low, 4), round(high, 4)) == (0.0179, 0.4042)
    assert wilson(0, 20)[0] == 0.0
    assert wilson(20, 20)[1] == 1.0


def test_every_reviewer_sees_the_same_queue_and_every_row_once(tmp_path: Path) -> None:
    artifact = open_artifact(make_artifact(tmp_path / "clean"))
    first, second = (build_queue([artifact], QueueConfig(num_audit=2, seed=3)) for _ in range(2))
    assert [entry.key for entry in first] == [entry.key for entry in second]
    assert len({entry.key for entry in first}) == len(first) == 3  # two kept rows and the one dropped
    assert build_queue([artifact], QueueConfig(num_audit=0))[0].queue == "near_threshold"


def test_a_problem_in_several_artifacts_is_shown_where_it_was_dropped_or_in_the_last(tmp_path: Path) -> None:
    last = open_artifact(make_artifact(tmp_path / "clean"))
    rows = pl.concat([last.read("kept"), last.read("dropped").drop(*DECISION)])
    write_pool(tmp_path / "pool", rows)
    first = open_artifact(tmp_path / "pool")
    shown = {entry.key: entry for entry in build_queue([first, last], QueueConfig(num_audit=9))}
    (gone,) = last.read("dropped")["key"]
    assert shown.keys() == set(rows["key"])
    assert (shown[gone].part, shown[gone].drop_reason) == ("dropped", "contaminated")
    assert {entry.artifact for entry in shown.values()} == {str(last.folder)}
    assert [entry.drop_reason for entry in shown.values() if entry.part == "kept"] == [None] * 3


def test_of_many_matches_those_nearest_to_the_threshold_of_their_method_are_shown(tmp_path: Path) -> None:
    matches = [("coverage", 0.62), ("coverage", 0.9), ("jaccard", 0.93), ("jaccard", 0.51), ("exact", 1.0)]
    evidence = [json.dumps({"method": method, "score": score}) for method, score in matches]
    rows = pool_of([{"prompt": f"What is {n} + {n}?", "ground_truth": "1"} for n in range(len(matches))])
    rows = rows.with_columns(drop_reason=pl.lit("contaminated"), drop_detail=pl.Series(evidence))
    write_shard(shard_path(tmp_path / "clean", "kept", 0), rows.drop(*DECISION).head(0))
    write_shard(shard_path(tmp_path / "clean", "dropped", 0), rows)
    counts = {"num_in": 5, "num_kept": 0, "num_dropped": 5, "reasons": {"contaminated": 5}}
    config = {"min_coverage": 0.6, "min_jaccard": 0.5}
    seal(
        tmp_path / "clean",
        {"stage": "decontaminate", "version": 1, "fingerprint": "f", "config": config, "inputs": {}, **counts},
    )
    shown = build_queue([open_artifact(tmp_path / "clean")], QueueConfig(num_audit=0, num_each=3))
    assert [json.loads(entry.row["drop_detail"])["score"] for entry in shown] == [0.51, 0.62, 0.9]


def test_rulings_that_cannot_be_applied_are_counted(tmp_path: Path) -> None:
    artifact = open_artifact(make_artifact(tmp_path / "clean"))
    (gone,) = artifact.read("dropped")["key"]
    log = tmp_path / "verdicts.jsonl"
    for word in (ruling("elsewhere", "keep"), ruling(gone, "drop", drop_reason="contaminated")):
        append_ruling(log, word)
    outcome = run_stage(stage(ReviewedConfig(verdicts=log)), artifact, tmp_path / "out")
    assert outcome.manifest.facts["rulings on problems of other artifacts"] == 1


def test_rulings_drop_correct_and_restore(tmp_path: Path) -> None:
    artifact = open_artifact(make_artifact(tmp_path / "clean"))
    one, two, three = artifact.read("kept")["key"]
    (hostile,) = artifact.read("dropped")["key"]
    log = tmp_path / "verdicts.jsonl"
    for word in (
        ruling(one, "drop", reason="badly_worded"), ruling(two, "fix"), ruling(three, "keep"),
        ruling(hostile, "keep", drop_reason="contaminated"), ruling("elsewhere", "drop"),
    ):  # fmt: skip
        append_ruling(log, word)
    outcome = run_stage(stage(ReviewedConfig(verdicts=log)), artifact, tmp_path / "out")
    reviewed = open_artifact(tmp_path / "out")
    kept, dropped = reviewed.read("kept"), reviewed.read("dropped")
    assert kept["key"].to_list() == [two, three, hostile]
    assert dropped["key"].to_list() == [one]
    assert dropped["drop_reason"].to_list() == ["review_rejected"]
    assert json.loads(dropped["drop_detail"][0]) == {"reviewer": "ada", "reason": "badly_worded"}
    assert kept["ground_truth"][0] == "42"
    assert json.loads(kept["extra"][0])["reviewed"]["ground_truth"] == "4"
    assert outcome.manifest.num_in == 4
    assert outcome.manifest.facts["problems reviewed"] == 5
    assert outcome.manifest.facts["answers mended"] == 1
    assert outcome.manifest.facts["brought back from contaminated"] == 1
    assert outcome.manifest.facts["error rate of contaminated"].startswith("100.0%")


def test_another_ruling_makes_another_artifact(tmp_path: Path) -> None:
    artifact = open_artifact(make_artifact(tmp_path / "clean"))
    log = tmp_path / "verdicts.jsonl"
    append_ruling(log, ruling("elsewhere", "keep"))
    run_stage(stage(ReviewedConfig(verdicts=log)), artifact, tmp_path / "out")
    append_ruling(log, ruling(artifact.read("kept")["key"][0], "drop"))
    with pytest.raises(UserError, match="another configuration or input"):
        run_stage(stage(ReviewedConfig(verdicts=log)), artifact, tmp_path / "out")
