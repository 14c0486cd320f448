"""`gradus curriculum ...` as a user types it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from curate.artifacts.artifact import seal, shard_path, write_shard
from curate.errors import UserError
from curriculum import Curriculum, CurriculumConfig, Visit
from curriculum.commands import app

COMMANDS = ("status", "explain", "plot", "replay", "rules", "simulate")
PNG = b"\x89PNG"


def gradus(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout if "--json" in words else result.output


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with two checkpoints: retired, reopened, parked and quarantined problems, and one outage."""
    folder = tmp_path_factory.mktemp("runs") / "grpo"
    num, rng = 60, np.random.default_rng(0)
    rates = np.minimum(np.linspace(0, 1.3, num), 1)
    frame = pl.DataFrame(
        {
            "key": [f"{i * 2654435761 % 2**32:08x}" for i in range(num)],
            "num_correct": (8 * rates).round().astype(int),
            "num_samples": [8] * num,
        }
    )
    curriculum = Curriculum.create(
        frame, CurriculumConfig(park_after=3, recheck_after=5, probe_size=5, floor=0.3), {"dataset": "d"}
    )
    for step in range(1, 121):
        rows = curriculum.draw(16, step=step)
        if step > 80:
            rates[-6:] = 0.5
        broken = {row: 8 if 28 <= row < 34 or step == 60 else 0 for row in rows}
        correct = {row: 0 if broken[row] else int(rng.binomial(8, rates[row])) for row in rows}
        visits = [
            Visit(row, correct[row], 8 - correct[row] - broken[row], broken[row], 30.0, 50.0, "timeout") for row in rows
        ]
        curriculum.observe(visits, step=step)
        if step in (60, 120):
            curriculum.save(folder / f"checkpoint-{step}")
    return folder


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An artifact of the difficulty stage's kind."""
    folder, num, rng = tmp_path_factory.mktemp("pools") / "difficulty", 300, np.random.default_rng(0)
    rates = rng.beta(0.5, 0.5, num)
    rows = pl.DataFrame(
        {
            "key": [f"k{i}" for i in range(num)],
            "source": [f"s{i % 3}" for i in range(num)],
            "num_correct": rng.binomial(8, rates),
            "num_samples": [8] * num,
        }
    )
    return artifact(folder, rows)


def artifact(folder: Path, rows: pl.DataFrame) -> Path:
    write_shard(shard_path(folder, "kept", 0), rows)
    counts = {"num_in": rows.height, "num_kept": rows.height, "num_dropped": 0, "reasons": {}}
    seal(folder, {"stage": "difficulty", "version": 1, "fingerprint": "", "config": {}, "inputs": {}, **counts})
    return folder


def test_status_adds_up_and_reads_the_newest_checkpoint(run: Path) -> None:
    out = gradus("status", run)
    assert "checkpoint-120: step 120" in out
    pools = {
        line.split()[0]: int(line.split()[1])
        for line in out.splitlines()
        if line.strip().endswith("%") and "slots" not in line
    }
    assert sum(pools.values()) == 60
    assert pools["held_out"] == 5
    for word in ("expected zero-variance groups of 8", "next re-checks", "quarantined", "timeout", "outage 1"):
        assert word in out


def test_status_of_one_checkpoint(run: Path) -> None:
    assert "step 60" in gradus("status", run / "checkpoint-60")


def test_explain_shows_every_visit_and_the_reason(run: Path) -> None:
    checkpoint = run / "checkpoint-120"
    events = [json.loads(line) for line in (checkpoint / "curriculum-events.jsonl").read_text().splitlines()]
    reopened = next(event for event in events if event["event"] == "reopened")
    out = gradus("explain", run, reopened["key"])
    row = pl.read_parquet(checkpoint / "curriculum.parquet")["key"].to_list().index(reopened["key"])
    visits = pl.read_parquet(checkpoint / "curriculum-visits.parquet").filter(pl.col("row") == row)
    table = out.split("rate        e\n")[1].splitlines()
    assert len([line for line in table if line.split()[0].isdigit()]) == visits.height
    assert next(line for line in table if line.endswith("reopened")).split()[0] == str(reopened["step"])
    assert "outages, whose visits were discarded: step 60" in out


@pytest.mark.parametrize("pool", ["active", "retired", "parked", "quarantined", "held_out"])
def test_explain_gives_the_reason_in_every_pool(run: Path, pool: str) -> None:
    table = pl.read_parquet(run / "checkpoint-120" / "curriculum.parquet").filter(pl.col("status") == pool)
    assert table.height > 0
    out = gradus("explain", run, table["key"][0])
    assert f": {pool} at step 120" in out
    assert "why: " in out


def test_explain_takes_the_beginning_of_a_key_and_refuses_what_fits_several_or_none(run: Path) -> None:
    keys = pl.read_parquet(run / "checkpoint-120" / "curriculum.parquet")["key"].to_list()
    assert gradus("explain", run, keys[7][:7]).startswith(keys[7])
    with pytest.raises(UserError, match="begins no key"):
        gradus("explain", run, "zz")
    with pytest.raises(UserError, match="begins 60 keys"):
        gradus("explain", run, "")


def test_plot_writes_to_out_or_into_the_run(run: Path, tmp_path: Path) -> None:
    assert gradus("plot", run, "--out", tmp_path / "a" / "b.png").strip() == str(tmp_path / "a" / "b.png")
    assert (tmp_path / "a" / "b.png").read_bytes().startswith(PNG)
    gradus("plot", run)
    assert (run / "curriculum.png").read_bytes().startswith(PNG)


def test_the_newest_checkpoint_is_the_one_of_the_highest_step_that_is_whole(run: Path, tmp_path: Path) -> None:
    for name, source in (("checkpoint-9", 60), ("checkpoint-100", 120), ("checkpoint-best", 60)):
        shutil.copytree(run / f"checkpoint-{source}", tmp_path / name)
    (tmp_path / "checkpoint-200").mkdir()
    assert "checkpoint-100: step 120" in gradus("status", tmp_path)


@pytest.mark.parametrize("steps", [[0], [0, 0, 0], [0, 4, 8]], ids=["one", "refilled", "several updates"])
def test_a_run_of_few_batches_can_be_drawn(steps: list[int], tmp_path: Path) -> None:
    curriculum = Curriculum.create(pl.DataFrame({"key": ["a", "b"]}), CurriculumConfig(), {})
    for step in steps:
        curriculum.draw(1, step=step)
        curriculum.observe([Visit(0, 1, 1, 0)], step=step)
    curriculum.save(tmp_path)
    gradus("plot", tmp_path)
    assert (tmp_path / "curriculum.png").read_bytes().startswith(PNG)


def test_there_is_nothing_to_plot_before_the_first_batch(tmp_path: Path) -> None:
    Curriculum.create(pl.DataFrame({"key": ["a"]}), CurriculumConfig(), {}).save(tmp_path)
    with pytest.raises(UserError, match="no batch was observed"):
        gradus("plot", tmp_path)
    assert "0 draws" in gradus("status", tmp_path)
    assert "why: no move since the start" in gradus("explain", tmp_path, "a")


@pytest.mark.parametrize("command", ["status", "plot"])
def test_a_folder_without_a_curriculum_is_refused(command: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no curriculum"):
        gradus(command, tmp_path)
    (tmp_path / "config.yaml").write_text("command: grpo\n")
    with pytest.raises(UserError, match="has no checkpoint yet"):
        gradus(command, tmp_path)
    with pytest.raises(UserError, match="no such folder"):
        gradus(command, tmp_path / "nowhere")


def test_replay_scores_a_run_from_its_config_or_from_a_named_dataset(run: Path, tmp_path: Path) -> None:
    keys = pl.read_parquet(run / "checkpoint-120" / "curriculum.parquet")["key"]
    rows = pl.DataFrame({"key": keys, "num_correct": [4] * 60, "num_samples": [8] * 60})
    data = artifact(tmp_path / "data", rows.sort("key"))
    with pytest.raises(UserError, match="give --data"):
        gradus("replay", run)
    found = json.loads(gradus("replay", run, "--data", data, "--json"))
    assert found["num_groups"] > 1000
    assert [line["last"] for line in found["windows"]] == list(range(10, 121, 10))
    named = tmp_path / "named"
    shutil.copytree(run, named)
    (named / "config.yaml").write_text(json.dumps({"data": str(data)}))
    assert json.loads(gradus("replay", named, "--json")) == found
    assert json.loads(gradus("replay", named / "checkpoint-120", "--json")) == found
    (tmp_path / "settings.yaml").write_text("gain_half_life: 0")
    other = json.loads(gradus("replay", named, "--curriculum", tmp_path / "settings.yaml", "--json"))
    assert other["log_loss"] != found["log_loss"]
    assert f"log loss of the outcome {other['log_loss']:.4f}" in gradus(
        "replay", named, "--curriculum", tmp_path / "settings.yaml"
    )
    (named / "config.yaml").write_text(json.dumps({"data": str(artifact(tmp_path / "few", rows.head(3)))}))
    with pytest.raises(UserError, match="lacks 57 problems"):
        gradus("replay", named)


def test_explain_and_status_show_the_forecast(run: Path) -> None:
    key = pl.read_parquet(run / "checkpoint-120" / "curriculum.parquet")["key"][30]
    assert "a group of 8 has no signal with probability" in gradus("explain", run, key)
    assert "never solved" in gradus("explain", run, key)
    assert "progress since the start by group" in gradus("status", run)


def test_rules_shows_that_only_the_e_process_keeps_its_bound() -> None:
    out = gradus("rules", "--num-problems", 2000, "--num-visits", 100)
    at_p0 = next(line for line in out.splitlines() if line.split()[0] == "0.8").split()
    shares = [float(cell.rstrip("%,")) for cell in at_p0 if cell.rstrip(",").endswith("%")]
    assert shares[0] <= 5 < min(shares[1:])


@pytest.mark.heavy
def test_simulate_compares_policies_the_same_way_on_any_number_of_processes(measured: Path, tmp_path: Path) -> None:
    small = ("--policies", "plain,learnability", "--steps", 40, "--num-problems", 16, "--seeds", 2)
    out = gradus("simulate", measured, *small, "--out", tmp_path / "a.png", "--workers", 2)
    again = gradus("simulate", measured, *small, "--out", tmp_path / "a.png", "--workers", 1)
    assert out == again
    assert (tmp_path / "a.png").read_bytes().startswith(PNG)
    assert [line.split()[0] for line in out.splitlines()[:3]] == ["policy", "plain", "learnability"]


def test_simulate_refuses_an_unknown_policy_and_an_unmeasured_dataset(measured: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="did you mean learnability"):
        gradus("simulate", measured, "--policies", "learnabilty")
    bare = artifact(tmp_path / "bare", pl.DataFrame({"key": ["a"]}))
    with pytest.raises(UserError, match="gradus curate difficulty"):
        gradus("simulate", bare)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(command: str) -> None:
    assert f"Example: gradus curriculum {command}" in " ".join(gradus(command, "--help").split())


def test_simulate_states_its_limits() -> None:
    assert "cannot predict how fast your model learns" in " ".join(gradus("simulate", "--help").split())


def test_a_mistake_is_one_line_and_exit_1(tmp_path: Path) -> None:
    command = [str(Path(sys.executable).with_name("gradus")), "curriculum", "status", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith("gradus: ")
    assert done.stderr.count("\n") == 1
