r"""Formats of judges: our own for any instructed model, and those of models that were trained to judge answers.

- `compass`: CompassVerifier (2508.03686; github.com/open-compass/CompassVerifier). Fields between begin and end marks;
  the reply is A, B or C for correct, incorrect or invalid, in a `\boxed{}` if the model reasons first.
- `xverify`: xVerify (2504.10481; github.com/IAAR-Shanghai/xVerify). Question and output in triple quotes, then the
  correct answer; the reply is Correct or Incorrect.
- `general`: general-verifier of General-Reasoner (2505.14652). Markdown headings; the reply ends in `Final Decision:
  Yes` or `No`.

The frames and replies are those that the models were trained on; the instructions around them are worded here. A file
with a model's published prompt may replace a frame.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, NamedTuple

from curate.errors import UserError
from curate.verify.judge.prompt import MAX_ANSWER_CHARS, MAX_QUESTION_CHARS, ask, read
from curate.verify.thinking import after

StyleName = Literal["plain", "compass", "xverify", "general"]
Messages = list[dict[str, str]]

_COMPASS: Final = """You grade one final answer. The question is valid and the standard answer is right: do not solve \
the question, and ignore the reasoning of the candidate. Another notation or form of the same answer is consistent \
with the standard answer; of several items all must match. An answer that is cut off, repeats itself, or refuses is \
invalid.
Reply with one letter and nothing else.
A: CORRECT
B: INCORRECT
C: INVALID
<Original Question Begin>:
{question}
<Original Question End>
<Standard Answer Begin>:
{ground_truth}
<Standard Answer End>
<Candidate's Answer Begin>:
{answer}
<Candidate's Answer End>
Judging the correctness of the candidate's answer:
"""
_XVERIFY: Final = '''You decide whether an output sentence answers a question, by the correct answer. Answers that are \
mathematically equivalent are correct in any format. Where the question has options, the code or the content of the \
right option is correct. Of several answers in the output the last one counts; an unclear one is incorrect. Respond \
with either [Correct] or [Incorrect].
-
Question: """{question}"""

Output sentence: """{answer}"""

Correct answer: {ground_truth}

Judgement:
'''
_GENERAL: Final = """User: ### Question: {question}

### Ground Truth Answer: {ground_truth}

### Student Answer: {answer}

Verify whether the student's answer is equivalent to the ground truth answer. Do not solve the question; only compare \
the two answers. If the student's answer is correct, output "Final Decision: Yes", otherwise "Final Decision: No". \
Assistant:"""

_LETTER: Final = re.compile(r"\\boxed\s*\{\s*(?:\\text\{)?\s*([ABC])\b|^\W*([ABC]|INCORRECT|CORRECT|INVALID)\W*$")
_WORD: Final = re.compile(r"\[(incorrect|correct)\]|^\W*(incorrect|correct)\W*$", re.IGNORECASE)
_DECISION: Final = re.compile(r"final decision\W{0,6}(yes|no)\b", re.IGNORECASE)
_YES: Final = ("A", "CORRECT", "YES")
# what could end a field, or a turn of the chat
_MARKS: Final = re.compile(
    r"<\|[^|<>]{0,40}\|>|</?s>|\[/?INST\]|\"{3}|"
    r"<(?:Original Question|Standard Answer|Candidate's Answer) (?:Begin|End)>|"
    r"#{3,}|final decision|judgement:|correct answer:",
    re.IGNORECASE,
)
_FIELDS: Final = ("question", "ground_truth", "answer")


class Style(NamedTuple):
    """How a judge is asked and how its reply is read; is_symmetric: it is also asked with the answers exchanged."""

    ask: Callable[[str, str, str], Messages]
    read: Callable[[str], bool | None]
    is_symmetric: bool


def style_of(name: StyleName, prompt: Path | None = None) -> Style:
    """The style of a judge, with the prompt of a file if given; raises `UserError` if the file lacks a field."""
    if name == "plain":
        return Style(ask, read, is_symmetric=True)
    template = _template(prompt) if prompt else _FRAMES[name]
    return Style(lambda *texts: _framed(template, *texts), _READERS[name], is_symmetric=False)


def _template(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"judge.prompt: cannot read {path} ({error}); give a text file") from None
    for field in _FIELDS:
        if f"{{{field}}}" not in text:
            raise UserError(
                f"judge.prompt: {path} lacks {{{field}}}; it needs {{question}}, {{ground_truth}}, {{answer}}"
            )
    return text


def _framed(template: str, question: str, truth: str, answer: str) -> Messages:
    texts = (question[:MAX_QUESTION_CHARS], *(" ".join(text[:MAX_ANSWER_CHARS].split()) for text in (truth, answer)))
    fields = dict(zip(_FIELDS, (_MARKS.sub(" ", text) for text in texts), strict=True))
    # one pass, so that a text that contains "{answer}" stays a text
    content = re.sub(r"\{(question|ground_truth|answer)\}", lambda found: fields[found[1]], template)
    return [{"role": "user", "content": content}]


def _reader(pattern: re.Pattern[str]) -> Callable[[str], bool | None]:
    """Reads a reply by a pattern with a verdict in one of its groups; None unless all verdicts agree."""

    def read_reply(reply: str) -> bool | None:
        found = {next(filter(None, match.groups())).upper() in _YES for match in pattern.finditer(after(reply))}
        return found.pop() if len(found) == 1 else None

    return read_reply


_FRAMES: Final = {"compass": _COMPASS, "xverify": _XVERIFY, "general": _GENERAL}
_READERS: Final = {"compass": _reader(_LETTER), "xverify": _reader(_WORD), "general": _reader(_DECISION)}
