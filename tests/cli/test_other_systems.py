"""Stages that run no code work where Linux' modules and /proc are missing, as on a Mac."""

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
from support.places import ROOT

# what a Mac lacks: /proc. What Windows lacks too: resource. Child processes read the same file.
SITE = """
import pathlib, sys
sys.modules["resource"] = None
exists, read = pathlib.Path.exists, pathlib.Path.read_text
def without_proc(path):
    if str(path).startswith("/proc"):
        raise FileNotFoundError(2, "No such file", str(path))
pathlib.Path.exists = lambda self, **named: not str(self).startswith("/proc") and exists(self, **named)
def read_text(self, *given, **named):
    without_proc(self)
    return read(self, *given, **named)
pathlib.Path.read_text = read_text
"""


def test_curation_without_code_needs_neither_resource_nor_proc(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(SITE)
    rows = [{"question": f"Ann has {n} figs, buys {n * n}. How many?", "answer": n + n * n} for n in range(2, 30)]
    # a sum goes to a worker
    rows.append({"question": "Which series is e?", "answer": "\\sum_{n=0}^{\\infty}\\frac{1}{n!}"})
    (tmp_path / "pool.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "held.jsonl").write_text(json.dumps({"question": "What is 15 times 17?", "answer": 255}) + "\n")
    (tmp_path / "pipeline.yaml").write_text(
        f"sources: [{{path: {tmp_path / 'pool.jsonl'}}}]\n"
        "stages:\n  dedup:\n  multiple-choice:\n  verifiable:\n"
        f"  decontaminate: {{against: [{tmp_path / 'held.jsonl'}]}}\n"
    )
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}", "HF_HUB_OFFLINE": "1"}

    def gradus(*words: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "gradus", *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=110, cwd=tmp_path)

    done = gradus("curate", "run", tmp_path / "pipeline.yaml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    kept = pl.read_parquet(tmp_path / "out/decontaminate/kept/*.parquet")
    assert kept.height == len(rows)
    pairs = [{"completion": "\\boxed{e}", "ground_truth": rows[-1]["answer"], "expected": "correct"}]
    (tmp_path / "pairs.jsonl").write_text(json.dumps(pairs[0]) + "\n")
    judged = gradus("curate", "verify", tmp_path / "pairs.jsonl", "--out", tmp_path / "verdicts.jsonl")
    assert judged.returncode == 0, judged.stderr
    # a worker compared them
    assert json.loads((tmp_path / "verdicts.jsonl").read_text())["verdict"] == "correct"
