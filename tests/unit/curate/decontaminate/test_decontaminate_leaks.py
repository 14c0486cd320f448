"""What decontamination takes for the same problem, for a variant, and for another problem."""

import json
import random

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.benchmark_items import ANSWERS, BENCHMARK, DICE, DRAWN, EGGS, LEAST, ROOTS, WORD, ZH

from curate.decontaminate.pairs import relation_of
from curate.decontaminate.same_problem import Thresholds
from curate.decontaminate.search import Finding, LeakSearch
from curate.decontaminate.stage import run
from curate.records import PROBLEM, problem_key, schema


def frame(prompts: list[str], answers: list[str | None] | None = None, **columns: list) -> pl.DataFrame:
    answers = answers or [None] * len(prompts)
    rows = [
        dict.fromkeys(PROBLEM) | {"key": problem_key(p), "prompt": p, "ground_truth": a, "kind": "math"}
        for p, a in zip(prompts, answers, strict=True)
    ]
    return pl.DataFrame(rows, schema=schema(PROBLEM)).with_columns(
        *(pl.Series(name, values, dtype=PROBLEM[name].dtype) for name, values in columns.items())
    )


def search_in(prompts: list[str], answers: list[str | None] | None = None, **columns: list) -> LeakSearch:
    items = frame(prompts, answers, **columns).with_columns(
        benchmark=pl.lit("bench"), item=pl.int_range(pl.len()).cast(pl.String)
    )
    return LeakSearch(items, Thresholds(0.6, 0.7, 0.75, 0.6))


@pytest.fixture(scope="module")
def search() -> LeakSearch:
    return search_in(BENCHMARK, ANSWERS)


def found(search: LeakSearch, prompt: str, answer: str | None = None, **columns: list) -> Finding | None:
    return search.find(frame([prompt], [answer], **columns))[0]


@pytest.mark.parametrize("prompt", BENCHMARK)
def test_a_copy_is_found_however_it_is_written_and_wrapped(search: LeakSearch, prompt: str) -> None:
    copies = [
        prompt,
        prompt.replace(" ", " \n\t"),
        prompt.replace("$", "\\(", 1).replace("$", "\\)", 1).replace("\\frac", "\\dfrac"),
        f"Solve this problem and put the answer in \\boxed{{}}.\n\nProblem: {prompt}\n\nThink step by step.",
        f"First, how many ways are there to seat 7 guests at 2 tables?\n\n{prompt}\n\nThen: what is 17 times 23?",
    ]
    for copy in copies:
        finding = found(search, copy)
        assert finding is not None, copy
        assert (finding.fate, finding.item) == ("contaminated", str(BENCHMARK.index(prompt))), copy


def test_other_names_and_variables_are_the_same_problem(search: LeakSearch) -> None:
    eggs = found(search, EGGS.replace("Janet", "Ingrid").replace("She ", "He ").replace("her ", "his "))
    roots = found(search, ROOTS.replace("z", "w").replace("$r$", "$a$").replace("(r ", "(a "))
    chinese = found(search, ZH.replace("小明", "小红"))
    assert [it and (it.fate, it.item) for it in (eggs, roots, chinese)] == [
        ("contaminated", "1"),
        ("contaminated", "2"),
        ("contaminated", "6"),
    ]


def test_exchanging_variables_inconsistently_is_no_renaming(search: LeakSearch) -> None:
    prompt = "Let $a$, $b$, $c$ be reals with $a + b + c = 6$ and $a b + b c + c a = 11$ and $a b c = 6$. Find $a - b$."
    other = "Let $a$, $b$, $c$ be reals with $b + b + a = 6$ and $c a + a c + b b = 11$ and $c c a = 6$. Find $c - b$."
    finding = found(search_in([prompt, *BENCHMARK]), other)
    assert finding is None or finding.fate == "variant"


@pytest.mark.parametrize(
    ("item", "changed"),
    [
        (LEAST, LEAST.replace("by 8", "by 9")),
        (EGGS, EGGS.replace("three", "five")),
        (ROOTS, ROOTS.replace("z^4 + z^2", "z^4 - z^2")),
        (ROOTS, ROOTS.replace("+ 1 = 0", "+ 2 = 0")),
        (LEAST, LEAST.replace("least", "greatest")),
        (WORD, WORD.replace("ELLIPSE", "ALABAMA")),
        (DRAWN, DRAWN.replace("(4,3)", "(4,7)")),
        (ZH, ZH.replace("48", "64").replace("12", "20")),
    ],
)
def test_another_number_operator_word_or_drawing_makes_a_variant(search: LeakSearch, item: str, changed: str) -> None:
    finding = found(search, changed)
    assert finding is not None
    assert (finding.fate, finding.item) == ("variant", str(BENCHMARK.index(item)))


def test_answers_tell_near_copies_apart(search: LeakSearch) -> None:
    near = DICE.replace("and that of the face opposite", "while that of its opposite face")
    same, other = found(search, near, r"\frac{5}{12}"), found(search, near, "1/3")
    assert (same and same.fate, other and other.fate) == ("contaminated", "variant")


def test_boilerplate_alone_is_nothing(search: LeakSearch) -> None:
    prompt = (
        "A bag holds red and blue balls, and two of them are drawn at random. The probability that both are red is "
        "$m/n$, where $m$ and $n$ are relatively prime positive integers. Find $m + n$."
    )
    assert found(search, prompt) is None


def test_a_short_item_is_found_only_where_it_stands_alone() -> None:
    search = search_in(["Compute $17^2 - 3$.", "What is $x + 2$?", "Find it."])
    assert found(search, "Question: Compute $17^2 - 3$.\nAnswer:") is not None
    assert found(search, "Compute $17^2 - 3x$ for $x = 1$.") is None
    assert found(search, "Let $x = 3$. What is $x + 2$?") is None
    assert found(search, "There is a number. Find it.") is None


def test_options_matter_only_where_the_question_is_about_them() -> None:
    about, value = "Which of the following numbers is a prime number below fifty?", "What is the sum of 17, 23 and 60?"
    search = search_in([about, value], choices=[["21", "29"], ["90", "100"]])
    same, other, same_value = (
        found(search, prompt, choices=[choices])
        for prompt, choices in ((about, ["29", "21"]), (about, ["33", "37"]), (value, ["100", "110"]))
    )
    assert [it and it.fate for it in (same, other, same_value)] == ["contaminated", "variant", "contaminated"]


def test_options_in_a_rows_text_are_compared_with_an_items() -> None:
    stem = "Which of the following computations with powers and sums is a correct one?"
    search = search_in([stem], choices=[["a^2 + a^3 = a^5", "7a - 5a = 2a"]])
    prompts = (
        f"{stem} A. $a^2 + a^3 = a^5$ B. $7a - 5a = 2a$",
        f"{stem} A. $x^8 / x^2 = x^4$ B. $-2x + 5x = 3x$",
        stem,
    )
    fates = [found(search, prompt) for prompt in prompts]
    assert [it and it.fate for it in fates] == ["contaminated", "variant", "contaminated"]


def test_a_benchmarks_solution_inside_a_reference_solution_is_found() -> None:
    solution = (
        "Adding the first two equations and subtracting the third gives twice the product, so the sum of squares is "
        "the square of the sum less twice the sum of the products, which is 36 - 22 = 14, and the answer is 14."
    )
    search = search_in([ROOTS, DICE], solution=[solution, None])
    finding = found(search, "Some other question about three numbers?", solution=[f"Thought: {solution} Done."])
    assert finding is not None
    assert (finding.fate, finding.field, finding.method) == ("contaminated", "solution", "solution_coverage")
    leaked = found(search, "Some other question?", solution=[f"This is like the following. {DICE}"])
    assert leaked is not None
    assert (leaked.field, leaked.item) == ("solution", "1")


def test_a_copied_solution_of_a_question_with_other_figures_is_a_variant() -> None:
    solution = (
        "Let n be the number of balls after a step. Each step takes out some balls and puts back several for each, so "
        "the count grows by a multiple of six, and among the choices only one leaves the remainder that is needed."
    )
    item = "A box holds $7$ balls and each ball taken becomes $7$ balls. What may the number be in the end?"
    search = search_in([item], solution=[solution], ground_truth=["2017"])
    same = "A chest holds $7$ balls, and each ball drawn becomes $7$ balls. Which number may it be in the end?"
    other = "A chest holds $4$ balls, and each ball drawn becomes $9$ balls. Which number may it be in the end?"
    cases = ((same, "2017"), (other, "2017"), (same, "19"))
    fates = [found(search, prompt, solution=[solution], ground_truth=[truth]) for prompt, truth in cases]
    assert [it and it.fate for it in fates] == ["contaminated", "variant", "variant"]


def test_evidence_names_benchmark_item_method_score_and_words(search: LeakSearch) -> None:
    rows = run(frame([DICE, LEAST.replace("8", "9"), "What is 2 + 2?"]), search, drop_variants=False)
    detail = json.loads(rows["drop_detail"][0])
    assert rows["drop_reason"].to_list() == ["contaminated", None, None]
    assert rows["contaminated_by"].to_list() == ["bench/0", None, None]
    assert (detail["benchmark"], detail["item"], detail["score"]) == ("bench", "0", 1.0)
    assert "when rolling a certain unfair six sided die" in detail["matched"]
    assert json.loads(rows["benchmark_variant"][1])["item"] == "3"
    dropped = run(frame([LEAST.replace("8", "9")]), search, drop_variants=True)
    assert dropped["drop_reason"].to_list() == ["benchmark_variant"]


POOL = [
    *BENCHMARK,
    *(f"Problem: {prompt}\nAnswer:" for prompt in BENCHMARK),
    *(prompt.replace("1", "7") for prompt in BENCHMARK),
    *(f"How many of the {n} boxes hold {n * n} coins when {n + 3} coins are added to each?" for n in range(12)),
    "", "Find it.",
]  # fmt: skip


@pytest.fixture(scope="module")
def findings(search: LeakSearch) -> dict[str, Finding | None]:
    """What is found when the pool comes as one batch."""
    return dict(zip(POOL, search.find(frame(POOL)), strict=True))


@settings(max_examples=8, deadline=None)
@given(dice=st.randoms(use_true_random=False), batch_rows=st.integers(2, len(POOL)))
def test_findings_do_not_depend_on_batch_size_or_order(
    search: LeakSearch, findings: dict[str, Finding | None], dice: random.Random, batch_rows: int
) -> None:
    order = dice.sample(POOL, len(POOL))
    batches = [order[start : start + batch_rows] for start in range(0, len(order), batch_rows)]
    parts = [finding for batch in batches for finding in search.find(frame(batch))]
    assert dict(zip(order, parts, strict=True)) == findings


@pytest.mark.parametrize(
    ("one", "other", "fate"),
    [
        ("0.5", r"\frac{1}{2}", "contaminated"),
        ("18", "18.0", "contaminated"),
        ("50%", "0.5", "contaminated"),
        ("p - q", "$-q+p$", "contaminated"),
        ("30 apples", "30", "contaminated"),
        ("81", "54", "variant"),
        ("p - q", "q - p", "variant"),
        ("A", None, "contaminated"),
    ],
)
def test_answers_are_compared_as_values(one: str, other: str | None, fate: str) -> None:
    near = DICE.replace("and that of the face opposite", "while that of its opposite face")
    finding = found(search_in([DICE], [one]), near, other)
    assert (finding and finding.fate) == fate


def test_two_answers_are_compared_once_however_many_rows_have_them() -> None:
    near = DICE.replace("and that of the face opposite", "while that of its opposite face")
    search, one, other = search_in([DICE], [r"\sum_{k=1}^{4} k"]), r"\sum_{k=2}^{5} k", r"\sum_{k=1}^{4} j"
    before = relation_of.cache_info().misses
    findings = search.find(frame([near, f"{near} Explain.", f"Well: {near}", EGGS], [one, one, one, other]))
    assert [it and it.fate for it in findings] == ["variant", "variant", "variant", None]
    assert relation_of.cache_info().misses == before + 1


@pytest.mark.parametrize(
    ("item", "row", "answer"),
    [
        (
            (
                r"Let $ABCD$ be a convex trapezoid such that $\angle ABC=\angle BCD=90^{\circ}$, "
                r"$AB=3$, $BC=6$, and $CD=12$. "
                "Find the minimum possible value of $CX$."
            ),
            (
                r"Let $A B C D$ be a convex trapezoid such that $\angle A B C=\angle B C "
                r"D=90^{\circ}$, $A B=3$, $B C=6$, and "
                "$C D=12$. Find the minimum possible value of $C X$."
            ),
            None,
        ),
        (
            (
                r"Let $x_{1}, \ldots, x_{100}$ be reals with $x_{i}+x_{i+1} \leq 1$. Find the maximal "
                r"value of $S=\sum_{i=1}^{100} x_{i} x_{i+2}$."
            ),
            (
                r"Let $x_1, \ldots , x_{100}$ be reals with $x_i + x_{i+1} \leq 1$. Find the maximal value of "
                r"$S = \sum^{100}_{i=1} x_i x_{i+2}.$"
            ),
            None,
        ),
        (
            (
                "An entry in a grid is a saddle point if it is the largest of its row and the "
                "smallest of its column. Compute the "
                r"probability that a random grid has at least one saddle point.answers: $\frac{3}{10}$"
            ),
            (
                "An entry in a grid is a saddle point if it is the largest of its row and the "
                "smallest of its column. Compute the "
                "probability that a random grid has at least one saddle point."
            ),
            None,
        ),
        (
            (
                "Write $\\sqrt{d}$ for each divisor $d$ of 8! on the board, then each as "
                "$a\\sqrt{b}$. (For example, $\\sqrt{20}$ "
                "becomes $2\\sqrt{5}$.) Compute the sum of $a+b$ across all expressions on the board."
            ),
            (
                "Write $\\sqrt{d}$ for each divisor $d$ of 8 ! on the board, then each as "
                "$a\\sqrt{b}$. Compute the sum of $a+b$ "
                "across all expressions on the board."
            ),
            "3480",
        ),
    ],
)
def test_layout_and_a_note_more_or_less_leave_a_leak_a_leak(item: str, row: str, answer: str | None) -> None:
    finding = found(search_in([item, *BENCHMARK], [answer, *ANSWERS]), row, answer)
    assert (finding and finding.fate) == "contaminated"


@pytest.mark.parametrize(
    ("item", "row"),
    [
        (
            "What is the number of trailing zeros in the decimal expansion of $25!$",
            "What is the number of trailing zeros in the decimal expansion of $25!!$ where double factorial is meant?",
        ),
        (
            "What is the equation of the directrix of the parabola $y = x^2$",
            "What is the equation of the directrix of the parabola $y = x^2 - 6x + 5$?",
        ),
    ],
)
def test_the_beginning_of_a_longer_formula_is_a_variant_at_most(item: str, row: str) -> None:
    search = search_in([item, *BENCHMARK])
    longer, whole = found(search, row), found(search, f"{item}?\n2. Find 7.")
    assert longer is None or longer.fate == "variant"
    assert (whole and whole.fate) == "contaminated"
