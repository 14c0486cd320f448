"""One episode of an agent, written as the text of its sample: a JSON object with every message and the changed files.

A verdict is computed from this record alone, so it can be computed again. The ends:

    submitted, stopped            the model called `submit`, or replied without a call
    max_turns, context, time      it ran out of turns, of tokens, or of the episode's seconds
    malformed_call                it wrote calls that cannot be read, one after another
    sandbox_fault                 the box failed: no verdict follows
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

End = Literal["submitted", "stopped", "max_turns", "context", "time", "malformed_call", "sandbox_fault"]
Message = dict[str, Any]  # Any: a chat message with tool calls
UNFINISHED: Final = ("max_turns", "context", "time", "malformed_call")
READABLE: Final = 2000  # characters of a message for people
_MARK: Final = '{"episode": '


@dataclass(frozen=True)
class Trajectory:
    """An episode.

    messages: the whole conversation, from the prompt on. tools: names of the tools that were offered. turns: replies of
    the model. malformed: turns, from 0, whose call could not be read. failed, blocked: calls that a tool answered with
    an error, and commands that were not run. changes: `{path, kind, size, text | base64}` of each changed path.
    detail: what ended it, in one line.
    """

    end: End
    turns: int
    messages: Sequence[Message]
    tools: Sequence[str] = ()
    malformed: Sequence[int] = ()
    failed: int = 0
    blocked: int = 0
    changes: Sequence[Mapping[str, Any]] = field(default_factory=list)  # Any: JSON
    detail: str = ""

    def text(self) -> str:
        """The sample's text."""
        return _MARK + json.dumps(asdict(self), ensure_ascii=False) + "}"

    @property
    def answer(self) -> str:
        """The last reply of the model."""
        said = [message for message in self.messages if message["role"] == "assistant"]
        return str(said[-1].get("content") or "") if said else ""


def trajectory_of(text: str) -> Trajectory | None:
    """The episode in a sample's text; None for a plain completion."""
    if not text.startswith(_MARK):
        return None
    try:
        return Trajectory(**json.loads(text)["episode"])
    except (ValueError, TypeError, KeyError):
        return None


def change_cell(path: str, kind: str, size: int, content: bytes | None) -> dict[str, Any]:
    """One changed path as JSON; bytes that are no UTF-8 become base64."""
    cell: dict[str, Any] = {"path": path, "kind": kind, "size": size}
    if content is None:
        return cell
    try:
        return {**cell, "text": content.decode()}
    except UnicodeDecodeError:
        return {**cell, "base64": base64.b64encode(content).decode()}


def content_of(cell: Mapping[str, Any]) -> bytes | None:
    """The bytes of a changed file; None for a deleted one, a link, or one too large to keep."""
    if "text" in cell:
        return str(cell["text"]).encode()
    return base64.b64decode(cell["base64"]) if "base64" in cell else None


def turn_by_turn(told: Trajectory, width: int = 100) -> Iterator[str]:
    """The episode as lines for a terminal: each reply, its calls, and what came back, cut to `width` characters."""
    turn = -1
    for message in told.messages:
        role, content = message["role"], str(message.get("content") or "")
        if role == "assistant":
            turn += 1
            mark = "  malformed call" if turn in told.malformed else ""
            yield f"{turn + 1:>3} model  {_cut(content, width)}{mark}"
            for call in message.get("tool_calls") or ():
                asked = call["function"]
                given = ", ".join(f"{name}={value!r}" for name, value in dict(asked["arguments"]).items())
                yield f"    call   {_cut(asked['name'] + '(' + given + ')', width)}"
        else:
            yield f"    {role:<6} {_cut(content, width)}"
    changed = ", ".join(str(cell["path"]) for cell in told.changes) or "nothing"
    detail = f" ({told.detail})" if told.detail else ""
    yield f"    end    {told.end} after {told.turns} turns{detail}; changed {changed}"


def readable(text: str) -> str:
    """A sample's text for people: an episode turn by turn, a plain completion as it is."""
    told = trajectory_of(text)
    return "\n".join(turn_by_turn(told, READABLE)) if told else text


def _cut(text: str, width: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"
