"""Labelled programs of the shared cases, where they are present."""

import json
from pathlib import Path

import pytest

from curate.verify.code.grade import verify_code

# without a checker, only the order of the output is right
OVERRULED = ("own: multiple valid orders (set of lines)",)


@pytest.mark.shared
def test_labelled_programs_are_judged_as_labelled(shared: Path, sandboxed: None) -> None:
    lines = (shared / "cases/answers_2.jsonl").read_text().splitlines()
    cases = [case for case in map(json.loads, lines) if case["level"] == "code" and case["source"] not in OVERRULED]
    refused = [
        case["id"]
        for case in cases
        if (verify_code(case["prediction"], case["ground_truth"]).verdict == "correct") != case["expected"]
    ]
    assert refused == []
