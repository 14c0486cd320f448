"""Figures of one benchmark, from its problems' judged completions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean, median
from typing import Any, Final

from curate.artifacts.samples import Sample
from curate.sampling.breakdown import reasons_of
from curate.sampling.model_stage import Asked
from curate.verify import Policy
from curate.verify.extract.find import extract
from curate.verify.spelling.normalise import canonical, clean
from train.estimators import average, majority, pass_at_k

RIGHT: Final = "\0right"


def score(asked: Sequence[Asked], n: int, policy: Policy) -> dict[str, Any]:  # Any: JSON values
    """Figures of a benchmark; problems without any judged completion are counted but enter no rate."""
    judged = [item for item in asked if num_judged(item) > 0]
    samples = [sample for item in asked for sample in item.samples]
    rates = [item.tally().correct / num_judged(item) for item in judged]
    voted = [item for item in judged if item.problem.kind == "math"]
    return {
        "num_problems": len(asked),
        "num_without_verdict": len(asked) - len(judged),
        "num_completions": len(samples),
        "average": average(rates)._asdict() if judged else None,
        "pass_at_k": {str(k): value for k in powers_of_two(n) if (value := _mean_pass_at(judged, k)) is not None},
        "majority": fmean(majority([_vote(s, policy) for s in item.samples], RIGHT) for item in voted)
        if voted
        else None,
        "undecided_rate": _share(sample.verdict == "undecided" for sample in samples),
        "truncated_rate": _share(sample.finish_reason == "length" for sample in samples),
        "reasons": reasons_of((sample.verdict, sample.verdict_reason) for sample in samples),
        "tokens_correct": _lengths(samples, "correct"),
        "tokens_wrong": _lengths(samples, "wrong"),
    }


def num_judged(item: Asked) -> int:
    """Completions of a problem that were judged correct or wrong."""
    seen = item.tally()
    return seen.correct + seen.wrong


def powers_of_two(most: int) -> list[int]:
    """1, 2, 4, ... up to `most`, and `most` itself."""
    powers = [2**i for i in range(most.bit_length()) if 2**i <= most]
    return powers if powers[-1] == most else [*powers, most]


def _mean_pass_at(judged: Sequence[Asked], k: int) -> float | None:
    """Mean pass@k over the problems with at least k judged completions; None where there are none."""
    values = [pass_at_k(num_judged(item), item.tally().correct, k) for item in judged if num_judged(item) >= k]
    return fmean(values) if values else None


def _vote(sample: Sample, policy: Policy) -> str | None:
    """The vote of a completion: one for all right answers, a wrong answer as written, None for an undecided one."""
    if sample.verdict == "correct":
        return RIGHT
    answers = extract(sample.text, policy).answers if sample.verdict == "wrong" else ()
    return canonical(clean(answers[-1])) if answers else None


def _share(claims: Iterable[bool]) -> float:
    counted = list(claims)
    return fmean(counted) if counted else 0.0


def _lengths(samples: Sequence[Sample], verdict: str) -> dict[str, float] | None:
    tokens = [sample.num_tokens for sample in samples if sample.verdict == verdict]
    return {"mean": fmean(tokens), "median": median(tokens), "max": max(tokens)} if tokens else None
