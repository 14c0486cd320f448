"""Does it pay? Accuracy against rollouts, tokens and processor time of nine ways to draw, measuring included.

python benchmarks/pays.py --pool FOLDER --model MODEL [--out runs/pays] [--seeds 0 1 2] [--steps 80] [--arms raw band]

FOLDER holds pool.jsonl and benchmark.jsonl; MODEL is the model that every run starts from (for the demo's pools its
cold start, demo/run/cold_start/model). Arms:

    raw      uniform draws from the raw pool: GRPO as it is
    refill   the same, and groups without a signal are replaced (DAPO's dynamic sampling, arXiv 2503.14476)
    band     uniform draws from what `gradus curate difficulty` keeps
    gradus   the same problems, drawn by the default curriculum
    open     problems that are never solved stay too (--keep 0..7, all 8 samples), default curriculum
    online   the raw pool, unmeasured, drawn by the default curriculum, which learns from its own visits
    quick    as gradus, measured with 3 samples in place of 8
    screen   as refill, with the first 3 completions of a problem before the others (SPEED-RL, arXiv 2506.09016)
    sieve    as online, screened in the same way

Every run has the same steps, objective, learning rate and completions a step; a rollout is one completion, also one
that refill throws away or that measuring drew. A finished part is not repeated, so a stopped study resumes; several
processes may share --out if their seeds differ. With --docs the tables go into docs/learning.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any, Final, NamedTuple

from seeds import insert, interval, spread

ROOT = Path(__file__).resolve().parents[1]
GROUP: Final = 8
NUM_PROBLEMS: Final = 16
EVERY: Final = 10
GAIN: Final = 0.10


class Arm(NamedTuple):
    """The stage whose problems a run trains on, and its settings."""

    stage: str
    settings: tuple[str, ...]
    colour: str


# without a curriculum every problem is always equally likely
ALIKE: Final = ("--curriculum.policy", "uniform", "--curriculum.rule", "none")
ARMS: Final = {
    "raw": Arm("ingest", ALIKE, "#aa3377"),
    "refill": Arm("ingest", (*ALIKE, "--refill-rounds", "3"), "#ccbb44"),
    "band": Arm("band", ALIKE, "#4477aa"),
    "gradus": Arm("band", (), "#228833"),
    "open": Arm("open", (), "#66ccee"),
    "online": Arm("ingest", (), "#ee6677"),
    "quick": Arm("quick", (), "#bbbbbb"),
    "screen": Arm("ingest", (*ALIKE, "--refill-rounds", "3", "--screen", "3"), "#009988"),
    "sieve": Arm("ingest", ("--refill-rounds", "3", "--screen", "3"), "#222255"),
}
MEASURED: Final = {"band": (), "open": ("--keep", "0..7", "--no-early-stop"), "quick": ("--k", "3", "--keep", "1..2")}


class Point(NamedTuple):
    """What was spent up to a checkpoint, and the benchmark there."""

    step: int
    rollouts: float
    tokens: float
    cpu_s: float
    solved: float
    pass_at_n: float


class Study(NamedTuple):
    """Inputs, folder of results, and what a run is."""

    pool: Path
    model: Path
    out: Path
    steps: int
    rate: float
    samples: int
    max_tokens: int


def main() -> None:
    """Make the missing runs, then print the figures of all."""
    given = _arguments()
    if given.pool is None or not (given.pool / "pool.jsonl").is_file() or not (given.model / "config.json").is_file():
        print("pays: skipped; give --pool with pool.jsonl and benchmark.jsonl, and --model (see the docstring)")
        return
    study = Study(given.pool, given.model, given.out, given.steps, given.learning_rate, given.n, given.max_tokens)
    for seed in [] if given.report else given.seeds:
        for arm in given.arms:
            prepare(study, ARMS[arm].stage)
            train(study, arm, seed)
    curves = {
        arm: [points(study, arm, seed) for seed in given.seeds if is_done(study, arm, seed)] for arm in given.arms
    }
    if not any(curves.values()):
        sys.exit(f"{study.out}: no run is finished yet")
    text = tables(study, curves)
    sys.stdout.write(text)
    plot(study, curves, (ROOT / "docs" if given.docs else study.out) / f"pays-{given.name}.png")
    if given.docs:
        insert(ROOT / "docs" / "learning.md", f"pays-{given.name}", text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--pool", type=Path, help="folder with pool.jsonl and benchmark.jsonl")
    parser.add_argument("--model", type=Path, default=ROOT / "demo" / "run" / "cold_start" / "model")
    parser.add_argument("--out", type=Path, default=ROOT / "runs" / "pays", help="folder of the runs")
    parser.add_argument("--name", default="wide", help="name of the pool, in the docs")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--arms", nargs="+", choices=ARMS, default=list(ARMS))
    parser.add_argument("--steps", type=int, default=80)
    parser.add_argument("--learning-rate", type=float, default=1e-4)
    parser.add_argument("--n", type=int, default=4, help="samples of a benchmark problem at each checkpoint")
    parser.add_argument("--max-tokens", type=int, default=48)
    parser.add_argument("--docs", action="store_true", help="write into docs/learning.md")
    parser.add_argument("--report", action="store_true", help="make no run, only report")
    return parser.parse_args()


def prepare(study: Study, stage: str) -> None:
    """Import the pool and measure it, with the processor time of measuring beside the artifact."""
    if not (study.out / "ingest" / "manifest.json").is_file():
        gradus("curate", "ingest", study.pool / "pool.jsonl", "--out", study.out / "ingest", "--licence", "unknown")
    spent = study.out / f"{stage}.json"
    if stage in MEASURED and not spent.is_file():
        start = time.process_time()
        gradus(
            "curate", "difficulty", study.out / "ingest", "--out", study.out / stage, "--model", study.model,
            "--engine", "transformers", "--max-tokens", study.max_tokens, *MEASURED[stage],
        )  # fmt: skip
        facts = json.loads((study.out / stage / "manifest.json").read_bytes())["facts"]
        told = {"rollouts": facts["samples"], "tokens": facts["tokens"], "cpu_s": time.process_time() - start}
        spent.write_text(json.dumps(told), encoding="utf-8")


def train(study: Study, arm: str, seed: int) -> None:
    """Train one run and evaluate its checkpoints; what is done is reused."""
    out = folder(study, arm, seed)
    if not (out / "cpu.json").is_file():
        start = time.process_time()
        gradus(
            "train", "grpo", "--model", study.model, "--data", study.out / ARMS[arm].stage, "--out", out,
            "--objective", "dr_grpo", "--max-steps", study.steps, "--num-problems", NUM_PROBLEMS, "--group-size", GROUP,
            "--max-tokens", study.max_tokens, "--learning-rate", study.rate, "--schedule", "constant",
            "--save-steps", EVERY, "--saving.keep-checkpoints", study.steps, "--logging-steps", 1,
            "--no-save-completions", "--seed", seed, "--curriculum.seed", seed, *ARMS[arm].settings,
        )  # fmt: skip
        (out / "cpu.json").write_text(json.dumps(time.process_time() - start), encoding="utf-8")
    for step in range(EVERY, study.steps + 1, EVERY):
        evaluate(study, out / f"checkpoint-{step}", out / "evaluations" / str(step), seed)
    evaluate(study, study.model, study.out / "start" / str(seed), seed)


def evaluate(study: Study, model: Path, out: Path, seed: int) -> None:
    """Sample the benchmark from a model."""
    if not (out / "results.json").is_file():
        gradus(
            "train", "evaluate", "--model", model, "--data", study.pool / "benchmark.jsonl", "--out", out, "--engine",
            "transformers", "--n", study.samples, "--max-tokens", study.max_tokens, "--seed", seed,
        )  # fmt: skip


def folder(study: Study, arm: str, seed: int) -> Path:
    """The folder of a run."""
    return study.out / f"{study.rate:g}-{study.steps}" / f"{arm}-{seed}"


def is_done(study: Study, arm: str, seed: int) -> bool:
    """Whether a run and its last evaluation exist."""
    return (folder(study, arm, seed) / "evaluations" / str(study.steps) / "results.json").is_file()


def gradus(*words: object) -> None:
    """Run a command in this process, so that the model libraries are imported only once."""
    from gradus.door import app

    print(f"$ gradus {' '.join(map(str, words))}", file=sys.stderr, flush=True)
    with redirect_stdout(sys.stderr):
        app([str(word) for word in words], standalone_mode=False)


def points(study: Study, arm: str, seed: int) -> list[Point]:
    """The curve of one run, from the start model on; measuring comes before its first point."""
    out, stage = folder(study, arm, seed), ARMS[arm].stage
    none = {"rollouts": 0, "tokens": 0, "cpu_s": 0.0}
    spent = json.loads((study.out / f"{stage}.json").read_bytes()) if stage in MEASURED else none
    draws = _lines(out / "draws.jsonl")
    lengths = {line["step"]: line["completions/mean_length"] for line in _lines(out / "log.jsonl") if "loss" in line}
    seconds = json.loads((out / "cpu.json").read_bytes())
    found = [Point(0, 0, 0, 0, *solved(study.out / "start" / str(seed)))]
    if spent["rollouts"]:
        found.append(Point(0, spent["rollouts"], spent["tokens"], spent["cpu_s"], *found[0][4:]))
    for step in range(EVERY, study.steps + 1, EVERY):
        up_to = [(line["step"], _completions(line)) for line in draws if line["step"] <= step]
        rollouts = sum(number for _, number in up_to)
        tokens = sum(number * lengths.get(at, 0) for at, number in up_to)
        share = step / study.steps
        found.append(
            Point(
                step, spent["rollouts"] + rollouts, spent["tokens"] + tokens, spent["cpu_s"] + share * seconds,
                *solved(out / "evaluations" / str(step)),
            )
        )  # fmt: skip
    return found


def _completions(draw: dict[str, Any]) -> int:
    return sum(sum(draw[name]) for name in ("num_correct", "num_wrong", "num_undecided"))


def silent(study: Study, arm: str, seed: int, steps: range) -> float:
    """The share of drawn groups without a signal in a window of steps."""
    groups = [
        bool(right) and bool(wrong)
        for line in _lines(folder(study, arm, seed) / "draws.jsonl")
        if line["step"] in steps
        for right, wrong in zip(line["num_correct"], line["num_wrong"], strict=True)
    ]
    return 1 - fmean(groups)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def solved(out: Path) -> tuple[float, float]:
    """avg@n and pass@n of an evaluation's one benchmark."""
    (benchmark,) = json.loads((out / "results.json").read_bytes())["benchmarks"].values()
    return float(benchmark["average"]["value"]), float(
        max(benchmark["pass_at_k"].items(), key=lambda at: int(at[0]))[1]
    )


def first_over(curve: Sequence[Point], level: float, field: str) -> float | None:
    """What was spent when the accuracy first reached a level, between checkpoints by a straight line; None if never."""
    for before, after in pairwise(curve):
        if after.solved >= level > before.solved:
            part = (level - before.solved) / (after.solved - before.solved)
            return float(getattr(before, field) + part * (getattr(after, field) - getattr(before, field)))
    return None


def tables(study: Study, curves: dict[str, list[list[Point]]]) -> str:
    """The end of every arm, and what each spends to reach the levels of raw and refill."""
    curves = {arm: runs for arm, runs in curves.items() if runs}
    start = fmean(run[0].solved for runs in curves.values() for run in runs)
    told = f"{max(map(len, curves.values()))} seeds, {study.steps} steps at a learning rate of {study.rate:g}"
    heads = [
        "arm", "benchmark at the end", f"pass@{study.samples}", "no signal, first, last 10 steps",
        "rollouts, of them measuring", "processor s",
    ]  # fmt: skip
    lines = [f"{told}; the start solves {start:.3f} of the benchmark.\n", f"| {' | '.join(heads)} |", "|---" * 6 + "|"]
    for arm, runs in curves.items():
        seeds = [seed for seed in range(100) if is_done(study, arm, seed)]
        first, last = (
            [silent(study, arm, seed, steps) for seed in seeds]
            for steps in (range(1, 11), range(study.steps - 9, study.steps + 1))
        )
        measured = runs[0][1].rollouts if runs[0][1].step == 0 else 0
        ends = [run[-1] for run in runs]
        lines.append(
            f"| {arm} | {spread([end.solved for end in ends])} | {spread([end.pass_at_n for end in ends])} | "
            f"{spread(first, 2)}, {spread(last, 2)} | {fmean(end.rollouts for end in ends):,.0f}, {measured:,.0f} | "
            f"{fmean(end.cpu_s for end in ends):,.0f} |"
        )
    lines += ["", *_compared(curves), "", *_levels(curves, start)]
    return "\n".join(lines) + "\n"


def _compared(curves: dict[str, list[list[Point]]]) -> Iterator[str]:
    yield "| at the end | difference of the benchmark |"
    yield "|---|---|"
    for second, first in (
        ("band", "raw"),
        ("gradus", "raw"),
        ("gradus", "refill"),
        ("gradus", "band"),
        ("open", "band"),
        ("online", "raw"),
        ("online", "refill"),
    ):
        if second in curves and first in curves:
            pairs = zip(curves[second], curves[first], strict=False)
            yield f"| {second} minus {first} | {interval([a[-1].solved - b[-1].solved for a, b in pairs], 3)} |"


def _levels(curves: dict[str, list[list[Point]]], start: float) -> Iterator[str]:
    """Means over the seeds of each arm that reach a level; `of` tells how many do."""
    levels = {f"{GAIN:+.2f} over the start": start + GAIN}
    levels |= {
        f"the end of {arm}": fmean(run[-1].solved for run in curves[arm]) for arm in ("raw", "refill") if arm in curves
    }
    yield "| accuracy | " + " | ".join(f"{arm}: rollouts, processor s" for arm in curves) + " |"
    yield "|---|" + "---|" * len(curves)
    for name, level in levels.items():
        cells = []
        for runs in curves.values():
            spent = [(first_over(run, level, "rollouts"), first_over(run, level, "cpu_s")) for run in runs]
            reached = [
                (rollouts, seconds) for rollouts, seconds in spent if rollouts is not None and seconds is not None
            ]
            told = (
                f"{fmean(r for r, _ in reached):,.0f}, {fmean(s for _, s in reached):,.0f}"
                if reached
                else "not reached"
            )
            cells.append(told + (f" ({len(reached)} of {len(runs)})" if 0 < len(reached) < len(runs) else ""))
        yield f"| {name}: {level:.3f} | {' | '.join(cells)} |"


def plot(study: Study, curves: dict[str, list[list[Point]]], path: Path) -> None:
    """Accuracy against rollouts and against processor time: a thin line a seed, a thick one for the mean."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, sharey=True)
    for axes, field, title in (
        (left, "rollouts", "rollouts, measuring included"),
        (right, "cpu_s", "processor seconds"),
    ):
        for arm, runs in curves.items():
            for run in runs:
                axes.plot(
                    [getattr(p, field) for p in run], [p.solved for p in run], color=ARMS[arm].colour, lw=0.6, alpha=0.5
                )
            if runs:
                means = list(zip(*runs, strict=True))
                spent, reached = zip(
                    *((fmean(getattr(p, field) for p in at), fmean(p.solved for p in at)) for at in means), strict=True
                )
                axes.plot(spent, reached, color=ARMS[arm].colour, lw=2.2, label=arm)
        axes.set(xlabel=title)
        axes.grid(alpha=0.25)
    left.set(ylabel=f"benchmark, avg@{study.samples}")
    left.legend(frameon=False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
