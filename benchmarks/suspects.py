"""Suspects with planted wrong truths: how many are found, and how many problems with right truths are accused.

python benchmarks/suspects.py RUN [RUN ...] [--data DATASET] [--share 0.05] [--alpha 0.05]

Each RUN is a finished run of `gradus train grpo` with its completions. A share of the problems that it visited gets a
wrong truth: a completion is then right only where its answer is that truth. The draws stay those of the run, so the
figures say what the test finds in a number of completions, not how a run would have gone.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from curate.artifacts.artifact import open_artifact
from curriculum.answers.find import Said, find_suspects
from curriculum.simulate.replay import data_of
from curriculum.suspects.suspects import completions, said_by


def main() -> None:
    """Print a line per run, for the run's completions alone and with the samples of the difficulty stage."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--data", type=Path, default=None, help="dataset of the runs; default: the one in their config")
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for run in given.runs:
        artifact = open_artifact(given.data or data_of(run))
        keys, written = set(artifact.read("kept")["key"]), completions(run)
        visited, measured = set(written["key"]), artifact.read("samples")
        planted = set(random.Random(given.seed).sample(sorted(visited), round(given.share * len(visited))))
        for name, tables in (("its completions", [written]), ("and the measured samples", [measured, written])):
            said = [one for one in said_by(tables, keys) if one.key in visited]
            report(f"{run.name}, {name}", plant(said, planted), planted, given.alpha)


def plant(said: list[Said], planted: set[str]) -> list[Said]:
    """The same completions where no answer to a planted problem is its truth, as if the truth were off by chance."""
    return [one._replace(is_right=False) if one.key in planted else one for one in said]


def report(name: str, said: list[Said], planted: set[str], alpha: float) -> None:
    """Print how many planted problems were found, and how many others were accused by mistake."""
    found = {suspect.key for suspect in find_suspects(said, alpha)}
    counts = dict.fromkeys({one.key for one in said}, 0)
    for one in said:
        counts[one.key] += 1
    accused, honest = found - planted, set(counts) - planted
    mean = sum(counts.values()) / len(counts)
    print(
        f"{name}: {mean:.1f} completions a problem; planted {len(planted)}, found {len(found & planted)} "
        f"({len(found & planted) / max(1, len(planted)):.1%}); falsely accused {len(accused)} of {len(honest):,} "
        f"({len(accused) / max(1, len(honest)):.2%})"
    )


if __name__ == "__main__":
    main()
