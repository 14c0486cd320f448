"""Toy models and problems for the training tests: small enough that a run takes seconds on one core."""

from __future__ import annotations

import json
from pathlib import Path

from demo.toy import build_toy
from train.tuning.sft import SftConfig, sft


def write_jsonl(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def copying_problems(path: Path, num: int = 10) -> Path:
    """Problems that the copier solves sometimes: repeat one figure."""
    return write_jsonl(path, [{"prompt": f"Say {figure}.", "answer": str(figure)} for figure in range(num)])


def small_toy(folder: Path) -> Path:
    """An untrained model of 30,000 parameters."""
    return build_toy(folder, hidden=32, layers=1)


def train_copier(folder: Path, *, hidden: int = 32, max_steps: int = 48, learning_rate: float = 1e-2) -> Path:
    """A model that answers `Say 7.` with `<think>7</think>\\boxed{7}`, some of the time."""
    rows: list[dict[str, object]] = [
        {"prompt": f"Say {i % 10}.", "completion": f"<think>{i % 10}</think>\\boxed{{{i % 10}}}"} for i in range(320)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    data = write_jsonl(folder / "copy.jsonl", rows)
    config = SftConfig(
        max_steps=max_steps, batch_size=16, learning_rate=learning_rate, save_steps=max_steps, logging_steps=20
    )
    untrained = build_toy(folder / "untrained", hidden=hidden, layers=1)
    sft(str(untrained), data, folder / "sft", config)
    return folder / "sft" / "model"


def copier_folder(folder: Path) -> Path:
    """The folder with `sft/model`, which thinks of a figure and sometimes copies it, and `problems.jsonl`."""
    train_copier(folder)
    copying_problems(folder / "problems.jsonl")
    return folder
