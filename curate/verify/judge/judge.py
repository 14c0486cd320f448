"""A model as judge, for pairs that the rules leave undecided: are these two final answers the same?

It is asked twice, the answers in either order, and both replies must agree. A yes is tested by a third question,
whether the answer also equals a decoy: a judge that says so to anything, or that an answer has talked into it, decides
nothing. What the rules have decided stays decided. Replies are kept on disk by content. How often the judge agrees with
the rules is counted on a sample of the pairs that rules decided.
"""

from __future__ import annotations

import asyncio
import atexit
import hashlib
import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal, Protocol, Self

import httpx

from curate.engines.protocol import Engine, Request
from curate.errors import UserError
from curate.verify.judge.cache import JudgeCache, content_key
from curate.verify.judge.config import JudgeConfig
from curate.verify.judge.prompt import MAX_ANSWER_CHARS, VERSION, ask, decoy, read, says_something
from curate.verify.verdict import OVERRUN, Item, Verdict

JUDGED: Final = (*OVERRUN, "unparseable_answer", "unparseable_ground_truth")
AUDITED: Final = ("different", "symbolic", "set")
TRANSIENT: Final = (408, 409, 425, 429, 500, 502, 503, 504)
REFUSED: Final = (400, 401, 403, 404)
LOG: Final = logging.getLogger("gradus.judge")


Opinion = Literal["same", "different", "contradiction", "silence"]


class Speaker(Protocol):
    """A model that replies to messages."""

    def say(self, messages: Sequence[dict[str, str]]) -> str | None:
        """The reply; None where there is none: a time-out, a server that fails, a body that is no reply."""
        ...

    def identity(self) -> dict[str, Any]:  # Any: JSON values
        """What decides its replies."""
        ...

    def close(self) -> None:
        """Let it go."""
        ...


class Judge:
    """`with Judge(speaker) as judge: verdicts = judge.review(items, verdicts)`; usable from several threads."""

    def __init__(
        self, speaker: Speaker, *, cache: Path | None = None, audit_rate: float = 0.0, num_in_flight: int = 16
    ) -> None:
        self._speaker, self._cache = speaker, JudgeCache(cache)
        self._audit_rate, self._num_in_flight = audit_rate, num_in_flight
        self.counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the model and the cache go, and log the counts."""
        self._speaker.close()
        self._cache.close()
        LOG.info("judge: %s", dict(sorted(self.counts.items())))

    def review(self, items: Sequence[Item], verdicts: Sequence[Verdict]) -> list[Verdict]:
        """The verdicts, in order, those that rules left undecided replaced where the judge could tell."""
        with ThreadPoolExecutor(self._num_in_flight) as pool:
            return list(pool.map(self._review, items, verdicts))

    def compare(self, question: str, truth: str, answer: str) -> Opinion:
        """Whether two answers are the same; `silence` where a reply is missing or cannot be read."""
        replies = [self._hear(question, truth, answer), self._hear(question, answer, truth)]
        if None in replies:
            return "silence"
        if replies[0] is not replies[1]:
            return "contradiction"
        if not replies[0]:
            return "different"
        falls_for_decoy = self._hear(question, decoy(question, answer), answer)
        return "silence" if falls_for_decoy is None else "contradiction" if falls_for_decoy else "same"

    def _review(self, item: Item, verdict: Verdict) -> Verdict:
        if item.kind != "math" or verdict.extracted is None:
            return verdict
        if verdict.verdict != "undecided":
            self._audit(item, verdict, verdict.extracted)
            return verdict
        return self._decide(item, verdict, verdict.extracted) if verdict.reason in JUDGED else verdict

    def _decide(self, item: Item, verdict: Verdict, answer: str) -> Verdict:
        start_s = time.monotonic()
        if not says_something(answer):
            return replace(verdict, verdict="wrong", reason="no_answer", stage="judge")
        if not says_something(item.ground_truth) or max(len(answer), len(item.ground_truth)) > MAX_ANSWER_CHARS:
            return verdict
        opinion = self.compare(item.question or "", item.ground_truth, answer)
        self._count(opinion)
        ms = verdict.ms + (time.monotonic() - start_s) * 1000
        if opinion == "same":
            return Verdict("correct", "judge", "judge", answer, ms)
        if opinion == "different":
            return Verdict("wrong", "different", "judge", answer, ms)
        # a judge that does not come through adds nothing: the rules' own reason stays
        return replace(verdict, reason="judge_disagrees", ms=ms) if opinion == "contradiction" else verdict

    def _audit(self, item: Item, verdict: Verdict, answer: str) -> None:
        """Count whether the judge agrees with the rules on a sample of what they decided."""
        content = f"{item.question}\x1f{item.ground_truth}\x1f{answer}".encode("utf-8", "surrogatepass")
        draw = int.from_bytes(hashlib.sha256(content).digest()[:4], "big") / 2**32
        if draw >= self._audit_rate or verdict.reason not in AUDITED:
            return
        opinion = self.compare(item.question or "", item.ground_truth, answer)
        self._count("audited")
        if (opinion == "same") == (verdict.verdict == "correct") and opinion in ("same", "different"):
            self._count("agreed")

    def _count(self, name: str) -> None:
        with self._lock:
            self.counts[name] += 1

    def _hear(self, question: str, one: str, other: str) -> bool | None:
        """One question, from the cache where it was asked before; only a reply that can be read is kept."""
        messages = ask(question, one, other)
        key = content_key([VERSION, self._speaker.identity(), messages])
        if (kept := self._cache.get(key)) is not None:
            self._count("cached")
            return read(kept)
        self._count("asked")
        reply = self._speaker.say(messages)
        verdict = None if reply is None else read(reply)
        if reply is None or verdict is None:
            self._count("unusable")
            return None
        self._cache.put(key, reply)
        return verdict


def open_judge(config: JudgeConfig) -> Judge:
    """The judge of a config, behind its server."""
    speaker = ServerSpeaker(config)
    return Judge(speaker, cache=config.cache, audit_rate=config.audit_rate, num_in_flight=config.num_in_flight)


@cache
def shared_judge(config: JudgeConfig) -> Judge:
    """The judge that all of this process share which have the same config; closed when the process ends."""
    judge = open_judge(config)
    atexit.register(judge.close)
    return judge


class ServerSpeaker:
    """A model behind an OpenAI-compatible server."""

    def __init__(self, config: JudgeConfig) -> None:
        self._config = config
        key = os.environ.get("OPENAI_API_KEY")
        self._client = httpx.Client(
            base_url=config.url.rstrip("/") + "/",
            timeout=config.timeout_s,
            headers={"Authorization": f"Bearer {key}"} if key else {},
        )

    def identity(self) -> dict[str, Any]:
        """Its model and how replies are drawn; not where the server stands."""
        return {"model": self._config.model, "max_tokens": self._config.max_tokens, "temperature": 0}

    def say(self, messages: Sequence[dict[str, str]]) -> str | None:
        """See `Speaker`; `UserError` where the server refuses the request itself."""
        body = {"messages": list(messages), "seed": 0, **self.identity()}
        for attempt in range(self._config.num_tries):
            if attempt:
                time.sleep(min(0.5 * 2**attempt, 8.0))
            try:
                response = self._client.post("chat/completions", json=body)
            except httpx.TransportError:
                continue
            if response.status_code in REFUSED:
                raise UserError(_refusal(self._config, response))
            if response.status_code not in TRANSIENT:
                return _content(response)
        return None

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def _refusal(config: JudgeConfig, response: httpx.Response) -> str:
    said = " ".join(response.text.split())[:200]
    return (
        f"judge {config.url}: refuses model {config.model!r} ({response.status_code}: {said}); check url, model and key"
    )


def _content(response: httpx.Response) -> str | None:
    """The text of a reply that ended by itself; whatever else a server sends is none."""
    try:
        choice = response.json()["choices"][0]
        content = choice["message"]["content"]
    except (ValueError, LookupError, TypeError):
        return None
    return content if isinstance(content, str) and choice.get("finish_reason") != "length" else None


class EngineSpeaker:
    """A model in this process: an engine whose prompts are messages written one below the other."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def identity(self) -> dict[str, Any]:
        """See `Speaker`."""
        return dict(self._engine.identity())

    def say(self, messages: Sequence[dict[str, str]]) -> str | None:
        """See `Speaker`."""
        prompt = "\n\n".join(message["content"] for message in messages)
        completion = asyncio.run(self._engine.complete(Request(content_key(prompt), 0, prompt, 0)))
        return completion.text if completion.finish_reason != "length" else None

    def close(self) -> None:
        """The engine belongs to whoever opened it."""
