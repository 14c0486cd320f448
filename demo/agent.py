"""`make demo-agent`: tasks are made, proven and measured; a toy model imitates agents, then learns by reward.

The model (demo/agent_toy.py) imitates episodes that often end too early, so it solves a part of the tasks. GRPO with
the curriculum teaches it to run the check until it passes. Every episode runs in a box, and hidden tests judge it.
Prints the held-out success before and after, and the time that each part took.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

from curate.tasks.folder import write_task
from demo.agent_toy import build_agent, toy_tasks, trace, write_traces

RUN = Path(__file__).parent / "run" / "agent"
TRAIN, HELD_OUT, IMITATED, STEPS = 24, 12, 300, 24
AGENT = "{max_turns: 12, command_s: 20, memory_mb: 512, disk_mb: 16, tools: [bash, submit]}"
PLAY = ("--agent", AGENT, "--max-tokens", "320")


def main() -> None:
    """Run all parts; a part that is finished is reused."""
    started = time.monotonic()
    RUN.mkdir(parents=True, exist_ok=True)
    tasks = toy_tasks(TRAIN + HELD_OUT, seed=0)
    for name, part in (("train", tasks[:TRAIN]), ("held", tasks[TRAIN:])):
        if not (RUN / name / "tasks").exists():
            for task in part:
                write_task(RUN / name / "tasks", task)
        _gradus("curate", "ingest", RUN / name / "tasks", "--out", RUN / name / "ingest", "--licence", "MIT")
        _gradus(
            "curate",
            "solvable",
            RUN / name / "ingest",
            "--out",
            RUN / name / "solvable",
            "--tasks",
            RUN / name / "tasks",
        )
    _imitate()
    model, held = RUN / "sft" / "model", RUN / "held"
    _gradus(
        "curate", "difficulty", RUN / "train" / "solvable", "--out", RUN / "train" / "difficulty", "--tasks",
        RUN / "train" / "tasks", "--model", model, "--engine", "transformers", "--k", "8", "--keep", "0..7", *PLAY,
    )  # fmt: skip
    before = _success(model, "before", held)
    _gradus(
        "train", "grpo", "--model", model, "--data", RUN / "train" / "difficulty", "--tasks", RUN / "train" / "tasks",
        "--out", RUN / "grpo", "--objective", "dr_grpo", "--num-problems", "6", "--group-size", "8", "--max-steps",
        STEPS, "--learning-rate", "2e-4", "--save-steps", "10", "--save-completions", "--logging-steps", "5", *PLAY,
    )  # fmt: skip
    after = _success(RUN / "grpo" / "model", "after", held)
    print(f"held-out success: {before:.3f} -> {after:.3f}  ({time.monotonic() - started:.0f} s in all)")


def _imitate() -> None:
    """Train the model on scripted episodes, of which many stop too early."""
    import random

    if (RUN / "sft" / "model").exists():
        return
    shown = toy_tasks(IMITATED, seed=1)
    rng = random.Random(2)
    corpus = [json.dumps(list(trace(task, rng, 0.5))) for task in shown[:60]]
    build_agent(RUN / "toy", corpus)
    traces = write_traces(RUN / "traces.jsonl", [task for task in shown for _ in range(4)], 0.5, seed=3)
    shutil.rmtree(RUN / "sft", ignore_errors=True)
    _gradus(
        "train", "sft", "--model", RUN / "toy", "--data", traces, "--out", RUN / "sft", "--max-steps", "120",
        "--batch-size", "32", "--learning-rate", "3e-3", "--save-steps", "120", "--logging-steps", "20",
    )  # fmt: skip


def _success(model: Path, name: str, held: Path) -> float:
    out = RUN / "eval" / name
    _gradus(
        "train", "evaluate", "--model", model, "--data", held / "solvable", "--tasks", held / "tasks", "--out", out,
        "--n", "8", "--engine", "transformers", *PLAY,
    )  # fmt: skip
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    return float(next(iter(results["benchmarks"].values()))["average"]["value"])


def _gradus(*arguments: object) -> None:
    words = [str(part) for part in arguments]
    started = time.monotonic()
    subprocess.run([sys.executable, "-m", "gradus", *words], check=True)
    print(f"[{time.monotonic() - started:.0f} s] gradus {words[0]} {words[1]}", flush=True)


if __name__ == "__main__":
    main()
