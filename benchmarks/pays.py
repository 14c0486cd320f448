"""Does measuring and drawing pay? Accuracy against rollouts, tokens and processor time, measuring included.

python benchmarks/pays.py POOL --model MODEL [--out runs/pays] [--seeds 1] [--steps 80] [--arms raw,kept,gradus]

POOL holds pool.jsonl and benchmark.jsonl, without problems in common; MODEL is the start of every run. The pool is
measured once with 8 samples a problem, all of them counted. Each arm and seed is a run in a folder of its own; finished
runs, measurements and evaluations are reused, so a stopped study resumes. --report makes no run; with --docs the
figures go into docs/learning.md and docs/learning.png.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl
from learning import ROOT, gradus, insert, interval, solved, spread

from curate.artifacts.artifact import open_artifact

PLAIN: Final = {"policy": "uniform", "rule": "none"}
GAIN: Final = 0.1


class Arm(NamedTuple):
    """A way to draw: the problems it trains on, and the settings of its run."""

    label: str
    stage: str  # ingest: nothing measured; measured: all, with counts; band: solved in 1 to 7 of 8 samples
    curriculum: dict[str, str]
    words: tuple[str, ...] = ()
    colour: str = "#888888"


ARMS: Final = {
    "raw": Arm("TRL alone: raw pool, uniform", "ingest", PLAIN, colour="#4477aa"),
    "refill": Arm("the same with DAPO's refill", "ingest", PLAIN, ("--refill-rounds", "3"), "#66ccee"),
    "kept": Arm("kept 1..7 of 8, uniform", "band", PLAIN, colour="#ccbb44"),
    "gradus": Arm("Gradus by default", "measured", {}, colour="#228833"),
    "unmeasured": Arm("Gradus, nothing measured", "ingest", {}, colour="#aa3377"),
}


class Study(NamedTuple):
    """What all runs have in common."""

    pool: Path
    model: Path
    out: Path
    seeds: int
    steps: int
    every: int
    samples: int
    max_tokens: int
    learning_rate: float
    arms: tuple[str, ...]

    def folder(self, arm: str, seed: int) -> Path:
        """Where a run lies."""
        return self.out / f"{arm}-{seed}"

    def evaluation(self, arm: str, seed: int, step: int) -> Path:
        """Where the evaluation after a step lies; step 0 is the start, which all arms share."""
        return self.out / "evaluations" / (f"{arm}-{seed}-{step}" if step else "start")

    @property
    def checkpoints(self) -> range:
        """The steps that are evaluated."""
        return range(self.every, self.steps + 1, self.every)


class Cost(NamedTuple):
    """What was spent: completions, their tokens, and seconds of processor time (NaN where it was not recorded)."""

    rollouts: float
    tokens: float
    seconds: float


class Curve(NamedTuple):
    """One run: accuracies at the start and at each checkpoint, what each had cost, and each draw's share lost."""

    accuracies: list[float]
    costs: list[Cost]
    measuring: Cost
    no_signal: list[float]


def main() -> None:
    """Make what is missing, then print the tables and draw the picture."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pool", type=Path)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=ROOT / "runs" / "pays")
    for name, default in (("seeds", 1), ("steps", 80), ("every", 20), ("samples", 8), ("max-tokens", 48)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--learning-rate", type=float, default=1e-4)
    parser.add_argument("--arms", default=",".join(ARMS))
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--docs", action="store_true")
    given = vars(parser.parse_args())
    is_report, is_docs = given.pop("report"), given.pop("docs")
    study = Study(**{**given, "arms": tuple(given["arms"].split(","))})
    for seed in [] if is_report else range(study.seeds):
        for arm in study.arms:
            train(study, arm, seed)
    curves = {arm: found for arm in study.arms if (found := read_curves(study, arm))}
    if not curves:
        sys.exit(f"{study.out}: holds no finished run; run without --report")
    text = tables(study, curves)
    sys.stdout.write(text)
    docs = ROOT / "docs" if is_docs else study.out
    plot(curves, docs / "learning.png")
    if is_docs:
        insert(docs / "learning.md", text)


def train(study: Study, arm: str, seed: int) -> None:
    """Train and evaluate one run; what is finished is reused."""
    chosen, out = ARMS[arm], study.folder(arm, seed)
    if not (out / "model" / "config.json").is_file():
        timed(
            study.out / "cpu" / f"{out.name}.json",
            "train", "grpo", "--model", study.model, "--data", problems(study, chosen.stage), "--out", out,
            "--objective", "dr_grpo", "--max-steps", study.steps, "--num-problems", 16, "--group-size", 8,
            "--learning-rate", study.learning_rate, "--schedule", "constant", "--max-tokens", study.max_tokens,
            "--save-steps", 10, "--keep-checkpoints", study.steps, "--logging-steps", 10, "--seed", seed,
            "--curriculum", json.dumps({**chosen.curriculum, "seed": seed}), *chosen.words,
        )  # fmt: skip
    evaluate(study, study.model, study.evaluation(arm, seed, 0))
    for step in study.checkpoints:
        evaluate(study, out / f"checkpoint-{step}", study.evaluation(arm, seed, step))


def problems(study: Study, stage: str) -> Path:
    """The artifact of a stage, made from the pool if it is missing."""
    ingest, measured = study.pool / "ingest", study.pool / "measured"
    if not ingest.is_dir():
        gradus("curate", "ingest", study.pool / "pool.jsonl", "--out", ingest, "--licence", "Apache-2.0")
    if stage == "ingest":
        return ingest
    common = ("curate", "difficulty", ingest, "--model", study.model, "--engine", "transformers", "--k", 8,
              "--no-early-stop", "--max-tokens", study.max_tokens)  # fmt: skip
    if not measured.is_dir():
        timed(study.out / "cpu" / "measuring.json", *common, "--keep", "0..8", "--out", measured)
    if stage == "band" and not (study.pool / stage).is_dir():
        gradus(*common, "--keep", "1..7", "--out", study.pool / stage, "--samples-from", measured)
    return study.pool / stage


def evaluate(study: Study, model: Path, out: Path) -> None:
    """Evaluate a model on the benchmark, unless that is done."""
    if not (out / "results.json").is_file():
        gradus(
            "train", "evaluate", "--model", model, "--data", study.pool / "benchmark.jsonl", "--out", out,
            "--engine", "transformers", "--n", study.samples, "--max-tokens", study.max_tokens,
        )  # fmt: skip


def timed(record: Path, *words: object) -> None:
    """Run a command and add its processor time to `record`, so that a resumed run counts whole."""
    start, before = time.process_time(), json.loads(record.read_bytes())["seconds"] if record.is_file() else 0.0
    try:
        gradus(*words)
    finally:
        record.parent.mkdir(parents=True, exist_ok=True)
        record.write_text(json.dumps({"seconds": before + time.process_time() - start}), encoding="utf-8")


def read_curves(study: Study, arm: str) -> list[Curve]:
    """The runs of an arm whose last checkpoint is evaluated, by seed."""
    seeds = range(study.seeds)
    return [
        read_curve(study, arm, seed)
        for seed in seeds
        if (study.evaluation(arm, seed, study.steps) / "results.json").is_file()
    ]


def read_curve(study: Study, arm: str, seed: int) -> Curve:
    """Accuracy and cost of one run at each checkpoint; processor time is spread evenly over the steps."""
    folder, steps = study.folder(arm, seed), (0, *study.checkpoints)
    draws = [json.loads(line) for line in (folder / "draws.jsonl").read_text(encoding="utf-8").splitlines()]
    tokens = pl.concat([pl.read_parquet(file) for file in sorted((folder / "completions").glob("draw-*.parquet"))])
    seconds = recorded(study.out / "cpu" / f"{folder.name}.json")
    costs, lost = [], []
    for step in steps:
        done = [draw for draw in draws if draw["step"] <= step]
        spent = tokens.filter(pl.col("step") <= step)["num_tokens"]
        # a refilled draw's completions are counted by the draws, their tokens by the mean of those kept
        rollouts = float(sum(sum(map(sum, counts(draw))) for draw in done))
        mean = float(spent.mean() or 0.0)  # type: ignore[arg-type]
        costs.append(Cost(rollouts, rollouts * mean, seconds * step / study.steps))
    for draw in draws:
        correct, wrong, _ = counts(draw)
        lost.append(fmean(float(c == 0 or w == 0) for c, w in zip(correct, wrong, strict=True)))
    accuracies = [solved(study.evaluation(arm, seed, step)) for step in steps]
    return Curve(accuracies, costs, measuring(study, arm), lost)


def counts(draw: dict[str, Any]) -> tuple[list[int], list[int], list[int]]:
    """Correct, wrong and undecided completions of each group of a draw."""
    correct, wrong = draw["num_correct"], draw["num_wrong"]
    return correct, wrong, draw.get("num_undecided") or [0] * len(correct)


def measuring(study: Study, arm: str) -> Cost:
    """What measuring the pool had cost before an arm's first step."""
    if ARMS[arm].stage == "ingest":
        return Cost(0, 0, 0)
    samples = open_artifact(study.pool / "measured").read("samples")
    return Cost(samples.height, float(samples["num_tokens"].sum()), recorded(study.out / "cpu" / "measuring.json"))


def recorded(path: Path) -> float:
    """Seconds that a record holds; NaN without one."""
    return float(json.loads(path.read_bytes())["seconds"]) if path.is_file() else float("nan")


def tables(study: Study, curves: dict[str, list[Curve]]) -> str:
    """Accuracy and cost by arm; differences from raw by seed; rollouts to each goal."""
    start = fmean(curve.accuracies[0] for found in curves.values() for curve in found)
    head = f"{study.steps} steps, learning rate {study.learning_rate:g}; the start solves {start:.3f} of the benchmark."
    lines = [
        f"{head}\n",
        "| draws | seeds | benchmark | gain, 95% interval | no signal | rollouts | tokens | processor s | measuring |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for arm, found in curves.items():
        gains = [curve.accuracies[-1] - curve.accuracies[0] for curve in found]
        shown = (
            spread([curve.accuracies[-1] for curve in found]), interval(gains, 3),
            spread([fmean(curve.no_signal) for curve in found]), *_cost(found),
        )  # fmt: skip
        lines.append(f"| {ARMS[arm].label} | {len(found)} | {' | '.join(shown)} |")
    lines += ["", "| draws | no signal, first third of the draws | second | last |", "|---|---|---|---|"]
    for arm, found in curves.items():
        parts = [fmean(part) for part in zip(*(_thirds(curve.no_signal) for curve in found), strict=True)]
        lines.append(f"| {ARMS[arm].label} | {' | '.join(f'{part:.2f}' for part in parts)} |")
    return "\n".join([*lines, "", *reached(curves, start)]) + "\n"


def _thirds(values: Sequence[float]) -> list[float]:
    return [float(np.mean(part)) for part in np.array_split(np.asarray(values), 3)]


def _cost(found: Sequence[Curve]) -> tuple[str, str, str, str]:
    spent = [fmean(curve.costs[-1][place] for curve in found) for place in range(3)]
    before = found[0].measuring.rollouts
    seconds = "not recorded" if np.isnan(spent[2]) else f"{spent[2]:,.0f}"
    return f"{spent[0]:,.0f}", f"{spent[1]:,.0f}", seconds, f"{before:,.0f} rollouts" if before else "none"


def reached(curves: dict[str, list[Curve]], start: float) -> list[str]:
    """Rollouts until the mean curve of each arm reaches each goal, training alone and with measuring."""
    goals = {f"{ARMS[arm].label}, at its end": _end(curves[arm]) for arm in ("raw", "refill") if arm in curves}
    goals[f"the start + {GAIN:.2f}"] = start + GAIN
    heads = " | ".join(f"{name} ({goal:.3f})" for name, goal in goals.items())
    lines = [f"| rollouts to reach: training alone, with measuring | {heads} |", "|---" * (len(goals) + 1) + "|"]
    for arm, found in curves.items():
        cells = []
        for goal in goals.values():
            needed = rollouts_to(found, goal)
            whole = "not reached" if needed is None else f"{needed:,.0f}, {needed + found[0].measuring.rollouts:,.0f}"
            cells.append(whole)
        lines.append(f"| {ARMS[arm].label} | {' | '.join(cells)} |")
    return lines


def _end(found: Sequence[Curve]) -> float:
    return fmean(curve.accuracies[-1] for curve in found)


def rollouts_to(found: Sequence[Curve], goal: float) -> float | None:
    """Rollouts at which the mean accuracy of an arm's runs first is `goal`, between checkpoints by a line."""
    accuracy = [fmean(values) for values in zip(*(curve.accuracies for curve in found), strict=True)]
    spent = [fmean(cost.rollouts for cost in costs) for costs in zip(*(curve.costs for curve in found), strict=True)]
    for place in range(1, len(accuracy)):
        low, high = accuracy[place - 1 : place + 1]
        if high >= goal:
            share = (goal - low) / (high - low) if high > low else 0.0
            return spent[place - 1] + max(0.0, share) * (spent[place] - spent[place - 1])
    return None


def plot(curves: dict[str, list[Curve]], path: Path) -> None:
    """Accuracy against rollouts, tokens and processor time: solid for training alone, dotted with measuring."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, 3, sharey=True)
    for place, (axes, name) in enumerate(zip(panels, ("rollouts", "tokens", "processor seconds"), strict=True)):
        for arm, found in curves.items():
            _draw(axes, ARMS[arm], found, place)
        axes.set_xlabel(name)
    panels[0].set_ylabel("benchmark, avg@n")
    panels[0].legend(frameon=False, fontsize=8)
    figure.suptitle("Accuracy by cost: training alone (solid), with measuring (dotted); one line a seed")
    figure.savefig(path, dpi=110)


def _draw(axes: Any, arm: Arm, found: Sequence[Curve], place: int) -> None:
    for number, curve in enumerate(found):
        spent = np.array([cost[place] for cost in curve.costs])
        label = None if number else arm.label
        axes.plot(spent, curve.accuracies, color=arm.colour, marker=".", label=label)
        if curve.measuring.rollouts:
            axes.plot(spent + curve.measuring[place], curve.accuracies, color=arm.colour, linestyle=":")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
