"""What a question asks of its answer: a value, not its own formula; a form; a scale; an option."""

from __future__ import annotations

import pytest

from curate.verify import Item, Policy, verify, verify_many
from curate.verify.conflicts import compare_answers

PATIENT = Policy(timeout_s=30.0)

# question, ground truth, answers that are left to be computed
UNEVALUATED = [
    ("Compute 2+3.", "5", ["2+3", "3+2", "(2+3)", "x=2+3", "1+4", "2.5+2.5", "10-5"]),
    ("What is $17\\cdot 3$?", "51", ["17\\cdot 3", "3\\times17", "17(3)"]),
    ("What is $84/7$?", "12", ["\\frac{84}{7}", "84/7"]),
    ("Evaluate $5!$.", "120", ["5!", "5\\cdot4\\cdot3\\cdot2\\cdot1"]),
    ("Find $\\binom{10}{3}$.", "120", ["\\binom{10}{3}", "\\frac{10\\cdot9\\cdot8}{6}"]),
    ("Compute $\\sum_{k=1}^{100} k$.", "5050", ["\\sum_{k=1}^{100}k", "\\sum_{i=1}^{100} i", "50\\cdot101"]),
    ("Evaluate $\\int_0^1 x^2\\,dx$.", "\\frac13", ["\\int_0^1 x^2 dx", "\\int_0^1 t^2\\,dt"]),
    ("Find $\\lim_{x\\to0}\\frac{\\sin x}{x}$.", "1", ["\\lim_{x\\to0}\\frac{\\sin x}{x}"]),
    ("Find the greatest common divisor of 21 and 28.", "7", ["\\gcd(21,28)", "\\gcd(28, 21)"]),
    ("Compute $\\log_2 32$.", "5", ["\\log_2 32", "\\frac{\\ln 32}{\\ln 2}"]),
    ("What is $\\lfloor 7.9\\rfloor$?", "7", ["\\lfloor 7.9 \\rfloor"]),
    ("Compute $2^{10}$.", "1024", ["2^{10}"]),
    ("Simplify $\\sqrt{50}$.", "5\\sqrt{2}", ["\\sqrt{50}", "\\sqrt{25\\cdot2}"]),
    ("Let $S=\\sqrt{12}+\\sqrt{27}$. Find $S$.", "5\\sqrt3", ["\\sqrt{12}+\\sqrt{27}", "\\sqrt{27}+\\sqrt{12}"]),
    ("Simplify $\\sin^2 x+\\cos^2 x$.", "1", ["\\sin^2 x+\\cos^2 x", "\\cos^2 x+\\sin^2 x"]),
    ("Simplify $(a+b)^2-(a-b)^2$.", "4ab", ["(a+b)^2-(a-b)^2"]),
    ("Simplify the fraction $\\dfrac{88}{7744}$.", "\\frac{1}{88}", ["\\frac{88}{7744}"]),
    (
        "Compute $\\cos 72^\\circ$.",
        "\\frac{-1+\\sqrt5}{4}",
        ["\\cos 72^\\circ+0", "1\\cdot\\cos 72^\\circ", "-(-\\cos 72^\\circ)"],
    ),
    ("Simplify $\\sqrt{7+4\\sqrt3}$.", "2+\\sqrt3", ["\\frac{2\\sqrt{7+4\\sqrt3}}{2}", "\\sqrt{7+4\\sqrt3}+1-1"]),
    ("He calculated $\\frac{-3+4i}{1+2i}$ wrongly. What is right?", "1+2i", ["\\frac{-3+4i}{1+2i}"]),
    (
        "Express the value of the following expression as a fraction. $$1+\\frac{2}{3+\\frac45}$$",
        "\\frac{29}{19}",
        ["1+\\frac{2}{3+\\frac45}"],
    ),
    ("计算：$2+3\\times 4$", "14", ["2+3\\times4"]),
    ("$(1+i)^2=?$", "2i", ["(1+i)^2"]),
]
# question, ground truth, honest answers in another notation
HONEST = [
    ("What is half of one?", "0.5", ["\\frac{1}{2}", "1/2", ".5"]),
    ("What is $1.5+2$?", "3.5", ["\\frac{7}{2}", "3\\frac12", "3 + \\frac{1}{2}", "x=3.5", "1.5+2=3.5"]),
    ("Find the side of a square of area 12.", "2\\sqrt{3}", ["2\\sqrt3", "\\sqrt{12}"]),
    ("How many ways are there to choose 3 of 10 people?", "120", ["\\binom{10}{3}", "{10 \\choose 3}"]),
    ("How many subsets has a set of 10 elements?", "1024", ["2^{10}"]),
    ("How many orders have 5 books?", "120", ["5!"]),
    ("Find the area of a circle of radius 3.", "9\\pi", ["9\\pi", "\\pi\\cdot 9", "3^2\\pi"]),
    ("Given $f(x)=e^{2x}$, find $f(1)$.", "e^2", ["e^{2}"]),
    ("Express the sum of the first $n$ integers in terms of $n$.", "\\frac{n(n+1)}{2}", ["\\frac{n^2+n}{2}"]),
    ("There are 42 apples. How many apples are there?", "42", ["42", "42.0", "42 apples"]),
    ("If $\\sin\\theta=\\frac{1}{\\sqrt2}$, what is $\\cos\\theta$?", "\\frac{\\sqrt2}{2}", ["\\frac{1}{\\sqrt{2}}"]),
    ("Solve $x^2=2$ for $x>0$.", "\\sqrt2", ["x=\\sqrt{2}", "2^{1/2}"]),
    ("How long is the trip?", "165 min", ["2 h 45 min"]),
    ("What is $3\\times10^8$ divided by 10?", "3\\times10^7", ["30000000", "3\\cdot10^7"]),
    ("Find all solutions of $x^2-3x+2=0$.", "1, 2", ["x=1, x=2", "x=1 \\text{ or } x=2", "\\{2, 1\\}"]),
    ("Evaluate $\\sum_{k=1}^{3}k$ and write the steps.", "6", ["1+2+3=6"]),
    ("Compute $\\ln 4 + \\ln 2$.", "\\ln 8", ["3\\ln 2"]),
    ("Find the probability.", "\\frac{1023}{1024}", ["1-\\frac{1}{2^{10}}"]),
]
# question, ground truth, answers in another form, answers in the asked form
FORMS = [
    ("Factor $x^4-1$ completely.", "(x-1)(x+1)(x^2+1)", ["x^4-1", "(x^2-1)(x^2+1)"], ["(x^2+1)(x+1)(x-1)"]),
    ("Factorise 6x+9.", "3(2x+3)", ["6x+9", "9+6x"], ["3(3+2x)", "(2x+3)\\cdot3"]),
    ("Factor $58x^5-203x^{11}$.", "29x^5(2-7x^6)", ["x(58x^4-203x^{10})", "58x^5-203x^{11}"], ["-29x^5(7x^6-2)"]),
    ("Find the fraction that equals $0.\\overline{4}$.", "\\frac49", ["0.\\overline{4}"], ["4/9"]),
    ("Expand $(a+2)^2$.", "a^2+4a+4", ["(a+2)^2", "(a+2)(a+2)", "a(a+4)+4"], ["4a+4+a^2"]),
    ("Write 10/15 in lowest terms.", "\\frac23", ["\\frac{10}{15}", "\\frac{4}{6}"], ["2/3"]),
    ("Express 0.375 as a common fraction.", "\\frac38", ["0.375", "37.5\\%"], ["3/8"]),
    ("Write 11/4 as a mixed number.", "2\\frac34", ["\\frac{11}{4}", "2.75"], ["2 3/4"]),
    ("Write 45000 in scientific notation.", "4.5\\times10^4", ["45000", "45\\times10^3"], ["4.5e4"]),
    (
        "Give the prime factorization of 360.",
        "2^3\\cdot3^2\\cdot5",
        ["360", "8\\cdot9\\cdot5"],
        ["5\\cdot3^2\\cdot2^3"],
    ),
    ("Write 3/8 as a decimal.", "0.375", ["\\frac38", "37.5\\%"], ["0.3750"]),
    ("Round $\\pi$ to two decimal places.", "3.14", ["\\pi", "3.14159"], ["3.14", "3.140"]),
    ("Round to the nearest hundredth.", "0.67", ["\\frac23", "0.6667"], ["0.67"]),
    ("Express 3/5 as a percent.", "60\\%", ["0.6", "\\frac35"], ["60", "60.0\\%"]),
    ("Convert 150 degrees to radians.", "\\frac{5\\pi}{6}", ["150^\\circ"], ["5\\pi/6"]),
    ("Convert $\\frac{\\pi}{3}$ to degrees.", "60^\\circ", ["\\frac{\\pi}{3}"], ["60", "60 degrees"]),
    ("Write the line in slope-intercept form.", "y=3x-2", ["3x-y=2", "y+2=3x", "y=3(x-1)+1"], ["y=-2+3x"]),
    ("Write the line in the form $Ax+By=C$.", "3x-y=2", ["y=3x-2"], ["6x-2y=4"]),
    ("Write $x^2+2x$ in vertex form.", "(x+1)^2-1", ["x^2+2x"], ["-1+(x+1)^2"]),
    ("Write 64 as a power of 2.", "2^6", ["64"], ["2^{6}"]),
    ("Give the answer in simplest radical form.", "3\\sqrt2", ["\\sqrt{18}"], ["\\sqrt2\\cdot3"]),
    ("Rationalize the denominator.", "\\frac{\\sqrt3}{3}", ["\\frac{1}{\\sqrt3}"], ["\\frac13\\sqrt3"]),
    ("Write in the form $a+bi$.", "1-i", ["\\frac{2}{1+i}"], ["-i+1"]),
]


def _flat(rows: list[tuple[str, str, list[str]]]) -> list[tuple[str, str, str]]:
    return [(question, truth, answer) for question, truth, answers in rows for answer in answers]


@pytest.mark.parametrize(("question", "truth", "answer"), _flat(UNEVALUATED))
def test_an_answer_that_is_left_to_be_computed_is_wrong(question: str, truth: str, answer: str) -> None:
    verdict = verify(f"\\boxed{{{answer}}}", truth, question=question, policy=PATIENT)
    assert (verdict.verdict, verdict.reason) == ("wrong", "unevaluated")


@pytest.mark.parametrize(("question", "truth", "answer"), _flat(HONEST))
def test_an_honest_answer_in_another_notation_is_correct(question: str, truth: str, answer: str) -> None:
    assert verify(f"\\boxed{{{answer}}}", truth, question=question, policy=PATIENT).verdict == "correct"


@pytest.mark.parametrize(
    ("question", "truth", "answer"), _flat([(question, truth, lacking) for question, truth, lacking, _ in FORMS])
)
def test_an_equal_answer_without_the_asked_form_is_wrong(question: str, truth: str, answer: str) -> None:
    verdict = verify(f"\\boxed{{{answer}}}", truth, question=question, policy=PATIENT)
    assert verdict.verdict == "wrong"
    assert verdict.reason in ("other_form", "unevaluated", "different")


@pytest.mark.parametrize(
    ("question", "truth", "answer"), _flat([(question, truth, having) for question, truth, _, having in FORMS])
)
def test_an_answer_in_the_asked_form_is_correct(question: str, truth: str, answer: str) -> None:
    assert verify(f"\\boxed{{{answer}}}", truth, question=question, policy=PATIENT).verdict == "correct"


def test_every_truth_is_right_under_its_own_question() -> None:
    rows = [(row[0], row[1]) for table in (UNEVALUATED, HONEST, FORMS) for row in table]
    verdicts = verify_many([Item(f"\\boxed{{{truth}}}", truth, question=question) for question, truth in rows])
    assert {verdict.verdict for verdict in verdicts} == {"correct"}


def test_without_a_question_only_plain_arithmetic_is_unevaluated() -> None:
    assert verify("\\boxed{2+3}", "5").reason == "unevaluated"
    assert verify("\\boxed{35/(35+55)*100}", "38.889").reason == "unevaluated"
    for truth, answer in (("\\frac56", "1-\\frac16"), ("120", "\\binom{10}{3}"), ("3", "\\log_2 8"), ("0.5", "1/2")):
        assert verify(f"\\boxed{{{answer}}}", truth).verdict == "correct"


def test_the_policy_accepts_values_in_any_form() -> None:
    policy = Policy(unevaluated="accept", asked_form="ignored")
    assert verify("\\boxed{2+3}", "5", question="Compute 2+3.", policy=policy).verdict == "correct"
    assert verify("\\boxed{0.375}", "3/8", question="Give a common fraction.", policy=policy).verdict == "correct"


def test_two_truths_in_different_forms_do_not_contradict_each_other() -> None:
    assert compare_answers([("5", "2+3"), ("5", "6")]) == ["same", "different"]


@pytest.mark.parametrize(
    ("question", "truth", "answer", "verdict"),
    [
        ("What is revenue, in billions of dollars?", "8.7", "8.7 billion", "correct"),
        ("What is revenue in USD billions?", "8.7", "\\$8.7 billion", "correct"),
        ("How many million people live there?", "4.1", "4.1 million", "correct"),
        ("Answer in thousands.", "12", "12 thousand", "correct"),
        ("How many million?", "4 million", "4", "correct"),
        ("Answer in USD billions.", "8.7", "8.7bn", "correct"),
        ("Answer in millions.", "8.7", "8.7 billion", "wrong"),
        ("Answer in millions.", "8.7", "8.8 million", "wrong"),
        ("What is revenue?", "8.7", "8.7 billion", "wrong"),
    ],
)
def test_a_scale_that_the_question_names_may_be_repeated(question: str, truth: str, answer: str, verdict: str) -> None:
    assert verify(f"\\boxed{{{answer}}}", truth, question=question).verdict == verdict


@pytest.mark.parametrize(
    ("truth", "answer", "verdict"),
    [("A", "5", "correct"), ("B", "6", "correct"), ("A", "6", "wrong"), ("5", "A", "correct"), ("5", "B", "wrong")],
)
def test_an_option_is_named_by_its_letter_or_by_its_content(truth: str, answer: str, verdict: str) -> None:
    assert verify(f"\\boxed{{{answer}}}", truth, question="What is 2+3? (A) 5 (B) 6").verdict == verdict


def test_an_answer_has_as_many_decimals_as_the_question_asks_for() -> None:
    question = "Give the answer to three decimal places."
    for answer, verdict in (("58.333", "correct"), ("58.33", "wrong"), ("58.3", "wrong"), ("58.3333", "wrong")):
        assert verify(f"\\boxed{{{answer}}}", "58.333", question=question).verdict == verdict
    assert verify("\\boxed{58.33}", "58.3333333", question="Give two decimal places.").verdict == "correct"
    assert verify("\\boxed{0.5}", "0.50", question="Round to two decimal places.").verdict == "correct"


@pytest.mark.parametrize(
    ("question", "truth", "answer"),
    [
        ("P is m/n as a fraction in lowest terms. Find m+n.", "57", "57.0"),
        ("Which digit is the 111th when 33/555 is expressed as a decimal?", "9", "3^2"),
        ("How many factors of 2 are in the prime factorization of 384?", "7", "7 factors"),
        ("The angle is 1 radian in radians. Give it in degrees.", "57", "57^\\circ"),
        ("Find $\\sin A$.", "\\frac{2\\sqrt3}{3}", "\\frac13 2\\sqrt3"),
        ("What is the greatest common factor of 6x and 9x^2?", "3x", "x\\cdot3"),
    ],
)
def test_a_form_that_the_truth_does_not_show_is_not_asked_for(question: str, truth: str, answer: str) -> None:
    assert verify(f"\\boxed{{{answer}}}", truth, question=question).verdict == "correct"


@pytest.mark.parametrize(
    ("question", "truth", "answer", "verdict"),
    [
        ("Is it true that 2+2=4?", "True", "Yes", "correct"),
        ("Is it true that 2+2=4?", "Yes", "true", "correct"),
        ("Determine whether n is even.", "No", "False", "correct"),
        ("Is it true that 2+2=4?", "True", "No", "wrong"),
        ("Name a Boolean.", "True", "Yes", "wrong"),
        ("By how much did it rise?", "37 bps", "0.37\\%", "correct"),
        ("By how much did it rise?", "0.37\\%", "37 basis points", "correct"),
        ("By how much did it rise?", "0.37\\%", "38 bps", "wrong"),
        ("By how much did it rise?", "5\\%", "5 percentage points", "correct"),
    ],
)
def test_yes_and_true_and_parts_of_a_percentage(question: str, truth: str, answer: str, verdict: str) -> None:
    assert verify(f"\\boxed{{{answer}}}", truth, question=question).verdict == verdict
