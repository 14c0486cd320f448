"""The progress bar: with the remaining time on a terminal, nothing elsewhere, and never in the way of stdout."""

import os
import pty
import subprocess
import sys

from support.places import ROOT

WORK = """
import time
from curate.progress import Progress
with Progress("step", 8, num_before=4, delay_s=0) as bar:
    bar.tick(0)
    for step in range(5, 8):
        time.sleep(0.4)
        bar.tick()
        print(f"step {step}/8", flush=True)
"""


def run(on_terminal: bool) -> tuple[str, str]:
    """What the work writes on stdout, a pipe, and on stderr, a terminal or a pipe."""
    ours, theirs = pty.openpty() if on_terminal else os.pipe()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "100"}
    done = subprocess.run(
        [sys.executable, "-c", WORK], stdout=subprocess.PIPE, stderr=theirs, text=True, check=True, env=environment
    )
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:
        pass  # a terminal that was closed at the other end
    os.close(ours)
    return done.stdout, shown.decode()


def test_on_a_terminal_the_bar_has_an_estimate_and_lines_for_a_pipe_stay_out_of_it() -> None:
    stdout, shown = run(on_terminal=True)
    assert stdout.splitlines() == ["step 5/8", "step 6/8", "step 7/8"]
    # begins where the earlier run stopped
    assert "4/8" in shown
    assert "7/8" in shown
    assert "0:00:0" in shown
    assert "step 6/8" not in shown


def test_elsewhere_there_is_no_bar() -> None:
    ours, theirs = run(on_terminal=False)
    assert ours.count("step") == 3
    assert theirs == ""
