"""What the verifiable stage reads in a prompt and a ground truth, kind by kind, English and Chinese."""

import polars as pl
import pytest

from curate.records import PROBLEM, problem_key, schema
from curate.verifiable.stage import VerifiableConfig, run


def problems(*rows: tuple[str, str | None], kind: str = "math", choices: list[str] | None = None) -> pl.DataFrame:
    """A pool of (prompt, ground truth) rows."""
    return pl.DataFrame(
        [
            {
                "key": problem_key(prompt, kind, choices),
                "prompt": prompt,
                "ground_truth": truth,
                "kind": kind,
                "choices": choices,
            }
            for prompt, truth in rows
        ],
        schema={name: schema(PROBLEM)[name] for name in ("key", "prompt", "ground_truth", "kind", "choices")},
    )


def reason(prompt: str, truth: str | None, **config: str | int) -> str | None:
    """The one reason for one row."""
    decided = run(problems((prompt, truth)), VerifiableConfig.model_validate(config))
    assert (decided["drop_reason"][0] is None) == (decided["drop_detail"][0] is None)
    return decided["drop_reason"][0]


DROPPED = [
    ("proof", r"Prove that $\sqrt{2}$ is irrational.", None),
    ("proof", r"Let $n$ be odd. Show that $8 \mid n^2 - 1$.", ""),
    ("proof", "Prove or disprove: every bounded sequence converges.", "False."),
    ("proof", "Use part (a) to verify that the sum converges.", "None"),
    ("proof", "Give a direct proof that the intersection is nonempty.", "see proof"),
    ("proof", "If $a$ divides $b$ in the Gauss integers, then $a$ divides $b$ in the integers.", None),
    ("proof", "Is every group of order 4 abelian?", r"\begin{proof} Let G be of order 4 ..."),
    ("proof", "已知 $a>b>0$，证明：$a^2>b^2$。", None),
    ("proof", "求证：三角形内角和为180度。", "略"),
    ("no_answer", "What is $2+2$?", None),
    ("no_answer", "What is $2+2$?", "   "),
    ("no_answer", "What is $2+2$?", "N/A"),
    ("no_answer", "What is $2+2$?", r"\boxed{}"),
    ("no_answer", "What is $2+2$?", "Answer not found."),
    ("no_answer", "小明有多少个苹果？", "略"),
    ("multi_part", "(a) Find the slope of the line. (b) Find its intercept.", "2, 3"),
    ("multi_part", "1. What is the area?\n2. What is the perimeter?", "12 and 14"),
    ("multi_part", "A ball falls.\ni) How long does it fall?\nii) Determine its speed.", "(i) 2 s (ii) 20 m/s"),
    ("multi_part", "Find the mean and the median of the list.", "(a) 5 (b) 6"),
    ("multi_part", "已知函数。（1）求 $f(1)$ 的值；（2）求函数的最大值。", "3"),
    ("open_ended", "Give an example of a continuous function that is nowhere differentiable.", "Weierstrass"),
    ("open_ended", "Write a short word problem about trains.", "A train leaves at noon"),
    ("open_ended", "Explain why the sky is blue.", "Rayleigh scattering"),
    ("open_ended", "Sketch the graph of $y = x^2$.", "a parabola"),
    ("open_ended", "Name a prime above 10. Answers may vary.", "11"),
    ("open_ended", "Find a prime above 10.", "11 (answers may vary)"),
    ("open_ended", "写出一个大于2的无理数。", r"$\sqrt{5}$（答案不唯一）"),
    ("open_ended", "为什么三角形具有稳定性？请说明理由。", "三边确定"),
    ("figure_needed", "Find the area of the region.\n![region](region.png)", "12"),
    ("figure_needed", r"What is $x$? \includegraphics[width=3cm]{fig1}", "12"),
    ("figure_needed", "<image>\nHow many apples are there?", "5"),
    ("answer_in_prompt", "What is $6 \\cdot 7$? Answer: 42", "42"),
    ("answer_in_prompt", "What is $6 \\cdot 7$?\n#### 42", "42"),
    ("answer_in_prompt", "What is $6 \\cdot 7$? (The answer is $\\boxed{42}$.)", "42"),
    ("answer_in_prompt", "Find $x$. Hint: the answer is $\\frac{3}{7}$. What is $x$?", r"\frac{3}{7}"),
    ("answer_in_prompt", "六乘七是多少？答案：42", "42"),
    ("unparseable_answer", "How many regions are there?", "There are exactly as many regions as there are chords."),
    ("unparseable_answer", "Find $a$.", "Show that $a = 2$."),
    ("unparseable_answer", "下列说法正确的是哪一个？", "任意画两个直角三角形，这两个直角三角形相似，这是随机事件"),
    ("too_long", "What is $2+2$? " * 2000, "4"),
]

KEPT = [
    ("Prove that the sum does not depend on $n$, and find its value.", "4"),
    ("Find, with proof, the smallest such $g$.", r"\frac{1+\sqrt{3}}{2}"),
    ("Determine the last moment at which an ant falls off, or prove that there is none.", r"\frac{3m}{2}-1"),
    ("Two dice show numbers that add up to 7. What is the chance that one shows a 2?", r"\frac13"),
    ("While watching a show that lasted 40 minutes, how many ads did Ann see?", "3"),
    ("In a circus show, I counted 40 legs and 15 heads. How many acrobats did I see?", "10"),
    ("Find all $n$ such that (i) $n^2$ is a difference of two cubes; (ii) $2n+79$ is a square.", "181"),
    ("Let $P(0) = k$, $P(1) = 2k$ and $P(2) = 3k$. What is $P(3)$?", "14k"),
    ("Which expressions are written as $(x + a)(x + b)$? Compute $a + b$.", "23"),
    ("Describe the locus of points, then find its area. Justify your answer.", r"4\pi"),
    ("She writes an essay of 1200 words. How many hours does it take?", "4"),
    ("For example, 12 is abundant. What is the least odd abundant number?", "945"),
    ("Enter your answer as a fraction. What is half of a third?", r"\frac{1}{6}"),
    ("The answer is a prime between 20 and 28. What is it?", "23"),
    ("Express your answer in the form $m+n$. Answer: the sum of the two.", "42"),
    ("[asy] draw((0,0)--(1,1)); label(\"explain\",(0,0)); [/asy] Find the length drawn.", r"\sqrt{2}"),
    ("Which day is it?", "Tuesday"),
    ("For which $n$ is it possible?", "no such integer"),
    ("How long did they wait?", r"2\text{ hours and }30\text{ minutes}"),
    ("Solve for $x$.", r"\text{All real numbers except } 3"),
    ("芳芳买了一本书有99页，看了90页，她还剩多少页没有看？", "9"),
    ("若证明了命题A，则 $x$ 的值为____", "3"),
]  # fmt: skip


@pytest.mark.parametrize(("expected", "prompt", "truth"), DROPPED)
def test_what_no_verifier_can_judge_is_dropped_with_its_reason(expected: str, prompt: str, truth: str | None) -> None:
    assert reason(prompt, truth) == expected


@pytest.mark.parametrize(("prompt", "truth"), KEPT)
def test_a_checkable_problem_that_looks_like_one_is_kept(prompt: str, truth: str) -> None:
    assert reason(prompt, truth) is None


def test_figures_are_dropped_by_level() -> None:
    pointing = "As shown in the figure, a circle touches the square. Find its radius."
    drawn = "[asy] draw(circle((0,0),1)); [/asy] In the figure above, find the radius."
    image = "Find the radius. ![](a.png)"
    dropped = {
        level: [reason(prompt, "1", figures=level) is not None for prompt in (image, pointing, drawn)]
        for level in ("keep", "image", "mentioned", "drawn")
    }
    assert dropped == {
        "keep": [False, False, False],
        "image": [True, False, False],
        "mentioned": [True, True, False],
        "drawn": [True, True, True],
    }


def test_options_in_their_own_column_are_no_sub_questions_and_no_prose() -> None:
    rows = problems(
        ("Which is true?", "The sum of two odd numbers is always an even number"), choices=["x", "The sum ..."]
    )
    assert run(rows, VerifiableConfig())["drop_reason"].to_list() == [None]


def test_rows_of_other_kinds_are_not_read_as_mathematics() -> None:
    rows = problems(("Show that the tests pass and explain why.", None), kind="agent")
    assert run(rows, VerifiableConfig())["drop_reason"].to_list() == [None]


def test_the_detail_quotes_what_decided() -> None:
    decided = run(problems(("Let $n$ be odd. Show that it is.", None), ("What?", "N/A")), VerifiableConfig())
    assert decided["drop_detail"].to_list() == ["Show that", "ground truth is 'N/A'"]
