"""The table of docs/verify.md is true, and contains every reason."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from support.places import ROOT

from curate.verify import Item, verify, verify_many
from curate.verify.verdict import Reason

PAGE = (ROOT / "docs" / "verify.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \| (correct|wrong) \|", PAGE, re.MULTILINE)
ASKED = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \| `([^`]+)` \| (correct|wrong) \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("truth", "answer", "verdict"), ROWS)
def test_every_row_of_the_table_is_true(truth: str, answer: str, verdict: str) -> None:
    assert verify_many([Item(answer, truth, is_bare=True)])[0].verdict == verdict
    assert verify(f"The final answer is $\\boxed{{{answer}}}$.", truth).verdict == verdict


@pytest.mark.parametrize(("question", "truth", "answer", "verdict"), ASKED)
def test_every_row_with_a_question_is_true(question: str, truth: str, answer: str, verdict: str) -> None:
    assert verify(f"\\boxed{{{answer}}}", truth, question=question).verdict == verdict


def test_the_tables_were_read() -> None:
    assert len(ROWS) > 60
    assert len(ASKED) > 10


def test_every_reason_is_documented() -> None:
    documented = set(re.findall(r"`(\w+)`", PAGE.partition("## Where the answer")[0]))
    assert set(get_args(Reason)) <= documented
