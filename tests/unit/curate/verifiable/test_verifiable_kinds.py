"""Kinds of problems that no verifier can judge, and checkable ones that look like them, several of each."""

import json

import polars as pl
import pytest
from support import places

from curate.records import PROBLEM, problem_key, schema
from curate.verifiable.stage import VerifiableConfig, run

CASES: dict[str | None, list[tuple[str, str | None]]] = {
    "proof": [
        ("Prove that the sum of two even numbers is even.", None),
        ("Prove that $\\sqrt{2}$ is irrational.", "See proof."),
        ("Show that $n^3 - n$ is divisible by 6 for all integers n.", ""),
        ("Let G be a group of order 4. Demonstrate that G is abelian.", None),
        ("Establish that the sequence converges.", "Proof omitted"),
        ("Verify that f(x)=e^x satisfies y'=y.", None),
        ("证明：对任意正整数n，n^2+n为偶数。", "略"),
        ("求证：三角形内角和为180度。", None),
        (
            "Prove or disprove: every continuous function on [0,1] is bounded.",
            "True by the extreme value theorem, since the interval is compact.",
        ),
        ("Let $a,b>0$. Prove the inequality $a/b+b/a \\ge 2$.", "QED"),
        ("Using induction, prove the formula for the sum of the first n cubes.", None),
        ("Justify why there are infinitely many primes.", None),
        ("Derive the quadratic formula by completing the square, proving each step.", "Proof."),
        ("Every bounded monotone sequence of reals converges.", None),
        ("Explain and prove the pigeonhole principle.", None),
    ],
    "no_answer": [
        ("What is 2 + 2?", None),
        ("What is 2 + 2?", ""),
        ("What is 2 + 2?", "N/A"),
        ("Find x if 2x = 8.", "None"),
        ("Find x if 2x = 8.", "see solution"),
        ("Compute 7 * 8.", "unknown"),
        ("计算7×8。", "略"),
        ("Compute 7 * 8.", "answer not available"),
        ("Compute 7 * 8.", "-"),
        ("Compute 7 * 8.", "\\boxed{}"),
        ("Compute 7 * 8.", "TBD"),
        ("Compute 7*8.", "no answer provided"),
        ("Compute 7*8.", "nan"),
    ],
    "multi_part": [
        ("Let f(x)=x^2-4. (a) Find the zeros of f. (b) Find the minimum of f. (c) Find f(3).", "(a) ±2 (b) -4 (c) 5"),
        ("A ball is thrown up at 20 m/s. (i) How high does it rise? (ii) When does it land?", "20 m, 4 s"),
        ("(1)求数列的通项公式；(2)求前n项和。", "(1)2n-1 (2)n^2"),
        ("Part A: What is the mass? Part B: What is the volume?", "5, 7"),
        ("1. Compute 3+4.\n2. Compute 5*6.", "7, 30"),
        ("a) Solve x+1=3. b) Solve 2x=8.", "a) 2 b) 4"),
        ("Question 1: What is the mean? Question 2: What is the median?", "4 and 5"),
        ("①求a的值；②求b的值。", "①2 ②3"),
        ("A circle has radius 3. Find (a) its area and (b) its circumference.", "(a) 9π (b) 6π"),
        ("Find the following for the triangle: a. the perimeter b. the area c. the height", "a. 12 b. 6 c. 2.4"),
        ("(Ⅰ)求角A的大小；(Ⅱ)若a=2，求三角形ABC面积的最大值。", "(Ⅰ)π/3 (Ⅱ)√3"),
        (
            "A jar holds 4 red and 6 blue beads. 1. How many ways to take 2? 2. What is the chance that both are red?",
            "45",
        ),
        ("Let g(x)=x^3. 1) Find g(2). 2) Find g'(2).", "8"),
        ("Let g(x)=x^3. i) Find g(2). ii) Find g'(2).", "8"),
        ("A train leaves at noon. i. How fast is it? ii. When does it arrive?", "80"),
        ("**1.** Solve 2x = 4.\n**2.** Solve 3y = 9.", "2"),
        ("Q1. What is 6+7? Q2. What is 8+9?", "13"),
        ("Problem 1: Solve 2x=4. Problem 2: Solve 3y=9.", "2"),
        ("Evaluate the following: 1) $2+3$ 2) $4+5$", "5"),
        ("Solve the following equations: (1) $x+3=5$; (2) $2x=8$.", "2"),
        ("A box is 2 by 3 by 4. Find (a) the volume and (b) the surface area.", "24"),
        ("计算：(1) 2+3; (2) 4+5", "5"),
        ("已知函数f(x)=x^3。1. 求f(2)；2. 求f(3)。", "8"),
    ],
    "open_ended": [
        ("Give an example of a function that is continuous but not differentiable.", "|x|"),
        ("Write a paragraph describing the Pythagorean theorem.", "A right triangle..."),
        ("Explain why division by zero is undefined.", "Because no number times zero gives a nonzero number."),
        ("Describe the graph of y = 2x + 1.", "A straight line with slope 2 crossing the y axis at 1."),
        ("Discuss the convergence of the series.", "It converges conditionally."),
        ("What do you think is the best strategy for this game?", "Mirror the opponent"),
        ("Sketch the graph of y = sin x.", "a wave"),
        ("Create a word problem whose answer is 12.", "answers may vary"),
        ("举出一个无理数的例子。", "√2"),
        ("请写出一个大于3的无理数。", "π (答案不唯一)"),
        ("Find two numbers whose sum is 10. Answers may vary.", "3 and 7"),
        ("Compare and contrast permutations and combinations.", "order matters"),
        ("Name a prime number greater than 100.", "101"),
        ("Propose a method to estimate pi with random points.", "Monte Carlo"),
        ("List any three multiples of 7.", "7, 14, 21"),
    ],
    "figure_needed": [
        ("What is the area of the shaded region? ![](fig1.png)", "12"),
        ("<image>\nFind angle x.", "40"),
        ("Find x. \\includegraphics[width=3cm]{a.pdf}", "5"),
        ("Find the value of y in the picture. [image]", "7"),
        ("如图所示，求角A的度数。<img src='a.png'>", "30"),
        ("See https://example.com/q/12.png and compute the sum.", "8"),
        ("[FIGURE 2] What is the length AB?", "4"),
        ("<img>\nHow many triangles?", "8"),
    ],
    "answer_in_prompt": [
        ("What is 12 * 12? Answer: 144", "144"),
        ("Find the derivative of x^2. The answer is 2x.", "2x"),
        ("Solve x + 5 = 9. #### 4", "4"),
        ("Compute 15% of 80. \\boxed{12}", "12"),
        ("计算25×4。答案：100", "100"),
        ("How many primes are below 10? (Answer: 4)", "4"),
        ("Evaluate 3!+4!.\n\nFinal answer: 30", "30"),
        ("What is the capital sum? Correct answer: 1250 dollars", "1250"),
        ("Find x: 3x = 27.\nSolution: x = 9. Ans: 9", "9"),
    ],
    "unparseable_answer": [
        (
            "What is the limit?",
            "the limit does not depend on the path because the function is continuous at that point",
        ),
        ("How does the area change?", "It becomes four times as large when the side is doubled"),
        ("Find f.", "f(x) = {{{"),
        ("Find the set.", "\\frac{1}{"),
    ],
    None: [
        ("What is 2 + 2?", "4"),
        ("Find all x with x^2 = 4.", "\\pm 2"),
        ("Show your work: what is 15% of 80?", "12"),
        ("It can be shown that the sum is rational. Find it.", "3/4"),
        ("Prove that the value of x^2+y^2 is constant and find it.", "5"),
        ("The proof of a theorem has 12 lines of 8 words each. How many words does it have?", "96"),
        ("Suppose f satisfies (a) f(0)=1 and (b) f(x+1)=2f(x). Find f(5).", "32"),
        ("Let S be the set with (i) 1 in S, (ii) if x in S then 2x in S. How many elements of S are below 100?", "7"),
        ("An example of a function is f(x) = x^2. Evaluate f(7).", "49"),
        ("Explain your reasoning and find the remainder of 7^100 mod 5.", "1"),
        ("A student explained that the answer is wrong. If he was off by 3 and had 12, what is the right value?", "15"),
        ("Find the greatest common divisor of 24 and 36.", "12"),
        ("How many numbers can be written as a sum of two squares below 10?", "7"),
        ("Draw two cards from a deck. What is the probability that both are aces?", "1/221"),
        ("A sketch is 4 cm wide and 6 cm tall. It is enlarged to 10 cm wide. How tall is it?", "15"),
        ("Which day comes 100 days after Monday?", "Wednesday"),
        ("Determine f(x) if f'(x) = 2x and f(0) = 1.", "x^2+1"),
        ("In how many ways can the letters of BANANA be arranged?", "60"),
        (
            "The answer is a three-digit number. Its digits sum to 6 and it is the smallest such number. What is it?",
            "105",
        ),
        ("Answer: 5 is the wrong answer to 2 + 2. What is the right one?", "4"),
        ("A figure skater does 3 turns a second. How many in 8 seconds?", "24"),
        ("已知a=3，b=4，求a+b的值。", "7"),
        ("解不等式x^2<4。", "(-2,2)"),
        ("Compute (1) + (2) + (3).", "6"),
        ("Find the coordinates of the vertex.", "(2,-3)"),
        ("Simplify (a) (b)^2 / (a b).", "b"),
        ("Is the number 7 (a) prime? Give the sum of its divisors.", "8"),
        ("Let P(1) = 2 and P(2) = 5. Find P(3) if P is linear.", "8"),
        ("Give the exact value of sin 60 degrees.", "\\frac{\\sqrt{3}}{2}"),
        ("List all prime factors of 60.", "2, 3, 5"),
        ("Give an expression for the n-th odd number.", "2n-1"),
        ("Find a value of k such that kx = 12 when x = 3.", "4"),
        ("Why-questions aside, what is 6 * 7?", "42"),
        ("Consider the following: 1. All primes are odd. 2. 2 is prime. 3. 9 is prime. How many are true?", "1"),
        ("Consider these statements:\n(1) x > 3\n(2) x < 5\nHow many of them hold for x = 4?", "2"),
        ("Find the number of integers n such that 1) n is even; 2) 0 < n < 100; 3) n is a square.", "4"),
        ("Let x = 1. Find y such that y + z = 2. Compute y when z = x.", "1"),
        ("Solve the following system of equations: 1) x+y=3 2) x-y=1. What is x?", "2"),
        ("Perform these steps: 1. Find the sum of the digits of 98. 2. Multiply it by 3. What do you get?", "51"),
        (
            "It follows rules: (1) If n is even, then compute n/2. (2) Else find 3n+1. How often does 6 go in?",
            "8",
        ),
        ("A game goes as follows: 1. Draw a card. 2. Give it to the next player. What is the expected length?", "4"),
        ("There are three boxes: 1) red, 2) blue, 3) green. How many orders are there?", "6"),
        ("Given: 1. AB = 3. 2. BC = 4. 3. Angle ABC is right. Find AC.", "5"),
    ],
}


Case = tuple[str | None, str, str | None]


def _wrong(cases: list[Case], figures: str = "image") -> list[str]:
    rows = [
        dict.fromkeys(PROBLEM) | {"key": problem_key(prompt), "prompt": prompt, "ground_truth": truth, "kind": "math"}
        for _, prompt, truth in cases
    ]
    decided = run(pl.DataFrame(rows, schema=schema(PROBLEM)), VerifiableConfig.model_validate({"figures": figures}))
    return [
        f"{prompt} | {truth}: {found}, not {reason}"
        for (reason, prompt, truth), found in zip(cases, decided["drop_reason"], strict=True)
        if found != reason
    ]


def test_every_kind_is_dropped_for_its_own_reason_and_what_looks_like_it_kept() -> None:
    assert _wrong([(reason, prompt, truth) for reason, pairs in CASES.items() for prompt, truth in pairs]) == []


@pytest.mark.parametrize(("figures", "num_cases"), [("image", 250), ("mentioned", 35)])
def test_the_labelled_cases_are_judged_as_labelled(figures: str, num_cases: int) -> None:
    lines = (places.CASES / "verifiable_cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [
        (case["reason"], case["prompt"], case["answer"])
        for case in map(json.loads, lines)
        if case.get("figures", "image") == figures
    ]
    assert len(cases) > num_cases
    assert _wrong(cases, figures) == []
