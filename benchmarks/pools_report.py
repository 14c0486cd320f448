"""What curation finds in public pools: the stages without a model over every pool and benchmark, as a page.

Each file goes through ingest, dedup, multiple-choice and verifiable, one after the other; decontaminate looks at every
imported row, against all benchmarks except the file itself. A rerun reuses finished stages and resumes an interrupted
one. Stages read their rows in batches, so that memory does not grow with the number of pools. The page names rows by
`source#row` and holds none of their text. `pools_read.jsonl` holds rulings on dropped rows that were read.

    python benchmarks/pools_report.py [--shared FOLDER] [--out runs/pools] [--page docs/pools.md] [--only gsm8k]
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from pools_page import page

from curate.artifacts.artifact import Artifact, open_artifact
from curate.decontaminate.stage import DecontaminateConfig
from curate.decontaminate.stage import stage as decontaminate
from curate.dedup.stage import DedupConfig
from curate.dedup.stage import stage as dedup
from curate.errors import UserError
from curate.ingest.plan import IngestConfig, plan
from curate.ingest.sources import Source
from curate.ingest.stage import stage as ingest
from curate.multiple_choice.stage import MultipleChoiceConfig
from curate.multiple_choice.stage import stage as multiple_choice
from curate.runner.run import run_stage
from curate.verifiable.stage import VerifiableConfig
from curate.verifiable.stage import stage as verifiable

HERE: Final = Path(__file__).resolve()
ROLES: Final = re.compile("pool|bench|proof|distractor")  # of the list's `role`; rollouts and answer pairs are no pools
BENCHMARK: Final = re.compile("bench")


class Pool(NamedTuple):
    """A file of the list, and whether models are reported on it."""

    path: Path
    is_benchmark: bool


def main() -> None:
    """Run what is owed and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=HERE.parents[2] / "shared")
    parser.add_argument("--out", type=Path, default=HERE.parents[1] / "runs" / "pools", help="folder of the artifacts")
    parser.add_argument("--page", type=Path, default=HERE.parents[1] / "docs" / "pools.md")
    parser.add_argument("--only", default="", help="pools whose path contains this text; the page is then only printed")
    options = parser.parse_args()
    data = options.shared / "data"
    if not (data / "README.tsv").is_file():
        sys.exit(f"skipped: no README.tsv in {data}; name the folder with --shared")
    pools, skipped = _pools(data)
    finished = {}
    for number, pool in enumerate(pools, 1):
        if options.only not in str(pool.path):
            continue
        began = time.monotonic()
        place = options.out / _label(pool.path)
        try:
            finished[_label(pool.path)] = _curated(pool.path, _against(pool, pools), place)
        except UserError as error:
            skipped[f"{pool.path.relative_to(data)}"] = str(error).replace(f"{data}/", "")
        print(f"{number}/{len(pools)} {place.name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    text = page(finished, skipped, HERE.with_name("pools_read.jsonl"))
    if options.only:
        print(text)
    else:
        options.page.write_text(text, encoding="utf-8")


def _pools(data: Path) -> tuple[list[Pool], dict[str, str]]:
    """The files of the list that are pools or benchmarks, and why the others are left out."""
    pools, skipped = [], {}
    with (data / "README.tsv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            path = data / row["local"]
            if not ROLES.search(row["role"]):
                skipped[row["local"]] = f"no pool: {row['role']}"
            elif not path.is_file():
                skipped[row["local"]] = "not on this machine"
            else:
                pools.append(Pool(path, bool(BENCHMARK.search(row["role"])) and "train pool" not in row["role"]))
    return pools, skipped


def _label(path: Path) -> str:
    return Source(path=path).label()


def _against(pool: Pool, pools: list[Pool]) -> tuple[str, ...]:
    return tuple(str(other.path) for other in pools if other.is_benchmark and other.path != pool.path)


def _curated(path: Path, against: tuple[str, ...], out: Path) -> dict[str, Artifact]:
    """The artifacts of a pool by stage; only `decontaminate` reads all imported rows."""
    artifacts = dict(_chain(path, out))
    config = DecontaminateConfig(against=against)
    run_stage(decontaminate(config), artifacts["ingest"], out / "decontaminate", force=True)
    return {**artifacts, "decontaminate": open_artifact(out / "decontaminate")}


def _chain(path: Path, out: Path) -> Iterator[tuple[str, Artifact]]:
    limits = IngestConfig()
    stages = (
        ingest(limits, [plan(Source(path=path), limits)]),
        dedup(DedupConfig()),
        multiple_choice(MultipleChoiceConfig()),
        verifiable(VerifiableConfig()),
    )
    before = None
    for stage in stages:
        run_stage(stage, before, out / stage.name, force=True)
        before = open_artifact(out / stage.name)
        yield stage.name, before


if __name__ == "__main__":
    main()
