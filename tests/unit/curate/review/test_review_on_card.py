"""The results of a review on the card: agreement of reviewers, and the error rate of each automatic reason."""

import json
from pathlib import Path

from support.small_run import decontaminate, problems, write_pool

from curate.artifacts.artifact import open_artifact
from curate.review.reviewed import ReviewedConfig, stage
from curate.runner.run import run_stage
from data_cards.build import build
from data_cards.config import CardConfig

PROMPTS = [*(f"a leak from the bench, number {n}" for n in range(6)), *(f"What is {n} + {n}?" for n in range(10))]


def decision(number: int, reason: str | None, reviewer: str) -> str:
    """A ruling as the stages decided, except on the first problem, and on the second by bob."""
    is_wrong = number == 0 or (number == 1 and reviewer == "bob")
    return "drop" if (reason is not None) != is_wrong else "keep"


def test_kappa_and_error_rates_with_their_intervals_are_printed(tmp_path: Path) -> None:
    run = tmp_path / "run"
    write_pool(run / "ingest", problems(PROMPTS))
    run_stage(decontaminate(4), open_artifact(run / "ingest"), run / "decontaminate")
    artifact = open_artifact(run / "decontaminate")
    dropped, kept = artifact.read("dropped")["key"].to_list(), artifact.read()["key"].to_list()
    shown = [(key, "contaminated") for key in dropped] + [(key, None) for key in kept[:4]]
    rulings = [
        {"key": key, "reviewer": reviewer, "decision": decision(number, reason, reviewer), "reason": "seen"}
        | {"queue": "audit", "drop_reason": reason, "time": "2026-01-01T00:00:00Z"}
        for reviewer in ("ann", "bob")
        for number, (key, reason) in enumerate(shown)
    ]
    verdicts = tmp_path / "verdicts.jsonl"
    verdicts.write_text("".join(json.dumps(ruling) + "\n" for ruling in rulings))
    run_stage(stage(ReviewedConfig(verdicts=verdicts)), artifact, run / "reviewed")
    (run / "pipeline.json").write_text(json.dumps({"stages": ["ingest", "decontaminate", "reviewed"]}))
    build(run, tmp_path / "dataset", CardConfig(name="Reviewed"))
    card = (tmp_path / "dataset" / "README.md").read_text()
    assert "kappa ann/bob" in card
    assert "error rate of contaminated" in card
    assert "on 10 problems" in card
