"""Rewards by name, each a function that TRL calls on a batch of completions.

A reward is a number, or None where it is undecided: such a completion enters no baseline and gets no advantage,
whatever its other rewards are (`train.grpo.loss.undecided`). One that is None for a whole group does not apply there.
No completion can make a reward hang or raise: answers are judged in `curate.verify`'s killable workers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from curate.agent.config import DEFAULT, AgentConfig
from curate.agent.grading import judge
from curate.artifacts.trajectory import UNFINISHED, Trajectory
from curate.config import nearest
from curate.cpus import usable_cores
from curate.errors import UserError
from curate.own_code import is_own
from curate.sampling.grading import GradingConfig, Problem, verdicts
from curate.tasks.store import TaskStore
from curate.verify import Item, Verdict
from curate.verify.thinking import is_one_block, reasoning
from train.data.flags import asks_to_think
from train.rewards.language import language_of, share_in_language
from train.rewards.own import OwnReward

Message = Mapping[str, Any]  # Any: TRL's messages also hold tool calls
Reward = Callable[..., list[float | None]]
VALUE: Final = {"correct": 1.0, "wrong": 0.0, "undecided": None}


@dataclass(frozen=True)
class Setting:
    """Settings of a run that rewards need.

    opening: text that the chat template writes before every completion (`<think>`), or empty.
    end_ids: tokens that end a completion; one that ends in none of them was cut off.
    overlong_cache: tokens before max_tokens over which the overlong punishment grows.
    length_warmup_steps: steps before Kimi's length reward begins.
    timeout_s: seconds of a reward of one's own for a batch.
    agent, store: settings of agents' episodes, and the folder of their tasks.
    """

    grading: GradingConfig
    max_tokens: int
    opening: str = ""
    end_ids: frozenset[int] = frozenset()
    group_size: int = 1
    overlong_cache: int = 0
    length_warmup_steps: int = 0
    timeout_s: float = 60.0
    agent: AgentConfig = DEFAULT
    store: TaskStore | None = None

    def is_cut(self, ids: Sequence[int]) -> bool:
        """Whether a completion of these tokens was cut off."""
        return not ids or ids[-1] not in self.end_ids

    def text(self, completion: str | Sequence[Message]) -> str:
        """The whole text of a completion for the verifier, with the `<think>` that the template wrote."""
        if isinstance(completion, str):
            return self.opening + completion
        message = completion[0]
        thought = message.get("reasoning_content")
        answer = str(message.get("content") or "")
        return f"<think>{thought}</think>{answer}" if thought else self.opening + answer


class Accuracy:
    """1 for a correct answer, 0 for a wrong one, None where the verifier is undecided.

    `values` and `reasons` hold the rewards and reason codes of the last judged batch, in order.
    """

    __name__ = "accuracy"

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self.values: list[float | None] = []
        self.reasons: list[str] = []

    def __call__(
        self,
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]],
        ground_truth: Sequence[str | None],
        kind: Sequence[str],
        tests: Sequence[str | None],
        question: Sequence[str],
        source: Sequence[str | None] | None = None,
        episode: Sequence[Trajectory] | None = None,
        proof: Sequence[str | None] | None = None,
        **_: Any,
    ) -> list[float | None]:
        """Judge a batch; parallel sequences, one entry per completion."""
        none = [None] * len(completions)
        if episode is not None:
            columns = (question, ground_truth, kind, tests, source or none, proof or none)
            problems = [
                Problem("", asked, truth or "", what, test, None, origin, proven)
                for asked, truth, what, test, origin, proven in zip(*columns, strict=True)
            ]
            return self._remember(judge_all(problems, episode, self._setting))
        policy = self._setting.grading.truncated
        judged: list[tuple[str, str] | None] = [
            (policy, "truncated") if policy != "judged" and self._setting.is_cut(ids) else None
            for ids in completion_ids
        ]
        sources = source or none
        rows = zip(completions, ground_truth, kind, question, tests, sources, judged, strict=True)
        items = [
            Item(self._setting.text(text), truth or "", what, asked, test, source=origin)
            for text, truth, what, asked, test, origin, known in rows
            if known is None
        ]
        found = iter(verdicts(items, self._setting.grading))
        return self._remember([known or _pair(next(found)) for known in judged])

    def _remember(self, judged: Sequence[tuple[str, str]]) -> list[float | None]:
        self.reasons = [reason for _, reason in judged]
        self.values = [VALUE[verdict] for verdict, _ in judged]
        return self.values

    def text(self, completion: Any) -> str:
        """The text of a completion that is judged."""
        return self._setting.text(completion)


class Unfinished:
    """-1 where an agent's episode ran out of turns, tokens or time, or of readable calls, else 0."""

    __name__ = "unfinished"

    def __call__(
        self, completions: Sequence[Any], episode: Sequence[Trajectory] | None = None, **_: Any
    ) -> list[float | None]:
        """One entry per completion."""
        ends = [told.end for told in episode] if episode is not None else [""] * len(completions)
        return [-1.0 if end in UNFINISHED else 0.0 for end in ends]


def judge_all(problems: Sequence[Problem], episodes: Sequence[Trajectory], setting: Setting) -> list[tuple[str, str]]:
    """Verdict and reason of each episode; hidden tests run side by side."""
    work = partial(judge, config=setting.grading, agent=setting.agent, store=setting.store)
    with ThreadPoolExecutor(usable_cores()) as pool:
        return [(found.verdict, found.reason) for found in pool.map(work, problems, episodes)]


class ThinkFormat:
    """1 where a completion is one closed block of reasoning, in any known marks, and then an answer, else 0."""

    __name__ = "think_format"

    def __init__(self, setting: Setting) -> None:
        self._setting = setting

    def __call__(self, completions: Sequence[Any], **_: Any) -> list[float | None]:
        """One entry per completion."""
        return [float(is_one_block(self._setting.text(completion))) for completion in completions]


class ThinkFlag:
    """1 where a completion fills its think block, or leaves it empty, as the prompt's last flag requires; else 0.

    Qwen3 (2505.09388), sec. 4.4: format following. Without a flag, /think applies.
    """

    __name__ = "think_flag"

    def __init__(self, setting: Setting) -> None:
        self._setting = setting

    def __call__(self, prompts: Sequence[Any], completions: Sequence[Any], **_: Any) -> list[float | None]:
        """One entry per completion."""
        asked = [prompt if isinstance(prompt, str) else str(prompt[-1]["content"]) for prompt in prompts]
        texts = map(self._setting.text, completions)
        return [float(follows_flag(*pair)) for pair in zip(asked, texts, strict=True)]


class LanguageConsistency:
    """Share of the words of the reasoning that are in the problem's language: DeepSeek-R1 (2501.12948), sec. 2.3.2.

    None where the problem has too few words to identify its language, or the reasoning has none.
    """

    __name__ = "language"

    def __init__(self, setting: Setting) -> None:
        self._setting = setting

    def __call__(self, completions: Sequence[Any], question: Sequence[str], **_: Any) -> list[float | None]:
        """One entry per completion."""
        return [self._of(self._setting.text(text), asked) for text, asked in zip(completions, question, strict=True)]

    def _of(self, text: str, question: str) -> float | None:
        wanted = language_of(question)
        return share_in_language(reasoning(text), *wanted) if wanted else None


class KimiLength:
    """Higher rewards for shorter right answers, lower ones for long wrong answers: Kimi k1.5 (2501.12599), sec. 2.3.3.

    lambda = 1/2 - (length - shortest) / (longest - shortest) over the group; a right answer gets lambda, a wrong one
    min(0, lambda), an undecided one None; lambda is 0 in a group of one length. Before `length_warmup_steps` all get 0.
    """

    __name__ = "kimi_length"

    def __init__(self, setting: Setting, accuracy: Accuracy) -> None:
        self._setting, self._accuracy = setting, accuracy

    def __call__(self, completion_ids: Sequence[Sequence[int]], trainer_state: Any, **_: Any) -> list[float | None]:
        """One entry per completion of the batch that accuracy judged last."""
        from accelerate import PartialState
        from accelerate.utils import gather_object

        if trainer_state.global_step < self._setting.length_warmup_steps:
            return [0.0] * len(completion_ids)
        mine = list(zip(map(len, completion_ids), self._accuracy.values, strict=True))
        # a group may span two processes
        values = kimi_length(gather_object(mine), self._setting.group_size)
        return values[PartialState().process_index * len(mine) :][: len(mine)]


def kimi_length(completions: Sequence[tuple[int, float | None]], group_size: int) -> list[float | None]:
    """Kimi's length reward of (length, correctness) pairs in consecutive groups."""
    values: list[float | None] = []
    for start in range(0, len(completions), group_size):
        group = completions[start : start + group_size]
        lengths = [length for length, _ in group]
        shortest, spread = min(lengths), max(lengths) - min(lengths)
        for length, correct in group:
            bonus = 0.5 - (length - shortest) / spread if spread else 0.0
            values.append(None if correct is None else bonus if correct else min(0.0, bonus))
    return values


def _overlong(setting: Setting) -> Reward:
    """0 up to max_tokens - overlong_cache, then linearly down to -1 at max_tokens: DAPO (2503.14476), eq. 13."""
    from trl.rewards import get_soft_overlong_punishment

    return _named("overlong", get_soft_overlong_punishment(setting.max_tokens, setting.overlong_cache))


def _repetition() -> Reward:
    """Minus the share of repeated token 3-grams: Demystifying Long CoT (2502.03373), app. C.2."""
    from trl.rewards import get_repetition_penalty_reward

    return _named("repetition", get_repetition_penalty_reward())


def _named(name: str, reward: Any) -> Reward:
    reward.__name__ = name
    return reward  # type: ignore[no-any-return]  # trl has no types


def follows_flag(prompt: str, text: str) -> bool:
    """Whether a completion is a think block and an answer, the block empty exactly where the prompt asks for it."""
    return is_one_block(text) and bool(reasoning(text).strip()) == asks_to_think(prompt)


def _pair(verdict: Verdict) -> tuple[str, str]:
    return verdict.verdict, verdict.reason


REWARDS: Final[dict[str, Callable[[Setting, Accuracy], Reward]]] = {
    "accuracy": lambda _, accuracy: accuracy,
    "think_format": lambda setting, _: ThinkFormat(setting),
    "think_flag": lambda setting, _: ThinkFlag(setting),
    "language": lambda setting, _: LanguageConsistency(setting),
    "kimi_length": KimiLength,
    "overlong": lambda setting, _: _overlong(setting),
    "repetition": lambda _, __: _repetition(),
    "unfinished": lambda _, __: Unfinished(),
}


def rewards_named(names: Sequence[str], setting: Setting) -> list[Reward]:
    """The reward functions, in order; `UserError` names the nearest one where a name is unknown."""
    for name in names:
        if name not in REWARDS and not is_own(name):
            hint = f"{nearest(name, list(REWARDS))}, or FILE.py:FUNCTION for one of your own"
            raise UserError(f"--rewards: {name} is not a reward; {hint}")
    accuracy = Accuracy(setting)
    return [OwnReward(name, setting.timeout_s) if is_own(name) else REWARDS[name](setting, accuracy) for name in names]
