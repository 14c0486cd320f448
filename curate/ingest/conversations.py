"""Reads conversations: the turns before a reply, in the shapes of public sets, with their pictures as references.

Known: `{role, content}`, `{from, value}`, `{human, assistant}` and `{input, output}` entries, content in parts, a
system text or a history of pairs in columns of their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

Turn = dict[str, str]
IMAGE: Final = "<image>"
_ROLES: Final = {
    "human": "user", "prompter": "user", "instruction": "user", "question": "user",
    "gpt": "assistant", "model": "assistant", "bot": "assistant", "chatgpt": "assistant", "answer": "assistant",
    "developer": "system", "function": "tool", "observation": "tool", "ipython": "tool", "tool_response": "tool",
}  # fmt: skip
# entries that hold a question and its reply
_PAIRS: Final = (("input", "output"), ("human", "assistant"), ("user", "assistant"), ("question", "answer"))
_PICTURES: Final = ("image", "image_url", "input_image", "image_file", "img")
# of a system text that is the same in all rows: what a model should do, against what the problem means
_INSTRUCTS: Final = re.compile(
    r"(?i)\byou(?:'re| are| will| should| must)\b|\bassistant\b|\bstep[- ]by[- ]step\b|\\boxed|<think>|<answer>"
    r"|\b(?:please|answer|solve|reason|think|respond|helpful)\b|你是|请|助手|逐步"
)
_DEFINES: Final = re.compile(
    r"(?i)\b(?:means?|denotes?|defined?|defines|let|suppose|given|stands for)\b|=|表示|定义|设"
)


class Conversation(NamedTuple):
    """The turns up to the last one of the user, and the model's reply after it."""

    turns: list[Turn]
    reply: str | None


class NoUser(ValueError):  # noqa: N818  # the outcome of one row
    """A conversation in which no user speaks."""


def conversation_of(cell: Sequence[Any], system: Any = None, history: Any = None) -> Conversation | None:
    """The conversation in a cell, None if its entries are no turns; raises `NoUser`.

    system, history: cells of columns that hold the system text and the pairs of earlier turns.
    """  # Any: cells of a source
    turns = list(_turns(cell))
    if cell and not turns:
        return None
    asked = [place for place, turn in enumerate(turns) if turn["role"] == "user" and turn["content"]]
    if not asked:
        raise NoUser("a conversation in which no user speaks")
    last = asked[-1]
    replies = [turn["content"] for turn in turns[last + 1 :] if turn["role"] == "assistant" and turn["content"]]
    before = [turn for turn in turns[:last] if turn["content"]]
    return Conversation([*opening(before, system, history), turns[last]], replies[-1] if replies else None)


def opening(turns: Sequence[Turn], system: Any, history: Any) -> list[Turn]:
    """The turns before the question, with those of a system column and of a history column in front."""
    earlier = [*_history(history), *turns]
    text = _content(system) if isinstance(system, str) else ""
    if text and not any(turn["role"] == "system" for turn in earlier):
        earlier.insert(0, {"role": "system", "content": text})
    return earlier


def is_instruction(system: str) -> bool:
    """Whether a system text that all conversations share instructs the model and says nothing about the problem."""
    return _INSTRUCTS.search(system) is not None and _DEFINES.search(system) is None


def is_conversation(value: Any) -> bool:  # Any: a cell of a source
    """Whether a cell is a list of turns."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, Mapping) for item in value)
        and any(_turns(value))
    )


def _turns(entries: Iterable[Any]) -> Iterator[Turn]:
    for entry in entries:
        if isinstance(entry, Mapping):
            yield from _turns_in(entry)


def _turns_in(entry: Mapping[str, Any]) -> Iterator[Turn]:
    """The turns in one entry of a conversation; a question with its reply is two."""
    role = entry.get("role", entry.get("from"))
    if role is None:
        role = entry.get("speaker", entry.get("author"))
    if not isinstance(role, str):
        for question, reply in _PAIRS:
            if entry.get(question) is not None:
                yield {"role": "user", "content": _content(entry[question])}
                yield {"role": "assistant", "content": _content(entry.get(reply))}
                return
        return
    content = _content(entry.get("content", entry.get("value", entry.get("text"))))
    if not content and entry.get("tool_calls"):
        content = json.dumps(entry["tool_calls"], ensure_ascii=False, default=str)
    yield {"role": _ROLES.get(role.lower(), role.lower()), "content": content}


def _content(value: Any) -> str:
    """The text of a message; a picture among its parts leaves `<image>` in its place."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, list):
        return "" if value is None else str(value)
    return "\n".join(text for part in value if (text := _part(part)))


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part.strip()
    if not isinstance(part, Mapping):
        return ""
    kind = part.get("type")
    # Parquet gives every part all fields: the type says which one counts
    if kind in _PICTURES or (kind is None and any(part.get(name) for name in _PICTURES)):
        return _reference(part)
    text = part.get("text", part.get("content", part.get("value")))
    return text.strip() if isinstance(text, str) else ""


def _reference(part: Mapping[str, Any]) -> str:
    """`<image>`, with its address if that is a short one."""
    cells = [part.get(name) for name in (*_PICTURES, "url", "path")]
    found = [cell.get("url") or cell.get("path") if isinstance(cell, Mapping) else cell for cell in cells]
    address = next((text for text in found if isinstance(text, str) and text), "")
    return f"![]({address})" if address.startswith(("http://", "https://")) else IMAGE


def _history(value: Any) -> list[Turn]:
    """Earlier turns from a list of `[question, reply]` pairs or of messages."""
    if not isinstance(value, list):
        return []
    turns: list[Turn] = []
    for entry in value:
        if isinstance(entry, list | tuple) and len(entry) == 2:
            turns.append({"role": "user", "content": _content(entry[0])})
            turns.append({"role": "assistant", "content": _content(entry[1])})
        elif isinstance(entry, Mapping):
            turns.extend(_turns_in(entry))
    return [turn for turn in turns if turn["content"]]


def joined(texts: Sequence[str | None]) -> str:
    """The texts of a prompt, one paragraph each; one that another one contains is left out."""
    parts = [text.strip() for text in texts if text and text.strip()]
    flat = [" ".join(part.split()) for part in parts]
    kept = [
        part
        for place, part in enumerate(parts)
        if not any(
            _contains(other, flat[place]) and (other != flat[place] or place > at)
            for at, other in enumerate(flat)
            if at != place
        )
    ]
    return "\n\n".join(kept)


def _contains(whole: str, part: str) -> bool:
    """Whether a text contains another one between word boundaries."""
    at = whole.find(part)
    end = at + len(part)
    return at >= 0 and not whole[at - 1 : at].isalnum() and not whole[end : end + 1].isalnum()
