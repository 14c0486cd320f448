"""A small artifact for the review page: three kept rows, and a dropped one that tries to run code in the browser."""

from pathlib import Path

import polars as pl

from curate.artifacts.artifact import seal, shard_path, write_shard
from curate.records import DECISION, SAMPLE, schema
from support.pools import pool_of

HOSTILE = (
    '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script> Find $x^2$ for '
    r"$\href{javascript:window.hacked=1}{x}=3$ and $\htmlClass{evil}{y}$. </div><b>bold</b>"
)
EVIDENCE = (
    '{"benchmark": "<b>bench</b>", "item": "7", "score": 0.71, "matched": "find x", "item_text": "Find <i>x</i>"}'
)


def make_artifact(folder: Path) -> Path:
    """A stage's artifact of three kept rows, a hostile one dropped, and a sample for it."""
    kept = pool_of([{"prompt": f"What is {n} + {n}?", "ground_truth": str(2 * n)} for n in (1, 2, 3)])
    dropped = pool_of([{"prompt": HOSTILE, "ground_truth": "9", "solution": r"\(3^2 = 9\) <u>so</u>"}]).with_columns(
        drop_reason=pl.lit("contaminated"), drop_detail=pl.lit(EVIDENCE)
    )
    sample = {"key": dropped["key"][0], "index": 0, "text": "<script>window.hacked=1</script>9", "num_tokens": 3}
    sample |= {"finish_reason": "stop", "verdict": "correct", "verdict_reason": "equal", "seed": 1}
    for part, rows in (
        ("kept", kept),
        ("dropped", dropped),
        ("samples", pl.DataFrame([sample], schema=schema(SAMPLE))),
    ):
        write_shard(shard_path(folder, part, 0), rows)
    counts = {"num_in": 4, "num_kept": 3, "num_dropped": 1, "reasons": {"contaminated": 1}}
    seal(folder, {"stage": "decontaminate", "version": 1, "fingerprint": "f", "config": {}, "inputs": {}, **counts})
    assert set(DECISION) <= set(dropped.columns)
    return folder
