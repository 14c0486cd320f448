"""`gradus curate verify`: runs the verifier over a file of pairs, so that users can test it on their own data."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final

import typer
import yaml

from curate.config import parse
from curate.errors import UserError
from curate.figures import Figures
from curate.progress import Progress
from curate.records import KINDS
from curate.verify.check import verify_many
from curate.verify.policy import Policy
from curate.verify.verdict import Item, Verdict

HELP: Final = """Check a JSONL file of answers against their ground truths, and write each row with its verdict.

A row has `completion` (a whole response), or `prediction` (a bare answer), and `ground_truth`; it may have
`question`, `tests` (for code), `source`, `kind` (math, code, agent, instructions,
json, words, puzzle, one of `--verifiers`, or any label to count by)
and `expected` (correct, wrong, true, false). The columns verdict, reason, stage and extracted are added. If rows have
`expected`, accuracy and false verdicts are printed by kind.

Example: gradus curate verify pairs.jsonl --out verdicts.jsonl
"""
_CHUNK: Final = 5_000
_EXPECTED: Final[dict[object, str]] = {"correct": "correct", "wrong": "wrong", True: "correct", False: "wrong"}

Row = dict[str, Any]  # Any: a user's JSON
Pairs = Annotated[Path, typer.Argument(help="JSONL file of pairs.", show_default=False)]
Out = Annotated[Path, typer.Option("--out", help="JSONL file to write.", show_default=False)]
Judge = Annotated[
    str | None,
    typer.Option(
        "--judge",
        help="Model for pairs that the rules leave undecided, as YAML: '{url: http://localhost:8000/v1, model: m}'. "
        "More fields: audit_rate, cache, timeout_s.",
    ),
]
Workers = Annotated[int | None, typer.Option("--workers", help="Symbolic workers; default: number of cores, up to 8.")]


def verify_file(pairs: Pairs, out: Out, config: Policy, workers: Workers = None, judge: Judge = None) -> Figures:
    """Verify all rows in order, write them, and print counts."""
    tally, kinds = Tally(), frozenset((*KINDS, *config.own_kinds))
    partial = out.with_name(out.name + ".partial")
    rows = _rows(pairs)
    try:
        with Progress("verify", None) as progress, _opened(partial) as file, _judging(judge) as review:
            while chunk := list(islice(rows, _CHUNK)):
                items = [_item(row, kinds) for row in chunk]
                verdicts = review(items, verify_many(items, policy=config, workers=workers))
                file.writelines(_written(row, verdict) for row, verdict in zip(chunk, verdicts, strict=True))
                tally.add(chunk, verdicts)
                progress.tick(len(chunk))
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)
    typer.echo(tally.report())
    return tally.figures()


@contextmanager
def _judging(judge: str | None) -> Iterator[Callable[[Sequence[Item], list[Verdict]], list[Verdict]]]:
    """The review of verdicts by the judge of a YAML config, whose counts are printed at the end; without one, no-op."""
    if judge is None:
        yield lambda _, verdicts: verdicts
        return
    from curate.verify.judge.config import JudgeConfig
    from curate.verify.judge.judge import open_judge

    try:
        values = yaml.safe_load(judge)
    except yaml.YAMLError:
        values = None
    if not isinstance(values, dict):
        raise UserError("--judge: has no fields; write '{url: http://localhost:8000/v1, model: NAME}'")
    with open_judge(parse(JudgeConfig, values, "--judge")) as opened:
        yield opened.review
        typer.echo("judge: " + ", ".join(f"{count:,} {name}" for name, count in sorted(opened.counts.items())))


def _written(row: Row, verdict: Verdict) -> str:
    added = {
        "verdict": verdict.verdict,
        "reason": verdict.reason,
        "stage": verdict.stage,
        "extracted": verdict.extracted,
    }
    return json.dumps({**row, **added}, ensure_ascii=False) + "\n"


class Tally:
    """Counts of verdicts, and of false verdicts by kind if the expected verdict is known."""

    def __init__(self) -> None:
        self._verdicts: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._by_kind: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def add(self, rows: Sequence[Row], verdicts: Sequence[Verdict]) -> None:
        """Count rows and their verdicts."""
        for row, verdict in zip(rows, verdicts, strict=True):
            self._add(row, verdict)

    def _add(self, row: Row, verdict: Verdict) -> None:
        self._verdicts[verdict.verdict] += 1
        self._reasons[f"{verdict.verdict}: {verdict.reason}"] += 1
        expected = _EXPECTED.get(row.get("expected"))
        if expected is None:
            return
        counts = self._by_kind[str(row.get("kind") or "math")]
        counts["pairs"] += 1
        counts["right"] += (verdict.verdict == "correct") == (expected == "correct")
        counts["false_positives"] += verdict.verdict == "correct" != expected
        counts["false_negatives"] += expected == "correct" != verdict.verdict
        counts["undecided"] += verdict.verdict == "undecided"

    def figures(self) -> Figures:
        """The counts, for `--json`."""
        return {
            "verdicts": dict(self._verdicts),
            "reasons": dict(self._reasons),
            "kinds": {kind: dict(counts) for kind, counts in sorted(self._by_kind.items())},
        }

    def report(self) -> str:
        """A report of one screen: verdicts, reasons, and a line per kind with its false verdicts."""
        total = sum(self._verdicts.values())
        lines = [f"{total:,} pairs: " + ", ".join(f"{n:,} {name}" for name, n in self._verdicts.most_common())]
        lines += [f"  {count:>8,}  {reason}" for reason, count in self._reasons.most_common()]
        if self._by_kind:
            lines += [
                "",
                f"{'kind':<22} {'pairs':>7} {'accuracy':>9} {'false pos':>10} {'false neg':>10} {'undecided':>10}",
            ]
            everything: Counter[str] = sum(self._by_kind.values(), Counter[str]())
            kinds = sorted(self._by_kind.items())
            lines += [_line(kind, counts) for kind, counts in (kinds if len(kinds) > 1 else [])]
            lines.append(_line("all", everything))
        return "\n".join(lines)


def _line(kind: str, counts: Counter[str]) -> str:
    accuracy = counts["right"] / counts["pairs"]
    return (
        f"{kind:<22} {counts['pairs']:>7,} {accuracy:>9.2%} {counts['false_positives']:>10,} "
        f"{counts['false_negatives']:>10,} {counts['undecided']:>10,}"
    )


def _opened(path: Path) -> Any:  # Any: a text file
    try:
        return path.open("w", encoding="utf-8")
    except OSError as error:
        raise UserError(f"--out {path.parent}: {error.strerror}; give a writable path") from None


def _rows(path: Path) -> Iterator[Row]:
    """The rows of a JSONL file; raises `UserError` with the number of a line that is no pair."""
    try:
        file = path.open(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}; give a JSONL file of pairs") from None
    with file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield _row(line, f"{path}:{number}")


def _row(line: str, where: str) -> Row:
    try:
        row = json.loads(line)
    except json.JSONDecodeError as error:
        raise UserError(f"{where}: not JSON ({error.msg}); write one object per line") from None
    if not isinstance(row, dict) or not {"completion", "prediction"} & row.keys():
        raise UserError(f"{where}: has neither completion nor prediction; add one of them")
    if "ground_truth" not in row and row.get("kind") != "code":
        raise UserError(f"{where}: has no ground_truth; add it")
    return row


def _item(row: Row, kinds: Collection[str]) -> Item:
    kind = str(row.get("kind"))
    tests = row.get("tests")
    return Item(
        completion=_text(row.get("completion", row.get("prediction"))),
        ground_truth=_text(row.get("ground_truth")),
        kind=kind if kind in kinds else "math",
        question=row.get("question"),
        tests=tests if tests is None or isinstance(tests, str) else json.dumps(tests),
        is_bare="completion" not in row,
        source=row.get("source"),
    )


def _text(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)
