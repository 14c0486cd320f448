"""What ends a run before its last step: signals, a full disk, a damaged checkpoint, a time limit, an exhausted pool."""

import json
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.training.toy_runs import copier_folder

from curate.errors import Stopped, UserError
from gradus import app
from train.runs.checkpoints import damage

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(400)]
GRADUS = Path(sys.executable).with_name("gradus")
WEIGHTS = Path("model") / "model.safetensors"


@pytest.fixture(scope="module")
def copier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copier_folder(tmp_path_factory.mktemp("copier"))


def gradus(*arguments: str | Path) -> None:
    app([str(part) for part in arguments], standalone_mode=False)


def grpo(copier: Path, out: Path, *options: str) -> list[str | Path]:
    """A run of 12 steps, two on each generation, with a checkpoint every 4."""
    return [
        "train", "grpo", "--model", copier / "sft" / "model", "--data", copier / "problems.jsonl", "--out", out,
        "--num-problems", "4", "--group-size", "4", "--max-steps", "12", "--max-tokens", "16", "--save-steps", "4",
        "--updates-per-generation", "2", "--learning-rate", "3e-3", "--logging-steps", "1", *options,
    ]  # fmt: skip


@pytest.fixture(scope="module")
def undisturbed(copier: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("undisturbed") / "run"
    gradus(*grpo(copier, run))
    return run


def is_as_undisturbed(run: Path, undisturbed: Path) -> bool:
    """Whether a run drew, learned and logged the same; times and the count of epochs differ."""
    return (
        (run / WEIGHTS).read_bytes() == (undisturbed / WEIGHTS).read_bytes()
        and (run / "draws.jsonl").read_bytes() == (undisturbed / "draws.jsonl").read_bytes()
        and logged(run) == logged(undisturbed)
    )


def logged(run: Path) -> list[dict[str, object]]:
    """The lines of the log without the last, which sums up, and without what depends on the clock."""
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()[:-1]]
    return [
        {name: value for name, value in line.items() if name not in ("elapsed_s", "step_time", "epoch")}
        for line in lines
    ]


@contextmanager
def once(path: Path, text: str, action: object) -> Iterator[None]:
    """Call `action` in another thread as soon as a file holds a text."""
    is_over = threading.Event()

    def watch() -> None:
        while not is_over.is_set():
            if path.is_file() and text in path.read_text():
                action()  # type: ignore[operator]
                return
            time.sleep(0.002)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        is_over.set()
        watcher.join()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_a_checkpoint_between_generations_from_which_the_run_resumes(
    copier: Path, undisturbed: Path, tmp_path: Path, number: signal.Signals
) -> None:
    run = tmp_path / "run"
    before = signal.getsignal(number)
    with (
        once(run / "draws.jsonl", '"step": 5', lambda: signal.raise_signal(number)),
        pytest.raises(Stopped) as stop,
    ):
        gradus(*grpo(copier, run))
    assert signal.getsignal(number) == before
    assert stop.value.exit_status == 128 + number
    newest = max(run.glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]))
    step = int(newest.name.split("-")[1])
    assert f"stopped at step {step} of 12; checkpoint-{step} is saved, and the same command resumes" in str(stop.value)
    assert step >= 6
    assert step % 2 == 0
    assert damage(newest) is None
    assert not (run / "model").exists()
    gradus(*grpo(copier, run))
    assert is_as_undisturbed(run, undisturbed)


def test_fine_tuning_resumes_from_where_a_signal_stopped_it(copier: Path, tmp_path: Path) -> None:
    def sft(out: Path) -> None:
        gradus(
            "train", "sft", "--model", copier / "untrained", "--data", copier / "copy.jsonl", "--out", out,
            "--batch-size", "16", "--max-steps", "50", "--learning-rate", "1e-2", "--logging-steps", "1",
        )  # fmt: skip

    run, whole = tmp_path / "run", tmp_path / "whole"
    sft(whole)
    with (
        once(run / "log.jsonl", '"step": 7', lambda: signal.raise_signal(signal.SIGTERM)),
        pytest.raises(Stopped, match=r"stopped at step \d+ of 50"),
    ):
        sft(run)
    sft(run)
    assert (run / WEIGHTS).read_bytes() == (whole / WEIGHTS).read_bytes()


@pytest.mark.parametrize("name", ["optimizer.pt", "curriculum.parquet", "trainer_state.json"])
def test_with_the_newest_checkpoint_damaged_the_run_ends_as_if_nothing_had_happened(
    copier: Path, undisturbed: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    shutil.copytree(undisturbed, run)
    shutil.rmtree(run / "model")
    (run / "checkpoint-12" / name).write_bytes(b"")
    gradus(*grpo(copier, run))
    said = capsys.readouterr().out
    assert f"checkpoint-12: damaged ({name} has 0 bytes" in said
    assert "resuming from checkpoint-8" in said
    assert is_as_undisturbed(run, undisturbed)


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.pt", "curriculum-visits.parquet"])
def test_a_file_that_cannot_be_written_whole_is_one_line_and_leaves_the_last_checkpoint(
    copier: Path, undisturbed: Path, tmp_path: Path, name: str
) -> None:
    """By the limit on a file's size, which the libraries meet as they meet a full disk."""
    run = tmp_path / "run"
    largest = (undisturbed / "checkpoint-8" / name).stat().st_size - 1
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with (
            once(
                run / "checkpoint-4" / "gradus.json",
                "}\n",
                lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest, limits[1])),
            ),
            pytest.raises(UserError) as refusal,
        ):
            gradus(*grpo(copier, run))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "make room: the same command then resumes from checkpoint-4" in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert damage(run / "checkpoint-4") is None
    gradus(*grpo(copier, run))
    assert is_as_undisturbed(run, undisturbed)


def test_a_full_disk_is_one_line_and_the_run_resumes_once_there_is_room(
    copier: Path, undisturbed: Path, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    size = sum(path.stat().st_size for path in (undisturbed / "checkpoint-8").iterdir())
    command = " ".join(f"'{part}'" for part in [GRADUS, *grpo(copier, disk / "run")])
    script = (
        f"mount -t tmpfs -o size={int(1.7 * size)} none '{disk}' && {command} 2>'{tmp_path}/said'; "
        f"mount -o remount,size=64m '{disk}' && {command} && cp -r '{disk}/run' '{tmp_path}/run'"
    )
    own = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*own, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this system gives no namespace to mount a small disk in")
    done = subprocess.run([*own, "sh", "-c", script], check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    said = (tmp_path / "said").read_text()
    assert "make room: the same command then resumes from checkpoint-4" in said.splitlines()[-1]
    assert "Traceback" not in said
    assert is_as_undisturbed(tmp_path / "run", undisturbed)


def test_a_run_whose_pool_is_exhausted_before_the_first_checkpoint_leaves_curriculum_and_log(
    copier: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, after = tmp_path / "run", tmp_path / "after"
    easy = "--curriculum", "{rule: threshold, threshold: 0.01, recheck_after: 1000}"
    gradus(*grpo(copier, run, *easy, "--save-steps", "100", "--max-steps", "300"))
    assert "training ends early" in capsys.readouterr().out
    (checkpoint,) = run.glob("checkpoint-*")
    assert damage(checkpoint) is None
    gradus("curriculum", "status", run)
    assert "retired" in capsys.readouterr().out
    assert json.loads((run / "log.jsonl").read_text().splitlines()[0])["step"] == 1
    # with nothing left to draw from the start
    gradus(*grpo(copier, after, *easy, "--curriculum-from", str(run)))
    assert (after / WEIGHTS).is_file()
    gradus("curriculum", "status", after)


def test_a_time_limit_leaves_a_checkpoint_and_a_log_line(copier: Path, tmp_path: Path) -> None:
    gradus(
        "train", "sft", "--model", copier / "untrained", "--data", copier / "copy.jsonl", "--out", tmp_path / "run",
        "--max-time-s", "0.001", "--max-steps", "50",
    )  # fmt: skip
    assert damage(tmp_path / "run" / "checkpoint-1") is None
    assert json.loads((tmp_path / "run" / "log.jsonl").read_text().splitlines()[0])["step"] == 1


def test_micro_batches_and_log_lines_may_change_when_a_run_resumes(
    copier: Path, undisturbed: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    shutil.copytree(undisturbed, run)
    for name in ("model", "checkpoint-12"):
        shutil.rmtree(run / name)
    gradus(*grpo(copier, run, "--micro-batch-size", "2", "--logging-steps", "3"))
    assert (run / "draws.jsonl").read_bytes() == (undisturbed / "draws.jsonl").read_bytes()
    steps = [json.loads(line)["step"] for line in (run / "log.jsonl").read_text().splitlines()[:-1]]
    assert steps == [*range(1, 10), 12]
    starts = json.loads((run / "environment.json").read_text())["starts"]
    assert [(start["step"], start["micro_batch_size"]) for start in starts] == [(0, None), (8, 2)]
    # rounding alone differs
    from safetensors.torch import load_file

    weights, wanted = (load_file(folder / WEIGHTS) for folder in (run, undisturbed))
    assert max((weights[name] - wanted[name]).abs().max().item() for name in wanted) < 2e-3
