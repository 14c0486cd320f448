"""Laws of the verifier: deterministic, symmetric where mathematics is, deaf to thinking, independent of company."""

from __future__ import annotations

import random
import string
import subprocess
import sys

from hypothesis import given, settings
from hypothesis import strategies as st

from curate.verify import Item, verify, verify_many

NUMBERS = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.fractions(max_denominator=99).map(lambda q: f"\\frac{{{q.numerator}}}{{{q.denominator}}}"),
    st.decimals(min_value=-999, max_value=999, places=2).map(str),
    st.tuples(st.integers(2, 9), st.integers(2, 40)).map(lambda t: f"{t[0]}\\sqrt{{{t[1]}}}"),
    st.integers(1, 12).map(lambda n: f"\\frac{{\\pi}}{{{n}}}"),
)
EXPRESSIONS = st.tuples(st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 9)).map(
    lambda t: f"{t[2]}x^2+({t[0]})x+({t[1]})"
)
SETS = st.lists(st.integers(-20, 20), min_size=1, max_size=4).map(lambda xs: f"\\{{{','.join(map(str, xs))}\\}}")
ANSWERS = st.one_of(NUMBERS, EXPRESSIONS, SETS)
NOISE = st.text(alphabet=string.printable + "\\{}$^_√½中（）", max_size=80)
SIGNS = r"\frac \sqrt \boxed{ { } ( ) [ ] ^ _ = < , ; : ! % | \{ \} \pi \infty \cup \in \pm \text{ \sin \log \\ &"
WORDS = "0 1 12 3.5 x y n e i cm or and 1,234 $ #### <think> </think>"
FRAGMENTS = st.lists(st.sampled_from([*SIGNS.split(), *WORDS.split()]), max_size=25).map(" ".join)


def _verdicts(items: list[Item]) -> list[tuple[str, str]]:
    return [(v.verdict, v.reason) for v in verify_many(items)]


@given(ANSWERS, ANSWERS)
@settings(max_examples=150, deadline=None)
def test_equality_of_values_and_sets_is_symmetric(a: str, b: str) -> None:
    forth, back = verify_many([Item(a, b, is_bare=True), Item(b, a, is_bare=True)])
    assert (forth.verdict == "correct") == (back.verdict == "correct") or "." in a + b  # a decimal truth may be rounded


@given(ANSWERS)
@settings(max_examples=100, deadline=None)
def test_every_answer_equals_itself(answer: str) -> None:
    assert verify(f"\\boxed{{{answer}}}", answer).verdict == "correct"


@given(ANSWERS, NOISE)
@settings(max_examples=150, deadline=None)
def test_quoting_the_truth_inside_the_thinking_only_is_never_correct(truth: str, noise: str) -> None:
    noise = noise.replace("think", "").replace("answer", "")
    for thinking in (truth, f"\\boxed{{{truth}}}", f"the answer is {truth}", f"#### {truth}"):
        assert verify(f"<think>{noise}{thinking}</think>", truth).verdict == "wrong"
        assert verify(f"<think>{thinking}", truth).verdict == "wrong"
        assert verify(f"<think>{thinking}</think>\nI give up.", truth).verdict == "wrong"


@given(st.integers(-999, 999), st.integers(1, 50), NOISE)
@settings(max_examples=150, deadline=None)
def test_text_after_a_wrong_box_never_makes_it_correct(truth: int, off: int, noise: str) -> None:
    wrong = f"So \\boxed{{{truth + off}}}."
    for added in (
        f"\\boxed{{{truth}}}",
        f"The answer is {truth}.",
        f"#### {truth}",
        str(truth),
        f"<answer>{truth}</answer>",
        noise,
    ):
        assert verify(f"{wrong} {added}", str(truth)).verdict != "correct"


@given(st.one_of(NOISE, FRAGMENTS), st.one_of(NOISE, FRAGMENTS))
@settings(max_examples=400, deadline=None)
def test_no_text_crashes_the_verifier(a: str, b: str) -> None:
    for verdict in verify_many([Item(a, b), Item(a, b, is_bare=True), Item(f"\\boxed{{{a}}}", b), Item(a, "5")]):
        assert verdict.reason != "worker_crash"
        assert verdict.ms < 3_000


def test_verdicts_depend_on_neither_batch_order_nor_batch_content() -> None:
    truths = ["3/4", "\\{1,2\\}", "x^2-1", "(1,2]", "12 cm", "\\sqrt8", "B", "无解", "\\frac12"]
    answers = ["0.75", "2,1", "(x-1)(x+1)", "1<x\\le2", "120 mm", "2\\sqrt2", "(B)", "7", "\\int_0^1 x dx"]
    items = [Item(f"\\boxed{{{a}}}", t) for t in truths for a in answers[:-1]] + [
        Item(f"\\boxed{{{answers[-1]}}}", truths[-1])
    ]
    together = _verdicts(items)
    order = list(range(len(items)))
    random.Random(3).shuffle(order)
    shuffled = _verdicts([items[i] for i in order])
    assert [shuffled[order.index(i)] for i in range(len(items))] == together
    assert [_verdicts([item])[0] for item in items] == together
    assert [(v.verdict, v.reason) for v in verify_many(items, workers=3)] == together


def test_verdicts_are_the_same_in_another_process() -> None:
    code = (
        "from curate.verify import Item, verify_many\n"
        "pairs = [('\\\\cos 2x', '1-2\\\\sin^2 x'), ('x^2+C', 'x^2+K')]\n"
        "pairs += [('2^{n+1}', '2\\\\cdot 2^n'), ('\\\\pi', '3.14')]\n"
        "print([(v.verdict, v.reason) for v in verify_many([Item(a, t, is_bare=True) for t, a in pairs])])\n"
    )
    environments = ({"PYTHONHASHSEED": seed, "PATH": ""} for seed in ("1", "2"))
    runs = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment).stdout
        for environment in environments
    }
    assert len(runs) == 1
    assert runs.pop().count("correct") == 3
