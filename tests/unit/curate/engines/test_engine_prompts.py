"""The prompt of a problem: pure text, built in one way for measuring and training."""

from pathlib import Path

import pytest

from curate.config import parse
from curate.engines import PromptConfig, messages, raw_text
from curate.engines.prompts import (
    ANSWER_ONLY,
    EMPTY_THINK,
    TEMPLATES,
    open_think,
    prefill,
    settle_thinking,
    template_switches,
)
from curate.errors import UserError


def test_latex_braces_pass_through_the_template_unchanged() -> None:
    config = PromptConfig(template="Q: {prompt}\nA in \\boxed{}:")
    assert raw_text("Solve \\frac{1}{2}x = {3}", config) == "Q: Solve \\frac{1}{2}x = {3}\nA in \\boxed{}:"


def test_a_system_message_comes_first() -> None:
    roles = [message["role"] for message in messages("x", PromptConfig(system="Be brief."))]
    assert roles == ["system", "user"]


def test_a_template_is_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "shots.txt").write_text("1+1\n2\n{prompt}\n")
    assert raw_text("2+2", PromptConfig(template=f"@{tmp_path / 'shots.txt'}")) == "1+1\n2\n2+2\n"
    with pytest.raises(UserError, match="there is no file"):
        parse(PromptConfig, {"template": "@nowhere.txt"}, "--")


def test_a_template_without_the_problem_is_refused() -> None:
    with pytest.raises(UserError, match=r"write \{prompt\}"):
        parse(PromptConfig, {"template": "Solve this."}, "--")


@pytest.mark.parametrize(
    ("template", "knows_think", "by"),
    [
        ("{% if enable_thinking %}", True, "enable_thinking"),
        ("{{ messages }}", True, "empty_think"),
        ("{{ messages }}", False, "instruction"),
        (None, False, "instruction"),
    ],
)
def test_thinking_is_switched_off_by_the_first_way_that_the_model_supports(
    template: str | None, knows_think: bool, by: str
) -> None:
    settled = settle_thinking(PromptConfig(thinking="off"), template, knows_think=knows_think)
    assert settled.no_think_by == by


def test_each_way_of_not_thinking_changes_one_thing() -> None:
    ways = {
        by: PromptConfig(thinking="off", no_think_by=by) for by in ("enable_thinking", "empty_think", "instruction")
    }
    assert {by: template_switches(config) for by, config in ways.items()} == {
        "enable_thinking": {"enable_thinking": False},
        "empty_think": {},
        "instruction": {},
    }
    assert {by: prefill(config) for by, config in ways.items()} == {
        "enable_thinking": "",
        "empty_think": EMPTY_THINK,
        "instruction": "",
    }
    assert [by for by, config in ways.items() if ANSWER_ONLY in raw_text("x", config)] == ["instruction"]


def test_a_stated_way_of_not_thinking_is_kept() -> None:
    config = PromptConfig(thinking="off", no_think_by="instruction")
    assert settle_thinking(config, "enable_thinking", knows_think=True) == config
    assert settle_thinking(PromptConfig(), "enable_thinking", knows_think=True).no_think_by == "auto"


@pytest.mark.parametrize(
    ("rendered", "opened"),
    [
        ("<|user|>2+2<|assistant|><think>\n", "<think>\n"),
        ("<|assistant|><think>", "<think>"),
        ("<|assistant|><think>\n\n</think>\n\n", ""),
        ("say <think> please<|assistant|>", ""),
        ("<|assistant|>", ""),
    ],
)
def test_a_think_block_that_the_template_left_open_belongs_to_the_completion(rendered: str, opened: str) -> None:
    assert open_think(rendered) == opened


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_has_a_name(name: str) -> None:
    config = parse(PromptConfig, {"template": name}, "--")
    assert raw_text("1 + 1?", config).startswith("1 + 1?\n\n")
    assert config == parse(PromptConfig, {"template": TEMPLATES[name]}, "--")  # the text is recorded, not the name


def test_a_template_that_is_neither_text_nor_name_lists_the_names() -> None:
    with pytest.raises(UserError, match=r"template is 'boxd'.*write \{prompt\} .* or name one of boxed, think_boxed"):
        parse(PromptConfig, {"template": "boxd"}, "--")
