"""What decontamination takes for the same problem, for a variant, and for another problem."""

import json
import random
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.pools import run as run_over

from curate.decontaminate.benchmarks import read_items
from curate.decontaminate.same_problem import Thresholds, relation_of
from curate.decontaminate.search import Finding, LeakSearch
from curate.decontaminate.stage import DecontaminateConfig, run, stage
from curate.errors import UserError
from curate.ingest.sources import Source
from curate.records import PROBLEM, problem_key, schema

DICE = (
    "When rolling a certain unfair six-sided die with faces numbered 1, 2, 3, 4, 5, and 6, the probability of getting "
    r"face $F$ is greater than $1/6$ and that of the face opposite is $\frac{1}{12}$. Find the probability of face $F$."
)
EGGS = (
    "Janet's ducks lay 16 eggs per day. She eats three for breakfast every morning and Janet bakes muffins for her "
    "friends with four. How many dollars does Janet make every day at 2 dollars an egg?"
)
ROOTS = "Let $r$ and $s$ be the roots of $z^4 + z^2 + 1 = 0$ that lie in the first quadrant. Compute $(r + s)^2$."
LEAST = "What is the least positive integer that leaves a remainder of 3 when divided by 8 and of 5 when divided by 11?"
WORD = "Determine the number of ways to arrange the letters of the word ELLIPSE."
DRAWN = "Find the area of the shaded region in the figure below.\n[asy] draw((0,0)--(4,0)--(4,3)--cycle); [/asy]"
ZH = "小明有48个苹果，他把其中的八分之五分给同学，又买了12个，小明现在有多少个苹果？"
AIME = "The number of such paths is $m/n$, where $m$ and $n$ are relatively prime positive integers. Find $m + n$."
BENCHMARK = [DICE, EGGS, ROOTS, LEAST, WORD, DRAWN, ZH, AIME]
ANSWERS = ["5/12", "18", "3", "27", "1260", "6", "30", "101"]


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


def test_benchmarks_are_read_in_every_format(tmp_path: Path) -> None:
    table = pl.DataFrame({"problem": BENCHMARK, "answer": ANSWERS, "unique_id": [f"id-{n}" for n in range(8)]})
    table.write_ndjson(tmp_path / "a.jsonl")
    table.write_csv(tmp_path / "b.csv")
    table.write_parquet(tmp_path / "c.parquet")
    (tmp_path / "d.json").write_text(json.dumps(table.to_dicts()))
    for path in sorted(tmp_path.iterdir()):
        items = read_items([Source(path=path)])
        assert items["prompt"].to_list() == [prompt.strip() for prompt in BENCHMARK], path.name
        assert items["item"][3] == "id-3"
    both = read_items([Source(path=tmp_path / "a.jsonl"), Source(path=tmp_path / "c.parquet")])
    assert both["benchmark"].unique().to_list() == ["a"]


def test_a_changed_benchmark_is_another_result(tmp_path: Path) -> None:
    bench = tmp_path / "bench.jsonl"
    first, second = ([{"problem": DICE}], [{"problem": DICE}, {"problem": EGGS}])
    pl.DataFrame(first).write_ndjson(bench)
    config = DecontaminateConfig(against=(str(bench),))
    before = stage(config).identity("pool")
    assert stage(config).identity("pool") == before
    pl.DataFrame(second).write_ndjson(bench)
    assert stage(config).identity("pool") != before


LAMPS = "How many of the 24 lamps in the long hall are lit when every third lamp is broken?"


def test_a_missing_benchmark_is_one_line() -> None:
    with pytest.raises(UserError, match="--against is missing"):
        stage(DecontaminateConfig())
    with pytest.raises(UserError, match=r"nowhere\.jsonl: no such file"):
        stage(DecontaminateConfig(against=("nowhere.jsonl",)))
    with pytest.raises(UserError, match=r"no benchmark of that name in the bundle; did you mean math500\?"):
        stage(DecontaminateConfig(against=("math50",)))
    with pytest.raises(UserError, match=r"--skip gpqaa: is none of .*; did you mean gpqa\?"):
        stage(DecontaminateConfig(against=("default",), skip=("gpqaa",)))


def test_benchmarks_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for folder, text in (("old", LAMPS), ("new", LAMPS.replace("lamps", "bells"))):
        (tmp_path / folder).mkdir()
        pl.DataFrame({"problem": [text], "answer": ["3"]}).write_ndjson(tmp_path / folder / "bench.jsonl")
    files = tuple(str(tmp_path / folder / "bench.jsonl") for folder in ("old", "new", "old"))
    inputs = stage(DecontaminateConfig(against=files)).inputs
    assert list(inputs) == ["benchmark old-bench", "benchmark new-bench"]
    assert len(set(inputs.values())) == 2
    assert list(stage(DecontaminateConfig(against=files, skip=("old-bench",))).inputs) == ["benchmark new-bench"]


def _contaminated(pool: Path, *against: Path) -> pl.DataFrame:
    """The rows of a file that the stage drops."""
    rows = read_items([Source(path=pool)]).drop("benchmark", "item")
    decided = run_over(stage(DecontaminateConfig(against=tuple(map(str, against)))), rows)
    return decided.filter(pl.col("drop_reason") == "contaminated")


@pytest.mark.shared
def test_the_known_leaks_from_aime_into_math500_are_found_and_nothing_else(shared: Path) -> None:
    data = shared / "data"
    leaks = _contaminated(data / "deepscaler/train_aime.json", data / "math500/test.jsonl")
    algebra = (90, 345, 582, 1365, 1411, 1849, 2146)
    known = [*(f"math500-test/test/intermediate_algebra/{number}.json" for number in algebra)]
    known.append("math500-test/test/counting_and_probability/1003.json")
    assert sorted(leaks["contaminated_by"]) == sorted(known)


@pytest.mark.shared
def test_known_leaks_are_found_and_clean_sets_stay_clean(shared: Path, tmp_path: Path) -> None:
    data = shared / "data"
    mmlu = _contaminated(data / "deepscaler/train_math.json", data / "mmlu_stem/test.jsonl")
    others = mmlu.filter(pl.col("drop_detail").str.json_path_match("$.method") != "exact")
    assert mmlu.height - others.height == 74
    # its formulas are set off on lines of their own, its answer is 12^{1/7} for 12^(1/7)
    assert others["contaminated_by"].to_list() == ["mmlu_stem-test/1076"]
    assert _contaminated(data / "gsm8k/train.jsonl", data / "gsm8k/test.jsonl").height == 0
    aime = [data / "aime24/test.jsonl", data / "aime25/aime25.parquet"]
    assert _contaminated(data / "deepscaler/train_aime.json", *aime).height == 0
    amc = _contaminated(data / "talscq/en_single_choice_train_3K.jsonl", data / "deepscaler/test_amc.json")
    assert amc.height == 3
    mbpp = pl.read_ndjson(data / "mbpp/mbpp.jsonl")
    mbpp.filter(pl.col("task_id").is_between(11, 510)).write_ndjson(tmp_path / "bench.jsonl")
    mbpp.filter(pl.col("task_id") > 600).write_ndjson(tmp_path / "train.jsonl")
    code = _contaminated(tmp_path / "train.jsonl", tmp_path / "bench.jsonl")
    assert {f"bench/{number}" for number in (216, 217, 248)} <= set(code["contaminated_by"])
    # to the left and to the right are two tasks
    assert not {"bench/311", "bench/328"} & set(code["contaminated_by"])
