r"""Maps a source's columns to the fields of a problem: guessed from its first rows, or stated by the user.

`guess` knows the shapes of public pools: question/answer, problem/solution, messages,
`reward_model.ground_truth`, lists and tables of options, code with tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from curate.config import nearest
from curate.errors import UserError
from curate.ingest.columns import ColumnMap, Record, cell, is_in
from curate.records import KINDS
from curate.verify.code.tests_format import tests_from_row

FIELDS: Final = ("prompt", "ground_truth", "kind", "choices", "tests", "solution")

# The first of these that a source has is read; `a+b` are joined, without `a` if it is null.
_PROMPT: Final = (
    "prompt", "problem", "question.stem", "question", "question_stem", "messages", "conversations", "conversation",
    "query", "instruction+input", "instruction", "informal_statement", "nl_statement", "problem_statement",
    "question_content", "statement", "题目", "问题", "题干", "original_text", "input", "inputs", "text", "content",
    "items", "0.value", "ques", "q", "ctx", "description", "task",
)  # fmt: skip
_BEFORE_PROMPT: Final = ("context", "passage", "premise", "body", "article")
_TRUTH: Final = (
    "ground_truth", "reward_model.ground_truth", "verification_info.ground_truth", "final_answer", "expected_answer",
    "gold_answer", "reference_answer", "answer", "answers", "answer_value", "correct_answer", "golden", "gold", "gt",
    "target", "targets", "extra_info.answer", "extra_info.ground_truth", "1.ground_truth", "output_answer", "答案",
    "参考答案", "标准答案", "ans",
)  # fmt: skip
_LETTER: Final = (
    "answerkey", "answer_key", "correct", "label", "choice_answer", "answer_idx", "answer_index", "correct_option",
    "cop",
)  # fmt: skip
_SOLUTION: Final = (
    "solution", "canonical_solution", "code", "solutions", "gold_standard_solution", "rationale", "gt_cot",
    "answer_analysis", "explanation", "informal_solution", "nl_proof", "reasoning", "chain_of_thought", "cot",
    "generated_solution", "response", "output", "completion", "chosen", "解析", "解答", "exp",
)  # fmt: skip
_CHOICES: Final = ("choices", "options", "answer_option_list", "option_list", "question.choices", "endings", "选项")
# a column for each option: option_a, option1, choiceA, opa; single letters only if A to D are there
_OPTION_COLUMN: Final = re.compile(r"(?P<name>(?:option|choice|opt|op)[_ ]?|)(?P<label>[a-j]|[0-9])")
_MIN_LETTERS: Final = 4
_TESTS: Final = (
    "tests", "test_list", "test_cases", "input_output", "unit_tests", "public_test_cases", "public_tests",
    "private_test_cases", "official_tests", "verification_info.test_cases", "test",
)  # fmt: skip


def guess(records: Sequence[Record], stated: Mapping[str, str], where: str) -> ColumnMap:
    """The column map of a source with these first records: `stated` fields unchanged, the others guessed.

    Raises `UserError` if a stated field or column does not exist, or no column looks like the problem.
    """
    columns = _Columns(records)
    chosen = {field: _stated(field, value, columns, where) for field, value in stated.items()}
    columns.take(column for value in chosen.values() for column in value)
    prompt = chosen.get("prompt") or columns.first(_PROMPT)
    if not prompt:
        raise UserError(
            f"{where}: no column looks like the problem (columns: {', '.join(_with_fields(records)) or 'none'}); "
            + ("is the first line a header? " if _look_like_a_row(columns.names) else "")
            + "name it with --map prompt=COLUMN"
        )
    columns.take(prompt)
    if "prompt" not in chosen:
        prompt = (*columns.first(_BEFORE_PROMPT), *prompt)
    tests = chosen.get("tests") or columns.first(_TESTS)
    choices = chosen.get("choices") or columns.first(_CHOICES) or columns.options()
    columns.take((*prompt, *tests, *choices))
    truth = chosen.get("ground_truth") or columns.all(_TRUTH) or _weak_truth(columns, prompt)
    if not tests and any(tests_from_row(record) for record in records):
        # tests in an answer column, as in `reward_model.ground_truth`
        tests = truth[:1]
    if not tests and "ground_truth" not in chosen and (choices or not truth):
        truth = (*truth, *columns.all(_LETTER))
    columns.take(truth)
    solution = chosen.get("solution") or columns.all(_SOLUTION)
    kind = chosen.get("kind") or columns.first(("kind",))
    return ColumnMap(
        prompt=prompt,
        # without an answer column, the answer that a solution marks
        ground_truth=truth or (() if tests else solution),
        kind=kind[0] if kind else None,
        choices=choices,
        tests=tests,
        solution=solution,
    )


def _with_fields(records: Sequence[Record]) -> list[str]:
    """The columns' names; for a column of tables, the paths of its fields, as `--map` accepts them."""
    names = [
        path
        for record in records
        for name, value in record.items()
        for path in ([f"{name}.{field}" for field in value] if isinstance(value, Mapping) and value else [name])
    ]
    return list(dict.fromkeys(names))


def _look_like_a_row(names: Sequence[str]) -> bool:
    return any(name.strip().isdecimal() or "?" in name or len(name) > 60 for name in names)


def _weak_truth(columns: _Columns, prompt: tuple[str, ...]) -> tuple[str, ...]:
    """Columns that hold the answer only if no other does: `a` beside `q`, a `reference` that is not a citation."""
    if prompt[-1].lower() == "q":
        return columns.first(("a",))
    return () if columns.all(_SOLUTION) else columns.first(("reference",))


class _Columns:
    """The columns of a source's first records, and which of them are assigned."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records
        self.names = list(dict.fromkeys(column for record in records for column in record))
        # `Correct Answer` is `correct_answer`
        self._by_lower = {name.lower().replace(" ", "_"): name for name in reversed(self.names)}
        self._taken: set[str] = set()

    def take(self, paths: Iterable[str]) -> None:
        """Mark columns as assigned to a field, so that no other field is guessed from them."""
        self._taken |= set(paths)

    def first(self, candidates: Sequence[str]) -> tuple[str, ...]:
        """The first candidate with a value in the source, as its columns; `a+b` needs all of them."""
        for candidate in candidates:
            paths = [self._find(path) for path in candidate.split("+")]
            found = tuple(path for path in paths if path is not None)
            if len(found) == len(paths) and any(self._has_value(path) for path in found):
                return found
        return ()

    def all(self, candidates: Sequence[str]) -> tuple[str, ...]:
        """Every candidate with a value in the source, in the order of the candidates."""
        return tuple(found for candidate in candidates for found in self.first((candidate,)))

    def options(self) -> tuple[str, ...]:
        """The longest run of columns that hold one option each."""
        families: dict[str, list[str]] = {}
        for name in sorted(self._by_lower):
            if (match := _OPTION_COLUMN.fullmatch(name)) and self._by_lower[name] not in self._taken:
                families.setdefault(match["name"] + ("" if match["label"].isalpha() else "#"), []).append(name)
        rows = [_unbroken(names) for name, names in families.items() if name != "#"]
        best = max(rows, key=len, default=[])
        least = 2 if best and len(best[0]) > 1 else _MIN_LETTERS
        return tuple(self._by_lower[name] for name in best) if len(best) >= least else ()

    def has(self, path: str) -> bool:
        """Whether any record has a column, or a field inside one (`reward_model.ground_truth`)."""
        return any(is_in(record, path) for record in self._records)

    def _find(self, candidate: str) -> str | None:
        head, dot, rest = candidate.partition(".")
        if not self._by_lower.get(head):  # also None for the nameless column of an index
            return None
        path = self._by_lower[head] + dot + rest
        return path if path not in self._taken and self.has(path) else None

    def _has_value(self, path: str) -> bool:
        return any(cell(record, path) not in (None, "", [], {}) for record in self._records)


def _unbroken(names: Sequence[str]) -> list[str]:
    """The names up to the first gap: option_a, option_b of option_a, option_b, option_d."""
    if names[0][-1] not in "a01":
        return []
    steps = [ord(name[-1]) - ord(names[0][-1]) for name in names]
    return [name for place, (name, step) in enumerate(zip(names, steps, strict=True)) if place == step]


def _stated(field: str, value: str, columns: _Columns, where: str) -> tuple[str, ...]:
    if field not in FIELDS:
        raise UserError(f"{where}: map.{field} is no field of a problem; {nearest(field, list(FIELDS))}")
    if field == "kind" and value in KINDS:
        return (value,)
    paths = tuple(path.strip() for path in value.split("+"))
    for path in paths:
        if not columns.has(path):
            raise UserError(f"{where}: map.{field} is {path!r}, which is no column; {nearest(path, columns.names)}")
    return paths
