"""What two ground truths are to each other."""

from hypothesis import given
from hypothesis import strategies as st

from curate.verify.conflicts import are_in_conflict, compare_answers

RELATIONS = {
    ("1/2", "0.5"): "same",
    ("12^(1/7)", "12^{1/7}"): "same",
    ("50%", "0.5"): "same",
    ("30 apples", "30"): "same",
    (r"\sqrt{2}", r"\frac{2}{\sqrt{2}}"): "same",
    ("81", "54"): "different",
    ("Monday", "Tuesday"): "different",
    ("p - q", "q - p"): "different",
    ("def f(x): return x", "def g(x): return 2*x"): "undecided",
}


def test_answers_are_compared_as_values_and_in_both_directions() -> None:
    pairs = list(RELATIONS)
    assert dict(zip(pairs, compare_answers(pairs), strict=True)) == RELATIONS
    assert compare_answers([(other, one) for one, other in pairs]) == list(RELATIONS.values())


def test_only_different_answers_are_a_conflict() -> None:
    pairs = [*RELATIONS, ("81", "54"), ("7", "7")]
    assert are_in_conflict(pairs) == [*(relation == "different" for relation in RELATIONS.values()), True, False]


@given(st.text(max_size=20))
def test_an_answer_is_the_same_as_itself(answer: str) -> None:
    assert compare_answers([(answer, answer)]) == ["same"]
