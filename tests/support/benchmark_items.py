"""Eight items of a small benchmark, each hard in its own way, with their answers."""

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
