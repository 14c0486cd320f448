"""The program that is extracted from a completion."""

import pytest

from curate.verify.code.program import find_program

RIGHT = "def f(x):\n    return x * x\n"
PROMPT = 'def f(x):\n    """Square."""\n'


@pytest.mark.parametrize(
    "completion",
    [
        f"```python\n{RIGHT}```",
        f"<think>maybe\n```python\ndef f(x): return 1\n```\n</think>Here:\n```py\n{RIGHT}```\nDone.",
        f"First:\n```python\n{RIGHT}```\nThen call it:\n```python\nprint(f(2))\n```",
        f"```python\n{RIGHT}```\nOutput:\n```\n4\n```",
        f"~~~python\n{RIGHT}~~~",
        f"  ```python\n{RIGHT}  ```",
        RIGHT,
        f"```python\nimport os\n```\n```python\n{RIGHT}```",
    ],
)
def test_the_last_block_that_defines_the_function_counts(completion: str) -> None:
    source = find_program(completion, ["f"]).source
    assert source is not None
    assert source.strip() == RIGHT.strip()


@pytest.mark.parametrize(
    "body",
    [
        "    return x * x\n",
        "return x * x",
        "```python\n    return x * x\n```",
        "y = x * x\n    if y:\n        pass\n    return y",
    ],
)
def test_a_body_continues_its_prompt(body: str) -> None:
    source = find_program(body, ["f"], PROMPT).source
    names: dict[str, object] = {}
    assert source is not None
    exec(source, names)
    assert names["f"](3) == 9


DOCUMENTED = '''def f(x):
    """Square a number.

    ```
    f(2)
    ```
    or
    ```python
    >>> f(3)
    9
    ```
    """
    return x * x
'''


@pytest.mark.parametrize("source", [DOCUMENTED, DOCUMENTED.replace('"""', "'''"), DOCUMENTED.replace("    ```", "```")])
def test_a_fence_in_a_docstring_does_not_end_the_program(source: str) -> None:
    for completion in (f"```python\n{source}```", f"Here:\n```\n{source}```\nIt prints\n```\n4\n```\nDone."):
        assert find_program(completion, ["f"]).source == source


def test_a_broken_block_does_not_swallow_the_next_one() -> None:
    broken = '```python\ndef f(x):\n    """Not closed\n```\n'
    assert find_program(f"{broken}Now right:\n```python\n{RIGHT}```", ["f"]).source == RIGHT


def test_a_program_in_a_list_item_loses_its_indentation() -> None:
    block = "".join(f"   {line}\n" for line in RIGHT.splitlines())
    assert find_program(f"1. Write\n   ```python\n{block}   ```\n2. Run it", ["f"]).source == RIGHT


def test_line_ends_of_windows_are_read() -> None:
    assert find_program(
        f"So:\r\n```python\r\n{RIGHT}```\r\nDone.\r\n".replace("\n", "\r\n").replace("\r\r", "\r"), ["f"]
    ).source


@pytest.mark.parametrize(
    ("completion", "reason"),
    [
        ("", "no_answer"),
        ("I cannot do that.", "no_answer"),
        ("sorry", "no_answer"),
        (f"<think>\n```python\n{RIGHT}```\n", "think_only"),
        (f"<think>\n```python\n{RIGHT}```\n</think>\n", "think_only"),
        (f"<think>\n```python\n{RIGHT}```\n</think>\nThat is it.", "think_only"),
        (f"Here:\n```python\n{RIGHT}", "truncated"),
        ("```python\n" + "x = 1\n" * 100_000 + "```", "too_long"),
    ],
)
def test_a_missing_program_has_a_reason(completion: str, reason: str) -> None:
    assert find_program(completion, ["f"]) == (None, reason)


READER = "n = int(input())\nprint(n * n)\n"


@pytest.mark.parametrize(
    "completion",
    [
        f"```python\n{READER}```",
        f"```python\n{READER}```\nInput:\n```\n4\n```\nOutput:\n```\n16\n```",
        f"```\n4\n```\n```python\n{READER}```\nIt prints:\n```python\nprint(16)\n```",
        f"```\n{READER}```\nExample:\n```text\n16\n```",
    ],
)
def test_a_program_that_reads_is_found_among_examples(completion: str) -> None:
    assert find_program(completion).source == READER


@pytest.mark.parametrize(
    "source",
    [
        "-" * 90_000 + "1",
        "(" * 40_000,
        "not " * 20_000 + "1",
        "x" + ".a" * 40_000,
        "1" + "+1" * 40_000,
        "x = '\0'",
        "\ud800",
    ],
)
def test_source_that_breaks_the_parser_is_only_text(source: str) -> None:
    assert find_program(f"```python\n{source}\n```", ["f"]).reason in ("no_answer", "too_long")


def test_a_block_in_another_language_is_no_program() -> None:
    assert find_program("```javascript\nfunction f(x) { return x * x }\n```", ["f"]).reason == "no_answer"
