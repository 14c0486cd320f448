"""An engine whose completions are episodes: it plays the problems that need tools, and passes on all others.

Episodes are independent coroutines on the engine below; tools run in threads, one an episode.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar

from curate.agent.config import AgentConfig, AgentOptions
from curate.agent.episode import Episode
from curate.artifacts.trajectory import UNFINISHED, Message
from curate.engines import Completion, Engine, EngineConfig, PromptConfig, PromptTooLong, Request, Shelf, messages
from curate.errors import UserError
from curate.tasks.store import TaskStore
from curate.verify.code.sandbox import SandboxUnavailable

T = TypeVar("T")
OpenEngine = Callable[[Shelf], AbstractContextManager[Engine]]
NO_TASKS: Final = "the pool holds tasks of agents: name the folder that was ingested with --tasks"


def is_played(kind: str, config: AgentConfig) -> bool:
    """Whether a problem of this kind is an episode: tasks are, and all with a Python tool."""
    return kind == "agent" or config.is_for_all


class AgentEngine:
    """Plays episodes with the replies of another engine. max_tokens: tokens of all replies of an episode together."""

    def __init__(self, engine: Engine, config: AgentConfig, prompts: EngineConfig, store: TaskStore | None) -> None:
        self._engine, self._config, self._prompts, self._store = engine, config, prompts, store
        self._threads = ThreadPoolExecutor(config.boxes, thread_name_prefix="agent")
        self._boxes = asyncio.Semaphore(config.boxes)

    def identity(self) -> dict[str, str]:
        """See `Engine`."""
        return self._engine.identity()

    async def complete(self, request: Request) -> Completion:
        """See `Engine`. The text of an episode's completion is its record (`curate.artifacts.trajectory`)."""
        if not is_played(request.kind, self._config):
            return await self._engine.complete(request)
        async with self._boxes:
            return await self._played(request)

    def close(self) -> None:
        """See `Engine`; the engine below is closed by its opener."""
        self._threads.shutdown()

    async def _played(self, request: Request) -> Completion:
        episode = await self._in_thread(partial(begin, request, self._config, self._prompts, self._store))
        try:
            while episode.end is None:
                await self._turn(episode, request)
            told = await self._in_thread(episode.close)
        except SandboxUnavailable as why:
            raise UserError(f"agents cannot work on this machine: {why}") from None
        finally:
            episode.abandon()
        reason = "length" if told.end in UNFINISHED else "stop"
        return Completion(request.key, request.index, told.text(), episode.num_tokens, reason, request.seed)

    async def _turn(self, episode: Episode, request: Request) -> None:
        left = self._prompts.max_tokens - episode.num_tokens
        if left <= 0:
            episode.finish("context", f"{self._prompts.max_tokens} tokens are used")
            return
        asked = replace(
            request, chat=episode.chat(), turn=episode.turns, seed=turn_seed(request.seed, episode.turns),
            max_tokens=min(left, self._config.turn_tokens or left),
        )  # fmt: skip
        try:
            reply = await self._engine.complete(asked)
        except PromptTooLong as why:
            if episode.turns == 0:
                raise
            episode.finish("context", str(why))
            return
        is_cut = reply.finish_reason == "length"
        await self._in_thread(partial(episode.take, reply.text, reply.num_tokens, is_cut=is_cut))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)


def begin(
    request: Request,
    config: AgentConfig,
    prompts: PromptConfig,
    store: TaskStore | None,
    asked: Sequence[Message] | None = None,
) -> Episode:
    """The episode of a problem, before its first reply. asked: its messages, where they are built already."""
    task = None
    if request.kind == "agent":
        if store is None:
            raise UserError(NO_TASKS)
        task = store.task(request.tests, request.proof)
        if task.problem:
            raise UserError(f"{task.name}: {task.problem}; drop it with gradus curate solvable")
    return Episode(asked or messages(request.prompt, prompts, request.messages), config, task)


def turn_seed(seed: int, turn: int) -> int:
    """The seed of a turn; that of the sample for the first one."""
    return (seed + turn) & 0x7FFFFFFF


def store_of(options: AgentOptions) -> TaskStore | None:
    """The folder of tasks, if one is named."""
    return TaskStore(options.tasks) if options.tasks else None


@contextmanager
def open_agents(
    opened: OpenEngine, options: AgentOptions, prompts: EngineConfig, store: TaskStore | None, shelf: Shelf
) -> Iterator[Engine]:
    """The engine with episodes on top."""
    with opened(shelf) as engine:
        agents = AgentEngine(engine, options.agent, prompts, store)
        try:
            yield agents
        finally:
            agents.close()
