"""One episode: a conversation that grows by a reply and the tools' answers, until it has an end.

The caller generates replies, however it likes, and hands each to `take`; it may play many episodes at once, since
nothing here waits for another one. `take` blocks while tools run, so it belongs in a thread.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, Final

from curate.agent.config import AgentConfig
from curate.agent.tools import SCHEMAS, Answer, Place, use
from curate.artifacts.trajectory import End, Message, Trajectory, change_cell
from curate.engines.tool_calls import Call, read_reply
from curate.tasks.task import Task
from curate.verify.repo.archive import Archive
from curate.verify.repo.box import BoxFault, Refused, open_box

KEPT_BYTES: Final = 1 << 20  # of all changed files in a record
NO_MORE: Final = "(not done: the episode is over)"
MALFORMED: Final = 'error: {why}. Write <tool_call>{{"name": NAME, "arguments": {{...}}}}</tool_call>.'


class Episode:
    """An episode on a task, or on a problem without one. Close it, whatever happens: its box ends then."""

    def __init__(self, prompt: Sequence[Message], config: AgentConfig, task: Task | None) -> None:
        """prompt: the messages before the first reply. task: None for a problem whose answer is the last reply."""
        self.messages: list[Message] = [dict(message) for message in prompt]
        self.end: End | None = None
        self.turns = self.num_tokens = self._failed = self._blocked = 0
        self.malformed: list[int] = []
        self._config, self._task, self._detail = config, task, ""
        self._stack = ExitStack()
        self._place: Place | None = None
        self.tools = [name for name in config.tools if task is not None or name in ("python", "bash")]

    def chat(self) -> str:
        """What the next reply answers: a JSON object of `messages` and `tools`, for `Request.chat`."""
        return json.dumps({"messages": self.messages, "tools": self.schemas()})

    def schemas(self) -> list[dict[str, Any]]:
        """The tools as chat templates and servers read them."""
        return [SCHEMAS[name] for name in self.tools]

    def take(self, text: str, num_tokens: int, *, is_cut: bool = False) -> list[Message]:
        """Add a reply, run its calls, and return the messages that follow it; sets `end` if it was the last.

        is_cut: it ended because no tokens were left.
        """
        reply = read_reply(text)
        self.num_tokens += num_tokens
        turn, self.turns = self.turns, self.turns + 1
        self.messages.append(reply.message(text))
        if is_cut:
            # an unclosed call of a reply that was cut is not the model's mistake
            return self._over("context", "a reply was cut")
        if reply.malformed:
            self.malformed.append(turn)
            if self.malformed[-self._config.malformed_calls :] == self._last_turns(self._config.malformed_calls):
                return self._over("malformed_call", reply.malformed)
            return self._answered([{"role": "user", "content": MALFORMED.format(why=reply.malformed)}])
        if not reply.calls:
            return self._over("stopped")
        return self._answered(self._called(reply.calls))

    def finish(self, end: End, detail: str = "") -> None:
        """End the episode from outside: no context is left."""
        if self.end is None:
            self._over(end, detail)

    def close(self) -> Trajectory:
        """The record of the episode; its box ends."""
        changes: list[dict[str, Any]] = []
        try:
            if self._place is not None and self._task is not None and self.end != "sandbox_fault":
                changes = _cells(self._place)
        except (BoxFault, Refused) as why:
            self.end, self._detail = "sandbox_fault", str(why)
        finally:
            self.abandon()
        return Trajectory(
            self.end or "context", self.turns, tuple(self.messages), tuple(self.tools), tuple(self.malformed),
            self._failed, self._blocked, changes, self._detail,
        )  # fmt: skip

    def abandon(self) -> None:
        """End the box without a record."""
        self._stack.close()

    def _last_turns(self, number: int) -> list[int]:
        return list(range(self.turns - number, self.turns))

    def _over(self, end: End, detail: str = "") -> list[Message]:
        self.end, self._detail = end, detail[:300]
        return []

    def _answered(self, messages: list[Message]) -> list[Message]:
        """The messages after a reply; none counts where the episode is over."""
        self.messages += messages
        if self.end is None and self.turns >= self._config.max_turns:
            self._over("max_turns")
        return [] if self.end else messages

    def _called(self, calls: Sequence[Call]) -> list[Message]:
        return [
            {"role": "tool", "name": call.name, "content": NO_MORE if self.end else self._use(call)} for call in calls
        ]

    def _use(self, call: Call) -> str:
        try:
            answer = use(call, self._opened, self.tools)
        except BoxFault as why:
            self._over("sandbox_fault", str(why))
            return f"error: {why}"
        self._failed += answer.kind == "failed"
        self._blocked += answer.kind == "blocked"
        self._note(answer)
        return answer.text

    def _note(self, answer: Answer) -> None:
        if answer.kind == "submitted":
            self._over("submitted")
        elif answer.kind == "episode":
            self._over("time", f"{self._config.episode_s:g} s are over")

    def _opened(self) -> Place:
        """The box, from the first call that needs it on."""
        if self._place is None:
            base, packages = (self._task.base, self._task.tests.packages) if self._task else (Archive({}), ())
            box = self._stack.enter_context(open_box(base, self._config, packages))
            self._place = Place(box, self._task.origin if self._task else {})
        return self._place


def _cells(place: Place) -> list[dict[str, Any]]:
    """The changes of a box as JSON; what is over `KEPT_BYTES` in all keeps its name and size alone."""
    cells, left = [], KEPT_BYTES
    for change in place.box.changes():
        is_kept = change.content is not None and len(change.content) <= left
        left -= len(change.content or b"") if is_kept else 0
        cells.append(change_cell(change.path, change.kind, change.size, change.content if is_kept else None))
    return cells
