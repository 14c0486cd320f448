"""The box: what commands see and leave, its limits, and that nothing outlives the process that opened it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.places import ROOT

from curate.verify.repo.archive import Archive
from curate.verify.repo.box import Box, BoxLimits, Refused, open_box

BASE = Archive(
    {"a.py": b"x = 1\n", "pkg/m.py": b"y = 2\n", "run.sh": b"echo ran"}, frozenset({"run.sh"}), {"l": "a.py"}
)
LIMITS = BoxLimits(command_s=5, episode_s=60, memory_mb=200, disk_mb=32, output_chars=400)


@pytest.fixture
def box() -> Iterator[Box]:
    with open_box(BASE, LIMITS) as opened:
        yield opened


def test_what_lasts_between_commands_is_files_alone(box: Box) -> None:
    assert box.run("./run.sh; cat l").output == "ran\nx = 1\n"
    box.run("echo new > b.txt; export A=1; cd pkg; sleep 100 &")
    assert box.run("cat b.txt; echo [$A]; pwd; ps ax | grep -c '[s]leep'").output == "new\n[]\n/repo\n0\n"
    assert [(one.path, one.kind) for one in box.changes()] == [("b.txt", "file")]


def test_a_command_sees_neither_machine_nor_tests_nor_network(box: Box) -> None:
    box.hide("tests/test_a.py", b"secret")
    told = box.run("ls /hidden /box /root /home 2>&1 | grep -c 'No such file'; ls /repo /tmp").output
    assert told.split() == ["4", "/repo:", "a.py", "l", "pkg", "run.sh", "/tmp:"]
    program = 'import socket; socket.create_connection(("1.1.1.1", 80), 2)'
    assert "unreachable" in box.run(f"python3 -c '{program}' 2>&1 | tail -1").output


def test_output_keeps_its_head_and_tail(box: Box) -> None:
    done = box.run("seq 1 5000")
    assert done.output.startswith("1\n2\n")
    assert done.output.endswith("4999\n5000\n")
    assert f"[... {done.cut} bytes left out ...]" in done.output
    assert len(done.output) < 500


def test_every_limit_ends_the_command_and_leaves_the_box_usable(box: Box) -> None:
    ends = [
        box.run("sleep 30", timeout_s=0.5).end,
        box.run("python3 -c 'a = bytearray(400 << 20); import time; time.sleep(9)'").end,
        box.run("head -c 100M /dev/zero > big; rm big; seq 300 | while read i; do sleep 9 & done; wait", 2).end,
    ]
    assert ends[:2] == ["timeout", "memory"]
    assert box.run("echo fine").output == "fine\n"
    assert box.used_bytes() < LIMITS.disk_mb << 20


def test_the_time_of_an_episode_bounds_all_commands() -> None:
    with open_box(BASE, BoxLimits(command_s=5, episode_s=0.6, disk_mb=32)) as box:
        assert box.run("sleep 3").end == "episode"
        assert (box.run("echo late").end, box.run("echo late").output) == ("episode", "")


def test_a_snapshot_brings_back_what_was(box: Box) -> None:
    box.run("echo 1 > kept; chmod 000 pkg")
    name = box.snapshot()
    box.run("rm -rf *; echo 2 > other; mkfifo pipe")
    box.restore(name)
    assert [one.path for one in box.changes()] == ["kept"]


def test_changes_name_what_is_no_file_and_follow_no_link(box: Box) -> None:
    box.run("rm a.py; ln -sf /etc/hostname pkg/m.py; mkfifo pipe; ln -s / root; echo x > pkg/n.py; chmod 000 pkg/n.py")
    found = {one.path: (one.kind, one.content) for one in box.changes()}
    assert found == {
        "a.py": ("deleted", None), "pipe": ("other", None), "pkg/m.py": ("link", None), "pkg/n.py": ("file", b"x\n"),
        "root": ("link", None),
    }  # fmt: skip


@pytest.mark.parametrize("path", ["../x", "/etc/x", "way/x", "pkg/../../x", "a\0b", ""])
def test_paths_stay_in_the_repository(box: Box, path: str) -> None:
    box.run("ln -s /tmp way")
    with pytest.raises(Refused):
        box.write(path, b"x")
    with pytest.raises(Refused):
        box.read(path)


def test_many_boxes_run_at_once() -> None:
    def one(number: int) -> str:
        with open_box(BASE, LIMITS) as box:
            box.run(f"echo {number} > n; sleep 0.2")
            return box.run("cat n").output

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(one, range(8))) == [f"{number}\n" for number in range(8)]


def test_nothing_outlives_the_process_that_opened_the_box() -> None:
    program = (
        "from curate.verify.repo.archive import Archive\nfrom curate.verify.repo.box import *\n"
        "with open_box(Archive({'a': b''}), BoxLimits()) as box:\n    print('up', flush=True)\n"
        "    box.run('setsid sleep 86399 & nohup sleep 86399 & sleep 86399')\n"
    )
    command = [sys.executable, "-c", program]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert process.stdout is not None
    process.stdout.readline()
    _wait_for(lambda: _sleeping() >= 3)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    _wait_for(lambda: _sleeping() == 0)


def _sleeping() -> int:
    return int(subprocess.run(["pgrep", "-xfc", "sleep 86399"], capture_output=True, text=True).stdout)


def _wait_for(holds: object) -> None:
    assert callable(holds)
    until = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)
