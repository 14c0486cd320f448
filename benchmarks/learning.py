"""Effect of objective, difficulty measurement and draws on learning: runs of the demo's model, several seeds.

python benchmarks/learning.py [--demo demo/run] [--out runs/learning] [--seeds 1] [--steps 40]

Needs the output of `make demo`: the cold-started model, the curated problems and the benchmark. Every run starts from
the same model and has the same number of completions. An existing run is not repeated, so a stopped study resumes, and
a seed counts once all of its runs exist. With --docs the figures are written into docs/learning.md and
docs/learning.png.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, Final, NamedTuple

from seeds import insert, interval, spread

ROOT = Path(__file__).resolve().parents[1]
WINDOW: Final = 10


class Draws(NamedTuple):
    """The stage whose problems a run trains on, and the settings of their draws."""

    stage: str
    curriculum: dict[str, str]


# without a curriculum every problem is always equally likely
ALIKE: Final = {"policy": "uniform", "rule": "none"}
DRAWS: Final = {
    "unmeasured": Draws("decontaminate", ALIKE),
    "uniform": Draws("difficulty", ALIKE),
    "learnability": Draws("difficulty", {"policy": "learnability"}),
    "target": Draws("difficulty", {"policy": "target"}),
}


class Cell(NamedTuple):
    """A combination that is trained once per seed."""

    objective: str
    draws: str

    @property
    def label(self) -> str:
        """Its name in tables and pictures."""
        return f"{self.objective}, {self.draws}"


CELLS: Final = (
    *(Cell("dr_grpo", draws) for draws in DRAWS),
    *(Cell(objective, "uniform") for objective in ("grpo", "dapo")),
)
COMPARED: Final = (
    *((Cell("dr_grpo", draws), Cell("dr_grpo", "unmeasured")) for draws in ("uniform", "target")),
    *((Cell("dr_grpo", draws), Cell("dr_grpo", "uniform")) for draws in ("learnability", "target")),
    *((Cell(objective, "uniform"), Cell("grpo", "uniform")) for objective in ("dr_grpo", "dapo")),
)
COLOURS: Final = dict(zip(CELLS, ("#aa3377", "#ee6677", "#ccbb44", "#228833", "#4477aa", "#66ccee"), strict=True))


class Study(NamedTuple):
    """Folders of inputs and results, number of seeds, and steps per run."""

    demo: Path
    out: Path
    seeds: int
    steps: int


class Run(NamedTuple):
    """One training."""

    cell: Cell
    seed: int

    @property
    def name(self) -> str:
        """Its folder."""
        return f"{self.cell.objective}-{self.cell.draws}-{self.seed}"


def main() -> None:
    """Make the missing runs, then print the figures of all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--demo", type=Path, default=ROOT / "demo" / "run", help="output of make demo")
    parser.add_argument("--out", type=Path, default=ROOT / "runs" / "learning", help="folder of the runs")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--docs", action="store_true", help="write docs/learning.md and docs/learning.png")
    parser.add_argument("--report", action="store_true", help="make no run, only report")
    given = parser.parse_args()
    if not (given.demo / "curated" / "difficulty").is_dir():
        print(f"learning: skipped, {given.demo} has no finished demo; run `make demo`, or give --demo")
        return
    study = Study(given.demo, given.out, given.seeds, given.steps)
    for run in [] if given.report else runs(range(study.seeds)):
        train(run, study)
    seeds = complete_seeds(study)
    if not seeds:
        sys.exit(f"{study.out}: no seed has all of its runs yet")
    text = tables(study, seeds)
    sys.stdout.write(text)
    docs = ROOT / "docs" if given.docs else study.out
    plot(study, seeds, docs / "learning.png")
    if given.docs:
        insert(docs / "learning.md", "narrow", text)


def runs(seeds: Sequence[int]) -> Iterator[Run]:
    """Every run, seed by seed."""
    for seed in seeds:
        for cell in CELLS:
            yield Run(cell, seed)


def train(run: Run, study: Study) -> None:
    """Train and evaluate one run; a finished run is reused."""
    out, demo = study.out / run.name, study.demo
    stage, settings = DRAWS[run.cell.draws]
    curriculum = {**settings, "seed": run.seed}
    gradus(
        "train", "grpo", "--model", demo / "cold_start" / "model", "--data", demo / "curated" / stage,
        "--out", out, "--config", ROOT / "demo" / "grpo.yaml", "--objective", run.cell.objective, "--kl-coef", 0,
        "--max-steps", study.steps, "--save-steps", study.steps, "--seed", run.seed, "--logging-steps", 1,
        "--no-save-completions", "--curriculum", json.dumps(curriculum),
    )  # fmt: skip
    evaluate(out / "model", out / "evaluations" / "after", study, run.seed)
    evaluate(study.demo / "cold_start" / "model", study.out / f"before-{run.seed}", study, run.seed)


def evaluate(model: Path, out: Path, study: Study, seed: int) -> None:
    """Evaluate a model on the benchmark, which is in no run's problems."""
    benchmark = study.demo / "raw" / "benchmark.jsonl"
    gradus(
        "train", "evaluate", "--model", model, "--data", benchmark, "--out", out, "--engine", "transformers",
        "--config", ROOT / "demo" / "evaluate.yaml", "--seed", seed,
    )  # fmt: skip


def gradus(*words: object) -> None:
    """Run a command in this process, so that the model libraries are imported only once."""
    from gradus import app

    print(f"$ gradus {' '.join(map(str, words))}", file=sys.stderr, flush=True)
    app([str(word) for word in words], standalone_mode=False)


def complete_seeds(study: Study) -> list[int]:
    """Seeds whose runs are all trained and evaluated."""
    done = []
    for seed in range(study.seeds):
        folders = [study.out / run.name / "evaluations" / "after" for run in runs([seed])]
        if all((folder / "results.json").is_file() for folder in (*folders, study.out / f"before-{seed}")):
            done.append(seed)
    return done


def tables(study: Study, seeds: Sequence[int]) -> str:
    """Two Markdown tables: every cell's means over seeds, and paired differences between cells."""
    cells = {cell: [figures(study, Run(cell, seed)) for seed in seeds] for cell in CELLS}
    start = [solved(study.out / f"before-{seed}") for seed in seeds]
    lines = [
        f"{_counted(seeds)}, {study.steps} steps; the start solves {spread(start)} of the benchmark.\n",
        f"| objective | draws | benchmark | no signal | right: tokens of the first, last {WINDOW} | wrong: the same |",
        "|---|---|---|---|---|---|",
    ]
    for cell, rows in cells.items():
        shown = [spread([row[name] for row in rows], 3) for name in ("solved", "without_signal")]
        lengths = [
            ", ".join(spread([row[f"{kind}_{part}"] for row in rows], 1) for part in ("first", "last"))
            for kind in ("right", "wrong")
        ]
        lines.append(f"| {cell.objective} | {cell.draws} | {' | '.join([*shown, *lengths])} |")
    return "\n".join([*lines, "", *differences(cells)]) + "\n"


def differences(cells: dict[Cell, list[dict[str, float]]]) -> list[str]:
    """Differences of cells over the same seeds, with a 95% t interval; an interval with 0 shows no difference."""
    lines = ["| compared | benchmark | no signal | tokens of wrong answers, last minus first |", "|---|---|---|---|"]
    for second, first in COMPARED:
        both = list(zip(cells[second], cells[first], strict=True))
        solved_by, silent_by = ([a[name] - b[name] for a, b in both] for name in ("solved", "without_signal"))
        grown = [(a["wrong_last"] - a["wrong_first"]) - (b["wrong_last"] - b["wrong_first"]) for a, b in both]
        shown = (interval(solved_by, 3), interval(silent_by, 3), interval(grown, 2))
        lines.append(f"| {' '.join(second)} minus {' '.join(first)} | {' | '.join(shown)} |")
    return lines


def figures(study: Study, run: Run) -> dict[str, float]:
    """Figures of one run: the benchmark after it, and its first and last steps."""
    log = read_log(study.out / run.name)
    found = {
        "solved": solved(study.out / run.name / "evaluations" / "after"),
        "without_signal": fmean(1 - line["groups/mixed"] for line in log if "groups/mixed" in line),
    }
    for kind, field in (("right", "completions/mean_length_correct"), ("wrong", "completions/mean_length_wrong")):
        values = [line[field] for line in log if field in line]
        found |= {f"{kind}_first": fmean(values[:WINDOW]), f"{kind}_last": fmean(values[-WINDOW:])}
    return found


def read_log(folder: Path) -> list[dict[str, Any]]:
    """The lines of a run's log, one per step."""
    return [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]


def solved(folder: Path) -> float:
    """avg@n of an evaluation's one benchmark."""
    (benchmark,) = json.loads((folder / "results.json").read_bytes())["benchmarks"].values()
    return float(benchmark["average"]["value"])


def _counted(seeds: Sequence[int]) -> str:
    return f"{len(seeds)} seed{'s' if len(seeds) != 1 else ''}"


def plot(study: Study, seeds: Sequence[int], path: Path) -> None:
    """Plot the benchmark at the end, and lengths and the share of groups with signal along the run."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 8), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(f"The demo's model, {_counted(seeds)}, equal numbers of completions (means over {WINDOW} steps)")
    panels = figure.subplots(2, 2)
    _benchmark(panels[0, 0], study, seeds)
    _curves(panels[0, 1], study, seeds, "completions/mean_length_wrong", "tokens of wrong completions")
    _curves(panels[1, 0], study, seeds, "groups/mixed", "share of groups with signal")
    _curves(panels[1, 1], study, seeds, "completions/mean_length_correct", "tokens of right completions")
    panels[0, 1].legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=110)


def _benchmark(axes: Any, study: Study, seeds: Sequence[int]) -> None:
    for place, cell in enumerate(CELLS):
        values = [solved(study.out / Run(cell, seed).name / "evaluations" / "after") for seed in seeds]
        axes.scatter([place] * len(values), values, color=COLOURS[cell])
        axes.hlines(fmean(values), place - 0.2, place + 0.2, color=COLOURS[cell])
    axes.axhline(fmean(solved(study.out / f"before-{s}") for s in seeds), color="#888888", linestyle=":", label="start")
    axes.set_xticks(range(len(CELLS)), [cell.label.replace(", ", "\n") for cell in CELLS], fontsize=8)
    axes.set(title="benchmark, avg@n", ylabel="solved")
    axes.legend(frameon=False)


def _curves(axes: Any, study: Study, seeds: Sequence[int], field: str, title: str) -> None:
    for cell in CELLS:
        logs = [read_log(study.out / Run(cell, seed).name) for seed in seeds]
        ends = range(WINDOW, study.steps + 1)
        axes.plot(ends, [_mean_before(logs, field, end) for end in ends], color=COLOURS[cell], label=cell.label)
    axes.set(title=title, xlabel="step")


def _mean_before(logs: Sequence[list[dict[str, Any]]], field: str, end: int) -> float:
    window = range(end - WINDOW + 1, end + 1)
    values = [line[field] for log in logs for line in log if field in line and line["step"] in window]
    return fmean(values) if values else float("nan")


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    main()
