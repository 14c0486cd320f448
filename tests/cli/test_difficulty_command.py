"""The commands that sample a model, as a user types them."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.model_pool import pool, says, script, sums

from curate.artifacts.artifact import open_artifact
from curate.artifacts.samples import LOG

GRADUS = Path(sys.executable).with_name("gradus")


def gradus(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([GRADUS, *map(str, arguments)], capture_output=True, text=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "/nowhere/model"], "gradus: model '/nowhere/model': there is no such folder"),
        (["--keep", "9"], "gradus: keep is 9; 9..9 is not a band of 8 samples"),
        (["--base-url", "http://127.0.0.1:9/v1", "--model", "m"], "gradus: --base-url http://127.0.0.1:9/v1: does not"),
        (["--script", "nowhere.json"], "gradus: --script is nowhere.json"),
        (["--temperature", "-1"], "gradus: --temperature is"),
    ],
)
def test_a_mistake_is_one_line_and_exit_1(tmp_path: Path, options: list[str], message: str) -> None:
    pool(tmp_path / "pool", sums(2))
    result = gradus("curate", "difficulty", tmp_path / "pool", "--out", tmp_path / "out", *options)
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1


def test_ctrl_c_is_one_line_and_the_same_command_resumes(tmp_path: Path) -> None:
    pool(tmp_path / "pool", sums(60))
    slow = script(tmp_path / "slow.json", {"*": [{"text": "\\boxed{7}", "delay_s": 0.02}]})
    command = ["curate", "difficulty", tmp_path / "pool", "--out", tmp_path / "out", "--script", slow]
    command += ["--max-in-flight", "2"]
    log = tmp_path / "out" / LOG
    # a shell that runs the tests in the background ignores SIGINT, and its children with it
    with subprocess.Popen(
        [GRADUS, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  # no threads here
    ) as running:  # fmt: skip
        end_s = time.monotonic() + 60
        while not (log.exists() and log.stat().st_size):
            assert time.monotonic() < end_s
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, stderr = running.communicate(timeout=60)
    kept = f"gradus: {tmp_path / 'out'}: stopped; its samples are kept; the same command resumes from there\n"
    assert (running.returncode, stderr) == (130, kept)
    num_known = log.read_bytes().count(b"\n")
    done = gradus(*command)
    assert done.returncode == 0
    num_drawn = int(re.search(r"([\d,]+) samples, ", done.stderr)[1].replace(",", ""))  # type: ignore[index]  # it is there
    assert num_known > 0
    assert num_known + num_drawn == open_artifact(tmp_path / "out").read("samples").height


def test_difficulty_and_redecide_print_the_kept_rows_and_the_cost(tmp_path: Path) -> None:
    pool(tmp_path / "pool", sums(3))
    answers = script(tmp_path / "script.json", {"0 + 7 = ?": says("c"), "1 + 6 = ?": says("cw"), "*": says("w")})
    measured = gradus("curate", "difficulty", tmp_path / "pool", "--out", tmp_path / "a", "--script", answers)
    assert "1 kept" in measured.stdout
    assert "samples: 18" in measured.stdout
    assert "tokens/s" in measured.stderr
    redecided = gradus("curate", "redecide", tmp_path / "a", "--out", tmp_path / "b", "--keep", "2..6")
    assert "1 dropped: undersampled" in redecided.stdout
    assert "--samples-from" in redecided.stdout


def test_difficulty_says_why_completions_were_not_correct_and_what_to_change(tmp_path: Path) -> None:
    pool(tmp_path / "pool", sums(4))
    cut = {"text": "Let us see, 3 and", "finish_reason": "length"}
    answers = script(tmp_path / "script.json", {"*": ["\\boxed{7}", "\\boxed{8}", cut, cut, cut, "So it is done."] * 2})
    measured = gradus(
        "curate", "difficulty", tmp_path / "pool", "--out", tmp_path / "a", "--script", answers, "--k", "12",
        "--keep", "1..11", "--no-early-stop",
    )  # fmt: skip
    assert measured.returncode == 0, measured.stderr
    assert "wrong 83%: truncated 50, different 17, no_answer 16" in measured.stdout
    assert "warning: 50% of completions are cut off at --max-tokens" in measured.stdout
    assert "finds no answer" not in measured.stdout


@pytest.mark.parametrize("command", ["difficulty", "no-think", "redecide"])
def test_help_ends_in_an_example_of_this_command(command: str) -> None:
    shown = " ".join(gradus("curate", command, "--help").stdout.split())
    assert f"Example: gradus curate {command} " in shown


def test_truncation_is_said_with_what_to_change(tmp_path: Path) -> None:
    """A limit of 8 tokens and a model that cannot answer look alike in `too_hard`."""
    pool(tmp_path / "pool", sums(4))
    answers = {"*": [{"text": "so many words", "finish_reason": "length"}, {"text": "no box"}, {"text": "\\boxed{7}"}]}
    asked = ["--script", script(tmp_path / "answers.json", answers), "--no-early-stop", "--k", "6"]
    done = gradus("curate", "difficulty", tmp_path / "pool", "--out", tmp_path / "out", *asked)
    assert done.returncode == 0, done.stderr
    assert "difficulty: wrong " in done.stderr
    assert "truncated 33" in done.stderr
    assert "difficulty: warning: 33% of completions are cut off at --max-tokens" in done.stderr
