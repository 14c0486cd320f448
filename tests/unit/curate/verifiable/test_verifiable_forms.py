"""Ground truths that no usual answer meets are dropped, sentences that state a value are kept, tags hide no parts."""

import pytest
from support.pools import pool_of, run

from curate.verifiable.stage import VerifiableConfig, stage
from curate.verifiable.usual_forms import states_a_value, unmet
from curate.verify import Policy


def reason(prompt: str, truth: str) -> str | None:
    pool = pool_of([{"prompt": prompt, "ground_truth": truth}])
    found: str | None = run(stage(VerifiableConfig()), pool)["drop_reason"][0]
    return found


@pytest.mark.parametrize(
    "truth",
    [
        r"$x^{2}\left(1+x\right)^{2}$ OR $x^{2}+2 x^{3}+x^{4}$",
        "3.75 or 15/4",
        r"\frac{1}{2} \text{ or } 0.5",
        r"$x=\frac{\pi}{3}+\pi k ; x=\frac{\pi}{3}, \frac{4\pi}{3}$",
        "$z+w=5-i, z w=62+5 i$",
        r"7919\approx 4",
        r"\frac{1}{3}\approx 0.5",
    ],
)
def test_a_truth_is_met_by_a_form_that_people_write_or_dropped(truth: str) -> None:
    assert (reason("Find the value asked for.", truth) == "unparseable_answer") == (truth in unmet([truth], Policy()))
    assert reason("Find the value asked for.", truth) in (None, "unparseable_answer")


@pytest.mark.parametrize(
    "truth", ["2 or 3", "x = 1 or x = 3", "x=1, y=2", "(1, 2); (3, 4)", "$A = 2 + 3 = 5$", r"1/3 \approx 0.33"]
)
def test_a_truth_that_people_write_stays(truth: str) -> None:
    assert reason("Find the value asked for.", truth) is None


def test_a_sentence_counts_by_what_the_verifier_accepts() -> None:
    assert states_a_value(["No such thing exists.", "It depends on the 3 of them and on 4 others."], Policy()) == set()


@pytest.mark.parametrize(
    ("prompt", "wanted"),
    [
        ("A labelling. [b](a)[/b] Find the largest $r$. [b](b)[/b] For this $r$, how many are there?", "multi_part"),
        ("A function. <b>a)</b> Find its zero. <br/><b>b)</b> Find its minimum.", "multi_part"),
        (
            r"Let $f(x)=x^2$. \begin{enumerate} \item[(a)] Find $f(3)$. \item[(b)] Find $f(4)$. \end{enumerate}",
            "multi_part",
        ),
        (r"Proof that $\sum_{m=1}^n m \le n^2.$", "proof"),
        ("Think of a number. Double it. Add 200. Halve it. Take off the number. What is the result?", None),
        ("Think of a function that has no zero.", "open_ended"),
    ],
)
def test_tags_and_first_words_hide_no_request(prompt: str, wanted: str | None) -> None:
    assert reason(prompt, "50") == wanted
