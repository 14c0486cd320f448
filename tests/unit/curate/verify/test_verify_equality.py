"""Equal and different answers of every kind, bare and in a box."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest
from support import places

from curate.verify import Item, Policy, check_truth, verify, verify_many

PATIENT = Policy(timeout_s=30.0)  # a busy machine must not decide
Case = tuple[str, str, str, bool]


def _cases(name: str) -> Iterator[Case]:
    kind = truth = ""
    for line in (places.CASES / name).read_text(encoding="utf-8").splitlines()[1:]:
        if line.startswith("[") and line.endswith("]") and line[1:-1].replace("_", "").isalpha():
            kind = line[1:-1]
        elif line.startswith("  "):
            for answer in line[4:].split(" ;; "):
                yield kind, truth, answer, line[2] == "="
        elif line:
            truth = line


FILES = ("equality_cases.txt", "notation_cases.txt", "reported_cases.txt", "refused_cases.txt")
CASES = [case for name in FILES for case in _cases(name)]
KINDS = sorted({kind for kind, *_ in CASES})


@pytest.mark.parametrize("kind", KINDS)
def test_bare_answers_get_their_verdict(kind: str) -> None:
    cases = [case for case in CASES if case[0] == kind]
    verdicts = verify_many([Item(answer, truth, is_bare=True) for _, truth, answer, _ in cases], policy=PATIENT)
    missed = [(case, v) for case, v in zip(cases, verdicts, strict=True) if (v.verdict == "correct") != case[3]]
    assert not missed


@pytest.mark.parametrize("kind", KINDS)
def test_a_box_in_a_sentence_changes_no_verdict(kind: str) -> None:
    missed = []
    for _, truth, answer, is_equal in (case for case in CASES if case[0] == kind):
        verdict = verify(f"So the final answer is $\\boxed{{{answer}}}$, as we wanted.", truth, policy=PATIENT)
        if answer.count("{") == answer.count("}") and (verdict.verdict == "correct") != is_equal:
            missed.append((truth, answer, verdict))
    assert not missed


WRAPPERS = {
    "dollars": lambda answer: f"${answer}$",
    "parentheses of math": lambda answer: f"\\({answer}\\)",
    "spaces": lambda answer: f"  {answer} ",
    "thin spaces": lambda answer: f"\\,{answer}\\,",
    "braces": lambda answer: f"{{{answer}}}",
    "display style": lambda answer: f"\\displaystyle {answer}",
    "large fractions": lambda answer: answer.replace("\\frac", "\\dfrac"),
    "large brackets": lambda answer: answer.replace("(", "\\left(").replace(")", "\\right)"),
    "bold": lambda answer: f"**{answer}**",
}
# kinds in which another digit may leave the value unchanged: rounding, residues, names of constants, options
ANY_DIGIT = re.compile(r"floor|ceil|gcd|max|^0!|C_|mathbb|mod|binom|choose|approx|\([A-J]\)|integer|date")


@pytest.mark.parametrize("name", WRAPPERS)
def test_text_around_an_answer_changes_no_verdict(name: str) -> None:
    wrap = WRAPPERS[name]
    cases = [c for c in random.Random(1).sample(CASES, 600) if not set("*\\()") & set(c[2]) or name != "bold"]
    cases = [c for c in cases if not c[2].endswith("\\") and "\\left" not in c[2] and "\\(" not in c[2]]
    plain = verify_many([Item(answer, truth, is_bare=True) for _, truth, answer, _ in cases], policy=PATIENT)
    wrapped = verify_many([Item(wrap(answer), truth, is_bare=True) for _, truth, answer, _ in cases], policy=PATIENT)
    pairs = zip(cases, plain, wrapped, strict=True)
    assert not [case for case, p, w in pairs if (p.verdict == "correct") != (w.verdict == "correct")]


def test_two_thousand_answers_with_one_other_digit_are_never_correct() -> None:
    source = random.Random(2)
    truths = [truth for truth in sorted({truth for _, truth, _, _ in CASES}) if not ANY_DIGIT.search(truth)]
    mutated = [(truth, _with_other_digit(truth, source)) for truth in truths * 3 if re.search(r"[0-9]", truth)]
    assert len(mutated) >= 2000
    verdicts = verify_many([Item(answer, truth, is_bare=True) for truth, answer in mutated], policy=PATIENT)
    assert not [pair for pair, v in zip(mutated, verdicts, strict=True) if v.verdict == "correct"]


def _with_other_digit(text: str, source: random.Random) -> str:
    place = source.choice([i for i, char in enumerate(text) if char in "0123456789"])
    digit = source.choice([digit for digit in "0123456789" if digit != text[place]])
    return text[:place] + digit + text[place + 1 :]


def test_every_kind_has_equal_and_different_answers() -> None:
    for kind in KINDS:
        assert {is_equal for k, _, _, is_equal in CASES if k == kind} == {True, False}, kind


def test_every_truth_equals_itself_and_can_be_checked() -> None:
    for truth in {truth for _, truth, _, _ in CASES}:
        assert verify(f"\\boxed{{{truth}}}", truth).verdict == "correct", truth
        assert check_truth(truth) is None, truth


@pytest.mark.parametrize(
    ("policy", "truth", "answer", "verdict"),
    [
        (Policy(percent="strict"), "5", "5\\%", "wrong"),
        (Policy(percent="strict"), "0.05", "5\\%", "correct"),
        (Policy(), "5", "5\\%", "correct"),
        (Policy(units="required"), "12 cm", "12", "wrong"),
        (Policy(units="required"), "12 cm", "120 mm", "correct"),
        (Policy(pair_is_set=True), "\\{1,2\\}", "(2,1)", "correct"),
        (Policy(is_case_sensitive=True), "Monday", "monday", "wrong"),
        (Policy(approximate="never"), "3.14", "\\pi", "wrong"),
        (Policy(), "3.14", "\\pi", "correct"),
    ],
)
def test_each_policy_moves_its_verdict(policy: Policy, truth: str, answer: str, verdict: str) -> None:
    assert verify(f"\\boxed{{{answer}}}", truth, policy=policy).verdict == verdict


def test_a_rounded_value_is_accepted_only_where_the_question_asks_for_it() -> None:
    for question, verdict in (("Find x.", "wrong"), ("Find x to the nearest hundredth.", "correct"), (None, "wrong")):
        assert verify("\\boxed{0.33}", "\\frac13", question=question).verdict == verdict
    assert verify("\\boxed{0.34}", "\\frac13", question="Round to two decimal places.").verdict == "wrong"


def test_repeating_the_equation_of_the_question_solves_nothing() -> None:
    assert verify("\\boxed{|x|=5}", "\\pm 5", question="Which x are five away from 0?").verdict == "correct"
    assert verify("\\boxed{|x|=5}", "\\pm 5", question="Solve $|x| = 5$.").verdict == "wrong"
    assert verify("\\boxed{x=\\pm5}", "\\pm 5", question="Solve $|x| = 5$.").verdict == "correct"


def test_a_missing_base_is_accepted_only_where_the_question_names_it() -> None:
    assert verify("\\boxed{101}", "101_2", question="Write five in base 2.").verdict == "correct"
    assert verify("\\boxed{101}", "101_2").verdict == "wrong"
    assert verify("\\boxed{5}", "101_2", question="Write five in base 2.").verdict == "wrong"


@pytest.mark.parametrize("truth", ["", "  ", "$$", "\\boxed{}", "\\text{}", "."])
def test_an_empty_truth_equals_nothing(truth: str) -> None:
    for completion in ("", truth, "\\boxed{}", "\\boxed{5}", f"\\boxed{{{truth}}}"):
        assert verify(completion, truth).verdict != "correct"
    assert check_truth(truth) == "unparseable_ground_truth"


def test_kinds_other_than_math_and_code_are_undecided() -> None:
    assert verify("\\boxed{5}", "5", kind="agent").verdict == "undecided"
    assert check_truth("5", kind="agent") == "no_verifier"
