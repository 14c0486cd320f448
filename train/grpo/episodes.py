"""Completions that are episodes: the turn loop of `curate.agent` on the trainer's own model, as TRL's `rollout_func`.

All episodes of a process take their turns together: one generation for those under way, then their tools side by side.
A completion is everything after the prompt, replies and tools' answers; a mask tells the model's own tokens, and only
those enter losses, lengths and rewards. Tokens that were sampled are kept as they are, never rendered again.

Processes generate in step, also those whose episodes are over, so that no collective operation waits for one of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import polars as pl

from curate.agent.config import AgentConfig
from curate.agent.engine import NO_TASKS, begin, is_played
from curate.agent.episode import Episode
from curate.artifacts.trajectory import Message, Trajectory
from curate.engines import PromptConfig, Request
from curate.engines.chat import skips_special
from curate.errors import UserError
from curate.tasks.store import TaskStore
from curate.verify.code.sandbox import SandboxUnavailable
from train.grpo.config import GrpoConfig
from train.rewards.rewards import Setting

DUMMY: Final = [{"role": "user", "content": "dummy"}]


@dataclass(frozen=True)
class Play:
    """How a run plays: its settings, its tasks, the model's context in tokens, and what ends a reply."""

    agent: AgentConfig
    prompts: PromptConfig
    store: TaskStore | None
    context: int | None
    max_tokens: int
    opening: str
    end_ids: frozenset[int]


def plays(problems: pl.DataFrame, config: GrpoConfig) -> bool:
    """Whether some of the problems are played in episodes; `UserError` where the settings forbid it."""
    if not any(is_played(str(kind), config.agent) for kind in problems["kind"].unique()):
        return False
    if config.prompt.prompt_format != "chat":
        raise UserError("--prompt-format raw has no tools; agents need the model's chat template")
    if config.generation.screen:
        raise UserError("--screen completes plain completions; leave it out where agents are trained")
    if config.tasks is None and (problems["kind"] == "agent").any():
        raise UserError(NO_TASKS)
    return True


def episodes_of(config: GrpoConfig, prompts: PromptConfig, setting: Setting, context: int | None) -> Episodes:
    """The episodes of a run. context: the model's, in tokens."""
    # TRL warns that `rollout_func` may change; its version is pinned
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    ends = setting.end_ids
    return Episodes(
        Play(config.agent, prompts, setting.store, context, config.sampling.max_tokens, setting.opening, ends)
    )


def punished_tokens(spans: Sequence[Sequence[tuple[int, int]]], shape: Sequence[int], like: Any) -> Any:
    """1 for each token of a malformed call, 0 for all others, (B, T); of the type and device of the tensor `like`."""
    found = like.new_zeros(tuple(shape))
    for row, parts in enumerate(spans):
        for start, end in parts:
            found[row, start:end] = 1
    return found


@dataclass
class Line:
    """One completion under way: its tokens, which of them the model sampled, and where its malformed calls are."""

    episode: Episode
    prompt: list[int]
    ids: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    waiting: list[int] = field(default_factory=list)  # tokens of tools' answers, for the next turn

    @property
    def read(self) -> list[int]:
        """What the next reply follows."""
        return self.prompt + self.ids + self.waiting

    def add(self, ids: Sequence[int], logprobs: Sequence[float] | None) -> None:
        """Add a reply, after the answers that it has read."""
        num_read = len(self.waiting)
        self.ids += [*self.waiting, *ids]
        self.mask += [0] * num_read + [1] * len(ids)
        self.logprobs += [0.0] * num_read + list(logprobs or [0.0] * len(ids))
        self.waiting = []


class Episodes:
    """TRL's `rollout_func` of a run; `begin` names the rows before each generation."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self._rows: list[Mapping[str, Any]] = []
        self._lines: list[Line] = []
        self._records: list[Trajectory] = []

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._play.agent.boxes, thread_name_prefix="agent")

    def begin(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """The rows of the next generation of this process."""
        self._rows = list(rows)

    def own_tokens(self, completions: Sequence[Sequence[int]]) -> list[list[int]]:
        """The model's own tokens of each completion of the last generation."""
        pairs = zip(completions, self._lines, strict=True)
        return [[token for token, own in zip(ids, line.mask, strict=True) if own] for ids, line in pairs]

    def texts(self) -> list[str]:
        """The records of the last generation as texts."""
        return [told.text() for told in self._records]

    def spans(self) -> list[list[tuple[int, int]]]:
        """Of each completion of the last generation, the tokens of replies with a malformed call."""
        return [line.spans for line in self._lines]

    def __call__(self, prompts: Sequence[Any], trainer: Any) -> dict[str, Any]:
        """Play the episodes of this process; the keys are those that TRL reads."""
        tokenizer = trainer.processing_class
        rows = zip(self._rows, prompts, strict=True)
        self._lines = lines = [self._line(row, prompt, trainer, tokenizer) for row, prompt in rows]
        try:
            has_logprobs = self._all_turns(lines, trainer)
            self._records = list(self._threads.map(lambda line: line.episode.close(), lines))
        except SandboxUnavailable as why:
            raise UserError(f"agents cannot work on this machine: {why}") from None
        finally:
            for line in lines:
                line.episode.abandon()
        _log(trainer, self._records)
        return {
            "prompt_ids": [line.prompt for line in lines],
            "completion_ids": [line.ids for line in lines],
            "logprobs": [line.logprobs for line in lines] if has_logprobs else None,
            "env_mask": [line.mask for line in lines],
            "episode": self._records,
        }

    def _line(self, row: Mapping[str, Any], prompt: Any, trainer: Any, tokenizer: Any) -> Line:
        request = Request(
            row["key"], 0, "", 0, kind=row["kind"], tests=row.get("tests"), proof=row.get("proof"),
        )  # fmt: skip
        episode = begin(request, self._play.agent, self._play.prompts, self._play.store, prompt)
        if not is_played(row["kind"], self._play.agent):
            episode.tools = []
        tools = {"tools": episode.schemas()} if episode.tools else {}
        options = {"chat_template": trainer.chat_template, **tools, **trainer.chat_template_kwargs}
        return Line(episode, _ids(tokenizer, episode.messages, {**options, "add_generation_prompt": True}))

    def _all_turns(self, lines: list[Line], trainer: Any) -> bool:
        """Play all episodes to their ends; whether the sampler gave log-probabilities."""
        from accelerate.utils import gather_object

        has_logprobs = False
        while True:
            active = [line for line in lines if line.episode.end is None and self._has_room(line)]
            if not max(gather_object([len(active)])):
                return has_logprobs
            # a process without episodes under way takes part with one that is thrown away
            asked = active or lines[:1]
            limits = [self._limit(line) if active else 1 for line in asked]
            with _at_most(trainer, max(limits)):
                prompts = [line.read if active else line.prompt for line in asked]
                sampled, logprobs = trainer._generate_single_turn(prompts, None, {}, 1)  # noqa: SLF001  # as TRL's own loop
            if not active:
                continue
            has_logprobs = has_logprobs or logprobs is not None
            work = zip(active, sampled, logprobs or [None] * len(active), limits, strict=True)
            answers = [self._threads.submit(self._take, *one, trainer) for one in work]
            for answer in answers:
                answer.result()

    def _take(self, line: Line, ids: Sequence[int], logprobs: Sequence[float] | None, limit: int, trainer: Any) -> None:
        """Add one reply to its episode, run its calls, and render what they answered."""
        ids, tokenizer = list(ids)[:limit], trainer.processing_class
        is_cut = ids[-1] not in self._play.end_ids
        text = tokenizer.decode(ids if is_cut else ids[:-1], skip_special_tokens=skips_special(tokenizer))
        line.add(ids, None if logprobs is None else list(logprobs)[:limit])
        num_malformed = len(line.episode.malformed)
        answers = line.episode.take(self._play.opening + text, len(ids), is_cut=is_cut)
        if len(line.episode.malformed) > num_malformed:
            line.spans.append((len(line.ids) - len(ids), len(line.ids)))
        if answers:
            line.waiting = suffix(answers, line.episode.schemas(), trainer)

    def _limit(self, line: Line) -> int:
        """Tokens that the next reply may have; 0 or less for none."""
        limits = [self._play.max_tokens - sum(line.mask), self._play.agent.turn_tokens]
        limits += [self._play.context - len(line.read)] if self._play.context else []
        return min(limit for limit in limits if limit is not None)

    def _has_room(self, line: Line) -> bool:
        if self._limit(line) > 0:
            return True
        line.episode.finish("context", f"no tokens are left after {len(line.read)}")
        return False


def suffix(answers: Sequence[Message], tools: Sequence[Any], trainer: Any) -> list[int]:
    """The tokens between the end of a reply and the next one: the answers, and what opens a reply.

    Rendered after a short conversation of its own, as TRL does, since a template may render a past reply otherwise than
    the model wrote it.
    """
    tokenizer = trainer.processing_class
    said: Message = {"role": "assistant", "content": ""}
    if answers[0]["role"] == "tool":
        calls = [{"type": "function", "function": {"name": one["name"], "arguments": {}}} for one in answers]
        said = {**said, "tool_calls": calls}
    before, options = [*DUMMY, said], {"tools": list(tools)} if tools else {}
    options |= {"chat_template": trainer.chat_template, **trainer.chat_template_kwargs}
    short = _ids(tokenizer, before, options)
    whole = _ids(tokenizer, [*before, *answers], {**options, "add_generation_prompt": True})
    ends = [place for place, token in enumerate(short) if token == tokenizer.eos_token_id]
    short = short[: ends[-1] + 1] if ends else short
    if whole[: len(short)] != short:
        raise UserError(
            "the model's chat template changes earlier turns when a tool answers; training needs one that only appends"
        )
    return whole[len(short) :]


def _ids(tokenizer: Any, turns: Sequence[Message], options: Mapping[str, Any]) -> list[int]:
    return list(tokenizer.apply_chat_template(list(turns), tokenize=True, return_dict=True, **options)["input_ids"])


@contextmanager
def _at_most(trainer: Any, max_tokens: int) -> Iterator[None]:
    """The trainer samples at most so many tokens a reply."""
    engine = trainer.vllm_generation if trainer.use_vllm else trainer.generation_config
    name = "max_completion_length" if trainer.use_vllm else "max_new_tokens"
    before = getattr(engine, name)
    setattr(engine, name, max_tokens)
    try:
        yield
    finally:
        setattr(engine, name, before)


def _log(trainer: Any, records: Sequence[Trajectory]) -> None:
    """Turns, and the share of each end, of this process's episodes."""
    metrics = trainer._metrics["train" if trainer.model.training else "eval"]  # noqa: SLF001  # as rewards log
    num = len(records)
    metrics["agent/turns"].append(sum(one.turns for one in records) / num)
    for end in ("submitted", "stopped", "max_turns", "context", "time", "malformed_call", "sandbox_fault"):
        metrics[f"agent/{end}"].append(sum(one.end == end for one in records) / num)
