"""Tolerances of the policy, which are off by default and may be set for single sources."""

from __future__ import annotations

import pytest

from curate.artifacts.samples import Sample
from curate.config import parse
from curate.difficulty.stage import DifficultyConfig
from curate.engines.protocol import Completion
from curate.errors import UserError
from curate.sampling.grading import GradingConfig, Problem, grade
from curate.verify import Item, Policy, verify_many


@pytest.mark.parametrize(
    ("truth", "answer", "policy", "verdict"),
    [
        ("9.81", "9.8", Policy(), "wrong"),
        ("9.81", "9.8", Policy(rel_tol=0.01), "correct"),
        ("9.81", "9.7", Policy(rel_tol=0.01), "wrong"),
        ("-9.81", "-9.8", Policy(rel_tol=0.01), "correct"),
        ("-9.81", "9.81", Policy(rel_tol=0.9), "wrong"),
        ("9.81 m/s^2", "985 cm/s^2", Policy(rel_tol=0.01), "correct"),
        ("9.81 m", "9.82 s", Policy(rel_tol=0.01), "wrong"),
        ("9.81 m", "9.82", Policy(rel_tol=0.01), "correct"),
        ("5%", "5.02\\%", Policy(rel_tol=0.01), "correct"),
        ("\\$5", "5.01", Policy(rel_tol=0.01), "correct"),
        ("x=2.5", "x=2.51", Policy(rel_tol=0.01), "correct"),
        ("(1.00,2.00)", "(1.001,2.001)", Policy(rel_tol=0.01), "correct"),
        ("(1.00,2.00)", "(1.001,2.1)", Policy(rel_tol=0.01), "wrong"),
        ("0", "0.0001", Policy(rel_tol=0.01), "wrong"),
        ("1000000", "1000001", Policy(), "wrong"),
        ("1000000", "1000001", Policy(rel_tol=0.01), "correct"),
        ("\\pi", "3.14", Policy(rel_tol=0.01), "correct"),
        ("2x", "2.01x", Policy(rel_tol=0.1), "wrong"),
        ("Monday", "Tuesday", Policy(rel_tol=0.5), "wrong"),
        ("12345", "12346", Policy(sig_figs=4), "correct"),
        ("12345", "12356", Policy(sig_figs=4), "wrong"),
        ("6.02\\times10^{23}", "6.022e23", Policy(sig_figs=3), "correct"),
        ("\\frac13", "0.33", Policy(sig_figs=2), "correct"),
        ("\\frac13", "0.34", Policy(sig_figs=2), "wrong"),
        ("58.333", "58.33", Policy(), "correct"),
        ("69.333", "\\$69.33", Policy(), "correct"),
        ("58.333", "58.34", Policy(), "wrong"),
        ("58.333", "58.3", Policy(), "wrong"),
        ("0.333", "0.33", Policy(), "wrong"),
        ("58.333", "58.33", Policy(approximate="never"), "wrong"),
    ],
)
def test_a_tolerance_accepts_close_values_of_the_same_kind(
    truth: str, answer: str, policy: Policy, verdict: str
) -> None:
    assert verify_many([Item(answer, truth, is_bare=True)], policy=policy)[0].verdict == verdict


def _graded(source: str | None, config: GradingConfig) -> Sample:
    problem = Problem("k", "What is g?", "9.81", "math", None, source=source)
    return grade(problem, Completion("k", 0, "\\boxed{9.8}", 3, "stop", 1), config)


def test_a_source_may_have_settings_of_its_own() -> None:
    config = GradingConfig(verify_by_source="{scibench: {rel_tol: 0.02}}")
    assert _graded("scibench", config).verdict == "correct"
    assert _graded("gsm8k", config).verdict == "wrong"
    assert _graded(None, config).verdict == "wrong"


def test_a_table_of_a_settings_file_and_an_option_are_the_same_setting() -> None:
    as_table = parse(DifficultyConfig, {"verify_by_source": {"a": {"rel_tol": 0.02}}}, "p.yaml")
    assert as_table.verify_by_source == "{a: {rel_tol: 0.02}}"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": {"reltol": 0.02}}, "reltol is not a setting; did you mean rel_tol"),
        ({"a": {"rel_tol": 2}}, "less than 1"),
        ("scibench", "write a table of settings by source"),
    ],
)
def test_a_wrong_setting_of_a_source_is_named(given: object, message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse(DifficultyConfig, {"verify_by_source": given}, "p.yaml")
