"""A program that does not solve its problem is never correct, whatever it tries, and harms no machine."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.liars import ASSERT, LIARS
from support.places import ROOT

from curate.verify.code.grade import verify_code
from curate.verify.code.memory_watch import resident
from curate.verify.policy import Policy
from curate.verify.verdict import Verdict

Check = Callable[..., Verdict]


BOMBS = {
    "endless_loop": "def f(x):\n    while True: pass",
    "sleeps": "import time\ndef f(x): time.sleep(1000)",
    "memory_bomb": "def f(x): return bytearray(1 << 40)",
    "slow_memory_bomb": "def f(x):\n    a = []\n    while True: a.append(bytearray(1 << 20))",
    "fork_bomb": "import os\ndef f(x):\n    while True:\n        try: os.fork()\n        except OSError: pass",
    "thread_bomb": """
import threading, time
def f(x):
    while True: threading.Thread(target=time.sleep, args=(99,)).start()
""",
    "ignores_signals": """
import signal
for number in range(1, 32):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
def f(x):
    while True: pass
""",
    "big_power": "def f(x): return 9 ** 9 ** 9",
    "regex": "import re\ndef f(x): return re.match('(a+)+$', 'a' * 60 + 'b')",
}  # fmt: skip


@pytest.mark.parametrize("source", BOMBS.values(), ids=BOMBS)
def test_a_bomb_ends_in_time(check: Check, source: str) -> None:
    start = time.monotonic()
    assert check(source, ASSERT).verdict == "wrong"
    assert time.monotonic() - start < 10


STDIO_ATTACKS = {
    "endless_output": "while True: print('4' * 1000)",
    "prints_nothing": "pass",
    "exits_before_flush": "import os, sys\nsys.stdout.write('4')\nos._exit(0)",
    "right_answer_but_fails": "print(4)\nraise SystemExit(3)",
    "prints_from_a_child": "import os\nif os.fork() == 0:\n    import time; time.sleep(60); print(4)",
}


@pytest.mark.parametrize("source", STDIO_ATTACKS.values(), ids=STDIO_ATTACKS)
def test_output_after_the_time_limit_does_not_count(check: Check, source: str) -> None:
    assert check(source, ("2\n", "4\n")).verdict == "wrong"


def test_a_program_sees_no_network_no_files_and_no_environment(
    check: Check, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GRADUS_TEST_SECRET", "s3cret")
    (tmp_path / "secret").write_text("s3cret")
    listener = socket.create_server(("127.0.0.1", 0))
    source = f"""
import os, socket
def f(x):
    seen = []
    if any("s3cret" in value for value in os.environ.values()): seen.append("environment")
    for path in ({str(tmp_path / "secret")!r}, "/root", "/home", "/etc/passwd", "/etc/shadow", {str(Path.cwd())!r}):
        if os.path.exists(path): seen.append(path)
    for target in ({listener.getsockname()!r}, ("1.1.1.1", 53)):
        try: socket.create_connection(target, 0.5); seen.append(target)
        except OSError: pass
    for path in ("/usr/x", "/x", "/proc/x", "/dev/x", "/etc/x"):
        try: open(path, "w"); seen.append(path)
        except OSError: pass
    try: open("/tmp/big", "wb").write(bytes(64 << 20)); seen.append("big file")
    except OSError: pass
    return seen
"""
    with listener:
        assert check(source, "assert f(1) == [], f(1)", timeout_s=4).verdict == "correct"
    assert not Path("/tmp/big").exists()


def test_a_daemon_dies_with_its_sandbox(check: Check) -> None:
    mark = f"daemon-{os.getpid()}-{time.monotonic_ns()}"
    source = f"""
import os, sys
def f(x):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv("/usr/bin/python3", ["python3", "-c", "import time; time.sleep(100)", {mark!r}])
        os._exit(0)
    return 4
"""
    assert check(source, ASSERT).verdict == "correct"
    assert not _children(named=mark)


def test_attackers_leave_no_zombies(check: Check) -> None:
    for source in (BOMBS["fork_bomb"], LIARS["exits_with_success"], LIARS["kills_all_it_can"]):
        check(source, ASSERT)
    states = subprocess.run(["ps", "-o", "stat=", "--ppid", str(os.getpid())], capture_output=True, text=True).stdout
    assert not any(line.startswith("Z") for line in states.split())


def test_an_attacker_does_not_change_concurrent_verdicts(check: Check) -> None:
    verdicts: dict[int, str] = {}

    def one(index: int) -> None:
        source = "def f(x): return x * x" if index % 2 else LIARS["kills_all_it_can"]
        verdicts[index] = check(source, ASSERT, timeout_s=3).verdict

    threads = [threading.Thread(target=one, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verdicts == {index: "correct" if index % 2 else "wrong" for index in range(8)}


def test_without_bubblewrap_nothing_runs_unless_it_is_trusted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from curate.verify.code import sandbox

    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("prlimit", "setpriv"):
        (tools / tool).symlink_to(f"/usr/bin/{tool}")
    monkeypatch.setenv("PATH", str(tools))
    sandbox._why_not.cache_clear()
    marker = tmp_path / "ran"
    tests = '{"style": "assert", "tests": ["assert f(2) == 4"], "entry_points": ["f"]}'
    program = f"```python\ndef f(x):\n    open({str(marker)!r}, 'w')\n    return 4\n```"
    try:
        verdict = verify_code(program, tests)
        assert (verdict.verdict, verdict.reason) == ("undecided", "sandbox_unavailable")
        assert not marker.exists()
        assert verify_code(program, tests, Policy(unsafe_local=True)).verdict == "correct"
        assert marker.exists()
    finally:
        sandbox._why_not.cache_clear()


def _children(named: str) -> list[str]:
    """Command lines of the processes on the machine that contain a mark."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = path.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if named in text and str(os.getpid()) != path.parent.name:
            found.append(text)
    return found


def test_the_examiner_ends_with_the_process_that_started_it(sandboxed: None) -> None:
    script = (
        "from curate.verify.code import examiner\nfrom curate.verify.code.grade import verify_code\n"
        'tests = \'{"style": "assert", "tests": ["assert f(2) == 4"], "entry_points": ["f"]}\'\n'
        "assert verify_code('```python\\ndef f(x): return 4\\n```', tests).verdict == 'correct'\n"
        "print(*(standing.box.process.pid for standing in examiner.EXAMINERS.get().standing.values()))\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split()
    assert not any(Path(f"/proc/{pid}").exists() for pid in ran.stdout.split())


CALL_TESTS = json.dumps({"style": "call", "entry_point": "f", "tests": [{"args": [2], "output": 4}]})
STDIO_TESTS = json.dumps({"style": "stdio", "tests": [{"input": "2", "output": "4"}]})
HOARD = """
import os, time
def hoard():
    for _ in range(7):
        if os.fork() == 0:
            held = bytearray(90 << 20)
            for i in range(0, len(held), 4096): held[i] = 1
            time.sleep(30)
"""


@pytest.mark.parametrize("style", ["call", "stdio"])
def test_processes_over_their_total_memory_are_ended_together(sandboxed: None, style: str) -> None:
    policy = Policy(code_timeout_s=5.0, code_memory_mb=160, code_total_memory_mb=256)  # each one is within its limit
    if style == "call":
        source = f"{HOARD}\ndef f(x):\n    hoard()\n    time.sleep(30)\n    return 4"
        tests = CALL_TESTS
    else:
        source, tests = f"{HOARD}\nhoard()\ntime.sleep(30)\nprint(4)", STDIO_TESTS
    start_s = time.monotonic()
    verdict = verify_code(f"```python\n{source}\n```", tests, policy)
    assert (verdict.verdict, verdict.reason) == ("wrong", "memory")
    assert time.monotonic() - start_s < 10
    assert verify_code("```python\ndef f(x): return x * x\n```", CALL_TESTS, policy).verdict == "correct"


def test_the_memory_of_a_process_tree_is_summed() -> None:
    source = (
        "import os,time\nheld=bytearray(60<<20)\nos.fork()\n"
        "held[:]=bytes(len(held))\nprint(1,flush=True)\ntime.sleep(20)"
    )
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, start_new_session=True) as process:
        for _ in range(2):
            process.stdout.readline()  # type: ignore[union-attr]  # it is a pipe
        held = resident(process.pid)
        os.killpg(process.pid, 9)
    assert 120 << 20 <= held <= 400 << 20
    assert resident(process.pid) == 0
