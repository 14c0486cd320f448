"""The marks that models put around their reasoning, in one list for answers, programs and rewards.

A completion is split at the last closing mark: what follows it is final, what precedes it is reasoning.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

# opening and closing marks; upper and lower case are alike
MARKS: Final = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<thoughts>", "</thoughts>"),
    ("<reasoning>", "</reasoning>"),
    ("<reason>", "</reason>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<seed:think>", "</seed:think>"),
    ("<longcat_think>", "</longcat_think>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|start_thinking|>", "<|end_thinking|>"),
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
    ("◁think▷", "◁/think▷"),
    ("[THINK]", "[/THINK]"),
)
_CLOSING_OF: Final = {opening.lower(): closing.lower() for opening, closing in MARKS}
_OPENING: Final = re.compile("|".join(re.escape(opening) for opening, _ in MARKS), re.IGNORECASE)
_CLOSING: Final = re.compile("|".join(re.escape(closing) for _, closing in MARKS), re.IGNORECASE)


class Parts(NamedTuple):
    """The final part of a completion and its reasoning; is_open: a block of reasoning has no closing mark."""

    final: str
    thinking: str
    is_open: bool = False


def split(completion: str) -> Parts:
    """Split a completion at the closing mark that comes last; without one, at the first opening mark."""
    last = _last_closing(completion)
    if last is not None:
        final = completion[last.end() :]
        return Parts(final, completion[: last.start()], _OPENING.search(final) is not None)
    opening = _OPENING.search(completion)
    if opening is None:
        return Parts(completion, "")
    return Parts(completion[: opening.start()], completion[opening.end() :], is_open=True)


def after(completion: str) -> str:
    """The text after the last closing mark; without one, the whole text."""
    last = _last_closing(completion)
    return completion[last.end() :] if last else completion


def reasoning(completion: str) -> str:
    """The text of the reasoning without its marks, up to the first closing mark; without marks, the whole text."""
    end = _CLOSING.search(completion)
    text = completion[: end.start()] if end else completion
    opening = _OPENING.match(text.strip())
    return text.strip()[opening.end() :] if opening else text.strip()


def has_reasoning(completion: str) -> bool:
    """Whether an opening mark is followed by text, not only by its closing mark."""
    opening = _OPENING.search(completion)
    rest = completion[opening.end() :].strip() if opening else ""
    return bool(rest) and not _CLOSING.match(rest)


def is_one_block(completion: str) -> bool:
    """Whether a completion is one closed block of reasoning, its marks occurring once, and then text."""
    text = completion.strip()
    openings, closings = list(_OPENING.finditer(text)), list(_CLOSING.finditer(text))
    if len(openings) != 1 or len(closings) != 1 or openings[0].start() != 0:
        return False
    is_pair = _CLOSING_OF[openings[0][0].lower()] == closings[0][0].lower()
    return is_pair and bool(text[closings[0].end() :].strip())


def _last_closing(completion: str) -> re.Match[str] | None:
    last = None
    for last in _CLOSING.finditer(completion):  # noqa: B007  # its last value is returned
        pass
    return last
