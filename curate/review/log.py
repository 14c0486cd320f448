"""The log of people's rulings: an append-only JSONL file, one line a ruling, and the majority's decisions.

A reviewer who changes their mind appends another line; each reviewer's last line on a problem counts. Rulings are
applied by majority, so a reviewer added later can only decide what was open.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from curate.errors import UserError

Decision = Literal["keep", "drop", "fix"]


class Ruling(BaseModel):
    """One person's ruling on one problem.

    decision: `keep` it, `drop` it, or `fix` its answer, which is then `ground_truth`.
    reason: a code from the page or the reviewer's own words.
    queue: why the problem was shown; only those of the queue `audit` were drawn at random and estimate error rates.
    drop_reason: the automatic decision under review, None if the problem was kept.
    time: time of the ruling, in UTC, ISO 8601.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    reviewer: str
    decision: Decision
    reason: str = ""
    ground_truth: str | None = None
    queue: str
    drop_reason: str | None = None
    time: str

    @model_validator(mode="after")
    def _fix_has_an_answer(self) -> Ruling:
        if (self.decision == "fix") != bool((self.ground_truth or "").strip()):
            raise ValueError("a fix, and only a fix, comes with the right ground_truth")
        return self


def append_ruling(path: Path, ruling: Ruling) -> None:
    """Append a line; it is on disk when this returns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("a+b") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                # a kill tore the last line: end it, so that this one is whole
                if file.read(1) != b"\n":
                    file.write(b"\n")
            file.write(ruling.model_dump_json().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise UserError(f"{path}: cannot write the ruling ({error.strerror}); make room or name another file") from None


def read_rulings(path: Path) -> list[Ruling]:
    """All rulings in order, without torn lines, which a kill leaves; `UserError` names any other bad line."""
    try:
        lines = path.read_bytes().split(b"\n")
    except (FileNotFoundError, IsADirectoryError):
        raise UserError(f"{path}: no such file; make it with `gradus curate review`") from None
    rulings = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or not _is_whole(line):
            continue
        try:
            rulings.append(Ruling.model_validate_json(line))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "the line"
            raise UserError(
                f"{path}: line {number} is not a ruling ({where}: {first['msg']}); correct or delete it"
            ) from None
    return rulings


def latest(rulings: Iterable[Ruling]) -> dict[str, dict[str, Ruling]]:
    """By problem and reviewer, the last ruling."""
    words: dict[str, dict[str, Ruling]] = {}
    for ruling in rulings:
        words.setdefault(ruling.key, {})[ruling.reviewer] = ruling
    return words


def settled(rulings: Iterable[Ruling]) -> dict[str, Ruling]:
    """By problem, a ruling of the majority; problems without a majority are left out."""
    decided = {}
    for key, words in latest(rulings).items():
        votes = Counter((word.decision, word.ground_truth) for word in words.values())
        (winner, count), *others = votes.most_common()
        if not others or others[0][1] < count:
            decided[key] = next(word for word in words.values() if (word.decision, word.ground_truth) == winner)
    return decided


def split_keys(rulings: Sequence[Ruling]) -> list[str]:
    """The problems without a majority."""
    return sorted({ruling.key for ruling in rulings} - settled(rulings).keys())


def _is_whole(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
