"""Training from the command line on a toy model: it learns, it survives kill -9, and it says what it will not do."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest
from support.training.toy_runs import copier_folder, copying_problems, write_jsonl

from curate.errors import UserError
from gradus import app
from train.data.problems import read_problems

# a shared machine may be slow; each of these takes seconds on a free one
pytestmark = [pytest.mark.heavy, pytest.mark.timeout(400)]
GRADUS = Path(sys.executable).with_name("gradus")


@pytest.fixture(scope="module")
def copier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `sft/model`, which sometimes copies a figure, and `problems.jsonl`."""
    return copier_folder(tmp_path_factory.mktemp("copier"))


def gradus(*arguments: str | Path) -> None:
    """A command in this process: the model libraries are imported only once."""
    app([str(part) for part in arguments], standalone_mode=False)


def grpo(copier: Path, out: Path, steps: int = 8) -> list[str | Path]:
    return [
        "train", "grpo", "--model", copier / "sft" / "model", "--data", copier / "problems.jsonl", "--out", out,
        "--num-problems", "4", "--group-size", "4", "--max-steps", str(steps), "--max-tokens", "16",
        "--learning-rate", "3e-3", "--save-steps", "2", "--logging-steps", "1", "--objective", "grpo", "--kl-coef", "0",
    ]  # fmt: skip


def kill_at(arguments: list[str | Path], file: Path) -> None:
    """Start a command and kill -9 it as soon as `file` is there."""
    process = subprocess.Popen([GRADUS, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline_s = time.monotonic() + 240
    while not file.exists() and process.poll() is None and time.monotonic() < deadline_s:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert file.exists()


def test_a_killed_run_draws_samples_and_learns_what_an_undisturbed_one_does(
    copier: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    kill_at(grpo(copier, killed), killed / "checkpoint-4" / "gradus.json")
    assert not (killed / "model").exists()
    gradus(*grpo(copier, undisturbed))
    gradus(*grpo(copier, killed))
    assert (killed / "draws.jsonl").read_bytes() == (undisturbed / "draws.jsonl").read_bytes()
    weights = Path("model") / "model.safetensors"
    assert (killed / weights).read_bytes() == (undisturbed / weights).read_bytes()
    for name in ("draws.jsonl", "log.jsonl"):
        steps = [json.loads(line)["step"] for line in (killed / name).read_text().splitlines()]
        assert sorted(set(steps)) == list(range(1, 9))
    gradus(*grpo(copier, killed))
    assert "reused" in capsys.readouterr().out


def test_a_trained_model_is_shown_to_be_better_than_its_start(
    copier: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # at the other tests' rate, ten problems are learned and unlearned by turns
    gradus(*grpo(copier, tmp_path / "run", steps=90), "--learning-rate", "1e-3")
    for name, model in (("before", copier / "sft" / "model"), ("after", tmp_path / "run" / "model")):
        gradus(
            "train", "evaluate", "--model", model, "--engine", "transformers", "--data", copier / "problems.jsonl",
            "--n", "8", "--max-tokens", "16", "--out", tmp_path / name,
        )  # fmt: skip
    figures = json.loads((tmp_path / "after" / "results.json").read_text())["benchmarks"]["problems"]
    samples = pl.read_parquet(tmp_path / "after" / "samples.parquet")
    rates = samples.group_by("key").agg(rate=(pl.col("verdict") == "correct").mean())["rate"]
    assert figures["average"]["value"] == pytest.approx(rates.mean())
    assert samples.height == 80
    assert (tmp_path / "after" / "plots" / "scores.png").stat().st_size > 10_000
    capsys.readouterr()
    gradus("train", "compare", tmp_path / "before", tmp_path / "after")
    line = capsys.readouterr().out
    before, after = (float(part) for part in line.split(": ")[1].split("  ")[0].split(" -> "))
    assert after > before + 0.1, line
    assert "(shown)" in line


def test_training_ends_without_error_when_no_active_problem_is_left(
    copier: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    easy = ["--curriculum", "{rule: threshold, threshold: 0.25, recheck_after: 1000}"]
    gradus(*grpo(copier, tmp_path / "run", steps=60), *easy)
    assert "training ends early: no active problem is left" in capsys.readouterr().out
    assert (tmp_path / "run" / "model" / "model.safetensors").is_file()
    assert len((tmp_path / "run" / "draws.jsonl").read_text().splitlines()) < 60


def test_a_run_resumes_with_changed_data_if_requested(
    copier: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, data = tmp_path / "run", tmp_path / "problems.jsonl"
    command = [*grpo(copier, run, steps=4), "--data", data]
    copying_problems(data, num=10)
    before = set(read_problems(data).frame["key"])
    gradus(*command)
    # as after a kill behind the checkpoint of step 2
    for name in ("model", "checkpoint-4"):
        shutil.rmtree(run / name)
    write_jsonl(data, [{"prompt": f"Say {figure}.", "answer": str(figure)} for figure in (*range(7), 77, 88)])
    now = set(read_problems(data).frame["key"])
    with pytest.raises(UserError, match=r"data_digest.*--adopt-dataset to resume with these data"):
        gradus(*command)
    capsys.readouterr()
    gradus(*command, "--adopt-dataset")
    printed = capsys.readouterr().out
    assert "checkpoint-2: 2 problems joined: " in printed
    assert "checkpoint-2: 3 problems vanished: " in printed
    assert all(key in printed for key in before ^ now)
    draws = [json.loads(line) for line in (run / "draws.jsonl").read_text().splitlines()]
    assert all(set(record["keys"]) <= (before if record["step"] <= 2 else now) for record in draws)
    state = pl.read_parquet(run / "checkpoint-4" / "curriculum.parquet")
    assert set(state["key"]) == now
    # what is finished trains on nothing more
    copying_problems(data, num=9)
    with pytest.raises(UserError, match=r"this run is finished.*--curriculum-from"):
        gradus(*command, "--adopt-dataset")


def test_expert_iteration_draws_from_the_curriculum_and_resumes_in_its_last_round(
    copier: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    command = [
        "train", "expert-iteration", "--model", copier / "sft" / "model", "--data", copier / "problems.jsonl",
        "--out", run, "--rounds", "2", "--num-problems", "6", "--group-size", "4", "--engine", "transformers",
        "--max-tokens", "16", "--max-steps", "4", "--batch-size", "8", "--learning-rate", "1e-3",
    ]  # fmt: skip
    gradus(*command)
    draws, weights = (run / "draws.jsonl").read_bytes(), (run / "model" / "model.safetensors").read_bytes()
    assert [json.loads(line)["step"] for line in draws.splitlines()] == [1, 2]
    # as after a kill in the second round
    for name in ("model", "rounds/002/sft"):
        shutil.rmtree(run / name)
    gradus(*command)
    assert (run / "draws.jsonl").read_bytes() == draws
    assert (run / "model" / "model.safetensors").read_bytes() == weights
    capsys.readouterr()
    gradus(*command)
    assert "reused" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--max-steps 0", "--max-steps is 0"),
        ("--group-size 1", "--group-size is 1"),
        ("--objective grppo", "did you mean grpo"),
        ("--objective kimi", "kimi is inert"),
        ("--rewards accuracy --rewards lengths", "lengths is not a reward"),
        ("--rewards think_format", "must begin with accuracy"),
        ("--micro-batch-size 3", "use a divisor of 16"),
        ("--updates-per-generation 3", "cannot be split over 3"),
        ("--max-tokens 4000", "leaves no room for a prompt"),
        ("--trl {vllm_mode:server}", "does nothing without --vllm"),
        ("--vllm --objective dr_grpo --trl {vllm_mode:server}", "needs a CUDA device"),
        ("--objective rloo --trl {epsilon:10.0}", "objective rloo has no epsilon"),
        ("--objective raft --kl-coef 0.1", "objective raft has no KL to the initial model"),
        ("--objective raft --rewards accuracy --rewards repetition", "raft learns from correct answers"),
        ("--curriculum {polcy:uniform}", "did you mean policy"),
        ("--trl {learning_rat:1}", "did you mean learning_rate"),
        ("--trl {output_dir:x}", "own option"),
        ("--out /proc/nowhere", "cannot write here"),
        ("--data nothing.jsonl", "nothing.jsonl: no such file"),
        ("--model ./nothing", "no such folder"),
    ],
)
def test_a_mistake_is_one_line_before_any_model_is_loaded(
    copier: Path, tmp_path: Path, options: str, message: str
) -> None:
    given = [part.replace(":", ": ") for part in options.split()]
    with pytest.raises(UserError, match=re.escape(message)) as refusal:
        gradus(*grpo(copier, tmp_path / "never"), *given)
    assert "\n" not in str(refusal.value)
    assert not (tmp_path / "never" / "model").exists()


def test_a_chat_template_without_the_wanted_mode_is_refused(copier: Path, tmp_path: Path) -> None:
    model = shutil.copytree(copier / "sft" / "model", tmp_path / "plain")
    (model / "chat_template.jinja").write_text("{% for m in messages %}{{ m.content }}{% endfor %}")
    with pytest.raises(UserError, match="its chat template has no enable_thinking"):
        gradus(*grpo(copier, tmp_path / "never"), "--model", model, "--thinking", "on")
    with pytest.raises(UserError, match="has no switch to turn thinking off"):
        gradus(*grpo(copier, tmp_path / "never"), "--model", model, "--thinking", "off")


def test_a_tokenizer_without_a_pad_token_is_refused(copier: Path, tmp_path: Path) -> None:
    model = shutil.copytree(copier / "sft" / "model", tmp_path / "no_pad")
    settings = json.loads((model / "tokenizer_config.json").read_text())
    del settings["pad_token"]
    (model / "tokenizer_config.json").write_text(json.dumps(settings))
    with pytest.raises(UserError, match="has no pad token"):
        gradus(*grpo(copier, tmp_path / "never"), "--model", model)
