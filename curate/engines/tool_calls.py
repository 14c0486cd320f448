"""Reads tool calls from a model's reply, in the two written forms that are common.

    <tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>                              (Hermes, Qwen)
    <tool_call><function=bash><parameter=command>ls</parameter></function></tool_call>             (Qwen3-Coder)

A server that separates calls itself is written back in the first form (`curate.engines.openai_format`). Calls inside
the reasoning do not count.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

OPEN, CLOSE = "<tool_call>", "</tool_call>"
_FUNCTION: Final = re.compile(r"<function=([^>\s]+)>(.*?)</function>", re.DOTALL)
_PARAMETER: Final = re.compile(r"<parameter=([^>\s]+)>\n?(.*?)\n?</parameter>", re.DOTALL)


@dataclass(frozen=True)
class Call:
    """A tool call: the tool's name and its arguments."""

    name: str
    arguments: dict[str, Any]  # Any: JSON


@dataclass(frozen=True)
class Reply:
    """A reply: its text without the calls, the calls in order, and why one cannot be read (no call is then made)."""

    content: str
    calls: tuple[Call, ...] = ()
    malformed: str | None = None

    def message(self, text: str) -> dict[str, Any]:
        """The assistant's message. text: the reply as written, which a malformed one keeps."""
        if self.malformed or not self.calls:
            return {"role": "assistant", "content": text}
        calls = [{"type": "function", "function": {"name": c.name, "arguments": c.arguments}} for c in self.calls]
        return {"role": "assistant", "content": self.content, "tool_calls": calls}


def read_reply(text: str) -> Reply:
    """The calls of a reply. Never raises."""
    thought, mark, spoken = text.rpartition("</think>")
    if not mark and "<think>" in text:
        return Reply(text)  # the reasoning has no end, so no call was made
    start = spoken.find(OPEN)
    if start < 0:
        stray = CLOSE in spoken or "<function=" in spoken
        return Reply(text, malformed=f"{OPEN} is missing before the call") if stray else Reply(text)
    content = f"{thought}{mark}{spoken[:start]}".rstrip()
    calls = []
    for part in spoken[start:].split(OPEN)[1:]:
        body, close, _ = part.partition(CLOSE)
        if not close:
            return Reply(content, malformed=f"the call has no {CLOSE}")
        call = _call(body.strip())
        if isinstance(call, str):
            return Reply(content, malformed=call)
        calls.append(call)
    return Reply(content, tuple(calls))


def written(name: str, arguments: dict[str, Any]) -> str:
    """A call in the first form."""
    return f"{OPEN}{json.dumps({'name': name, 'arguments': arguments}, ensure_ascii=False)}{CLOSE}"


def _call(body: str) -> Call | str:
    """The call in the marks, or why there is none."""
    if body.startswith("<function="):
        found = _FUNCTION.fullmatch(body)
        if found is None:
            return "the function has no </function>"
        return Call(found[1], {name: _value(value) for name, value in _PARAMETER.findall(found[2])})
    try:
        told = json.loads(body)
        arguments = told["arguments"] if isinstance(told, dict) else None
        arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
        name = told["name"] if isinstance(told, dict) else None
    except (ValueError, KeyError, RecursionError) as error:
        what = f"has no {error}" if isinstance(error, KeyError) else f"is not JSON ({error})"
        return f"the call {what}"[:200]
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return 'the call is not {"name": NAME, "arguments": {...}}'
    return Call(name, arguments)


def _value(text: str) -> Any:
    """A parameter of the second form: whole numbers as such, all else as text."""
    return int(text) if re.fullmatch(r"-?\d{1,9}", text) else text
