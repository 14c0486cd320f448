"""Verifiers of one's own: their verdicts, bounded in time and memory, in every place that judges."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pydantic import ValidationError
from support.places import ROOT

from curate.verify import Item, Policy, verify_many
from curate.verify.verdict import Verdict

SOURCE = """
import sys, time

def judge(response, ground_truth):
    if "hang" in response:
        time.sleep(60)
    if "fill" in response:
        return len(bytearray(3 << 30)) > 0
    if "die" in response:
        sys.exit(3)
    if "raise" in response:
        raise RuntimeError("no such table")
    if "odd" in response:
        return 1
    if "unsure" in response:
        return None
    print("not a reply")
    return response.strip() == ground_truth

def everything(**given):
    return "correct" if sorted(given) == [
        "completion", "ground_truth", "question", "response", "source", "tests"] else "wrong"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(SOURCE)
    return tmp_path / "mine.py"


def judged(file: Path, *texts: str, function: str = "judge") -> list[Verdict]:
    policy = Policy(verifiers=(f"sql={file}:{function}",), timeout_s=1.0, max_memory_mb=300)
    return verify_many([Item(text, "select 1", "sql", "q?") for text in texts], policy=policy)


def test_verdicts_are_those_of_the_function_which_sees_no_reasoning(file: Path) -> None:
    found = judged(file, "<think>hang</think>select 1", "select 2", "unsure")
    assert [(one.verdict, one.reason) for one in found] == [
        ("correct", "accepted"), ("wrong", "different"), ("undecided", "no_verdict"),
    ]  # fmt: skip


def test_what_hangs_fills_memory_dies_raises_or_returns_nonsense_is_undecided_alone(
    file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    start = time.monotonic()
    found = judged(file, "hang", "fill", "die", "raise", "odd", "select 1")
    assert time.monotonic() - start < 20
    reasons = [(one.verdict, one.reason) for one in found]
    assert reasons[0] == ("undecided", "timeout")
    assert reasons[1] in (("undecided", "memory"), ("undecided", "verifier_error"))
    assert reasons[2:] == [*[("undecided", "verifier_error")] * 3, ("correct", "accepted")]
    told = capfd.readouterr().err
    # one line for a function, however many completions it fails on
    assert told.count("mine.py:judge") == 1


def test_a_function_gets_the_arguments_that_it_takes(file: Path) -> None:
    assert judged(file, "a", function="everything")[0].verdict == "correct"


def test_a_changed_file_is_another_policy(file: Path) -> None:
    before = Policy(verifiers=(f"sql={file}:judge",))
    assert Policy(verifiers=before.verifiers) == before
    file.write_text(SOURCE.replace("== ground_truth", "!= ground_truth"))
    after = Policy(verifiers=before.verifiers)
    assert after != before
    assert verify_many([Item("select 1", "select 1", "sql")], policy=after)[0].verdict == "wrong"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mine.py:judge", "write KIND=FILE.py:FUNCTION"),
        ("SQL=mine.py:judge", "write KIND=FILE.py:FUNCTION"),
        ("math=mine.py:judge", "math has a verifier"),
        ("sql=nowhere.py:judge", "no such file"),
        ("sql=mine.py:judg", "has no function judg"),
    ],
)
def test_a_name_that_leads_nowhere_is_refused_in_one_line(
    file: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    monkeypatch.chdir(file.parent)
    with pytest.raises(ValidationError, match=message):
        Policy(verifiers=(name,))


def test_the_stages_take_the_kind_and_the_verifier(file: Path, tmp_path: Path) -> None:
    rows = [{"question": f"Query {n}?", "sql": f"select {n}", "kind": "sql"} for n in range(4)]
    (tmp_path / "pool.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "answers.json").write_text(json.dumps({"*": [{"text": "select 1"}, {"text": "select 2"}]}))

    def gradus(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "gradus", "curate", *words]
        environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, timeout=110)

    mine = ["--verifier", "sql=mine.py:judge", "--json"]
    done = gradus("ingest", "pool.jsonl", "--map", "kind=kind", "--map", "ground_truth=sql", "--out", "a")
    assert done.returncode == 0, done.stderr
    without = json.loads(gradus("verifiable", "a", "--out", "none", "--json").stdout)
    assert without["reasons"] == {"no_verifier": 4}
    assert json.loads(gradus("verifiable", "a", "--out", "b", *mine).stdout)["num_kept"] == 4
    measured = gradus("difficulty", "b", "--out", "c", "--script", "answers.json", "--k", "4", "--keep", "1..3", *mine)
    assert measured.returncode == 0, measured.stderr
    assert json.loads(measured.stdout)["num_kept"] == 2
    constant = gradus("ingest", "pool.jsonl", "--map", "kind=sparql", "--dry-run")
    assert "sparql, a kind of your own, for --verifier sparql=FILE.py:FUNCTION" in constant.stdout


def test_a_verifier_that_accepts_nothing_at_all_is_no_test(file: Path) -> None:
    from support.pools import pool_of, run

    from curate.verifiable.stage import VerifiableConfig, stage

    file.write_text("def judge(response): return 'select' not in response\n")
    config = VerifiableConfig(verify=Policy(verifiers=(f"sql={file}:judge",)))
    pool = pool_of([{"prompt": "A query?", "ground_truth": "select 1", "kind": "sql"}])
    found = run(stage(config), pool)
    assert found["drop_reason"].to_list() == ["no_tests"]
    assert "accepts an empty answer" in found["drop_detail"][0]
