"""Datasets compared with what is committed of them: text by text, row by row, pictures by their looks.

What depends on a library's version or on the checkout is left out: bytes of Parquet files, the digests over them, our
own version and commit. Everything else must match to the letter. `GRADUS_GOLDEN=write pytest tests/golden` writes the
committed files anew; look at the diff before you commit it.
"""

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from matplotlib.image import imread

IS_WRITING = os.environ.get("GRADUS_GOLDEN") == "write"
DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
TEXTS = ("README.md", "manifest.json", "croissant.json")
# mean difference of two pictures, 0 to 1: fonts are drawn a little differently elsewhere
MAX_PICTURE_DIFFERENCE = 0.02


def check(dataset: Path, committed: Path) -> None:
    """Compare a freshly built dataset with its committed form, or write that form."""
    fresh = texts_of(dataset)
    if IS_WRITING:
        shutil.rmtree(committed, ignore_errors=True)
        for name, text in fresh.items():
            (committed / name).parent.mkdir(parents=True, exist_ok=True)
            (committed / name).write_text(text, encoding="utf-8")
        for picture in (dataset / "plots").glob("*.png"):
            (committed / "plots").mkdir(parents=True, exist_ok=True)
            (committed / "plots" / picture.name).write_bytes(picture.read_bytes())
    files = sorted(path.relative_to(committed).as_posix() for path in committed.rglob("*") if path.is_file())
    pictures = sorted(path.relative_to(dataset).as_posix() for path in (dataset / "plots").glob("*.png"))
    assert files == sorted([*fresh, *pictures])
    for name, text in fresh.items():
        assert text == (committed / name).read_text(encoding="utf-8"), name
    for name in pictures:
        assert looks_alike(dataset / name, committed / name), name


def texts_of(dataset: Path) -> dict[str, str]:
    """The dataset's texts and rows without what depends on versions."""
    manifest = json.loads((dataset / "manifest.json").read_bytes())
    digests = DIGEST.findall((dataset / "manifest.json").read_text())
    version = manifest["facts"]["made_with"]["gradus-rlvr"]
    texts = {name: (dataset / name).read_text(encoding="utf-8") for name in TEXTS}
    texts["manifest.json"] = json.dumps(steady(manifest), indent=1, ensure_ascii=False) + "\n"
    texts["croissant.json"] = re.sub(r'"\d+ B"', '"… B"', texts["croissant.json"])
    for digest in digests:
        for length in (64, 16, 12):
            texts = {name: text.replace(digest[:length], "…") for name, text in texts.items()}
    texts["README.md"] = texts["README.md"].replace(f"gradus-rlvr {version}", "gradus-rlvr …")
    samples = {"samples.jsonl": samples_of(dataset)} if (dataset / "samples").is_dir() else {}
    return texts | {"rows.jsonl": rows_of(dataset)} | samples


def rows_of(dataset: Path) -> str:
    """A line for each row: what it is, where it came from, and what became of it."""
    parts = [pl.read_parquet(dataset / part) for part in ("kept", "dropped") if (dataset / part).is_dir()]
    rows = pl.concat(parts, how="diagonal_relaxed")
    wanted = ("key", "source", "source_row", "prompt", "ground_truth", "pass_rate", "stage", "drop_reason")
    return rows.select(name for name in wanted if name in rows.columns).write_ndjson()


def samples_of(dataset: Path) -> str:
    """A line for each sample, without its text."""
    return pl.read_parquet(dataset / "samples").drop("text").write_ndjson()


def steady(value: Any) -> Any:
    """A manifest without sizes, versions and commit."""
    if isinstance(value, dict):
        return {name: steady(part) for name, part in value.items() if name not in ("num_bytes", "made_with")}
    return [steady(part) for part in value] if isinstance(value, list) else value


def looks_alike(one: Path, other: Path) -> bool:
    """Whether two pictures have one size, within a few pixels, and nearly the same colours."""
    first, second = (imread(path)[:, :, :3] for path in (one, other))
    if max(abs(a - b) for a, b in zip(first.shape, second.shape, strict=True)) > 8:
        return False
    height, width = (min(a, b) for a, b in zip(first.shape[:2], second.shape[:2], strict=True))
    difference = np.abs(first[:height, :width] - second[:height, :width]).mean()
    return bool(difference <= MAX_PICTURE_DIFFERENCE)
