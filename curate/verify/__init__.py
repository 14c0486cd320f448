"""Decides whether a completion answers a problem, for difficulty, rewards and evaluation alike."""

from curate.verify.check import verify, verify_many
from curate.verify.compare.reading import check_truth
from curate.verify.policy import Policy
from curate.verify.verdict import Item, Verdict

__all__ = ["Item", "Policy", "Verdict", "check_truth", "verify", "verify_many"]
