"""Benchmarks while training: sampled from the weights of a step, with intervals, and the best checkpoint.

TRL's evaluation samples and judges the completions; this module groups them by problem. An evaluation is a line of
`evaluations.jsonl` for each benchmark. It draws no random number of the training, so a run has the same draws and
weights with and without it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from curate.artifacts.manifest import write_atomic
from curate.decontaminate.benchmarks import BY_NAME
from curate.engines.prompts import PromptConfig
from curate.errors import UserError
from curate.ingest.sources import sources_from
from train.data.problems import problems_of
from train.data.prompts import to_rows
from train.estimators import Estimate, average, paired_difference
from train.runs.folder import BEST, EVALUATIONS, PROBE, RunFolder

BENCHMARK: Final = "benchmark"  # the column that names a row's benchmark


class Judged(NamedTuple):
    """One completion of an evaluation: its benchmark and problem, and whether it is correct (None: undecided)."""

    benchmark: str
    key: str
    is_correct: bool | None


def benchmark_rows(data: Sequence[str], prompt: PromptConfig) -> dict[str, list[dict[str, Any]]]:
    """The problems of each benchmark as rows for TRL; raises `UserError` for one that cannot be read."""
    found = {}
    for source in sources_from(list(data), [], {}, BY_NAME):
        name = source.label()
        if name in found or name == PROBE:
            raise UserError(f"--eval-data: two benchmarks have the name {name}; rename a file")
        found[name] = [{**row, BENCHMARK: name} for row in to_rows(problems_of(source).frame, prompt)]
    return found


class Evaluation:
    """The evaluations of a run: collects judged completions, and closes each evaluation with its figures."""

    def __init__(self, run: RunFolder, n: int) -> None:
        """n: completions of a problem, of which repeated ones of an uneven last batch are left out."""
        self._run, self._n = run, n
        self._judged: list[Judged] = []

    def collect(self, judged: Sequence[Judged]) -> None:
        """Add judged completions of all processes."""
        self._judged += judged

    def close(self, step: int) -> tuple[list[str], bool]:
        """Write the figures of a step; returns lines for the terminal, and whether this is the best step so far.

        The best step has the highest mean of avg@n over the benchmarks; of equal ones the first.
        """
        problems = self._by_problem()
        self._judged = []
        if not problems:
            return [], False
        lines, values = [], []
        for name, counts in problems.items():
            before = self._first_of(name)
            figures = _figures(step, name, counts)
            self._run.append(EVALUATIONS, figures)
            values.append(figures["average"])
            lines.append(_line(figures, self._n))
            if before is not None and (warning := _lost(before, figures, self._n)) is not None:
                lines.append(warning)
        return lines, self._is_best(step, sum(values) / len(values))

    def _by_problem(self) -> dict[str, dict[str, list[bool | None]]]:
        found: dict[str, dict[str, list[bool | None]]] = {}
        for one in self._judged:
            outcomes = found.setdefault(one.benchmark, {}).setdefault(one.key, [])
            if len(outcomes) < self._n:
                outcomes.append(one.is_correct)
        return found

    def _first_of(self, name: str) -> Mapping[str, Any] | None:
        return next((line for line in self._lines() if line["benchmark"] == name), None)

    def _lines(self) -> list[dict[str, Any]]:
        path = self._run.folder / EVALUATIONS
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []

    def _is_best(self, step: int, value: float) -> bool:
        """Whether no earlier evaluation in the log was as good; then `best.json` names this step."""
        by_step: dict[int, list[float]] = {}
        for line in self._lines():
            by_step.setdefault(line["step"], []).append(line["average"])
        earlier = [sum(values) / len(values) for at, values in by_step.items() if at < step]
        if earlier and max(earlier) >= value:
            return False
        told = {"step": step, "average": value, "checkpoint": f"checkpoint-{step}" if step else None}
        write_atomic(self._run.folder / BEST, (json.dumps(told, indent=1) + "\n").encode())
        return True


def best_line(folder: Path) -> str | None:
    """The step of a run's best evaluation and where its weights are, for the terminal; None without one."""
    path = folder / BEST
    if not path.exists():
        return None
    best = json.loads(path.read_bytes())
    where = folder / best["checkpoint"] if best["checkpoint"] else "the start: no step was better"
    return f"best evaluation: step {best['step']}, {best['average']:.3f}, {where}"


def _figures(step: int, name: str, counts: Mapping[str, Sequence[bool | None]]) -> dict[str, Any]:
    """avg@n with its interval, pass@n, and the counts by problem, in order of their keys."""
    known = {key: [value for value in outcomes if value is not None] for key, outcomes in sorted(counts.items())}
    rates = [sum(values) / len(values) for values in known.values() if values]
    undecided = sum(value is None for outcomes in counts.values() for value in outcomes)
    estimate = average(rates) if rates else Estimate(0.0, 0.0, 1.0)
    return {
        "step": step,
        "benchmark": name,
        "average": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "pass_at_n": sum(any(values) for values in known.values()) / len(known),
        "num_undecided": undecided,
        "num_correct": {key: sum(values) for key, values in known.items()},
        "num_judged": {key: len(values) for key, values in known.items()},
    }


def _line(figures: Mapping[str, Any], n: int) -> str:
    interval = f"[{figures['low']:.3f}, {figures['high']:.3f}]"
    shown = f"avg@{n} {figures['average']:.3f} {interval}  pass@{n} {figures['pass_at_n']:.3f}"
    return f"step {figures['step']}  {figures['benchmark']}  {shown}"


def _lost(before: Mapping[str, Any], now: Mapping[str, Any], n: int) -> str | None:
    """A warning where problems that the start solved at least once are solved no more, beyond chance."""
    keys = [key for key in now["num_correct"] if key in before["num_correct"]]
    first, last = ([float(line["num_correct"][key] > 0) for key in keys] for line in (before, now))
    if len(keys) < 2 or (change := paired_difference(first, last)).high >= 0:
        return None
    return (
        f"warning: {now['benchmark']}: pass@{n} is {change.value:+.3f} [{change.low:+.3f}, {change.high:+.3f}] against "
        f"step {before['step']}: the model solves fewer problems at all; a lower learning rate may help"
    )
