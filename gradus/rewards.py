"""The project's verifier as a reward of other trainers: TRL's signature, verl's, and lighteval's.

Each function judges by `curate.verify`, exactly as `gradus train grpo` and `gradus curate difficulty` do, and reads the
columns that `gradus export` writes. A pair that the verifier cannot decide is no evidence: TRL leaves a completion with
None out of the group, while verl and lighteval know numbers only and get 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any, Final, Protocol

from curate.verify import Item, Verdict, verify_many

VALUE: Final = {"correct": 1.0, "wrong": 0.0, "undecided": None}


def accuracy(
    completions: Sequence[Any],
    ground_truth: Sequence[str | None],
    kind: Sequence[str] | None = None,
    tests: Sequence[str | None] | None = None,
    question: Sequence[str] | None = None,
    **_: Any,  # TRL passes the batch's other columns and its state
) -> list[float | None]:
    """A reward function for TRL's trainers: 1 for a correct completion, 0 for a wrong one, None if undecided.

    completions: texts, or lists of chat messages, one per completion. The other arguments are the dataset's columns,
    as `gradus export --to trl` writes them: `kind` is math or code (math if absent), `tests` the JSON of a code
    problem's tests, `question` the problem's text.
    """
    num = len(completions)
    columns = zip(
        map(_text, completions),
        ground_truth,
        kind or repeat("math", num),
        question or repeat(None, num),
        tests or repeat(None, num),
        strict=True,
    )
    items = [Item(text, truth or "", what, asked, test) for text, truth, what, asked, test in columns]
    return [VALUE[verdict.verdict] for verdict in verify_many(items)]


def compute_score(
    data_source: str,  # noqa: ARG001  # verl passes it by name
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, Any] | None = None,
    **_: Any,  # verl passes the settings of its reward configuration
) -> dict[str, Any]:
    """Verl's `custom_reward_function`: the score of one completion, and its verdict and reason for verl's metrics.

    extra_info: `kind`, `question` and `tests`, as `gradus export --to verl` writes them.
    """
    verdict = _verdict(solution_str, ground_truth, extra_info or {})
    return {"score": VALUE[verdict.verdict] or 0.0, "verdict": verdict.verdict, "reason": verdict.reason}


class Doc(Protocol):
    """What `share_correct` reads of lighteval's `Doc`: the question and the gold answers."""

    query: str

    def get_golds(self) -> list[str]:
        """The gold answers."""


class ModelResponse(Protocol):
    """What `share_correct` reads of lighteval's `ModelResponse`: the completions."""

    @property
    def final_text(self) -> list[str]:
        """The completions, after the reasoning where the model separates it."""


def share_correct(doc: Doc, model_response: ModelResponse, **_: Any) -> float:  # Any: lighteval's own settings
    """For a lighteval metric: the share of a sample's completions that match one of its gold answers."""
    golds, texts = doc.get_golds(), model_response.final_text
    items = [Item(text, gold, question=doc.query) for text in texts for gold in golds]
    found = [verdict.verdict == "correct" for verdict in verify_many(items)]
    by_text = [any(found[at : at + len(golds)]) for at in range(0, len(found), len(golds))]
    return sum(by_text) / len(by_text) if by_text else 0.0


def _verdict(text: str, ground_truth: str, about: Mapping[str, Any]) -> Verdict:
    kind = about.get("kind") or "math"
    return verify_many([Item(text, ground_truth or "", kind, about.get("question"), about.get("tests"))])[0]


def _text(completion: str | Sequence[Mapping[str, Any]]) -> str:
    return completion if isinstance(completion, str) else str(completion[-1].get("content") or "")
