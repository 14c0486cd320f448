"""Two processes (gloo, CPU) that share a curriculum stay equal, and one that stopped goes on as if it had not."""

import json
import socket
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from curriculum import Curriculum, CurriculumConfig, Visit

NUM, GROUP, PROBLEMS_PER_STEP = 50, 4, 7
BINDING = {"dataset": "d", "model": "m", "sampling": "s"}


def make(folder: Path | None) -> Curriculum:
    config = CurriculumConfig(recheck_after=3, recheck_share=0.3, park_after=2)
    frame = pl.DataFrame({"key": [f"k{i}" for i in range(NUM)]})
    return Curriculum.load(folder, frame, config, BINDING) if folder else Curriculum.create(frame, config, BINDING)


def step(curriculum: Curriculum, number: int, rank: int, world: int) -> list[str]:
    """As a trainer does it: draw everywhere, answer one's own slice of completions, gather, tell everywhere."""
    rows = curriculum.draw(PROBLEMS_PER_STEP, step=number)
    slots = [row for row in rows for _ in range(GROUP)]
    local = len(slots) // world
    mine = slots[rank * local : (rank + 1) * local]
    # outcomes differ by rank: only what is gathered may be learned from
    correct = [
        bool(np.random.default_rng([number, rank, place]).random() < row / NUM) for place, row in enumerate(mine)
    ]
    gathered: list[list[tuple[int, bool]]] = [[] for _ in range(world)]
    dist.all_gather_object(gathered, list(zip(mine, correct, strict=True)))
    answers = [answer for part in gathered for answer in part]
    groups = [answers[place : place + GROUP] for place in range(0, len(answers), GROUP)]
    visits = [Visit(group[0][0], k, GROUP - k, 0) for group in groups for k in [sum(right for _, right in group)]]
    curriculum.observe(visits, step=number)
    return [curriculum.keys[row] for row in rows]


def work(rank: int, port: int, folder: Path) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    keys = {}
    for name, spans in (("whole", [(0, 30)]), ("parts", [(0, 13), (13, 30)])):
        keys[name] = []
        for first, last in spans:
            curriculum = make(folder / f"{name}-{first}" if first else None)
            keys[name] += [step(curriculum, number, rank, 2) for number in range(first, last)]
            if rank == 0:
                curriculum.save(folder / f"{name}-{last}")
            dist.barrier()
    (folder / f"keys-{rank}.json").write_text(json.dumps(keys))
    dist.destroy_process_group()


@pytest.mark.heavy
def test_two_processes_stopped_and_resumed_equal_two_undisturbed(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mp.spawn(work, (port, tmp_path), nprocs=2)
    first, second = (json.loads((tmp_path / f"keys-{rank}.json").read_text()) for rank in (0, 1))
    assert first == second
    assert first["parts"] == first["whole"]
    for path in (tmp_path / "whole-30").iterdir():
        assert path.read_bytes() == (tmp_path / "parts-30" / path.name).read_bytes(), path.name
    table = pl.read_parquet(tmp_path / "whole-30" / "curriculum-visits.parquet")
    # 7 groups of 4 on 2 processes: the fourth group straddles them, and is still one visit
    assert table.height == 30 * PROBLEMS_PER_STEP
    assert (table["num_correct"] + table["num_wrong"] == GROUP).all()
