"""Rewards of one's own: `FILE.py:FUNCTION` or `PACKAGE.MODULE:FUNCTION`, with the signature of TRL's reward functions.

A function is called with `prompts`, `completions`, `completion_ids`, `trainer_state`, `log_extra`, `log_metric`,
and the columns of the problems (`key`, `question`, `ground_truth`, `kind`, `tests`, `source`, `solution`, `extra`), and
returns a number or None for each completion; NaN counts as None, undecided. It may be a coroutine. TRL's own rewards
work as they are: `trl.rewards:think_format_reward`.
"""

from __future__ import annotations

import asyncio
import inspect
import math
import threading
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, Final

from curate.errors import UserError
from curate.own_code import load, plain, told

Value = float | None
OPTION: Final = "--rewards"
TRIED: Final = 10
NOTHING: Final = 0.0


class OwnReward:
    """A user's function as a reward: checks what it returns, bounds its time, and names it in every error."""

    def __init__(self, name: str, timeout_s: float) -> None:
        """Raises `UserError` if there is no such function, or its file cannot be imported."""
        self._function = load(name, OPTION)
        self._name, self._timeout_s = plain(name), timeout_s
        self.__name__ = self._name.rpartition(":")[2]

    def __call__(self, completions: Sequence[Any], **given: Any) -> list[Value]:
        """One entry per completion. Raises `UserError` where the function raises, hangs or returns something else."""
        values = self._bounded({"completions": completions, **given})
        if isinstance(values, str | bytes | dict) or not hasattr(values, "__len__"):
            raise UserError(f"reward {self._name} returned {type(values).__name__}; return a list of numbers")
        if len(values) != len(completions):
            raise UserError(f"reward {self._name} returned {len(values)} values for {len(completions)} completions")
        return [self._number(value) for value in values]

    def _bounded(self, given: dict[str, Any]) -> Any:
        """What the function returns; it runs in a thread, which cannot be killed but need not be waited for."""
        done: dict[str, Any] = {}

        def work() -> None:
            try:
                values = self._function(**given)
                done["values"] = asyncio.run(_awaited(values)) if inspect.isawaitable(values) else values
            except BaseException as error:  # noqa: BLE001  # a user's code: reported below, in one line
                done["error"] = error

        thread = threading.Thread(target=work, name=f"reward {self._name}", daemon=True)
        thread.start()
        thread.join(self._timeout_s)
        if thread.is_alive():
            raise UserError(
                f"reward {self._name} took over {self._timeout_s:g} s for a batch; make it faster, or raise "
                "--rewards.timeout-s"
            )
        if "error" in done:
            raise UserError(f"reward {self._name} failed: {told(done['error'])}")
        return done["values"]

    def _number(self, value: Any) -> Value:
        if value is None:
            return None
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise UserError(
                f"reward {self._name} returned {type(value).__name__} for a completion; return a number or None"
            ) from None
        if math.isinf(number):
            raise UserError(f"reward {self._name} returned {number}; return a finite number, or None where undecided")
        return None if math.isnan(number) else number


def try_out(rewards: Sequence[OwnReward], rows: Sequence[dict[str, Any]]) -> list[str]:
    """Call each reward on made completions of some problems, before a model is loaded; a line on what each returned."""
    rows = [rows[at % len(rows)] for at in range(TRIED)]
    texts = [_made(at, row) for at, row in enumerate(rows)]
    columns = {name: [row[name] for row in rows] for name in rows[0] if name != "prompt"}
    is_chat = not isinstance(rows[0]["prompt"], str)
    lines = []
    for reward in rewards:
        values = reward(
            completions=[[{"role": "assistant", "content": text}] if is_chat else text for text in texts],
            prompts=[row["prompt"] for row in rows], completion_ids=[list(range(len(text))) for text in texts],
            trainer_state=SimpleNamespace(global_step=0, max_steps=1, epoch=0.0), log_extra=lambda *_: None,
            log_metric=lambda *_: None, **columns,
        )  # fmt: skip
        told = ", ".join("none" if value is None else f"{value or 0.0:g}" for value in values)
        lines.append(f"reward {reward.__name__} on {TRIED} made completions: {told}")
    return lines


def _made(at: int, row: dict[str, Any]) -> str:
    """Completions of several forms: empty, right, wrong, in a box, with reasoning, cut off, code."""
    truth = row.get("ground_truth") or "1"
    forms = (
        "", f"The answer is {truth}.", f"\\boxed{{{truth}}}", f"<think>Let me see.</think>\\boxed{{{truth}}}",
        "I do not know.",
        "<think>Let me see", "\\boxed{-987654321}", "```python\nprint(1)\n```", "答案是 1。 🙂", f"{truth} " * 200,
    )  # fmt: skip
    return forms[at % len(forms)]


async def _awaited(values: Any) -> Any:
    return await values
