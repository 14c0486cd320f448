r"""Whether a ground truth can be met: the forms in which people answer, held against it by the verifier.

A truth is compared with itself, but no one answers `3.75 or 15/4`, `f = 2 + 3 = 5`, `z+w=5-i, zw=62+5i` or `The 60th
caller.` in these words. `unmet` gives the forms that such a truth would be answered in where the verifier accepts none
of them, and `states_a_value` says which sentences are a value with words around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Final

from curate.verify import Item, Policy, verify_many
from curate.verify.conflicts import compare_answers

MAX_CHARS: Final = 200  # of a truth that is looked at
_EITHER: Final = re.compile(r"\s+(?:or|OR)\s+|\s*\\(?:text|mbox|textrm)\s*\{\s*or\s*\}\s*")
_NAMED: Final = re.compile(r"^\$?\s*[^=,$]{2,}?=[^=,]+(?:,\s*[^=,]{2,}?=[^=,]+)+\$?\.?$")
_COMPOSED: Final = re.compile(r"[\w)}]\s*[-+*/]\s*[\w(\\]|\\frac|\\\|")
_CHAIN: Final = re.compile(r"^[^,;<>]*(?:=[^=,;<>]+){2,}$")
_PLACE: Final = re.compile(r"^(?:the\s+)?(\d+)(?:st|nd|rd|th)\s+[a-z]+\.?$", re.IGNORECASE)
_FAMILY_AND_LIST: Final = re.compile(r"(?:\\pi\s*[kn]|[kn]\s*\\pi)\b[^;]*;")
_ABOUT: Final = re.compile(r"\\approx(?![a-z])|≈")
_LAST_VALUE: Final = re.compile(r"(?:\$([^$]+)\$|(-?\d[\d,./]*\d|\d))[^\d$]*$")


def unmet(truths: Iterable[str], policy: Policy) -> Mapping[str, str]:
    """The truths that none of their usual forms meets, with these forms; a truth without such forms is met."""
    forms = {truth: usual for truth in truths if len(truth) <= MAX_CHARS and (usual := _usual_forms(truth))}
    pairs = [(truth, form) for truth, usual in forms.items() for form in usual]
    verdicts = verify_many([Item(f"\\boxed{{{form}}}", truth) for truth, form in pairs], policy=policy)
    met = {
        truth
        for (truth, _), verdict in zip(pairs, verdicts, strict=True)
        if verdict.verdict != "wrong" and verdict.reason != "unparseable_ground_truth"
    }
    return {truth: "; ".join(usual) for truth, usual in forms.items() if truth not in met}


def states_a_value(sentences: Iterable[str], policy: Policy) -> set[str]:
    """The sentences of which the verifier accepts the last value, as in `The largest n is 34.`."""
    ends = [
        (text, found[1] or found[2])
        for text in sentences
        if len(text) <= MAX_CHARS and (found := _LAST_VALUE.search(text))
    ]
    verdicts = verify_many([Item(f"\\boxed{{{value}}}", text) for text, value in ends], policy=policy)
    return {text for (text, _), verdict in zip(ends, verdicts, strict=True) if verdict.verdict == "correct"}


def _usual_forms(truth: str) -> list[str]:
    """How people would write this answer, where they would not write it like this; none for most."""
    either = [_bare(part) for part in _EITHER.split(truth)]
    if len(either) > 1 and all(either) and set(compare_answers(list(combinations(either, 2)))) == {"same"}:
        return either
    bare = _bare(truth)
    if place := _PLACE.match(bare):
        return [place[1]]
    if len(sides := _ABOUT.split(bare)) > 1:
        return [side.strip() for side in sides if side.strip()]
    if _FAMILY_AND_LIST.search(bare):
        return [_bare(part) for part in bare.split(";")]
    # x = 1, y = 2 is how people answer; z+w = 1, zw = 2 repeats the question
    if _NAMED.match(bare) and any(_COMPOSED.search(part.split("=")[0]) for part in bare.split(",")):
        return [", ".join(part.split("=")[1].strip() for part in bare.split(","))]
    steps = [_bare(step) for step in bare.split("=")]
    if _CHAIN.match(bare) and all(steps) and compare_answers([(steps[-2], steps[-1])]) == ["same"]:
        return [steps[-1]]
    return []


def _bare(text: str) -> str:
    return text.strip().rstrip(".").replace("$", "").strip()
