"""The generated pairs of the benchmark, and the labelled answers if they are available beside the project."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.places import ROOT

from curate.verify import Item, Verdict, check_truth, verify, verify_many

BENCHMARKS = ROOT / "benchmarks"


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the modules of the benchmarks importable during a test."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] in ("verify_pairs", "public_truths")]:
        del sys.modules[name]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _counts(verdicts: list[Verdict], expected: list[bool]) -> tuple[int, int]:
    are_correct = [v.verdict == "correct" for v in verdicts]
    return sum(s and not e for s, e in zip(are_correct, expected, strict=True)), sum(
        e and not s for s, e in zip(are_correct, expected, strict=True)
    )


@pytest.mark.usefixtures("benchmarks")
def test_generated_pairs_of_sixty_kinds_are_decided_correctly() -> None:
    from verify_pairs import KINDS, pairs

    made = list(pairs(3, seed=7))
    verdicts = verify_many([Item(p.answer, p.ground_truth, is_bare=True) for p in made])
    false_positives, false_negatives = _counts(verdicts, [p.is_equal for p in made])
    assert len(KINDS) >= 60
    assert false_positives <= 0.002 * len(made)
    assert false_positives + false_negatives <= 0.005 * len(made)


@pytest.mark.shared
def test_hand_labelled_answers_get_their_label(shared: Path) -> None:
    rows = _rows(shared / "cases" / "answers.jsonl")
    verdicts = verify_many([Item(row["completion"], row["ground_truth"]) for row in rows])
    assert [v.verdict for v in verdicts] == [row["expected"] for row in rows]


@pytest.mark.shared
def test_answers_of_public_bug_reports_are_decided_correctly(shared: Path) -> None:
    rows = _rows(shared / "cases" / "answer_bugs.jsonl")
    rows = [row for row in rows if row["level"] in ("answer", "response")]
    verdicts = verify_many(
        [Item(row["prediction"], row["ground_truth"], is_bare=row["level"] == "answer") for row in rows]
    )
    assert _counts(verdicts, [row["expected"] for row in rows]) == (0, 0)


@pytest.mark.shared
def test_real_model_answers_get_their_label(shared: Path) -> None:
    path = shared / "data" / "verify_pairs" / "mathcoder_labelled.jsonl"
    rows = [row for row in _rows(path) if row["expected"] in ("correct", "wrong")]
    verdicts = verify_many([Item(row["prediction"], row["ground_truth"], is_bare=True) for row in rows])
    false_positives, false_negatives = _counts(verdicts, [row["expected"] == "correct" for row in rows])
    assert false_positives <= 1
    assert false_positives + false_negatives <= 0.003 * len(rows)


@pytest.mark.shared
@pytest.mark.usefixtures("benchmarks")
def test_every_public_ground_truth_equals_itself_or_is_known_to_be_uncheckable(shared: Path) -> None:
    from public_truths import ground_truths

    for truth in set(ground_truths(shared / "data")):
        verdict = verify(f"\\boxed{{{truth}}}", truth)
        assert verdict.verdict == "correct" or check_truth(truth) == "unparseable_ground_truth", truth


@pytest.mark.shared
def test_gsm8k_solutions_agree_with_their_published_labels(shared: Path) -> None:
    rows = _rows(shared / "data" / "gsm8k" / "example_model_solutions.jsonl")
    for row in rows:
        truth = row["ground_truth"].rpartition("A: ")[2]
        for solution in (value for value in row.values() if isinstance(value, dict)):
            verdict = verify(solution["solution"], truth, question=row["question"])
            assert (verdict.verdict == "correct") == solution["is_correct"], (truth, verdict)
