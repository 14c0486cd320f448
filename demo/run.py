"""Runs the whole workflow on a toy model with gradus commands: `make demo`, or `python demo/run.py --out FOLDER`.

Each step is one command that resumes after a stop and does nothing if its result exists; the same holds for the demo.
The results at the end are read from the files that the commands wrote.
"""

from __future__ import annotations

import argparse
import itertools
import random
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from pool import write_raw
from problems import generate
from toy import build_toy

HERE = Path(__file__).resolve().parent
GRADUS = Path(sys.executable).with_name("gradus")


class Step(NamedTuple):
    """A title and an action: the words of a gradus command, or a function."""

    title: str
    action: list[str] | Callable[[], None]


def steps(out: Path, seed: int) -> Iterator[Step]:
    """The steps of the workflow, in order."""
    raw, toy, cold, curated, grpo = (out / name for name in ("raw", "toy", "cold_start", "curated", "grpo"))
    yield Step("a raw pool, a benchmark and cold-start examples", lambda: once(raw, lambda f: write_raw(f, seed)))
    yield Step("an untrained toy model", lambda: once(toy, lambda folder: build_toy(folder, questions(), seed=seed)))
    sft = ["train", "sft", "--model", toy, "--data", raw / "cold_start.jsonl", "--out", cold]
    yield Step("cold start: SFT to an accuracy of about one half", words(*sft, "--config", HERE / "sft.yaml"))
    yield Step("the pipeline file", lambda: write_pipeline(out))
    curate = ["curate", "run", out / "pipeline.yaml", "--out", curated]
    yield Step("curate: from the raw pool to problems this model can learn from", words(*curate))
    ask = ["--data", raw / "benchmark.jsonl", "--config", HERE / "evaluate.yaml"]
    yield Step("evaluate before", words("train", "evaluate", "--model", cold / "model", *ask, "--out", out / "before"))
    train = ["train", "grpo", "--model", cold / "model", "--data", curated / "difficulty", "--out", grpo]
    yield Step("GRPO with the curriculum", words(*train, "--config", HERE / "grpo.yaml"))
    yield Step("evaluate after", words("train", "evaluate", "--model", grpo / "model", *ask, "--out", out / "after"))
    yield Step("the dataset and its card", words("card", "build", curated, "--out", out / "dataset"))
    yield Step("a plot of the curriculum", words("curriculum", "plot", grpo))
    yield Step("result: the funnel", words("curate", "funnel", curated))
    yield Step("result: the curriculum", words("curriculum", "status", grpo))
    yield Step("result: the benchmark before and after", words("train", "compare", out / "before", out / "after"))


LOOK: Final = (
    ("dataset/README.md", "the data card; dataset/ opens with datasets.load_dataset"),
    ("grpo/curriculum.png", "plots of the curriculum"),
    ("grpo/log.jsonl", "the training log, one line per step"),
    ("after/plots", "plots of the evaluation"),
)


def main() -> None:
    """Run every step, then print the total time and the paths of the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--out", type=Path, default=HERE / "run", help="folder to work in (default: demo/run)")
    parser.add_argument("--seed", type=int, default=0, help="seed of pool, model and training (default: 0)")
    given = parser.parse_args()
    plan, start_s = list(steps(given.out, given.seed)), time.monotonic()
    for number, step in enumerate(plan, start=1):
        run_step(f"[{number}/{len(plan)}]", step)
    print("\nTotal time: {} min {} s".format(*divmod(round(time.monotonic() - start_s), 60)))
    print("\nResults")
    for place, what in LOOK:
        print(f"  {given.out / place}  {what}")


def run_step(label: str, step: Step) -> None:
    """Run one step and print its command and duration; exit if it fails."""
    print(f"\n{label} {step.title}", flush=True)
    start_s = time.monotonic()
    if callable(step.action):
        step.action()
    else:
        print(f"$ gradus {shlex.join(step.action)}", flush=True)
        finished = subprocess.run([GRADUS, *step.action], check=False)
        if finished.returncode != 0:
            sys.exit(f"stopped at {label} {step.title}; `make demo` resumes there")
    print(f"  ({time.monotonic() - start_s:.0f} s)", flush=True)


def once(folder: Path, make: Callable[[Path], Path]) -> None:
    """Make a folder atomically; does nothing if it exists."""
    if not folder.exists():
        make(folder.with_name(f"{folder.name}.partial")).replace(folder)


def write_pipeline(out: Path) -> None:
    """The demo's pipeline file with this run's folder filled in."""
    text = (HERE / "pipeline.yaml").read_text(encoding="utf-8")
    (out / "pipeline.yaml").write_text(text.replace("{run}", str(out)), encoding="utf-8")


def questions() -> list[str]:
    """Questions whose words become tokens of the model."""
    return [problem.question for problem in itertools.islice(generate(random.Random("tokens")), 3000)]


def words(*parts: str | Path) -> list[str]:
    """A command's words as text."""
    return [str(part) for part in parts]


if __name__ == "__main__":
    main()
