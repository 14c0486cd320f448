"""The outcomes of a comparison, with "unknown" apart from "different", and the decision for each."""

from __future__ import annotations

from typing import Literal

from curate.verify.nodes import Node
from curate.verify.values.equality import Proof, equal
from curate.verify.verdict import Decision, correct, undecided, wrong

Sameness = Literal["same", "different", "unknown"]
Equality = Proof | Literal["different", "unknown"]


def compare_values(a: Node, b: Node) -> Equality:
    """The proof that two values are equal, or "different" or "unknown"; raises what `equal` raises."""
    outcome = equal(a, b)
    if outcome is None:
        return "unknown"
    return outcome if isinstance(outcome, str) else "different"


def is_equal(outcome: Equality) -> bool:
    """Whether an outcome is a proof."""
    return outcome not in ("different", "unknown")


def decision_on(sameness: Sameness, stage: Literal["set", "symbolic"]) -> Decision:
    """The decision for the outcome of a comparison of sets or relations."""
    if sameness == "unknown":
        return undecided("unparseable_answer", stage)
    return correct(stage, stage) if sameness == "same" else wrong("different", stage)
