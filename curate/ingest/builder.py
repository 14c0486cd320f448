"""Builds a row of `records.PROBLEM` from a record by the source's column map, or gives the reason why it cannot."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from curate.ingest.answers import answer_in, is_value, text_of
from curate.ingest.choices import choices_of, letter_of
from curate.ingest.columns import EMPTY, CellReader, Cells, ColumnMap, Record
from curate.ingest.conversations import IMAGE, NoUser, Turn, conversation_of, is_conversation, joined, opening
from curate.ingest.placeholders import WORD, filled, has_placeholders
from curate.records import KINDS, RULED, problem_key, transcript
from curate.tasks.task import identity_of
from curate.verify.code.called_names import parsable
from curate.verify.code.public_sets import STUBS, tests_from_row
from curate.verify.rules.rows import ruled_from_row

Problem = dict[str, Any]  # Any: the columns of `records.PROBLEM` and `records.DECISION` differ in type
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_NOTHING: Final = ("none", "n/a", "null", "nan")
_SHOWN_IMAGE: Final = re.compile(r"(?i)<image|!\[|\[im(?:g|age)|\\includegraphics|<img|data:image/")
_NUM_SHOWN: Final = 8
_MIN_MARKS: Final = 20  # characters of a prompt that is looked through for one that is no punctuation


class Unusable(Exception):  # noqa: N818  # the outcome of one row, not an error of the program
    """A record that cannot become a problem: the reason code and the evidence."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail


def _says_nothing(text: str) -> bool:
    """Whether a text is punctuation and white space alone, as "?" below a picture."""
    return all(mark.isspace() or unicodedata.category(mark).startswith("P") for mark in text)


class Builder:
    """Builds problems from a source's records.

    first_index: 1 if the source's answers count options from 1.
    system: the system text of all its conversations; it is sent to the model but is no part of the problem.
    fills: whether its prompts may hold any placeholder; if not, only `number0` is sought.
    """

    def __init__(
        self,
        columns: ColumnMap,
        source: str,
        max_prompt_bytes: int,
        first_index: int = 0,
        system: str | None = None,
        *,
        fills: bool = True,
    ) -> None:
        self._source, self._max, self._first_index, self._system = source, max_prompt_bytes, first_index, system
        self._fills, self._is_kind_stated = fills, columns.kind_is != "guessed"
        self._cells, self._has_kind = CellReader(columns).cells, columns.has_kind
        # pictures and numbers stay in `extra`
        self._read = columns.paths() - {*columns.images, *columns.numbers}
        self._sought = " or ".join("+".join(paths) for paths in columns.prompt)
        self._is_working = [path in columns.solution for path in columns.ground_truth]
        # in an answer column, only the shape identifies tests
        self._are_tests = not any("." in path or path.lower() == "ground_truth" for path in columns.tests[:1])

    def problem(self, record: Record, source_row: int) -> Problem:
        """The row for a record; raises `Unusable`."""
        cells = self._cells(record)
        prompt, turns, reply = self._asked(cells, record)
        choices = choices_of(cells.choices)
        begun = [prompt, *(str(record[stub]) for stub in STUBS if record.get(stub))]
        solution = _solution(cells.solutions, begun) or reply
        tests = self._tests(record, cells.tests)
        named = cells.kind if self._has_kind(cells.kind) else None
        first = next(cells.truths, None)
        ruled = ruled_from_row(record, first, named, is_stated=self._is_kind_stated) if tests is None else None
        kind = (
            ruled.kind if ruled else "code" if tests and named is None else "math" if named in (None, *RULED) else named
        )
        if (self._fills or WORD in prompt) and kind == "math" and has_placeholders(prompt):
            prompt, turns = _with_numbers(prompt, turns, cells.numbers)
        truth, working = ruled.ground_truth if ruled else None, None
        truths = chain((first,), cells.truths)
        if kind not in KINDS:
            # what their verifier reads stands as it is
            truth = next((_as_it_stands(value) for value in truths if value not in EMPTY), None)
        elif tests is None and ruled is None:
            truth, working = self._truth(truths, choices, reply)
        for text in (truth, solution, working, tests, *(choices or ())):
            if text:
                _check_text(text)
        return {
            "key": problem_key(prompt, kind, _told_apart(kind, tests) or choices),
            "prompt": prompt,
            "messages": json.dumps(turns, ensure_ascii=False) if turns else None,
            "ground_truth": truth,
            "kind": kind,
            "choices": choices,
            "tests": tests,
            "solution": solution or working,
            "source": self._source,
            "source_row": source_row,
            "also_in": None,
            "extra": self._extra(record),
            "drop_reason": None,
            "drop_detail": None,
        }

    def _asked(self, cells: Cells, record: Record) -> tuple[str, Sequence[Turn], str | None]:
        """The problem's text and, if it is a conversation, its turns and the model's reply in it."""
        *before, value = cells.prompt
        if value is None:
            raise Unusable("no_prompt", self._missing(record))
        turns, reply = list[Turn](), None
        if isinstance(value, list):
            turns, reply = self._turns(value, cells)
            value = turns.pop()["content"]
        elif cells.system or cells.history:
            turns = opening([], cells.system, cells.history)
        texts = [*before, value]
        if wrong := [text for text in texts if not isinstance(text, str | None)]:
            raise Unusable("wrong_type", f"the prompt is {type(wrong[0]).__name__}: {str(wrong[0])[:100]}")
        prompt = joined(texts) if before else value.strip()
        if not prompt:
            raise Unusable("no_prompt", self._missing(record))
        if len(prompt) < _MIN_MARKS and not (turns or cells.has_image) and _says_nothing(prompt):
            raise Unusable("no_prompt", f"the prompt is {prompt!r}; the problem may be in a picture that is not here")
        if cells.has_image and not _SHOWN_IMAGE.search(prompt):
            prompt = f"{IMAGE}\n{prompt}"
        if turns:
            turns.append({"role": "user", "content": prompt})
            prompt = self._transcript(turns)
        num_bytes = _check_text(prompt)
        if num_bytes > self._max:
            raise Unusable("too_large", f"the prompt has {num_bytes} bytes, over {self._max}")
        return prompt, turns, reply

    def _turns(self, value: list[Any], cells: Cells) -> tuple[list[Turn], str | None]:  # Any: a cell of a source
        try:
            found = conversation_of(value, cells.system, cells.history)
        except NoUser as error:
            raise Unusable("no_prompt", str(error)) from None
        if found is None:
            raise Unusable("wrong_type", f"the prompt is list: {str(value)[:100]}")
        return found.turns, found.reply

    def _transcript(self, turns: Sequence[Turn]) -> str:
        """The text of the turns, without a system text that is no part of the problem."""
        own = [turn for turn in turns if turn["role"] != "system" or turn["content"] != self._system]
        return transcript(own)

    def _missing(self, record: Record) -> str:
        """The evidence for a row without a prompt: what was sought, and which columns the row has."""
        names = [name for name, value in record.items() if value not in EMPTY][:_NUM_SHOWN]
        return f"nothing in {self._sought}; the row has {', '.join(map(str, names)) or 'no values'}"

    def _truth(
        self, values: Iterable[Any], choices: list[str] | None, reply: str | None
    ) -> tuple[str | None, str | None]:  # Any: cells of a source, here and below
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
        found = [value for value in values if value not in EMPTY]
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
        return (
            text if text.isascii() or not _SURROGATE.search(text) else json.dumps(rest, default=_plain, sort_keys=True)
        )


def _as_it_stands(value: Any) -> str:  # Any: a cell of a source
    return value.strip() if isinstance(value, str) else _json(value)


def _told_apart(kind: str, tests: str | None) -> list[str] | None:
    """What tells an agent's task from another one with the same instruction: the digest of its files and tests."""
    identity = identity_of(tests) if kind == "agent" and tests else None
    return [identity] if identity else None


def _with_numbers(prompt: str, turns: Sequence[Turn], numbers: Any) -> tuple[str, Sequence[Turn]]:
    """The prompt with its placeholders filled; raises `Unusable` without their numbers."""
    whole = filled(prompt, numbers) if not turns else None
    if whole is None:
        raise Unusable("placeholder", f"figures are missing: {prompt[:100]}")
    return whole, turns


def _solution(values: Iterable[Any], begun: Sequence[str]) -> str | None:
    """The reference solution. begun: texts that may begin the function of which the cell is the body."""
    for cell in values:
        value = cell
        if isinstance(value, Mapping) and isinstance(value.get("solution"), list):
            value = _in_python(value["solution"], value.get("language"))
        if isinstance(value, list):
            value = _reply(value) if value else None
        if isinstance(value, str) and value.lstrip("\r\n")[:1] in (" ", "\t") and "def " in "".join(begun):
            whole = [f"{text}\n{value.rstrip()}" for text in begun if "def " in text]
            return next(filter(parsable, whole), whole[0])
        if (text := text_of(value)) is not None and text.lower().rstrip(".") not in _NOTHING:
            return text
    return None


_PYTHON3: Final = 3  # code_contests' number for it


def _in_python(programs: list[Any], languages: Any) -> list[Any]:
    """The programs in Python 3 if a list gives their languages; else all of them."""
    if not isinstance(languages, list) or len(languages) != len(programs):
        return programs
    return [program for program, language in zip(programs, languages, strict=True) if language == _PYTHON3]


def _reply(values: list[Any]) -> Any:
    """The first of several solutions; for a conversation, the model's last reply."""
    if not is_conversation(values):
        return values[0]
    try:
        found = conversation_of(values)
    except NoUser:
        return None
    return found.reply if found is not None else None


def _check_text(text: str) -> int:
    """The length of a text in bytes; raises `Unusable` for characters that file formats or tokenizers reject."""
    if "\0" in text:
        raise Unusable("nul_bytes", text[:100].replace("\0", "\\0"))
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        raise Unusable("invalid_utf8", f"character {error.start}: {text[error.start]!a}") from None


def _plain(value: Any) -> str:
    """A value that JSON lacks, as text; of bytes, such as a picture, their number."""
    return f"<{len(value)} bytes>" if isinstance(value, bytes) else str(value)


_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, default=_plain, sort_keys=True)  # `dumps` creates one per call


def _json(value: Any) -> str:
    return _ENCODER.encode(value)
