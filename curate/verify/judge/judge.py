"""Asks a model whether two final answers are the same, for pairs that the rules leave undecided.

The model is asked twice, with the answers in either order, and both replies must agree; a model that was trained for
the roles of truth and answer is asked once. A yes is tested by a third
question, whether the answer also equals a decoy: a judge that agrees to anything, or is persuaded by an answer, decides
nothing. Decisions of the rules are never changed. Replies are cached on disk by content. On a sample of the pairs that
the rules decide, the judge's agreement with the rules is counted.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self

from curate.process_wide import ProcessWide
from curate.verify.judge.cache import JudgeCache, content_key
from curate.verify.judge.config import JudgeConfig
from curate.verify.judge.prompt import MAX_ANSWER_CHARS, VERSION, decoy, says_something
from curate.verify.judge.speaker import ServerSpeaker, Speaker
from curate.verify.judge.styles import Style, style_of
from curate.verify.verdict import OVERRUN, Item, Verdict

JUDGED: Final = (*OVERRUN, "unparseable_answer", "unparseable_ground_truth")
AUDITED: Final = ("different", "symbolic", "set")
LOG: Final = logging.getLogger("gradus.judge")


Opinion = Literal["same", "different", "contradiction", "silence"]


class Judge:
    """`with Judge(speaker) as judge: verdicts = judge.review(items, verdicts)`; safe for several threads."""

    def __init__(
        self,
        speaker: Speaker,
        *,
        style: Style | None = None,
        cache: Path | None = None,
        audit_rate: float = 0.0,
        num_in_flight: int = 16,
    ) -> None:
        self._speaker, self._cache = speaker, JudgeCache(cache)
        self._style = style or style_of("plain")
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
        """Close the model and the cache, and log the counts."""
        self._speaker.close()
        self._cache.close()
        LOG.info("judge: %s", dict(sorted(self.counts.items())))

    def review(self, items: Sequence[Item], verdicts: Sequence[Verdict]) -> list[Verdict]:
        """The verdicts, in order; undecided ones are replaced if the judge decides them."""
        with ThreadPoolExecutor(self._num_in_flight) as pool:
            return list(pool.map(self._review, items, verdicts))

    def compare(self, question: str, truth: str, answer: str) -> Opinion:
        """Whether two answers are the same; `silence` if a reply is missing or invalid."""
        replies = [self._hear(question, truth, answer)]
        if self._style.is_symmetric:
            replies.append(self._hear(question, answer, truth))
        if None in replies:
            return "silence"
        if len(set(replies)) > 1:
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
        # without a usable reply the verdict keeps the reason of the rules
        return replace(verdict, reason="judge_disagrees", ms=ms) if opinion == "contradiction" else verdict

    def _audit(self, item: Item, verdict: Verdict, answer: str) -> None:
        """Count the judge's agreement with the rules on a sample of their decisions."""
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
        """Ask one question, or take its reply from the cache; only a valid reply is cached."""
        messages = self._style.ask(question, one, other)
        key = content_key([VERSION, self._speaker.identity(), messages])
        if (kept := self._cache.get(key)) is not None:
            self._count("cached")
            return self._style.read(kept)
        self._count("asked")
        reply = self._speaker.say(messages)
        verdict = None if reply is None else self._style.read(reply)
        if reply is None or verdict is None:
            self._count("unusable")
            return None
        self._cache.put(key, reply)
        return verdict


def open_judge(config: JudgeConfig) -> Judge:
    """Open a judge with the server and the cache of a config."""
    style = style_of(config.style, config.prompt)
    return Judge(
        ServerSpeaker(config),
        style=style,
        cache=config.cache,
        audit_rate=config.audit_rate,
        num_in_flight=config.num_in_flight,
    )


def shared_judge(config: JudgeConfig) -> Judge:
    """The judge of a config, shared within this process and closed when the process ends."""
    return _JUDGES.get().of(config)


class _Judges:
    """The shared judges, by config."""

    def __init__(self) -> None:
        self._opened: dict[JudgeConfig, Judge] = {}
        self._lock = threading.Lock()

    def of(self, config: JudgeConfig) -> Judge:
        with self._lock:
            return self._opened.get(config) or self._opened.setdefault(config, open_judge(config))

    def close(self) -> None:
        with ExitStack() as stack:
            for judge in self._opened.values():
                stack.callback(judge.close)


_JUDGES: Final = ProcessWide(_Judges, _Judges.close)
