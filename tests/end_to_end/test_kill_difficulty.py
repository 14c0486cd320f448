"""Kill -9 at twenty points of a run, go on each time, and end with the bytes of an undisturbed run."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.model_pool import pool, script, sums

from curate.artifacts.samples import LOG

NUM_KILLS = 20
GRADUS = Path(sys.executable).with_name("gradus")
SLOW = [{"text": text, "delay_s": 0.01} for text in ("\\boxed{7}", "\\boxed{8}", "\\boxed{7}")]


def start(tmp_path: Path, out: str) -> subprocess.Popen[bytes]:
    options = ["--script", str(tmp_path / "script.json"), "--keep", "2..6", "--max-in-flight", "4"]
    command = [str(GRADUS), "curate", "difficulty", str(tmp_path / "pool"), "--out", str(tmp_path / out), *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def num_logged(out: Path) -> int:
    return (out / LOG).read_bytes().count(b"\n") if (out / LOG).exists() else 0


def kill_when(process: subprocess.Popen[bytes], is_time: Callable[[], bool]) -> None:
    """Kill -9 at the moment, or after the end where it never came."""
    while process.poll() is None and not is_time():
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.heavy
@pytest.mark.timeout(240)
def test_twenty_kills_leave_the_bytes_of_an_undisturbed_run(tmp_path: Path) -> None:
    pool(tmp_path / "pool", sums(70))
    script(tmp_path / "script.json", {"*": SLOW})
    assert start(tmp_path, "undisturbed").wait() == 0
    out, chance = tmp_path / "killed", random.Random(20)
    sights = [out / "kept", out / "dropped" / "part-00000.parquet", out / "samples", out / "plots", out / "README.md"]
    for number in range(NUM_KILLS - len(sights)):
        more = num_logged(out) + chance.randrange(1, 22)
        kill_when(start(tmp_path, "killed"), lambda more=more: num_logged(out) >= more)
        assert num_logged(out) > 0, f"kill {number} came before any work"
    for sight in sights:
        kill_when(start(tmp_path, "killed"), sight.exists)
    assert start(tmp_path, "killed").wait() == 0
    assert content(out) == content(tmp_path / "undisturbed")
