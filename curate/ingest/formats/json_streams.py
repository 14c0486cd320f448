"""Reads JSON values of a text of any size one at a time, through a moving window: an array, or values in a row."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

from curate.ingest.formats.rows import DECODER, Row, excerpt, has_bad_bytes, opened, rows_of

BLOCK_CHARS: Final = 1 << 20
# inside an object: the first array of objects that is not metadata
_FIRST_ARRAY: Final = re.compile(
    r"\s*\[|\s*\{(?s:.*?)\"(?!(?:features|schema|fields|columns|authors|licenses)\")[^\"]*\"\s*:\s*\[(?=\s*[\{\[])"
)
_ANOTHER_ARRAY: Final = re.compile(r"\s*,\s*\"[^\"]{1,100}\"\s*:\s*\[(?=\s*\{)")
_BETWEEN: Final = re.compile(r"[\s,]*")
_NEXT: Final = re.compile(r"\}\s*,\s*(?=\{)")
_NEXT_LINE: Final = re.compile(r"[\r\n]\s*(?=\{)")
_NEAR_END: Final = 8  # characters: room for an escape or a word that is cut in two
_AHEAD: Final = 4096  # characters in which another array begins


class _Window:
    """The part of a text in memory, with the reading position and its line number."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = io.TextIOWrapper(file, "utf-8-sig", errors="surrogateescape")
        self.text, self.at, self.line = "", 0, 1

    def more(self) -> bool:
        """Drop what was read and read another block; False at the end of the file."""
        block = self._file.read(BLOCK_CHARS)
        self.text, self.at = self.text[self.at :] + block, 0
        return bool(block)

    def move(self, at: int) -> None:
        """Advance to a later position in `text`."""
        self.line += self.text.count("\n", self.at, at)
        self.at = at

    def find(self, pattern: re.Pattern[str], keep: int) -> bool:
        """Advance past the next match, reading more until there is one; keep `keep` characters of skipped text."""
        while not (match := pattern.search(self.text, self.at)):
            self.move(max(self.at, len(self.text) - keep))
            if not self.more():
                return False
        self.move(match.end())
        return True

    def is_at_end(self) -> bool:
        """Advance past blanks and commas; whether the text ends there."""
        while True:
            self.move(_BETWEEN.match(self.text, self.at).end())  # type: ignore[union-attr]  # matches the empty text
            if self.at < len(self.text):
                return False
            if not self.more():
                return True


def read_array(path: Path, name: str, max_bytes: int, encoding: str) -> Iterator[Row]:
    """Records of the file's first array of objects, and of the ones beside it, decoded from a moving window."""
    with opened(path, encoding) as file:
        window = _Window(file)
        window.more()
        if not (match := _FIRST_ARRAY.match(window.text)):
            yield Row(f"{name}:1", None, "broken_json", "holds no array of objects")
            return
        window.move(match.end())
        while True:
            if window.is_at_end():
                yield Row(f"{name}:{window.line}", None, "broken_json", "the array does not end")
                return
            if window.text[window.at] != "]":
                yield from _next_record(window, name, max_bytes, _NEXT)
                continue
            if len(window.text) - window.at < _AHEAD:
                window.more()
            if not (another := _ANOTHER_ARRAY.match(window.text, window.at + 1)):
                return
            window.move(another.end())


def read_values(path: Path, name: str, max_bytes: int, encoding: str) -> Iterator[Row]:
    """Records that follow one another, each on as many lines as it takes."""
    with opened(path, encoding) as file:
        window = _Window(file)
        while not window.is_at_end():
            yield from _next_record(window, name, max_bytes, _NEXT_LINE)


def _next_record(window: _Window, name: str, max_bytes: int, following: re.Pattern[str]) -> Iterator[Row]:
    """The record at the window's position; nothing if more text must be read first."""
    place = f"{name}:{window.line}"
    try:
        record, end = DECODER.raw_decode(window.text, window.at)
    except (ValueError, RecursionError) as error:
        is_cut = isinstance(error, json.JSONDecodeError) and (
            error.msg.startswith("Unterminated") or error.pos >= len(window.text) - _NEAR_END
        )
        is_large = len(window.text) - window.at > max_bytes
        if is_cut and not is_large and window.more():
            return
        reason, detail = (
            ("too_large", f"over {max_bytes} bytes") if is_cut and is_large else ("broken_json", f"{error}")
        )
        yield Row(place, None, reason, detail)
        if not window.find(following, keep=BLOCK_CHARS // 16):
            window.move(len(window.text))
        return
    text = window.text[window.at : end]
    window.move(end)
    if has_bad_bytes(text):
        yield Row(place, None, "invalid_utf8", excerpt(text.encode("utf-8", "surrogateescape")))
    else:
        yield from rows_of(place, record)
