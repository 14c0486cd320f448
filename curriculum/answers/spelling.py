"""The answer of a completion in one spelling, by which completions agree."""

from __future__ import annotations

from curate.verify import Policy
from curate.verify.extract.find import extract
from curate.verify.spelling.normalise import canonical, clean


def answer_of(text: str) -> str | None:
    """The last final answer of a completion in one spelling; None without one."""
    answers = extract(text, Policy()).answers
    return canonical(clean(answers[-1])) if answers else None
