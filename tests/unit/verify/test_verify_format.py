"""Think marks, language share and repetition, as pure functions."""

from __future__ import annotations

import pytest

from curate.verify.format import (
    compression_rate,
    has_think_format,
    language_share,
    prompt_language,
    reasoning_of,
    repetition_rate,
)

BROKEN = [
    "no marks at all",
    "<think></think>answer",
    "<think>  \n </think>answer",
    "<think>reasoning</think>",
    "<think>reasoning</think>   ",
    "before <think>reasoning</think>answer",
    "<think>a</think>b<think>c</think>d",
    "<think>a<think>b</think>c",
    "<think>a</think></think>c",
    "</think>a<think>b",
    "<think>never closed",
    "never opened</think>b",
]


def test_one_block_with_reasoning_before_an_answer_is_well_formed() -> None:
    assert has_think_format("<think>2+2=4</think>\\boxed{4}")
    assert has_think_format("\n<think>\n2+2=4\n</think>\n\nThe answer is 4.")


@pytest.mark.parametrize("completion", BROKEN)
def test_anything_else_is_not(completion: str) -> None:
    assert not has_think_format(completion)


def test_the_reasoning_is_what_stands_between_the_marks() -> None:
    assert reasoning_of("<think>a</think>b") == "a"
    assert reasoning_of("<think>a") == "a"
    assert reasoning_of("a</think>b") == "a"
    assert reasoning_of("a") == "a"


def test_the_language_of_a_prompt_is_that_of_its_words() -> None:
    assert prompt_language("求 $x+y=5$ 的整数解的个数") == "zh"
    assert prompt_language("Find all integers $x$ with $x^2=4$.") == "en"
    assert prompt_language("$x^2=4$") == "en"


def test_mathematics_code_and_symbols_count_for_no_language() -> None:
    english = "First we add the numbers"
    for ornament in (
        "",
        " $x_{max} + 中 = 5$",
        " \\(中文\\)",
        " ```python\n中 = 'text'\n```",
        " `中`",
        " \\frac{1}{2} 42 !!",
        " \\[中\\]",
    ):
        assert language_share(english + ornament, "en") == 1.0
    assert language_share("我们先相加 $abc$ 再相乘", "zh") == 1.0


def test_a_mixed_chain_of_thought_has_the_share_of_its_words() -> None:
    assert language_share("we add 我们", "en") == 0.5
    assert language_share("we add 我们", "zh") == 0.5
    assert language_share("мы складываем the numbers", "en") == 0.5
    assert language_share("", "en") == 1.0


def test_loops_have_a_high_repetition_rate_and_prose_a_low_one() -> None:
    prose = " ".join(f"word{i} follows word{i * 7 % 501}" for i in range(500))
    assert repetition_rate(prose) < 0.05
    assert repetition_rate("The sum is taken term by term. " * 200) > 0.9
    assert repetition_rate("我们再算一遍。" * 200) > 0.9
    assert repetition_rate("short text") == 0.0
    assert compression_rate("a" * 10_000) < 0.1 < compression_rate(prose)
