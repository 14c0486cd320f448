"""The log of samples: what was written is kept after any end, in order, for every reader."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from support.model_pool import pool, problem, script, sums

from curate.artifacts.artifact import scan_part
from curate.artifacts.samples import LOG, Sample, SampleLog, sample_seed
from curate.errors import UserError

ONE = Sample("key", 0, "\\boxed{π}\n\u2028", 3, "stop", "correct", "exact", 9)
FULL_DISK = """
import resource, sys
from pathlib import Path
from curate.errors import UserError
from curate.artifacts.samples import Sample, SampleLog

resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))
log = SampleLog(Path(sys.argv[1]))
try:
    for index in range(100):
        log.append(Sample("key", index, "x" * 100, 1, "stop", "wrong", "different", 0))
except UserError as error:
    sys.exit(f"{len(log)} {error}")
"""

FULL_DISK_AT_WORK = """
import resource, sys
import gradus

resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
sys.argv = ["gradus", "curate", "difficulty", *sys.argv[1:]]
gradus.main()
"""


def test_samples_come_back_by_index_whatever_their_order_and_characters(tmp_path: Path) -> None:
    log = SampleLog(tmp_path)
    for index in (2, 0, 1):
        log.append(replace(ONE, index=index))
    log.close()
    again = SampleLog(tmp_path)
    assert again.of("key") == tuple(replace(ONE, index=index) for index in range(3))
    assert (again.num_recovered, again.of("other")) == (3, ())
    again.close()


def test_a_torn_last_line_is_cut_off_and_its_sample_owed_again(tmp_path: Path) -> None:
    log = SampleLog(tmp_path)
    log.append(ONE)
    log.close()
    whole = (tmp_path / LOG).read_bytes()
    for length in range(1, len(whole)):
        (tmp_path / LOG).write_bytes(whole + whole[:length])
        again = SampleLog(tmp_path)
        again.append(replace(ONE, index=1))
        assert [sample.index for sample in again.of("key")] == [0, 1]
        again.close()
        assert (tmp_path / LOG).read_bytes().startswith(whole)


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    (tmp_path / LOG).write_text('{"key": "a"}\n')
    with pytest.raises(UserError, match="line 1 is not a sample"):
        SampleLog(tmp_path)


def test_a_full_disk_is_one_line_and_leaves_whole_samples(tmp_path: Path) -> None:
    result = subprocess.run([sys.executable, "-c", FULL_DISK, str(tmp_path)], capture_output=True, text=True)
    assert result.returncode == 1
    num_written, message = result.stderr.split(" ", 1)
    assert "make room and run the same command again" in message
    log = SampleLog(tmp_path)
    assert len(log) == int(num_written) > 5
    assert (tmp_path / LOG).read_bytes().count(b"\n") == len(log)
    log.close()


def test_sealing_sorts_by_key_and_index(tmp_path: Path) -> None:
    log = SampleLog(tmp_path)
    for key, index in (("b", 1), ("a", 0), ("b", 0)):
        log.append(replace(ONE, key=key, index=index))
    log.seal()
    rows = scan_part(tmp_path, "samples").select("key", "index").collect().rows()
    assert rows == [("a", 0), ("b", 0), ("b", 1)]
    log.close()


def test_a_seed_depends_on_run_key_and_index_alone() -> None:
    seeds = {sample_seed(run, key, index) for run in range(3) for key in "abc" for index in range(8)}
    assert len(seeds) == 72
    assert all(0 <= seed < 2**31 for seed in seeds)


def test_a_disk_that_fills_up_with_what_a_stage_spills_is_one_line(tmp_path: Path) -> None:
    # few bytes once compressed, much memory a row
    pool(tmp_path / "pool", [problem(f"How much is {n}? " + "apple pear plum " * 300, "1") for n in range(20)])
    program = FULL_DISK_AT_WORK.replace("difficulty", "dedup")
    words = [str(tmp_path / "pool"), "--out", str(tmp_path / "out")]
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert "make room and run the same command again" in done.stderr
    assert not (tmp_path / "out" / "scratch.tmp").exists()


def test_a_disk_that_fills_up_while_many_samples_are_judged_is_one_line_too(tmp_path: Path) -> None:
    pool(tmp_path / "pool", sums(200))
    answers = script(tmp_path / "s.json", {"*": ["\\boxed{7}", "\\boxed{8}"]})
    words = [str(tmp_path / "pool"), "--out", str(tmp_path / "out"), "--script", str(answers)]
    done = subprocess.run([sys.executable, "-c", FULL_DISK_AT_WORK, *words], capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert "make room and run the same command again" in done.stderr
