"""Cost of the late-bound trainer beside TRL itself: share of CPU time in our part of a step, on a toy model.

python benchmarks/late_binding.py [--steps 6]
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # demo/ is no package of its own

from demo.toy import build_toy
from gradus import app

OURS = ("_record_draw", "_keep", "draw", "replace_groups", "dead_groups")


def main() -> None:
    """Train a few steps under the profiler and print the times of its parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=6)
    steps = parser.parse_args().steps
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build_toy(folder / "toy")
        rows = [{"prompt": f"{a}+{a % 7}=", "answer": str(a + a % 7)} for a in range(500)]
        (folder / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        command = ["train", "grpo", "--model", folder / "toy", "--data", folder / "p.jsonl", "--out", folder / "run"]
        sizes = ["--num-problems", 32, "--group-size", 8, "--max-tokens", 48, "--max-steps", steps]
        profile = cProfile.Profile()
        profile.enable()
        app([str(part) for part in (*command, *sizes)], standalone_mode=False)
        profile.disable()
        report(profile, steps)


def report(profile: cProfile.Profile, steps: int) -> None:
    """Print seconds per step for TRL's parts and for ours."""
    times: dict[str, float] = {}
    for (_, _, name), figures in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]  # pstats' own table
        times[name] = max(times.get(name, 0.0), figures[3])
    whole = times["training_step"]
    ours = sum(times.get(name, 0.0) for name in OURS)
    judging = times.get("verify_many", 0.0)
    print(
        f"{whole / steps:.3f} s per step; ours {ours / steps:.4f} s ({ours / whole:.1%}), judging {judging / whole:.1%}"
    )


if __name__ == "__main__":
    main()
