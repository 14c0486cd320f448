"""Kinds of problems that can be guessed, and of open ones that look like them, several of each."""

# ruff: noqa: E501  # one case a line

import pytest

from curate.multiple_choice.guessable import guessable

CLOSED = [
    ("Which fraction is closest to 0.3?\nA. 1/2\nB. 1/3\nC. 1/4\nD. 1/5", "B"),
    ("A train covers 180 km in 2.5 hours. Its average speed is\nA: 60 km/h\nB: 72 km/h\nC: 75 km/h\nD: 90 km/h", "B"),
    (
        "What is the remainder when $2^{10}$ is divided by $7$? $\\textbf{(A)}\\ 1\\qquad\\textbf{(B)}\\ 2\\qquad\\textbf{(C)}\\ 3\\qquad\\textbf{(D)}\\ 4\\qquad\\textbf{(E)}\\ 5$",
        "B",
    ),
    (
        "If $3x=12$, then $x=$ $\\mathrm{(A)}\\ 2 \\qquad \\mathrm{(B)}\\ 3 \\qquad \\mathrm{(C)}\\ 4 \\qquad \\mathrm{(D)}\\ 5$",
        "C",
    ),
    (
        "If $3x=12$, then $x=$ $\\mathrm{(A)\\ } 2 \\qquad \\mathrm{(B)\\ } 3 \\qquad \\mathrm{(C)\\ } 4 \\qquad \\mathrm{(D)\\ } 5$",
        "\\mathrm{(C)}",
    ),
    ("The product of 12 and 11 is \\textbf{A.} 121 \\textbf{B.} 122 \\textbf{C.} 132 \\textbf{D.} 144", "\\textbf{C}"),
    (
        "Compute $\\int_0^1 x\\,dx$. \\begin{enumerate} \\item[(A)] 1 \\item[(B)] 1/2 \\item[(C)] 1/3 \\item[(D)] 1/4 \\end{enumerate}",
        "(B)",
    ),
    ("Compute 7 * 8.\n\nOptions:\nA) 54\nB) 56\nC) 63\nD) 64", "56"),
    ("How many primes are below 20? [A] 6 [B] 7 [C] 8 [D] 9", "C"),
    ("How many primes are below 20? <A> 6 <B> 7 <C> 8 <D> 9", "C"),
    ("How many primes are below 20? A - 6, B - 7, C - 8, D - 9", "C"),
    ("Pick the value of 3! + 4!.\nOption A: 24\nOption B: 30\nOption C: 36", "Option B"),
    ("The sum of the first 10 odd numbers is ( )\nA.81  B.90  C.100  D.121", "C"),
    ("Find the median of 3, 9, 4, 1, 7.\n(A) 3\n(B) 4\n(C) 7\n(D) 9", "4"),
    ("What is 15% of 240?\nA) 24 | B) 30 | C) 36 | D) 42", "C) 36"),
    ("What is 15% of 240? A)24 B)30 C)36 D)42", "The answer is C"),
    ("Solve 2x + 1 = 9.\na) 2\nb) 3\nc) 4\nd) 5", "c"),
    ("Solve 2x + 1 = 9. (a) 2 (b) 3 (c) 4 (d) 5", "(c)"),
    ("Solve 2x + 1 = 9.\na. 2\nb. 3\nc. 4\nd. 5", "c."),
    ("Solve 2x + 1 = 9.\n1) 2\n2) 3\n3) 4\n4) 5", "3)"),
    ("The number of faces of a cube is\n(1) 4\n(2) 6\n(3) 8\n(4) 12", "2"),
    ("The number of faces of a cube is\n(1) 4\n(2) 6\n(3) 8\n(4) 12", "6"),
    ("The number of faces of a cube is\n1. 4\n2. 6\n3. 8\n4. 12", "Option 2"),
    ("方程 x^2=4 的正根是 ①1 ②2 ③3 ④4", "②"),
    ("方程 x^2=4 的正根是（　　）\n①1\n②2\n③3\n④4", None),
    ("已知集合M={1,2}，则M的子集个数为（  ）\nA. 2 B. 3 C. 4 D. 8", "C"),
    ("下列函数中为奇函数的是（　）\n（A）y=x^2 （B）y=x^3 （C）y=|x| （D）y=2^x", "B"),
    ("设a>0，则下列不等式一定成立的是\nＡ．a+1>0　Ｂ．a-1>0　Ｃ．a^2>a　Ｄ．1/a>a", "A"),
    ("选项：A、3 B、4 C、5 D、6\n问题：直角三角形两直角边为3和4，斜边是多少？", "C"),
    ("若x+2=5，则x的值为【 】 A 1 B 2 C 3 D 4", "C"),
    ("(单选题) 1公里等于多少米？ A 10 B 100 C 1000 D 10000", "C"),
    ("（多选）下列哪些数是质数？ A. 2 B. 4 C. 5 D. 9", "AC"),
    ("下列四个图形中，既是轴对称图形又是中心对称图形的是", "D"),
    ("以下哪个数最大？", "B"),
    ("以下哪个选项是正确的？", "C"),
    ("判断题：0是自然数。（ ）", "√"),
    ("判断：三角形的内角和是180度。", "对"),
    ("命题“若a=b，则a^2=b^2”是否正确？", "正确"),
    ("两个锐角的和一定大于直角。（判断对错）", "×"),
    ("5是10的因数，对吗？", "对"),
    ("True or False: The sum of two irrational numbers is always irrational.", "False"),
    ("State whether the following is true or false: every prime is odd.", "False"),
    ("T/F: A square is a rhombus.", "T"),
    ("Does the series sum 1/n converge? (Yes/No)", "No"),
    ("Is 91 prime?", "No"),
    ("Is it possible to tile a 5 x 5 board with dominoes?", "no"),
    ("Can a triangle have sides 3, 4 and 8?", "No"),
    ("Determine whether the statement is true: log(ab) = log a + log b for positive a and b.", "True"),
    ("Decide if the function f(x)=x^3 is injective. Respond with 'yes' or 'no'.", "yes"),
    ("Are the vectors (1,2) and (2,4) linearly independent?", "\\text{No}"),
    ("Evaluate the claim: 'Every continuous function is differentiable.'", "False"),
    ("Which of the following is an irrational number?", "D"),
    ("Which of these numbers is a perfect cube?", "27"),
    ("Which one of the following statements about a parallelogram must be true?", "C"),
    ("A quadrilateral with four equal sides is always a", "B"),
    ("The value of log_2 32 is", "C"),
    ("Which graph represents y = -x^2 + 1?", "A"),
    ("Which equation has no real solution?", "(B)"),
    ("Of the following, the best estimate of 19.8 x 5.1 is", "C"),
    (
        "Select all correct statements about f(x)=x^2.\nA. It is even\nB. It is injective\nC. It is bounded below\nD. It is odd",
        "A, C",
    ),
    ("Choose two answers. Which are factors of 36?\n(A) 5 (B) 9 (C) 12 (D) 14", "B and C"),
    ("Which of the numbers are even? (Check all that apply) (A) 3 (B) 4 (C) 7 (D) 10", "BD"),
    ("Which are multiples of 4?\n[ ] A. 10\n[ ] B. 12\n[ ] C. 14\n[ ] D. 16", "B, D"),
    (
        "Consider: I. 2 is even. II. 3 is even. III. 4 is even. Which are true? (A) I only (B) II only (C) I and III only (D) all",
        "C",
    ),
    ("Which of the statements is true?\nI. 1 is prime.\nII. 2 is prime.\nIII. 9 is prime.", "II only"),
    ("What is 9 squared? {'A': 18, 'B': 81, 'C': 99, 'D': 729}", "B"),
    ("What is 9 squared? Choices: 18, 81, 99, 729", "81"),
    ("What is 9 squared? Options: [18, 81, 99, 729]", "81"),
    ("Choose the correct option: The LCM of 4 and 6 is 12 / 24 / 2.", "12"),
    (
        "Evaluate $\\sin 30^\\circ$. \\\\ (A) $0$ \\\\ (B) $\\frac12$ \\\\ (C) $1$ \\\\ (D) $\\frac{\\sqrt3}{2}$ \\\\ (E) none of these",
        "\\frac{1}{2}",
    ),
    ("$5^2 - 3^2 =$\n$A)\\ 4\\quad B)\\ 16\\quad C)\\ 25\\quad D)\\ 34$", "B"),
    ("Answer with the letter only. What is 3 cubed? A=9, B=27, C=81", "B"),
    ("Is 17 (a) prime, (b) composite, or (c) neither?", "a"),
    ("Fill in the blank with one of the words: larger, smaller, equal. 2/3 is ___ than 3/5.", "larger"),
    ("Is the sequence 1, 1/2, 1/4, ... arithmetic or geometric?", "geometric"),
    ("Which is greater: 5^6 or 6^5?", "5^6"),
    ("Compare 3/7 and 4/9. Which one is bigger, the first or the second?", "the second"),
]
OPEN = [
    ("若 f(x)=2x, 则 (1) f(2)= ___ ; (2) f(3)= ___ ; (3) f(4)= ___ .", "4, 6, 8"),
    ("下列命题: (1) 0 是自然数 (2) 1 是质数 (3) 2 是偶数, 其中真命题的个数是多少?", "2"),
    ("数列满足 (1) $a_1=1$ (2) $a_2=3$ (3) $a_n=a_{n-1}+a_{n-2}$, 求 $a_5$.", "11"),
    ("Evaluate (1) 2+3 (2) 4+5 (3) 6+7", "5, 9, 13"),
    ("Let A, B, and C be points on a circle of radius 5 with AB = 6 and BC = 8. Find AC.", "10"),
    (
        "Lines $\\ell_A$, $\\ell_B$ and $\\ell_C$ pass through A, B and C. Find the angle between $\\ell_A$ and $\\ell_C$.",
        "60",
    ),
    ("A rectangle has sides 3 and 4. (a) Find its area. (b) Find its perimeter. (c) Find its diagonal.", "12, 14, 5"),
    ("Let f(x) = 2x + 1.\na) Find f(3).\nb) Find f(-1).\nc) Find x with f(x) = 9.", "4"),
    (
        '[asy] label("A",(0,0),SW); label("B",(4,0),SE); label("C",(4,3),NE); label("D",(0,3),NW); draw((0,0)--(4,0)--(4,3)--(0,3)--cycle); [/asy] Find AC.',
        "5",
    ),
    ("A quiz has 8 true/false questions. How many ways are there to answer with exactly 3 true?", "56"),
    ("A student guesses on 5 true or false questions. What is the probability of at least 4 right?", "3/16"),
    ("How many ways can we choose 3 of 7 books?", "35"),
    ("In how many ways can a committee choose a president and a secretary from 9 people?", "72"),
    (
        "Option A costs 5 dollars a day plus 20 dollars. Option B costs 9 dollars a day. After how many days do they cost the same?",
        "5",
    ),
    (
        "Plan A: 30 dollars plus 0.10 per minute. Plan B: 20 dollars plus 0.15 per minute. For how many minutes are they equal?",
        "200",
    ),
    (
        "Company A charges 40 dollars. Company B charges 25 dollars plus 3 dollars per mile. Company C charges 4 dollars per mile. For 10 miles, what is the cheapest price?",
        "40",
    ),
    ("Given: I. x + y = 5. II. x - y = 1. Find xy.", "6"),
    ("Let (i) a = 3, (ii) b = 4, (iii) c = a + b. Compute c^2.", "49"),
    ("A sequence satisfies (1) a_1 = 1 (2) a_2 = 2 (3) a_{n+2} = a_{n+1} + a_n. Find a_7.", "21"),
    ("Perform these steps: 1. Start with 5. 2. Double it. 3. Add 7. 4. Square the result. What do you get?", "289"),
    ("Step 1: Take 12. Step 2: Add 3. Step 3: Divide by 5. What is the result?", "3"),
    ("如图，点A、B、C、D在同一直线上，AB=2，BC=3，CD=4，求AD的长。", "9"),
    ("已知①x+y=3；②x-y=1。求x的值。", "2"),
    ("某商店有A、B、C三种商品，A单价3元，B单价5元，C单价8元。各买一件共需多少元？", "16"),
    ("(1)求f(x)的定义域；(2)求f(x)的值域；(3)求f(2)。其中f(x)=sqrt(x-1)。", "1"),
    ("In triangle ABC, D is on BC, E on CA and F on AB. If AF = 2, FB = 3, find the ratio.", "2/3"),
    (
        "Towns A, B, C and D lie on a road in this order. A to B is 3 km, B to C 4 km, C to D 5 km. How far is it from A to D?",
        "12",
    ),
    ("The matrices A = [1 2; 3 4], B = [0 1; 1 0], C = AB. Find the trace of C.", "5"),
    ("Bags A, B and C hold 2, 3 and 5 balls. A ball is drawn from each. How many outcomes are there?", "30"),
    ("Let P(A) = 0.3, P(B) = 0.4, and A and B are independent. Find P(A or B).", "0.58"),
    ("Dr. A. Smith and Prof. B. Jones share 12 apples with C. Brown equally. How many does each get?", "4"),
    ("In base 16, what is A + B in decimal?", "21"),
    ("A grade of A is worth 4 points, B 3 points, C 2 points, D 1 point. What is the mean of A, B, B, D?", "2.75"),
    ("Each letter stands for a digit: ABC + ABC = CAD. Find the digit A.", "4"),
    ("Which letter appears most often in MISSISSIPPI?", "I"),
    ("Who finished first if A beat B, B beat C and C beat D?", "A"),
    ("Team A plays team B and then team C. Which team won if A scored 3, B scored 2 and C scored 5?", "C"),
    ("Express the vector AB + BC + CD + DA.", "0"),
    ("Let a, b, c be the roots of x^3 - 6x^2 + 11x - 6. (a + b)(b + c)(c + a) = ?", "60"),
    ("Compute C(8,3) - C(7,2) + P(4,2).", "47"),
    ("Select a number at random from 1 to 10. What is the probability that it is prime?", "2/5"),
    ("Choose x so that the mean of 3, 7 and x is 6.", "8"),
    ("What is the largest of three consecutive integers whose sum is 42?", "15"),
    ("Find the number of true statements one can make... if 3 of 8 statements are false, how many are true?", "5"),
    (
        "Let S be the set of all positive integers n satisfying the following conditions: (a) n < 100, (b) n is divisible by 7, (c) n is odd. Find the sum of S.",
        "343",
    ),
    ("The following table shows sales: A | 10, B | 20, C | 30. What is the total?", "60"),
    ("Let A = 3, B = 5, C = 7, D = 9. Compute A*D - B*C.", "-8"),
    ("Is there a formula for the sum 1 + 2 + ... + n? Find it for n = 100.", "5050"),
    ("Determine all real numbers x such that either x^2 = 4 or x = 3, and give their sum.", "3"),
    ("Read the statements: (A) p + q = 10. (B) pq = 21. Find p^2 + q^2.", "58"),
    ("A box is open or closed with probability 1/2. What is the expected number of open boxes among 6?", "3"),
    ("How many of the following numbers are divisible by 3? 12, 14, 15, 21, 22", "3"),
    (
        "In the multiple-choice test each question has options A, B, C, D and E. How many answer patterns are there for 3 questions?",
        "125",
    ),
    ("Prove or compute: (a) Let x = 2. (b) Let y = 3. (c) Find x^y.", "8"),
    ("Let a) x be the number of cats and b) y the number of dogs. If x + y = 10 and x - y = 4, find x.", "7"),
    ("Problem 1. Let n = 4. Problem 2. Let m = n^2. Problem 3. Find m - n.", "12"),
    ("Vertices are A. (0,0), B. (4,0), C. (4,3). Find the area of triangle ABC.", "6"),
    (
        "At point A. the car stops. At point B. it turns. At C. it halts after 12 km in total. How many km is AB if BC is 5?",
        "7",
    ),
    (
        "Note: A) all angles are in degrees; B) figures are not to scale. Find the third angle of a triangle with angles 50 and 60.",
        "70",
    ),
    (
        "The equation has a true root and a false root. The true root is 3 times the false root, and their sum is 8. Find the true root.",
        "6",
    ),
    ("Given three boxes labeled (A), (B), and (C) with 3, 5 and 7 marbles, how many marbles are there in all?", "15"),
    (
        "For which values of k does the system have (i) no solution, (ii) infinitely many solutions? x + y = 1, kx + y = 2. Give k for (i).",
        "1",
    ),
    ("Compute: (1) 3 + 4 (2) 5 * 6 (3) 7 - 2", None),
    ("计算：(1) 3+4 (2) 5×6 (3) 7-2", None),
    ("Simplify each expression.\n1) x + x\n2) y * y\n3) z - 2z", None),
    (
        "What is the least number that satisfies the following conditions?\na) It is odd.\nb) It ends in 5.\nc) It exceeds 30.",
        None,
    ),
]
# labels that may also number sub-questions, without an answer
WITHOUT_ANSWER = [
    "Solve 2x + 1 = 9.\na) 2\nb) 3\nc) 4\nd) 5",
    "The number of faces of a cube is\n1. 4\n2. 6\n3. 8\n4. 12",
    "Is 17 (a) prime, (b) composite, or (c) neither?",
    "被除数是（  ）。\n(1) 25 (2) 50 (3) 75",
    "How many integers from 1 to 50 divide 60? (2015 Contest, Question 9)\n(1) 10 (2) 11 (3) 12 (4) 13",
    "There are ____ bottles in total that need to be carried.\n① 80 ② 90 ③ 92",
    "不同的排法共有 ( )\n(1) 6 种 (2) 12 种 (3) 18 种 (4) 24 种",
    "从 1 到 9 中任取 2 个数, 其和为偶数的概率为 ( )\n(1) $\\frac{1}{9}$ (2) $\\frac{4}{9}$ (3) $\\frac{5}{9}$ (4) $\\frac{1}{2}$",
    "设 $\\{a_n\\}$ 的前 $n$ 项和为 $S_n$, $S_3=0$, 则\n(1) $a_n=2n-4$ (2) $a_n=n-1$ (3) $S_n=2n^2$ (4) $S_n=n^2+1$",
    "共有 7 位评委打分, 去掉一个最高分和一个最低分, 与原来的分数相比, 一定不变的是\n(1) 平均数 (2) 中位数 (3) 方差 (4) 极差",
]


@pytest.mark.parametrize(("prompt", "truth"), CLOSED)
def test_what_can_be_guessed_is_found(prompt: str, truth: str | None) -> None:
    assert guessable(prompt, truth, None) is not None


@pytest.mark.parametrize("prompt", WITHOUT_ANSWER)
def test_options_are_found_without_an_answer(prompt: str) -> None:
    assert guessable(prompt, None, None) is not None


@pytest.mark.parametrize("is_known", [True, False])
@pytest.mark.parametrize(("prompt", "truth"), OPEN)
def test_open_problems_that_look_guessable_stay(prompt: str, truth: str | None, is_known: bool) -> None:
    assert guessable(prompt, truth if is_known else None, None) is None
