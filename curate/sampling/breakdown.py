"""Why completions were not correct: shares by the verifier's reason, and warnings that say what to change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

LIMIT: Final = 0.2
NO_ANSWER: Final = ("no_answer", "think_only")  # nothing outside the reasoning that the verifier takes for an answer

Reasons = dict[str, dict[str, int]]


def reasons_of(judged: Iterable[tuple[str, str]]) -> Reasons:
    """Number of completions by verdict (wrong, undecided) and reason, from pairs of both; the most frequent first."""
    counts = Counter(pair for pair in judged if pair[0] != "correct")
    found: Reasons = {}
    for (verdict, reason), num in sorted(counts.items(), key=lambda item: (item[0][0] != "wrong", -item[1], item[0])):
        found.setdefault(verdict, {})[reason] = num
    return found


def described(reasons: Mapping[str, Mapping[str, int]], num_completions: int) -> str:
    """`wrong 60%: truncated 41, no_answer 12, different 7`, in percent of all completions; undecided ones alike."""
    parts = []
    for verdict, counts in reasons.items():
        shares = _percents(list(counts.values()), num_completions)
        named = [f"{reason} {share}" for reason, share in zip(counts, shares, strict=True)]
        parts.append(f"{verdict} {sum(counts.values()) / num_completions:.0%}: {', '.join(named)}")
    return "  ".join(parts)


def cautions(cut_off: float, no_answer: float) -> dict[str, str]:
    """Warnings by what they are about, where more than a fifth of the completions are cut off or hold no answer."""
    found = {}
    if cut_off > LIMIT:
        found["cut_off"] = (
            f"warning: {cut_off:.0%} of completions are cut off at --max-tokens, which may say more about that limit "
            "than about the model; raise it, or use --truncated undecided to leave them out of rates"
        )
    if no_answer > LIMIT:
        found["no_answer"] = (
            f"warning: in {no_answer:.0%} of completions the verifier finds no answer; ask for one, as with --template "
            "boxed, or train the format first with gradus train sft"
        )
    return found


def no_answer_rate(reasons: Mapping[str, Mapping[str, int]], num_completions: int) -> float:
    """Share of the completions without an answer outside the reasoning."""
    num = sum(reasons.get("wrong", {}).get(reason, 0) for reason in NO_ANSWER)
    return num / num_completions if num_completions else 0.0


def _percents(counts: Sequence[int], total: int) -> list[str]:
    """Whole percents that add up to the rounded sum (largest remainder); `<1` for a small share."""
    exact = [100 * count / total for count in counts]
    floors = [int(value) for value in exact]
    missing = round(sum(exact)) - sum(floors)
    by_remainder = sorted(range(len(exact)), key=lambda place: floors[place] - exact[place])
    whole = [floor + (place in by_remainder[:missing]) for place, floor in enumerate(floors)]
    return [str(value) if value else "<1" for value in whole]
