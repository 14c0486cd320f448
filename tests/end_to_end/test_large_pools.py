"""A million rows pass through ingest and dedup in a process of bounded memory."""

import json
import random
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from support.places import ROOT

from curate.artifacts.artifact import open_artifact

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_800)]

NUM_ROWS = 1_000_000
MAX_MB = 1_500  # the rows alone are some 400 MB of text
MEASURE = """
import resource, sys, gradus
sys.argv[0] = "gradus"
try:
    gradus.main()
finally:
    print("peak_kb", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "rows.jsonl"
    words = ["".join(letters) for letters in product("bdfklmnrst", "aeiou", "bdfklmnrst", "aeiou")]
    with path.open("w") as file:
        for row in range(NUM_ROWS):
            # one row in ten stands in the file before, one in ten but for a word
            number = random.Random(row).randrange(row + 1) if row % 10 < 2 else row
            text = random.Random(number).choices(words, k=40)
            if row % 10 == 1:
                text[20] = "changed"
            file.write(json.dumps({"question": f"{' '.join(text)} {number}?", "answer": str(number)}) + "\n")
    return path


def peak_mb(*words: str) -> float:
    root = ROOT
    done = subprocess.run([sys.executable, "-c", MEASURE, *words], capture_output=True, text=True, cwd=root, check=True)
    return int(done.stdout.split("peak_kb")[1]) / 1024


def test_ingest_and_dedup_stay_within_their_memory(source: Path, tmp_path: Path) -> None:
    ingested, deduped = tmp_path / "ingest", tmp_path / "dedup"
    assert peak_mb("curate", "ingest", str(source), "--out", str(ingested)) < MAX_MB
    assert open_artifact(ingested).manifest.facts["num_rows"] == NUM_ROWS
    assert peak_mb("curate", "dedup", str(ingested), "--out", str(deduped)) < MAX_MB
    manifest = open_artifact(deduped).manifest
    assert manifest.num_in == manifest.num_kept + manifest.num_dropped
    assert manifest.reasons["near_duplicate_of"] > 0.05 * NUM_ROWS
