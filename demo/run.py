"""The whole job on a toy model, by the commands a user would type: `make demo`, or `python demo/run.py --out FOLDER`.

Each step is one command, which resumes after a stop and does nothing if its result exists; so is
the whole demo. Nothing is printed at the end that was not read from the files that the commands wrote.
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
    """A title and what to do: the words of a gradus command, or a function."""

    title: str
    action: list[str] | Callable[[], None]


def steps(out: Path, seed: int) -> Iterator[Step]:
    """The job, in order."""
    raw, toy, cold, curated, grpo = (out / name for name in ("raw", "toy", "cold_start", "curated", "grpo"))
    yield Step("a raw pool, a benchmark and cold-start examples", lambda: once(raw, lambda f: write_raw(f, seed)))
    yield Step("an untrained toy model", lambda: once(toy, lambda folder: build_toy(folder, questions(), seed=seed)))
    sft = ["train", "sft", "--model", toy, "--data", raw / "cold_start.jsonl", "--out", cold]
    yield Step("cold start: SFT until about half right", words(*sft, "--config", HERE / "sft.yaml"))
    yield Step("the pipeline file", lambda: write_pipeline(out))
    curate = ["curate", "run", out / "pipeline.yaml", "--out", curated]
    yield Step("curate: from the raw pool to problems this model can learn from", words(*curate))
    ask = ["--data", raw / "benchmark.jsonl", "--config", HERE / "evaluate.yaml"]
    yield Step("evaluate before", words("train", "evaluate", "--model", cold / "model", *ask, "--out", out / "before"))
    train = ["train", "grpo", "--model", cold / "model", "--data", curated / "difficulty", "--out", grpo]
    yield Step("GRPO with the curriculum", words(*train, "--config", HERE / "grpo.yaml"))
    yield Step("evaluate after", words("train", "evaluate", "--model", grpo / "model", *ask, "--out", out / "after"))
    yield Step("the dataset and its card", words("card", "build", curated, "--out", out / "dataset"))
    yield Step("a picture of the curriculum", words("curriculum", "plot", grpo))
    yield Step("what came out: the funnel", words("curate", "funnel", curated))
    yield Step("what came out: the curriculum", words("curriculum", "status", grpo))
    yield Step(
        "what came out: the benchmark before and after", words("train", "compare", out / "before", out / "after")
    )


LOOK: Final = (
    ("dataset/README.md", "the data card; dataset/ opens with datasets.load_dataset"),
    ("grpo/curriculum.png", "the curriculum in pictures"),
    ("grpo/log.jsonl", "the training log, a line a step"),
    ("after/plots", "the evaluation in pictures"),
)


def main() -> None:
    """Run every step, then print the results and their places."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--out", type=Path, default=HERE / "run", help="folder to work in (default: demo/run)")
    parser.add_argument("--seed", type=int, default=0, help="seed of pool, model and training (default: 0)")
    given = parser.parse_args()
    plan, start_s = list(steps(given.out, given.seed)), time.monotonic()
    for number, step in enumerate(plan, start=1):
        run_step(f"[{number}/{len(plan)}]", step)
    print("\nAll in {} min {} s".format(*divmod(round(time.monotonic() - start_s), 60)))
    print("\nWhere to look")
    for place, what in LOOK:
        print(f"  {given.out / place}  {what}")


def run_step(label: str, step: Step) -> None:
    """Do one step, show the command and how long it took; stop the demo where it fails."""
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
    """Make a folder whole or not at all; nothing to do if it exists."""
    if not folder.exists():
        make(folder.with_name(f"{folder.name}.partial")).replace(folder)


def write_pipeline(out: Path) -> None:
    """The demo's pipeline file with this run's folder filled in."""
    text = (HERE / "pipeline.yaml").read_text(encoding="utf-8")
    (out / "pipeline.yaml").write_text(text.replace("{run}", str(out)), encoding="utf-8")


def questions() -> list[str]:
    """Questions whose words become tokens."""
    return [problem.question for problem in itertools.islice(generate(random.Random("tokens")), 3000)]


def words(*parts: str | Path) -> list[str]:
    """A command's words as text."""
    return [str(part) for part in parts]


if __name__ == "__main__":
    main()
