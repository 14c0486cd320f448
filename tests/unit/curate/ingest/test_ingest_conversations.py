"""Conversations keep their system text, earlier turns and references to pictures, in every shape."""

import json
from typing import Any

import pytest

from curate.engines import PromptConfig, messages, raw_text
from curate.ingest.builder import Unusable
from curate.ingest.layouts import layout
from curate.ingest.mapping import guess
from curate.records import transcript

ROLES = [
    {"role": "system", "content": "In this exercise a#b means 2a+b."},
    {"role": "user", "content": "Compute 3#4."},
    {"role": "assistant", "content": r"\boxed{10}"},
]
LATER = [{"role": "user", "content": "Double it."}, {"role": "assistant", "content": r"\boxed{20}"}]


def problems(*records: dict[str, Any]) -> list[dict[str, Any]]:
    builder = layout((), guess(records, {}, "pool"), records).builder("pool", 10_000)
    return [builder.problem(record, row) for row, record in enumerate(records)]


def shareable(turns: list[dict[str, str]]) -> list[dict[str, str]]:
    names = {"system": "system", "user": "human", "assistant": "gpt"}
    return [{"from": names[turn["role"]], "value": turn["content"]} for turn in turns]


def in_parts(turns: list[dict[str, str]]) -> list[dict[str, Any]]:
    return [{**turn, "content": [{"type": "text", "text": turn["content"]}]} for turn in turns]


WHOLE = [*ROLES, *LATER]
SHAPES: list[dict[str, Any]] = [
    {"messages": WHOLE},
    {"conversations": shareable(WHOLE)},
    {"prompt": WHOLE[:-1], "answer": "20"},
    {"prompt": json.dumps(WHOLE[:-1]), "answer": "20"},
    {"prompt": str(WHOLE[:-1]), "answer": "20"},
    {"prompt": str(WHOLE[:-1]).replace("}, {", "}\n {"), "answer": "20"},
    {"messages": in_parts(WHOLE)},
    {"messages": [{**turn, "name": None, "tool_calls": None} for turn in WHOLE]},
    {"system": ROLES[0]["content"], "conversations": shareable(WHOLE[1:])},
    {
        "system": ROLES[0]["content"],
        "history": [["Compute 3#4.", r"\boxed{10}"]],
        "instruction": "Double it.",
        "output": r"\boxed{20}",
    },
    {
        "system_prompt": ROLES[0]["content"],
        "conversation": [
            {"human": "Compute 3#4.", "assistant": r"\boxed{10}"},
            {"human": "Double it.", "assistant": r"\boxed{20}"},
        ],
    },
]


@pytest.mark.parametrize("record", SHAPES)
def test_every_shape_keeps_all_turns_before_the_answer(record: dict[str, Any]) -> None:
    (found,) = problems(record)
    assert json.loads(found["messages"]) == WHOLE[:-1]
    assert found["prompt"] == (
        "In this exercise a#b means 2a+b.\n\nUser: Compute 3#4.\n\nAssistant: \\boxed{10}\n\nUser: Double it."
    )
    assert found["ground_truth"] == "20"


def test_a_single_user_turn_is_a_plain_prompt() -> None:
    (found,) = problems({"messages": ROLES[1:]})
    assert (found["prompt"], found["messages"]) == ("Compute 3#4.", None)


def test_conversations_that_end_alike_are_different_problems() -> None:
    other = [{**ROLES[0], "content": "In this exercise a#b means a-b."}, *ROLES[1:2]]
    one, two = problems({"messages": ROLES[:2], "answer": "10"}, {"messages": other, "answer": "-1"})
    assert one["key"] != two["key"]
    changed = [*WHOLE[:1], {**WHOLE[1], "content": "5#4?"}, *WHOLE[2:]]
    first, second = problems({"messages": WHOLE}, {"messages": changed})
    assert first["key"] != second["key"]


def test_a_system_text_that_all_rows_share_and_that_only_instructs_is_sent_but_not_compared() -> None:
    system = {"role": "system", "content": "You are a helpful assistant. Put the answer in \\boxed{}."}
    rows = [{"messages": [system, {"role": "user", "content": f"{n} + 1?"}], "answer": str(n + 1)} for n in range(3)]
    found = problems(*rows)
    assert [row["prompt"] for row in found] == ["0 + 1?", "1 + 1?", "2 + 1?"]
    assert json.loads(found[0]["messages"]) == rows[0]["messages"]
    assert found[0]["key"] == problems({"question": "0 + 1?", "answer": "1"})[0]["key"]


def test_a_system_text_that_defines_something_is_part_of_the_problem_even_if_all_rows_share_it() -> None:
    rows = [{"messages": [ROLES[0], {"role": "user", "content": f"{n}#1?"}], "answer": "1"} for n in range(3)]
    assert problems(*rows)[0]["prompt"] == "In this exercise a#b means 2a+b.\n\n0#1?"


@pytest.mark.parametrize(
    ("record", "prompt"),
    [
        (
            {
                "prompt": [
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "What is x?"},
                            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
                        ],
                    }
                ]
            },
            "What is x?\n<image>",
        ),
        (
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {"type": "image", "image": "a.png", "text": None},
                            {"type": "text", "text": "What is x?", "image": None},
                        ],
                    }
                ]
            },
            "<image>\nWhat is x?",
        ),
        ({"question": "What is x?", "image": {"bytes": b"\x89PNG", "path": None}}, "<image>\nWhat is x?"),
        ({"question": "<image>What is x?", "images": ["a.png"]}, "<image>What is x?"),
        ({"question": "What is x?", "image": {"bytes": None, "path": None}}, "What is x?"),
        ({"question": "What is x?", "image_1": "x.jpg", "image_2": None}, "<image>\nWhat is x?"),
    ],
)
def test_a_picture_leaves_a_reference_in_the_prompt(record: dict[str, Any], prompt: str) -> None:
    (found,) = problems({**record, "answer": "60"})
    assert found["prompt"] == prompt
    assert "PNG" not in found["extra"]


@pytest.mark.parametrize("turns", [[], [{"role": "assistant", "content": "hello"}], [{"role": "user", "content": ""}]])
def test_a_conversation_without_a_question_is_no_problem(turns: list[dict[str, str]]) -> None:
    builder = layout((), guess([{"messages": WHOLE}], {}, "pool"), []).builder("pool", 10_000)
    with pytest.raises(Unusable, match="no_prompt"):
        builder.problem({"messages": turns}, 0)


def test_all_turns_are_sent_and_only_the_question_is_in_the_template() -> None:
    turns = WHOLE[:-1]
    config = PromptConfig(template="{prompt} Box it.", system="Be brief.")
    sent = messages("unread", config, json.dumps(turns))
    assert [turn["role"] for turn in sent] == ["system", "user", "assistant", "user"]
    assert sent[0]["content"] == "Be brief.\n\nIn this exercise a#b means 2a+b."
    assert sent[-1]["content"] == "Double it. Box it."
    assert (
        raw_text("unread", PromptConfig(template="{prompt} Box it."), json.dumps(turns))
        == transcript(turns) + " Box it."
    )
