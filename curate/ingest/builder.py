"""Builds a row of `records.PROBLEM` from a record by the source's column map, or gives the reason why it cannot."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from curate.ingest.answers import answer_in, is_value, text_of
from curate.ingest.choices import choices_of, letter_of
from curate.ingest.columns import CellReader, ColumnMap, Record
from curate.records import KINDS, problem_key
from curate.verify.code.tests_format import tests_from_row

Problem = dict[str, Any]  # Any: the columns of `records.PROBLEM` and `records.DECISION` differ in type
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_NOTHING: Final = ("none", "n/a", "null", "nan")
USER: Final = ("user", "human")
MODEL: Final = ("assistant", "gpt", "model")


class Unusable(Exception):  # noqa: N818  # the outcome of one row, not an error of the program
    """A record that cannot become a problem: the reason code and the evidence."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail


class Builder:
    """Builds problems from a source's records. `first_index` is 1 if its answers count options from 1."""

    def __init__(self, columns: ColumnMap, source: str, max_prompt_bytes: int, first_index: int = 0) -> None:
        self._source, self._max, self._first_index = source, max_prompt_bytes, first_index
        self._cells = CellReader(columns).cells
        paths = {*columns.prompt, *columns.ground_truth, *columns.choices, *columns.tests, *columns.solution}
        self._read = {*paths, columns.kind or ""}
        self._is_working = [path in columns.solution for path in columns.ground_truth]
        # in an answer column, only the shape identifies tests
        self._are_tests = not any("." in path or path.lower() == "ground_truth" for path in columns.tests[:1])

    def problem(self, record: Record, source_row: int) -> Problem:
        """The row for a record; raises `Unusable`."""
        cells = self._cells(record)
        prompt, reply = self._prompt(cells.prompt)
        choices = choices_of(cells.choices)
        solution = _solution(cells.solutions, prompt) or reply
        tests = self._tests(record, cells.tests)
        kind = cells.kind if cells.kind in KINDS else "code" if tests else "math"
        truth, chain = self._truth(cells.truths, choices, reply) if tests is None else (None, None)
        for text in (truth, solution, chain, tests, *(choices or ())):
            if text:
                _check_text(text)
        return {
            "key": problem_key(prompt, kind, choices),
            "prompt": prompt,
            "ground_truth": truth,
            "kind": kind,
            "choices": choices,
            "tests": tests,
            "solution": solution or chain,
            "source": self._source,
            "source_row": source_row,
            "also_in": None,
            "extra": self._extra(record),
            "drop_reason": None,
            "drop_detail": None,
        }

    def _prompt(self, values: Sequence[Any]) -> tuple[str, str | None]:  # Any: cells of a source, here and below
        """The problem's text and, if it is a conversation, the model's reply."""
        *before, value = values
        reply = None
        if value is None:
            raise Unusable("no_prompt", "null")
        if isinstance(value, list):
            value, reply = _turns(value)
        texts = [*before, value]
        if wrong := [text for text in texts if not isinstance(text, str | None)]:
            raise Unusable("wrong_type", f"the prompt is {type(wrong[0]).__name__}: {str(wrong[0])[:100]}")
        prompt = "\n\n".join(text.strip() for text in texts if text and text.strip())
        if not prompt:
            raise Unusable("no_prompt", "empty")
        num_bytes = _check_text(prompt)
        if num_bytes > self._max:
            raise Unusable("too_large", f"the prompt has {num_bytes} bytes, over {self._max}")
        return prompt, reply

    def _truth(
        self, values: Iterable[Any], choices: list[str] | None, reply: str | None
    ) -> tuple[str | None, str | None]:
        """The ground truth, and the longer text that it was extracted from."""
        for value, is_working in zip(values, self._is_working, strict=False):
            if (text := text_of(value)) is None:
                continue
            if choices:
                return letter_of(value, choices, self._first_index), None
            answer, is_marked = answer_in(text)
            if is_marked:
                return answer, text
            if not is_working or is_value(text):
                return answer, None
        if reply is not None:
            answer, is_marked = answer_in(reply)
            return (answer if is_marked else None), None
        return None, None

    def _tests(self, record: Record, values: Sequence[Any]) -> str | None:
        """The tests of a code problem in the format of `curate.verify`; not converted if their shape is unknown."""
        found = [value for value in values if value not in (None, "", [], {})]
        if not found:
            return None
        # a column that the user names holds tests, whatever its name
        known = tests_from_row(record) or tests_from_row({**record, "tests": found[0]})
        if known is not None or not self._are_tests:
            return known
        whole = found[0] if len(found) == 1 else found
        return whole if isinstance(whole, str) else _json(whole)

    def _extra(self, record: Record) -> str:
        rest = {name: value for name, value in record.items() if name not in self._read}
        if not rest:
            return "{}"
        text = _json(rest)
        # half a surrogate pair in an unread column does not drop the problem
        return text if text.isascii() or not _SURROGATE.search(text) else json.dumps(rest, default=str, sort_keys=True)


def _turns(messages: list[Any]) -> tuple[Any, str | None]:  # Any: the content of a message
    """The last user message of a conversation, and the model's reply to it."""
    turns = [turn for message in messages if isinstance(message, Mapping) for turn in _turns_in(message)]
    if messages and not turns:
        raise Unusable("wrong_type", f"the prompt is list: {str(messages)[:100]}")
    users = [place for place, (role, _) in enumerate(turns) if role in USER]
    if not users:
        raise Unusable("no_prompt", "a conversation in which no user speaks")
    replies = [content for role, content in turns[users[-1] + 1 :] if role in MODEL and isinstance(content, str)]
    content = turns[users[-1]][1]
    if isinstance(content, list):  # parts of a multi-modal message
        content = "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return content, replies[-1] if replies else None


def _turns_in(message: Mapping[str, Any]) -> list[tuple[Any, Any]]:  # Any: cells of a source
    """Role and content of each turn in one entry of a conversation; a question with its reply is two turns."""
    if "role" not in message and "from" not in message and "input" in message:
        return [("user", message["input"]), ("assistant", message.get("output"))]
    return [(message.get("role", message.get("from")), message.get("content", message.get("value")))]


def _solution(values: Iterable[Any], prompt: str) -> str | None:  # Any: cells of a source
    for cell in values:
        value = cell
        if isinstance(value, Mapping) and isinstance(value.get("solution"), list):
            value = _in_python(value["solution"], value.get("language"))
        if isinstance(value, list):
            value = _reply(value) if value else None
        if isinstance(value, str) and value.lstrip("\r\n")[:1] in (" ", "\t") and "def " in prompt:
            return prompt + "\n" + value.rstrip()  # the body of the function that the prompt begins
        if (text := text_of(value)) is not None and text.lower().rstrip(".") not in _NOTHING:
            return text
    return None


_PYTHON3: Final = 3  # code_contests' number for it


def _in_python(programs: list[Any], languages: Any) -> list[Any]:  # Any: cells of a source
    """The programs in Python 3 if a list gives their languages; else all of them."""
    if not isinstance(languages, list) or len(languages) != len(programs):
        return programs
    return [program for program, language in zip(programs, languages, strict=True) if language == _PYTHON3]


def _reply(values: list[Any]) -> Any:  # Any: cells of a source
    """The first of several solutions; for a conversation, the model's last reply."""
    if isinstance(values[0], Mapping) and ("role" in values[0] or "from" in values[0]):
        try:
            return _turns(values)[1]
        except Unusable:
            return None
    return values[0]


def _check_text(text: str) -> int:
    """The length of a text in bytes; raises `Unusable` for characters that file formats or tokenizers reject."""
    if "\0" in text:
        raise Unusable("nul_bytes", text[:100].replace("\0", "\\0"))
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise Unusable("invalid_utf8", f"character {error.start}: {text[error.start]!a}") from None


_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, default=str, sort_keys=True)  # `dumps` creates one per call


def _json(value: Any) -> str:  # Any: cells of a source
    return _ENCODER.encode(value)
