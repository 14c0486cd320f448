"""What dedup drops, what it spares, and which of two twins stays."""

import random
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from support.pools import pool_of, run

from curate.dedup.fingerprints import read_pool
from curate.dedup.pairs import are_similar, have_same_figures
from curate.dedup.stage import DedupConfig, stage
from curate.text.minhash import bands_for

LONG = "A farmer walks from the old barn to the river every morning and counts the birds that sit along the fence. "
WORDS = (
    LONG + "Each evening a baker carries bread through narrow streets while children play near wooden gates"
).lower()


def decisions(rows: list[str | dict[str, Any]], **settings: Any) -> list[tuple[str | None, str | None]]:
    """For each row its reason and, where the detail is a key, the number of the row it names."""
    pool = pool_of(rows)
    place = {key: number for number, key in enumerate(pool["key"])}
    out = run(stage(DedupConfig(**settings)), pool)
    return [(reason, place.get(detail, detail)) for reason, detail in out.select("drop_reason", "drop_detail").rows()]


def reasons(rows: list[str | dict[str, Any]], **settings: Any) -> list[str | None]:
    return [reason for reason, _ in decisions(rows, **settings)]


@pytest.mark.parametrize(
    "other",
    [
        LONG + r"Find $\tfrac12$ of $10,\!000$ birds.",
        LONG.replace("sit along", "sits along") + r"Find $\dfrac12$ of $10000$ birds.",
        "Solve this. " + LONG + r"Find \(\frac12\) of 10,000 birds.",
        LONG + r"Find  ½ of 10000 birds?!",
    ],
)
def test_other_wording_or_spelling_is_a_duplicate_of_the_first(other: str) -> None:
    first = LONG + r"Find $\frac{1}{2}$ of $10{,}000$ birds."
    assert decisions([first, "What is the capital of algebra?", other]) == [
        (None, None),
        (None, None),
        ("near_duplicate_of", 0),
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("There are 12 birds. How many fly?", "There are 13 birds. How many fly?"),
        ("There are three birds. How many fly?", "There are four birds. How many fly?"),
        ("Tom sees 3 birds and Ann sees 4. How many more?", "Tom sees 4 birds and Ann sees 3. How many more?"),
        ("Find the value of z^4+z^2+1.", "Find the value of z^4-z^2+1."),
        ("Find the least number of birds.", "Find the greatest number of birds."),
        ("How many are not white?", "How many are white?"),
        ("Find the number of odd birds.", "Find the number of birds."),
        ("Find the sum of all birds.", "Find all birds."),
        ("Find the area of the square there.", "Find the area of the rhombus there."),
        ("How many are red or blue?", "How many are red and blue?"),
        ("How many letters of TARTAR can be chosen?", "How many letters of ALABAMA can be chosen?"),
        (
            "[asy] draw((0,0)--(1,2)); [/asy] Find the length.",
            "[asy] draw((0,0)--(2,1)); [/asy] Find the length.",
        ),
    ],
)
def test_a_changed_number_operator_or_telling_word_is_a_variant(one: str, other: str) -> None:
    pool = pool_of([LONG + one, LONG + other])
    out = run(stage(DedupConfig()), pool)
    assert out["drop_reason"].to_list() == [None, None]
    assert out["variant_of"].to_list() == [None, pool["key"][0]]


def test_a_rare_word_on_both_sides_tells_problems_apart_in_a_large_pool() -> None:
    common = [LONG.replace("birds", f"birds {n} {m}") for n in range(10, 45) for m in range(10, 40)]
    rare = [LONG + f"How many ways are there to paint the {name}?" for name in ("gryphon", "wyvern", "birds")]
    out = run(stage(DedupConfig()), pool_of([*common, *rare]))[-3:]
    assert out["drop_reason"].to_list() == [None, None, "near_duplicate_of"]


def test_a_family_of_parameters_loses_no_member() -> None:
    rows = [LONG + f"There are {n} birds and {m} fences." for n in range(12, 42) for m in (7, 8)]
    assert reasons(rows) == [None] * len(rows)


def test_different_answers_make_different_problems_and_equal_values_do_not() -> None:
    def row(text: str, answer: str) -> dict[str, Any]:
        return {"prompt": LONG + text, "ground_truth": answer}

    one, other = (
        "Find the length of the fence called DE in the field.",
        "Find the length of the fence named DE in that field.",
    )
    assert reasons([row(one, "20"), row(other, "8")]) == [None, None]
    assert reasons([row(one, "0.5"), row(other, r"\frac{1}{2}")]) == [None, "near_duplicate_of"]


def test_code_problems_with_other_tests_are_other_problems() -> None:
    def row(name: str, test: str) -> dict[str, Any]:
        return {"prompt": LONG + f"Write a function that counts {name}.", "kind": "code", "tests": test}

    assert reasons([row("the birds", "assert f(1) == 2"), row("all birds", "assert f(1) == 2")]) == [
        None,
        "near_duplicate_of",
    ]
    assert reasons([row("the birds", "assert f(1) == 2"), row("all birds", "assert g(1) == 3")]) == [None, None]


def test_a_row_without_answer_does_not_join_two_that_contradict_each_other() -> None:
    text = "Find the length of the fence {} in the field."
    rows = [
        {"prompt": LONG + text.format("standing"), "ground_truth": "20"},
        {"prompt": LONG + text.format("lying")},
        {"prompt": LONG + text.format("set up"), "ground_truth": "8"},
    ]
    dropped = [reason for reason, _ in decisions(rows)]
    assert dropped == [None, "near_duplicate_of", None]


def test_one_text_with_two_answers_is_dropped_on_both_sides() -> None:
    rows = [
        {"prompt": LONG + r"Find $\dfrac{3}{4}$ of it.", "ground_truth": "15"},
        {"prompt": LONG + r"Find $\frac{3}{4}$ of it.", "ground_truth": "16"},
    ]
    pool = pool_of(rows)
    out = run(stage(DedupConfig()), pool)
    assert out["drop_reason"].to_list() == ["conflicting_answers"] * 2
    assert out["drop_detail"].to_list() == [f"15 here, 16 in {pool['key'][1]}", f"16 here, 15 in {pool['key'][0]}"]


def test_the_same_options_under_other_letters_are_one_answer() -> None:
    options = ["red birds", "blue birds", "green birds", "no birds at all"]
    rows = [
        {"prompt": LONG + "Which are they?", "choices": options, "ground_truth": "B"},
        {"prompt": LONG + "Which are they ?!", "choices": [*options[1:], options[0]], "ground_truth": "A"},
    ]
    assert reasons(rows) == [None, "near_duplicate_of"]


def test_the_twin_with_a_truth_stays_then_with_a_solution_then_the_first() -> None:
    def rows(*tables: dict[str, Any]) -> list[str | dict[str, Any]]:
        return [{"prompt": LONG + "How many?" + " " * n, "key": str(n), **table} for n, table in enumerate(tables)]

    truth, both = {"ground_truth": "5"}, {"ground_truth": "5", "solution": "count"}
    assert [reason is None for reason in reasons(rows({}, truth, both))] == [False, False, True]
    assert [reason is None for reason in reasons(rows({}, truth, truth))] == [False, True, False]
    assert [reason is None for reason in reasons(rows({}, {}, {"solution": "s"}))] == [False, False, True]


def test_max_variants_keeps_the_first_of_a_family() -> None:
    rows = [LONG + f"There are {number} birds." for number in range(20, 26)]
    assert decisions(rows, max_variants=2) == [(None, None)] * 2 + [("variant_of", 0)] * 4
    assert reasons(rows) == [None] * 6


def test_rows_without_words_and_empty_pools_pass() -> None:
    assert reasons(["?", "…", {"prompt": "。", "key": "k"}]) == [None, None, None]
    assert run(stage(DedupConfig()), pool_of([])).height == 0


def test_dropping_twice_drops_nothing_new() -> None:
    pool = noisy_pool(300, 3)
    once = run(stage(DedupConfig()), pool).filter(pl.col("drop_reason").is_null()).select(pool.columns)
    assert run(stage(DedupConfig()), once)["drop_reason"].null_count() == once.height


def noisy_pool(num_problems: int, seed: int) -> pl.DataFrame:
    """Problems of 20 to 40 words, half of them with copies in which up to a tenth of the words are other ones."""
    source = random.Random(seed)
    vocabulary = sorted({f"{a}{b}" for a in WORDS.split() for b in ("", "ing", "er", "ly", "ness")})
    rows: list[str] = []
    for _ in range(num_problems):
        words = source.choices(vocabulary, k=source.randint(20, 40))
        copies = [[source.choice(vocabulary) if source.random() < 0.05 else word for word in words] for _ in range(2)]
        rows += [" ".join(row) for row in [words, *copies[: source.choice((0, 0, 1, 2))]]]
    source.shuffle(rows)
    return pool_of(list(dict.fromkeys(rows)))


def test_nearly_every_drop_of_an_exact_join_is_found(tmp_path: Path) -> None:
    pool = noisy_pool(300, 1)
    config = DedupConfig()
    prints = read_pool(iter([pool]), tmp_path, bands_for(config.threshold))
    one, other = np.triu_indices(pool.height, 1)
    alike = are_similar(prints, one, other, config.threshold)
    alike[alike] = have_same_figures(prints, one[alike], other[alike])
    graph = coo_array((alike[alike], (one[alike], other[alike])), shape=(pool.height, pool.height))
    _, group = connected_components(graph, directed=False)
    _, first = np.unique(group, return_index=True)
    wanted = set(range(pool.height)) - set(first.tolist())
    dropped = set(np.flatnonzero(run(stage(config), pool)["drop_reason"].is_not_null().to_numpy()).tolist())
    assert len(wanted) > 80
    assert dropped <= wanted
    assert len(dropped) >= 0.98 * len(wanted)


CALL = (
    "You are given a function called {}_tool with parameters x and y. Call the function with the right parameters so "
    "that the weather in {} is returned as one line of JSON for the next three days. How many calls are needed?"
)


def test_answers_that_cannot_be_judged_prove_nothing() -> None:
    answers = ['{"x": 1}', '{"x": 2}', "call(x=3)", "[tool(4), tool(5)]"]
    texts = ["in the morning", "in the evening", "while it rains", "while it snows"]
    rows = [
        {"prompt": f"{LONG}{LONG} Send the call that counts them {text}.", "ground_truth": answer}
        for text, answer in zip(texts, answers, strict=True)
    ]
    assert reasons(rows) == [None] * 4
    # one text is one problem, whatever its answers look like
    twins = [
        {"prompt": LONG + "Why?", "ground_truth": "call(x=3)"},
        {"prompt": LONG + "Why ?!", "ground_truth": "call(3)"},
    ]
    assert reasons(twins) == [None, "near_duplicate_of"]


def test_other_names_and_places_make_a_variant_even_with_one_answer() -> None:
    rows: list[str | dict[str, Any]] = [
        {"prompt": CALL.format(name, place), "ground_truth": "1"}
        for name in ("Ann", "Bob", "Cleo")
        for place in ("Rome", "Oslo", "Lima")
    ]
    out = run(stage(DedupConfig()), pool_of(rows))
    assert out["drop_reason"].null_count() == len(rows)
    assert out["variant_of"].null_count() == 1


@pytest.mark.parametrize(
    ("one", "other", "answer"),
    [
        ("Find the largest integer $x$ with $5-4x>17$.", "Find the greatest integer $x$ with $5-4x>17$.", "-4"),
        (
            r"The volume is $\displaystyle {{m+n\pi}\over p}$ for $m$, $n$, and $p$. Find $m+n+p$.",
            r"The volume is $\frac{m + n\pi}{p},$ for $m, n,$ and $p.$ Find $m + n + p.$",
            "505",
        ),
        (
            "In a triangle ABC with AB = 3 and AC=BC, and L on AB, find BL/LA.",
            "In a triangle $A B C$ with $A B=3$ and $A C=B C$, and $L$ on $A B$, find $B L / L A$.",
            "2",
        ),
        (
            "3. [5] How many birds are there on 12 fences?",
            "Problem 14. (AIME 2003) How many birds are there on 12 fences?",
            "7",
        ),
        ("How many **red** birds are on *12* fences?", "How many red birds are on 12 fences?", "7"),
    ],
)
def test_layout_and_surroundings_tell_no_problems_apart(one: str, other: str, answer: str) -> None:
    numbered = [one + LONG, other + LONG] if one.startswith("3.") else [LONG + one, LONG + other]
    rows: list[str | dict[str, Any]] = [{"prompt": text, "ground_truth": answer} for text in numbered]
    assert reasons(rows) == [None, "near_duplicate_of"]


def test_one_answer_does_not_make_one_problem_of_two() -> None:
    cards = (
        "Two cards are dealt at random from a deck of 52. What is the chance that the first is {} and the second is {}?"
    )
    rows: list[str | dict[str, Any]] = [
        {"prompt": cards.format(*pair), "ground_truth": r"\frac{1}{52}"}
        for pair in ((r"a $\diamondsuit$", "an ace"), ("a King", r"a $\heartsuit$"))
    ]
    nested: list[str | dict[str, Any]] = [
        {"prompt": f"Let $f(x)$ be an odd function. {LONG} Is ${text}$ even, odd, or neither?", "ground_truth": "odd"}
        for text in ("f(f(x))", "f(f(f(x)))")
    ]
    assert reasons(rows) == [None, None]
    assert reasons(nested) == [None, None]
