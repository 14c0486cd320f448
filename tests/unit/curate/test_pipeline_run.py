"""A pipeline: the plan, the run, what a rerun reuses, and mistakes in its file as one line."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.interruption import cut_everywhere
from support.places import ROOT

from curate.artifacts.artifact import open_artifact
from curate.errors import UserError
from curate.pipeline import plan_lines, read_pipeline, run_pipeline, stages_of
from curate.runner.run import Outcome

WORDS = (
    "anchor basket candle dragon engine forest garden harbour island jungle kettle ladder meadow needle orchard".split()
)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    dice = random.Random(2)
    rows: list[dict[str, Any]] = []
    for number in range(40):
        words = " ".join(dice.choices(WORDS, k=14))
        rows.append(
            {"question": f"In {words} there are {number + 3} things. How many are left?", "answer": str(number)}
        )
    rows += [
        {"question": row["question"].replace("things", "such things"), "answer": row["answer"]} for row in rows[:6]
    ]
    rows += [{"question": "Prove that there are things.", "answer": ""}]
    path = tmp_path / "pool.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def written(folder: Path, source: Path, stages: dict[str, Any], **more: Any) -> Path:
    path = folder / "pipeline.yaml"
    path.write_text(yaml.safe_dump({"sources": [{"path": str(source), **more}], "stages": stages}, sort_keys=False))
    return path


def run(path: Path, out: Path, *, force: bool = False) -> list[tuple[str, bool]]:
    """Run it; each stage and whether it was reused."""
    done: list[Outcome] = []
    run_pipeline(read_pipeline(path), out, done.append, force=force)
    return [(outcome.manifest.stage, outcome.is_reused) for outcome in done]


def test_stages_run_in_the_files_order_on_the_rows_kept_before(source: Path, tmp_path: Path) -> None:
    path = written(tmp_path, source, {"verifiable": None, "dedup": {"threshold": 0.6}})
    assert run(path, tmp_path / "run") == [("ingest", False), ("verifiable", False), ("dedup", False)]
    assert stages_of(tmp_path / "run") == ["ingest", "verifiable", "dedup"]
    manifests = [open_artifact(tmp_path / "run" / name).manifest for name in ("ingest", "verifiable", "dedup")]
    assert [manifest.num_kept for manifest in manifests[:2]] == [manifest.num_in for manifest in manifests[1:]]
    assert manifests[1].reasons == {"proof": 1}
    assert manifests[2].reasons == {"near_duplicate_of": 6}
    assert manifests[2].config["threshold"] == 0.6


def test_a_rerun_reuses_all_and_a_changed_stage_is_refused_until_forced(source: Path, tmp_path: Path) -> None:
    run(written(tmp_path, source, {"verifiable": {}, "dedup": {}}), tmp_path / "run")
    assert [is_reused for _, is_reused in run(tmp_path / "pipeline.yaml", tmp_path / "run")] == [True] * 3
    changed = written(tmp_path, source, {"verifiable": {}, "dedup": {"rare_count": 3}})
    with pytest.raises(UserError, match=r"run/dedup: holds the result of another configuration or input.*--force"):
        run(changed, tmp_path / "run")
    assert run(changed, tmp_path / "run", force=True) == [("ingest", True), ("verifiable", True), ("dedup", False)]


def test_another_order_of_stages_is_refused_before_any_work(source: Path, tmp_path: Path) -> None:
    run(written(tmp_path, source, {"verifiable": {}, "dedup": {}}), tmp_path / "run")
    with pytest.raises(UserError, match=r"holds a run of ingest, verifiable, dedup; .*--force"):
        run(written(tmp_path, source, {"dedup": {}, "verifiable": {}}), tmp_path / "run")
    assert stages_of(tmp_path / "run") == ["ingest", "verifiable", "dedup"]


def test_the_plan_lists_what_a_run_would_do_and_writes_nothing(source: Path, tmp_path: Path) -> None:
    def states() -> list[str]:
        lines = plan_lines(read_pipeline(tmp_path / "pipeline.yaml"), tmp_path / "run")
        return [" ".join(line.split()[1:3]) for line in lines]

    written(tmp_path, source, {"verifiable": {}, "dedup": {}})
    assert states() == ["run"] * 3
    assert not (tmp_path / "run").exists()
    run(tmp_path / "pipeline.yaml", tmp_path / "run")
    assert states() == ["reuse (47", "reuse (46", "reuse (40"]
    written(tmp_path, source, {"verifiable": {}, "dedup": {"rare_count": 3}})
    assert states() == ["reuse (47", "reuse (46", "replace with"]


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"sources": []}, "sources is empty; name at least one path or hub id"),
    ({}, "sources is missing; set it"),
    ({"source": []}, "source is not a setting; did you mean sources"),
    ({"sources": [{"path": "HERE"}], "stage": {}}, "stage is not a setting; did you mean stages?"),
    ({"sources": [{"pth": "HERE"}]}, "sources.0.pth is not a setting; did you mean path?"),
    ({"sources": [{"name": "x"}]}, "sources.0 is {'name': 'x'}; name either a path or a hub id"),
    ({"sources": [{"path": "HERE", "weight": 0}]}, "sources.0.weight is 0; input should be greater than 0"),
    ({"sources": [{"path": "HERE"}], "stages": {"dedupe": {}}}, "stages.dedupe is no stage; did you mean dedup?"),
    (
        {"sources": [{"path": "HERE"}], "stages": {"dedup": {"treshold": 1}}},
        "stages.dedup.treshold is not a setting; did you mean threshold?",
    ),
    (
        {"sources": [{"path": "HERE"}], "stages": {"dedup": {"threshold": 1.4}}},
        "stages.dedup.threshold is 1.4; input should be less than or equal to 1",
    ),
    ({"sources": [{"path": "HERE"}], "stages": {"dedup": {}, "ingest": {}}}, "stages.ingest follows another"),
    ({"sources": [{"path": "HERE"}], "stages": {"ingest": {"x": 1}}}, "stages.ingest.x is not a setting"),
    ({"sources": [{"path": "HERE"}], "stages": ["dedup"]}, "stages is ['dedup']; input should be a valid dictionary"),
]


@pytest.mark.parametrize(("content", "line"), MISTAKES)
def test_a_mistake_in_the_file_is_one_line_with_its_place(
    content: dict[str, Any], line: str, source: Path, tmp_path: Path
) -> None:
    path = tmp_path / "pipeline.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False).replace("HERE", str(source)))
    with pytest.raises(UserError) as caught:
        read_pipeline(path)
    assert str(caught.value).startswith(f"{path}: {line}")
    assert "\n" not in str(caught.value)


def test_a_missing_benchmark_is_reported_before_any_work(source: Path, tmp_path: Path) -> None:
    path = written(tmp_path, source, {"dedup": {}, "decontaminate": {"against": ["nowhere.jsonl"]}})
    with pytest.raises(UserError, match=r"nowhere\.jsonl: no such file"):
        run(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(UserError, match=r"nowhere\.jsonl: no such file"):
        list(plan_lines(read_pipeline(path), tmp_path / "out"))


def test_a_stage_named_twice_is_a_mistake(source: Path, tmp_path: Path) -> None:
    path = tmp_path / "pipeline.yaml"
    path.write_text(f"sources: [{{path: {source}}}]\nstages:\n  dedup: {{threshold: 0.9}}\n  dedup: {{}}\n")
    with pytest.raises(UserError, match="dedup occurs twice"):
        read_pipeline(path)


def test_a_folder_without_a_run_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds no pipeline\.json; give the folder that"):
        stages_of(tmp_path)


def test_a_pipeline_interrupted_anywhere_resumes_to_the_same_bytes(source: Path, tmp_path: Path) -> None:
    path = written(tmp_path, source, {"dedup": {}})
    run(path, tmp_path / "undisturbed")
    wanted = contents(tmp_path / "undisturbed")
    cuts = 0
    for cut in cut_everywhere(lambda n: none(run(path, tmp_path / f"cut-{n}"))):
        run(path, tmp_path / f"cut-{cut}")
        assert contents(tmp_path / f"cut-{cut}") == wanted
        cuts += 1
    assert cuts >= 10


def none(_: object) -> None:
    """For callbacks that return nothing."""


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_run_of_a_killed_process_resumes(source: Path, tmp_path: Path) -> None:
    path = written(tmp_path, source, {"verifiable": {}, "dedup": {}})
    run(path, tmp_path / "undisturbed")
    gradus = [sys.executable, "-c", "import gradus; gradus.main()"]
    command = [*gradus, "curate", "run", str(path), "--out", str(tmp_path / "killed")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=ROOT)
    deadline = time.monotonic() + 60
    while not (tmp_path / "killed" / "ingest" / "state.json").exists() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    run(path, tmp_path / "killed")
    assert contents(tmp_path / "killed") == contents(tmp_path / "undisturbed")
