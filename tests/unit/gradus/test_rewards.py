"""The verifier as a reward of other trainers; the snippets of docs/export.md run."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.model_pool import pool, problem
from support.places import ROOT
from support.training.toy_runs import small_toy

from curate.engines.prompts import PromptConfig
from data_cards.export import export
from gradus.rewards import accuracy, compute_score, share_correct

TESTS = json.dumps({"style": "assert", "tests": ["assert double(4) == 8"]})
RIGHT, WRONG = "```python\ndef double(x):\n    return 2 * x\n```", "```python\ndef double(x):\n    return x\n```"
HERE = {**os.environ, "PYTHONPATH": str(ROOT)}
SNIPPETS = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "export.md").read_text(encoding="utf-8"), re.DOTALL)


def test_trl_gets_numbers_and_none_for_the_undecided() -> None:
    texts = [r"\boxed{7}", [{"role": "assistant", "content": r"\boxed{8}"}], r"\boxed{7}", RIGHT, WRONG]
    truths = ["7", "7", "", "", ""]
    kinds, tests = ["math"] * 3 + ["code"] * 2, [None] * 3 + [TESTS] * 2
    found = accuracy(completions=texts, ground_truth=truths, kind=kinds, tests=tests, trainer_state=None)
    assert found[:3] == [1.0, 0.0, None]
    if found[3] is None:
        pytest.skip("no sandbox here")
    assert found[3:] == [1.0, 0.0]


def test_the_question_reaches_the_verifier() -> None:
    asked = {"ground_truth": ["5"], "completions": [r"\boxed{2+3}"]}
    assert accuracy(**asked, question=["Compute $2+3$."]) == [0.0]


def test_verl_gets_a_score_with_its_verdict() -> None:
    assert compute_score("aime", r"So \boxed{\frac12}.", "0.5") == {
        "score": 1.0,
        "verdict": "correct",
        "reason": "exact",
    }
    undecided = compute_score("aime", r"So \boxed{1}.", "")
    assert (undecided["score"], undecided["verdict"]) == (0.0, "undecided")


def test_lighteval_gets_the_share_of_right_completions() -> None:
    doc = SimpleNamespace(query="What is 3 + 4?", get_golds=lambda: ["7", "seven"])
    assert share_correct(doc, SimpleNamespace(final_text=[r"\boxed{7}", r"\boxed{8}", "no answer"])) == pytest.approx(
        1 / 3
    )
    assert share_correct(doc, SimpleNamespace(final_text=[])) == 0.0


@pytest.mark.heavy
def test_the_snippet_for_trl_trains_on_an_export(tmp_path: Path) -> None:
    rows = [problem(f"copy {n}", str(n)) for n in range(4)]
    export(pool(tmp_path / "dataset", rows).folder, "trl", tmp_path / "train.parquet", PromptConfig())
    model = small_toy(tmp_path / "model")
    snippet = next(text for text in SNIPPETS if "GRPOTrainer" in text).replace("MODEL", str(model))
    small = "max_steps=1, use_cpu=True, bf16=False, report_to=[], max_completion_length=8"
    script = snippet.replace("max_steps=1", small) + "print(trainer.state.log_history)\n"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, env=HERE)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "'rewards/accuracy/mean': 0.0" in done.stdout


def test_the_snippet_for_verl_prints_a_score(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(next(text for text in SNIPPETS if "compute_score" in text), "export.md", "exec"), {})
    assert "'score': 1.0" in capsys.readouterr().out


def test_the_snippet_for_lighteval_makes_a_metric() -> None:
    pytest.importorskip("lighteval", reason="lighteval is not installed")
    found: dict[str, object] = {}
    exec(compile(next(text for text in SNIPPETS if "lighteval" in text), "export.md", "exec"), found)
    doc = SimpleNamespace(query="", get_golds=lambda: ["7"])
    metric = found["gradus_accuracy"]
    computed = metric.compute_sample(doc=doc, model_response=SimpleNamespace(final_text=["7"]))  # type: ignore[attr-defined]
    assert computed == {"gradus_accuracy": 1.0}
