"""What a completion is worth: rewards by name, each a function that TRL calls on a batch of completions.

A reward is a number, or None where nobody knows: TRL leaves None out of baselines and gives it no advantage. Nothing in
a completion can make one hang or raise: answers are judged in `curate.verify`'s killable workers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from curate.config import nearest
from curate.errors import UserError
from curate.grading import GradingConfig
from curate.verify import Item, Verdict, verify_many

Message = Mapping[str, Any]  # Any: TRL's messages also hold tool calls
VALUE: Final = {"correct": 1.0, "wrong": 0.0, "undecided": None}


@dataclass(frozen=True)
class Setting:
    """What rewards need to know of a run.

    opening: what the chat template writes in front of every completion (`<think>`), or nothing.
    end_ids: tokens that end a completion; one that ends in none of them was cut off.
    """

    grading: GradingConfig
    max_tokens: int
    opening: str = ""
    end_ids: frozenset[int] = frozenset()

    def is_cut(self, ids: Sequence[int]) -> bool:
        """Whether a completion of these tokens was cut off."""
        return not ids or ids[-1] not in self.end_ids

    def text(self, completion: str | Sequence[Message]) -> str:
        """A completion as the verifier shall see it, whole: with the `<think>` that the template wrote."""
        if isinstance(completion, str):
            return self.opening + completion
        message = completion[0]
        thought = message.get("reasoning_content")
        said = str(message.get("content") or "")
        return f"<think>{thought}</think>{said}" if thought else self.opening + said


class Accuracy:
    """1 for a correct answer, 0 for a wrong one, None where the verifier cannot tell.

    `reasons` holds the reason codes of the batch that was judged last, in order.
    """

    __name__ = "accuracy"

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self.reasons: list[str] = []

    def __call__(
        self,
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]],
        ground_truth: Sequence[str | None],
        kind: Sequence[str],
        tests: Sequence[str | None],
        question: Sequence[str],
        **_: Any,
    ) -> list[float | None]:
        """Judge a batch; parallel sequences, one entry per completion."""
        policy = self._setting.grading.truncated
        judged: list[tuple[str, str] | None] = [
            (policy, "truncated") if policy != "judged" and self._setting.is_cut(ids) else None
            for ids in completion_ids
        ]
        rows = zip(completions, ground_truth, kind, question, tests, judged, strict=True)
        items = [
            Item(self._setting.text(text), truth or "", what, asked, test)
            for text, truth, what, asked, test, known in rows
            if known is None
        ]
        verdicts = iter(verify_many(items, policy=self._setting.grading.verify))
        whole = [known or _pair(next(verdicts)) for known in judged]
        self.reasons = [reason for _, reason in whole]
        return [VALUE[verdict] for verdict, _ in whole]


class ThinkFormat:
    """1 where a completion is one closed think block, first of all, and then an answer; else 0."""

    __name__ = "think_format"

    def __init__(self, setting: Setting) -> None:
        self._setting = setting

    def __call__(self, completions: Sequence[Any], **_: Any) -> list[float | None]:
        """One entry per completion."""
        return [float(is_thought_then_answer(self._setting.text(completion))) for completion in completions]


def is_thought_then_answer(text: str) -> bool:
    """Whether a text is `<think>...</think>` and then something, each mark standing once."""
    thought, end, answer = text.strip().partition("</think>")
    is_one_block = thought.startswith("<think>") and text.count("<think>") == 1 and text.count("</think>") == 1
    return is_one_block and bool(end) and bool(answer.strip())


def _pair(verdict: Verdict) -> tuple[str, str]:
    return verdict.verdict, verdict.reason


Reward = Callable[..., list[float | None]]
REWARDS: Final[dict[str, Callable[[Setting], Reward]]] = {"accuracy": Accuracy, "think_format": ThinkFormat}


def rewards_named(names: Sequence[str], setting: Setting) -> list[Reward]:
    """The reward functions, in order; `UserError` names the nearest one where a name is unknown."""
    for name in names:
        if name not in REWARDS:
            raise UserError(f"--rewards: {name} is no reward; {nearest(name, list(REWARDS))}")
    return [REWARDS[name](setting) for name in names]
