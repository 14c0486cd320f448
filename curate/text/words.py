"""The words that a comparison of texts knows: operators, variables, function words, and words that decide."""

from __future__ import annotations

from string import ascii_lowercase
from typing import Final

LAYOUT_SIGNS: Final = frozenset(("{", "}", "frac", "/", "*", "cdot", "times"))  # a formula may have or lack them
VARIABLES: Final = frozenset(
    (
        *ascii_lowercase,
        *"alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu rho sigma tau phi chi psi omega".split(),
    )
)
_OPERATOR_WORDS: Final = (
    "le ge ne equiv approx pm mp times div cdot frac sqrt prime ratio notin subset subseteq cup cap sum prod int "
    "sin cos tan log ln sinh cosh tanh arcsin arccos arctan lim det binom partial nabla oplus otimes vee wedge "
    "infty lfloor rfloor lceil rceil diamondsuit heartsuit spadesuit clubsuit"
).split()
OPERATORS: Final = frozenset((*"+-*/^=<>|!%", *_OPERATOR_WORDS))
# a text that has one of them is another problem than one that has not
TURNS: Final = frozenset(
    (
        "not no never cannot without except non least most greatest smallest largest maximum minimum odd even "
        "positive negative nonnegative nonpositive nonzero"
    ).split()
)
# one in the place of another makes another problem
TELLING_WORDS: Final = frozenset(
    (
        "min max minimal maximal smaller larger shorter longer lower higher more less fewer fewest product "
        "difference quotient remainder area perimeter volume circumference radius diameter width length height "
        "mean median mode range inscribed circumscribed cot sec csc sine cosine tangent rows columns row column "
        "increasing decreasing before after left right inside outside and or with last previous next north south "
        "east west integer real rational irrational composite square cube union intersection gcd lcm numerator "
        "denominator mother father husband wife triangle rectangle pentagon hexagon octagon trapezoid trapezium "
        "rhombus parallelogram circle ellipse parabola hyperbola sphere cone cylinder cuboid prism pyramid "
        "ascending descending clockwise counterclockwise"
    ).split()
)
# words without content of their own
FUNCTION_WORDS: Final = frozenset(
    (
        "a an the this that these those there here it its he she they him her his them their we you i who whom "
        "whose which what when where why how and or but if then so as at by for from in into of on onto over to up "
        "with without within between among about after before during until while is are was were be been being am "
        "do does did done has have had can could may might must shall should will would let s t d ll ve re also "
        "just only again both each every any all some such other another same one ones no more very too now please "
        "given suppose assume consider following below above shown find determine compute calculate evaluate "
        "express write give state tell show answer question problem value number total "
        "的 了 是 在 有 和 与 把 被 这 那 他 她 它 们 吗 呢 吧 请 问 求 则 若 如 果 设 已 知 共 个"
    ).split()
)
