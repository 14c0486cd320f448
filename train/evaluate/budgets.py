"""Thinking budgets: a model's answers when its reasoning is cut short (Qwen3, arXiv 2505.09388, sec. 4.3 and 4.7).

A completion is sampled once, without a budget. For each budget its reasoning is cut at that many tokens, a sentence
that ends it is appended, and the model writes its answer; shorter reasoning is unchanged. So budgets are compared on
the same reasoning. One log holds the samples of all budgets: the n plain ones of a problem come first, then the n of
each budget in order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Final

from curate.artifacts.samples import Sample, Samples
from curate.engines import Engine
from curate.engines.protocol import Completion, Request
from curate.sampling.grading import Problem
from curate.sampling.model_stage import Asked
from curate.verify import Policy
from train.evaluate.scores import score

# Qwen3's words; set those of the training for other models
STOP_THINKING: Final = (
    "Considering the limited time by the user, I have to give the solution based on the thinking directly now.\n"
    "</think>\n\n"
)


@dataclass(frozen=True)
class Sweep:
    """Budgets in tokens, completions per problem, text that ends the reasoning, and tokens for the answer."""

    budgets: tuple[int, ...]
    n: int
    stop_thinking: str
    answer_tokens: int

    def owed(self, _: Problem, samples: Sequence[Sample]) -> int:
        """Number of samples still owed: the plain ones first, then those of every budget."""
        wanted = self.n if len(samples) < self.n else self.n * (1 + len(self.budgets))
        return wanted - len(samples)

    def parts(self, asked: Asked) -> dict[int | None, Asked]:
        """A problem's samples by budget, None for the plain ones, each numbered from 0."""
        return {
            budget: asked._replace(samples=tuple(self._part(asked.samples, place)))
            for place, budget in enumerate((None, *self.budgets))
        }

    def _part(self, samples: Sequence[Sample], place: int) -> Iterator[Sample]:
        for sample in samples:
            if sample.index // self.n == place:
                yield replace(sample, index=sample.index % self.n)


class BudgetEngine:
    """An engine that takes plain samples from another one and continues them, cut at their budget, for the rest."""

    def __init__(self, engine: Engine, tokenizer: Any, samples: Samples, sweep: Sweep) -> None:
        self._engine, self._tokenizer, self._samples, self._sweep = engine, tokenizer, samples, sweep

    def identity(self) -> dict[str, str]:
        """See `Engine`."""
        return self._engine.identity()

    async def complete(self, request: Request) -> Completion:
        """See `Engine`."""
        place, index = divmod(request.index, self._sweep.n)
        if place == 0:
            return await self._engine.complete(request)
        plain = next(sample for sample in self._samples.of(request.key) if sample.index == index)
        budget = self._sweep.budgets[place - 1]
        written = self._cut(plain.text, budget)
        if written is None:
            return Completion(
                request.key, request.index, plain.text, plain.num_tokens, plain.finish_reason, request.seed
            )
        answered = await self._engine.complete(replace(request, written=written, max_tokens=self._sweep.answer_tokens))
        return replace(answered, num_tokens=budget + answered.num_tokens)

    def close(self) -> None:
        """See `Engine`."""
        self._engine.close()

    def _cut(self, text: str, budget: int) -> str | None:
        """The completion up to the budget with its reasoning ended; None where its reasoning is not longer."""
        before, mark, rest = text.partition("<think>")
        thought = rest.partition("</think>")[0]
        tokens = self._tokenizer.encode(thought, add_special_tokens=False)
        if not mark or len(tokens) <= budget:
            return None
        kept = self._tokenizer.decode(tokens[:budget])
        return f"{before}{mark}{kept}{self._sweep.stop_thinking}"


def sweep_rows(asked: Sequence[Asked], sweep: Sweep, policy: Policy) -> list[dict[str, Any]]:  # Any: JSON
    """A benchmark's figures for each budget, smallest first and no budget last, and the share of completions cut."""
    split = [sweep.parts(item) for item in asked]
    plain = {(s.key, s.index): s.text for parts in split for s in parts[None].samples}
    return [_row(budget, [parts[budget] for parts in split], plain, sweep, policy) for budget in (*sweep.budgets, None)]


def _row(
    budget: int | None, asked: Sequence[Asked], plain: dict[tuple[str, int], str], sweep: Sweep, policy: Policy
) -> dict[str, Any]:
    samples = [sample for item in asked for sample in item.samples]
    figures = score(asked, sweep.n, policy)
    names = ("average", "undecided_rate", "truncated_rate")
    return {
        "budget": budget,
        **{name: figures[name] for name in names},
        "stopped_rate": fmean(sample.text != plain[sample.key, sample.index] for sample in samples) if samples else 0.0,
        "mean_tokens": fmean(sample.num_tokens for sample in samples) if samples else None,
    }
