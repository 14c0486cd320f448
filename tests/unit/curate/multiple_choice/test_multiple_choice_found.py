"""Guessable problems, by the shapes of their options, and the open problems that look like them."""

import json
from pathlib import Path

import pytest

from curate.multiple_choice.cues import ALONE, BINARY, Cue
from curate.multiple_choice.guessable import guessable

CONTENTS = ("14", "15", "16", "17")
LABELS = {
    "bracketed": "(A) {} (B) {} (C) {} (D) {}",
    "half bracket": "A) {} B) {} C) {} D) {}",
    "lines with dots": "A. {}\nB. {}\nC. {}\nD. {}",
    "one line with dots": "A. {} B. {} C. {} D. {}",
    "glued to the figures before": "A.{}B.{}C.{}D.{}",
    "colons": "A: {}\nB: {}\nC: {}\nD: {}",
    "square": "[A] {} [B] {} [C] {} [D] {}",
    "full width": "（Ａ）{}　（Ｂ）{}　（Ｃ）{}　（Ｄ）{}",
    "Chinese stops": "A、{}\nB、{}\nC、{}\nD、{}",
    "bold LaTeX": "$" + r" \qquad ".join(rf"\textbf{{{{({letter})}}}}\ {{}}" for letter in "ABCD") + "$",
    "roman LaTeX": "$" + r"\qquad ".join(rf"\mathrm{{{{({letter}) \ }}}}{{}}" for letter in "ABCD") + "$",
    "bold Markdown": "**A)** {} **B)** {} **C)** {} **D)** {}",
    "a list": "- A: {}\n- B: {}\n- C: {}\n- D: {}",
    "spelt out": "Option A: {}\nOption B: {}\nOption C: {}\nOption D: {}",
    "a table": "| A | {} |\n| B | {} |\n| C | {} |\n| D | {} |",
    "HTML": "<p>A. {}</p><p>B. {}</p><p>C. {}</p><p>D. {}</p>",
    "Cyrillic": "А) {} Б) {} В) {} Г) {}",
}


def _jsonl(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


@pytest.mark.parametrize("shape", LABELS)
@pytest.mark.parametrize("answer", ["letter", "content", "unknown"])
def test_options_are_found_in_every_shape_whatever_the_answer_is(shape: str, answer: str) -> None:
    prompt = "What is the sum of the digits of 907?\n" + LABELS[shape].format(*CONTENTS)
    truth = {"letter": "В" if shape == "Cyrillic" else "C", "content": "16", "unknown": None}[answer]
    assert guessable(prompt, truth, None) is not None


@pytest.mark.parametrize("labels", ["(1) {} (2) {} (3) {} (4) {}", "①{} ②{} ③{} ④{}", "a) {} b) {} c) {} d) {}"])
def test_labels_that_also_number_subquestions_are_options_where_the_answer_names_one(labels: str) -> None:
    prompt = "The sum of the digits of 907 is " + labels.format(*CONTENTS)
    truth = {"(": "(3)", "①": "③", "a": "c"}[labels[0]]
    assert guessable(prompt, truth, None) is not None
    asking = labels.format("Find x.", "Find y.", "Find z.", "Find x + y.")
    assert guessable(f"Let x = 1. {asking}", "7", None) is None


@pytest.mark.parametrize(
    ("prompt", "truth"),
    [
        ("Which of the following is a square: 10, 14, 16 or 20?", "16"),
        ("Of the following, which is prime? 21, 27, 29, 33", "29"),
        ("Is the product of two odd numbers odd, even, or neither?", r"\text{odd}"),
        ("Which is larger, 2^30 or 3^20?", "3^20"),
        ("What is the value of 5!?", "D"),
        ("Select all that apply: which numbers divide 12?\nA. 2\nB. 5\nC. 3", "A, C"),
        ("A. 10 B. 12 C. 14\n\nHow many edges has a cube?", "B"),
        ('What curve is xy = 1? Enter "C" for circle, "E" for ellipse, "H" for hyperbola.', "H"),
        ("下列命题中，正确命题的序号是____。①平行四边形的对角线相等；②矩形的对角线相等。", "②"),
        ("下列图形中是轴对称图形的是", "B"),
        ("I. 2 is prime. II. 4 is prime. III. 5 is prime. Which statements are true?", "I and III"),
    ],
)
def test_a_closed_list_is_found_without_options(prompt: str, truth: str) -> None:
    how = guessable(prompt, truth, None)
    assert how is not None
    assert how.reason == "multiple_choice"


@pytest.mark.parametrize(
    ("prompt", "truth"),
    [
        ("Is 221 a prime number?", "No"),
        ("True or false: every square is a rectangle.", "T"),
        ("判断对错：0是最小的自然数。", None),
        ("15是质数，对吗？", "错"),
        ("Answer with yes or no: does the series converge?", None),
    ],
)
def test_true_false_and_yes_no_have_a_separate_reason(prompt: str, truth: str | None) -> None:
    how = guessable(prompt, truth, None)
    assert how is not None
    assert how.reason == "true_false"


@pytest.mark.parametrize(
    ("prompt", "truth"),
    [
        (
            r"Let $\ell_A$ pass through A. Let $\ell_B$ pass through B. Let $\ell_C$ pass through C. Find the area.",
            "12",
        ),
        ("Players A, B, C and D play chess. A beats everyone and B loses to D. Who wins?", "A"),
        ("The points A(1,2), B(3,4), C(5,0), D(2,1) are vertices. Find the area.", "7"),
        ('[asy] label("(A)", p); label("(B)", q); label("(C)", r); label("(D)", s); [/asy] Find the area.', "1"),
        ("A true/false exam has 10 questions. In how many ways can it be answered?", "1024"),
        ("A test has 5 questions with choices (A), (B), (C) and (D). How many answer keys are there?", "1024"),
        ("f satisfies the following: (A) f(1)=1 (B) f(2n)=f(n) (C) f(2n+1)=f(n)+1. Find f(7).", "3"),
        ("Find all x with these properties: (i) x^2 < 30, (ii) x is odd, and (iii) x > 0.", "1, 3, 5"),
        ("The expression a(b - c)^3 + b(c - a)^3 + c(a - b)^3 has a factor. Find it.", "a + b + c"),
        ("How many of the following numbers are prime: 2, 3, 4, 5, 9?", "3"),
        ("In how many ways can one choose one of 5 hats and one of 3 coats?", "15"),
        ("Find all real solutions of x^2 + 1 = 0.", "No real solutions"),
        ("设函数f(x)=x^2-2x。(1)求f(x)的最小值；(2)求f(x)=0的解；(3)求f(3)的值。", "3"),
        ("| Team | W | L |\n|---|---|---|\n| A | 2 | 15 |\n| B | 7 | 9 |\n| C | 6 | 3 |\nWho won most?", "B"),
        ("Which letter of the alphabet is third?", "C"),
    ],
)
def test_open_problems_that_look_like_choices_stay(prompt: str, truth: str) -> None:
    assert guessable(prompt, truth, None) is None


@pytest.mark.shared
@pytest.mark.parametrize("cue", [ALONE, BINARY])
def test_the_cheap_test_rejects_no_match_in_real_sets(shared: Path, cue: Cue) -> None:
    texts = [row["question"] for row in _jsonl(shared / "data/mmlu_stem/test.jsonl")]
    texts += [row["problem"] for row in json.loads((shared / "data/deepscaler/train_math.json").read_text())]
    texts += ["True or false: 0 is even.", "Answer yes or no.", "15是质数，对吗？", "判断：0是自然数。", "T/F: 2 > 1"]
    matching = [text for text in texts if cue.pattern.search(text)]
    assert len(matching) > 3
    assert [text for text in matching if cue.search(text) is None] == []


@pytest.mark.shared
def test_the_labelled_cases_are_all_judged_right(shared: Path) -> None:
    cases = _jsonl(shared / "cases/multiple_choice.jsonl")
    wrong = [
        case["id"]
        for case in cases
        if (guessable(case["problem"], case["answer"], None) is not None) != (case["label"] == "mc")
    ]
    assert wrong == []


@pytest.mark.shared
@pytest.mark.parametrize("name", ["aqua", "mmlu_stem", "gaokao_zh", "talscq en", "talscq zh"])
def test_real_choice_sets_are_caught_with_the_options_in_the_text(shared: Path, name: str) -> None:
    data = shared / "data"
    tal = {"talscq en": "en_single_choice_test_2K", "talscq zh": "ch_single_choice_test_2K"}
    if name == "aqua":
        rows = [(r["question"], [o[2:] for o in r["options"]], r["correct"]) for r in _jsonl(data / "aqua/test.json")]
    elif name == "mmlu_stem":
        rows = [(r["question"], r["choices"], "ABCD"[r["answer"]]) for r in _jsonl(data / "mmlu_stem/test.jsonl")]
    elif name == "gaokao_zh":
        rows = [
            (r["question"], list(r["options"].values()), r["label"])
            for r in _jsonl(data / "gaokao_zh/gaokao_math_qa.jsonl")
        ]
    else:
        rows = [
            (r["problem"], [o[0]["content"] for o in r["answer_option_list"]], r["answer_value"])
            for r in _jsonl(data / f"talscq/{tal[name]}.jsonl")
        ]
    caught = sum(
        guessable(f"{stem}\n" + "\n".join(f"{'ABCDEFGHIJ'[i]}. {o}" for i, o in enumerate(options)), letter, None)
        is not None
        for stem, options, letter in rows
    )
    assert caught >= 0.99 * len(rows)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["gsm8k", "train_aime", "olympiadbench"])
def test_real_open_sets_are_spared(shared: Path, name: str) -> None:
    data = shared / "data"
    if name == "gsm8k":
        rows = [(r["question"], r["answer"].split("####")[1].strip()) for r in _jsonl(data / "gsm8k/train.jsonl")]
    elif name == "train_aime":
        rows = [(r["problem"], r["answer"]) for r in json.loads((data / "deepscaler/train_aime.json").read_text())]
    else:
        rows = [(r["question"], r["final_answer"][0]) for r in _jsonl(data / "olympiadbench/test.jsonl")]
    flagged = [prompt for prompt, truth in rows if guessable(prompt, truth, None) is not None]
    assert len(flagged) <= 0.001 * len(rows)
