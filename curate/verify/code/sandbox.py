"""Runs a trusted script with untrusted code inside it: bubblewrap, no network, no files, limits on every resource.

    prlimit (cpu, memory, files) -> setpriv (a user per slot, when root) -> bwrap -> prlimit (processes) -> python3

Each sandbox has its own processes, network, users and a 16 MB /tmp; of the machine it sees only /usr and the packages
of `packages.py`, read-only. It ends with this process, and killing its first process kills all its descendants. Its
Python is the system's. Without bubblewrap nothing runs, unless `unsafe_local` declares the code trusted.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from curate.process_wide import ProcessWide
from curate.verify.code.inside import wire
from curate.verify.code.memory_watch import WATCH
from curate.verify.code.packages import MOUNT, packages
from curate.verify.code.scripts import source_of
from curate.verify.readable import can_be_read

PYTHONS: Final = ("/usr/bin/python3", "/usr/local/bin/python3")
TMP: Final = "/tmp"  # noqa: S108  # the sandbox's own
TMP_BYTES: Final = 16 << 20
SHM: Final = "/dev/shm"  # noqa: S108  # the sandbox's own
SHM_BYTES: Final = 1 << 20
FILE_BYTES: Final = 2 << 20
NUM_FILES: Final = 64
DISK: Final = "/box"
FIRST_UID: Final = 100_000
INFO_S: Final = 5.0  # for bwrap to report its first process; a machine at full load is slow
HINT: Final = "install bubblewrap (apt-get install bubblewrap), or use --unsafe-local for code that you trust"

ENVIRONMENT: Final = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}


class SandboxUnavailable(Exception):  # noqa: N818  # a state of the machine, not a mistake in a program
    """No code can run here; the message is one line with the reason and the remedy."""


@dataclass(frozen=True)
class Space:
    """What a sandbox has beyond the system: folders of this machine, read-only, and a disk of its own in memory.

    folders: (here, there) pairs. disk_mb: size of the disk at `DISK`, which disappears with the sandbox.
    """

    folders: tuple[tuple[Path, str], ...]
    disk_mb: int


@dataclass(frozen=True)
class Limits:
    """The resources that one sandbox may use.

    space: makes room for sandboxes within the sandbox, which share its disk.
    """

    cpu_s: float
    memory_mb: int  # of each process
    num_processes: int = 10
    total_memory_mb: int | None = None  # of all processes together; None: not watched
    is_isolated: bool = True
    space: Space | None = None


class Sandbox:
    """A running sandbox. is_over_memory: it was ended for the total memory of its processes."""

    def __init__(self, process: subprocess.Popen[bytes], info: int | None) -> None:
        """info: file descriptor on which bwrap reports the first process of the namespace; None without a namespace."""
        self.process, self.is_over_memory = process, False
        self._info, self._is_isolated = info, info is not None
        self._first: int | None = None
        self._lock = threading.Lock()  # another thread may end it for its memory while it is being closed

    @property
    def pid(self) -> int:
        """The ancestor of all processes in the sandbox."""
        return self.process.pid

    def end_for_memory(self) -> None:
        """End all processes in the sandbox, and record the reason."""
        self.is_over_memory = True
        self._end()

    def kill(self) -> int:
        """End all processes in the sandbox; returns the exit status of its main program (128 + signal if killed)."""
        if self.process.poll() is None:
            self._end()
        with suppress(subprocess.TimeoutExpired):
            return self.process.wait(5)
        self.process.kill()
        return self.process.wait()

    def close(self) -> None:
        """Close this side's descriptors, after the sandbox has ended."""
        with self._lock:
            if self._info is not None:
                os.close(self._info)
                self._info = None

    def _end(self) -> None:
        with suppress(ProcessLookupError):
            if self._is_isolated:
                # killing the first process of the namespace kills all others, and bwrap reaps it: no zombies
                os.kill(self._first_process() or self.process.pid, signal.SIGKILL)
            else:
                os.killpg(self.process.pid, signal.SIGKILL)

    def _first_process(self) -> int | None:
        with self._lock:  # bwrap reports it once
            if self._first is None and self._info is not None and can_be_read(self._info, INFO_S):
                with suppress(ValueError, KeyError, OSError):
                    self._first = int(json.loads(os.read(self._info, 4096))["child-pid"])
            return self._first


@contextmanager
def sandbox(script: str, channel: int, limits: Limits, job: dict[str, object]) -> Iterator[Sandbox]:
    """Start `inside/<script>.py` with a channel and a job on its stdin, and kill it at the end."""
    box = start(script, channel, limits, job)
    total_mb = limits.total_memory_mb
    try:
        with WATCH.get().over(box, total_mb << 20) if total_mb is not None else nullcontext():
            yield box
    finally:
        box.kill()
        box.close()


def start(
    script: str, channel: int, limits: Limits, job: dict[str, object] | None = None, *, dies_with_us: bool = True
) -> Sandbox:
    """Start `inside/<script>.py` with a channel; raises `SandboxUnavailable` if there is no Python for it."""
    with ExitStack() as stack, ExitStack() as only_on_failure:
        info_read, info_write = os.pipe() if limits.is_isolated else (None, None)
        for close, fd in ((only_on_failure, info_read), (stack, info_write)):
            if fd is not None:
                close.callback(os.close, fd)
        # a file, not a pipe: a sandbox that does not read must not block this process
        stdin = os.memfd_create("job")
        stack.callback(os.close, stdin)
        if job is not None:
            wire.send(stdin, job)
            os.lseek(stdin, 0, os.SEEK_SET)
        process = subprocess.Popen(
            _command(script, channel, _walls(limits, info_write, dies_with_us=dies_with_us)),
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[channel] if info_write is None else [channel, info_write],
            env=ENVIRONMENT,
            start_new_session=True,
        )
        only_on_failure.pop_all()
    return Sandbox(process, info_read)


def check_sandbox(limits: Limits) -> None:
    """Raise `SandboxUnavailable` if code cannot run here; cached, so that it costs one trial per process."""
    if limits.is_isolated and (why := _why_not()) is not None:
        raise SandboxUnavailable(why)


@cache
def _why_not() -> str | None:
    """The reason why no sandbox can start here, by a trial with an empty program; None if one can."""
    for tool in ("bwrap", "prlimit", *(["setpriv"] if os.geteuid() == 0 else [])):
        if shutil.which(tool) is None:
            return f"{tool} is not installed; {HINT}"
    if _python() is None:
        return f"no Python at {' or '.join(PYTHONS)} for the sandbox; install python3 there, or use --unsafe-local"
    trial = Limits(cpu_s=5, memory_mb=512)
    command = [
        *_walls(trial, None),
        str(_python()),
        "-I",
        "-S",
        "-c",
        "import sys; sys.exit(sys.version_info < (3, 10))",
    ]
    try:
        done = subprocess.run(command, capture_output=True, timeout=20, check=False, start_new_session=True)
    except subprocess.TimeoutExpired:
        return f"bwrap does not return within 20 s; {HINT}"
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no message"]
        return f"bwrap cannot run Python 3.10+ here ({lines[-1]}); allow user namespaces, or use --unsafe-local"
    return None


@cache
def _python() -> str | None:
    return next((path for path in PYTHONS if os.access(path, os.X_OK)), None)


def _command(script: str, channel: int, walls: Sequence[str]) -> list[str]:
    source, python = source_of(script), _python()
    if python is None:
        raise SandboxUnavailable(f"no Python at {' or '.join(PYTHONS)}; install python3 there")
    return [*walls, python, "-I", "-S", "-c", source, str(channel)]


def _bare_limits(limits: Limits) -> list[str]:
    """Limits on one process; RLIMIT_CPU counts whole seconds and kills one second after its warning."""
    cpu_s, space = math.ceil(limits.cpu_s), limits.space
    file_bytes, num_files = (FILE_BYTES, NUM_FILES) if space is None else (space.disk_mb << 20, 1024)
    return [
        "prlimit", f"--cpu={cpu_s}:{cpu_s + 1}", f"--as={limits.memory_mb << 20}", f"--fsize={file_bytes}",
        f"--nofile={num_files}", "--core=0",
    ]  # fmt: skip


def _walls(limits: Limits, info: int | None, *, dies_with_us: bool = True) -> list[str]:
    """The command line up to the program: limits, another user, a new namespace of every kind."""
    if not limits.is_isolated:
        return _bare_limits(limits)
    uid = _USERS.get().next_uid() if os.geteuid() == 0 else None
    user = ["setpriv", f"--reuid={uid}", "--regid=65534", "--clear-groups"] if uid is not None else []
    return [
        *_bare_limits(limits),
        *([*user, "--no-new-privs"] if user else []),
        "bwrap", "--unshare-all", "--unshare-user", *([] if limits.space else ["--disable-userns"]), "--new-session",
        *(["--die-with-parent"] if dies_with_us else []),
        "--cap-drop", "ALL", "--clearenv", "--setenv", "PATH", "/usr/bin:/bin", "--setenv", "LANG", "C.UTF-8",
        "--setenv", "OPENBLAS_NUM_THREADS", "1", "--setenv", "OMP_NUM_THREADS", "1",
        "--hostname", "sandbox", "--ro-bind", "/usr", "/usr", *_library_folders(), *_package_folders(),
        *_space(limits.space),
        "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache",
        "--size", str(TMP_BYTES), "--tmpfs", TMP, "--proc", "/proc", "--dev", "/dev",
        # semaphores of `multiprocessing`
        "--size", str(SHM_BYTES), "--tmpfs", SHM,
        "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", TMP,
        *(["--info-fd", str(info)] if info is not None else []),
        # inside the sandbox: outside, it would count all processes of the user on the machine
        "/usr/bin/prlimit", f"--nproc={limits.num_processes}",
    ]  # fmt: skip


def _space(space: Space | None) -> list[str]:
    if space is None:
        return []
    folders = [argument for here, there in space.folders for argument in ("--ro-bind", str(here), there)]
    return [*folders, "--size", str(space.disk_mb << 20), "--tmpfs", DISK]


def _library_folders() -> Sequence[str]:
    """Arguments for /bin, /lib and the like as on this machine: links into /usr, or separate folders."""
    arguments: list[str] = []
    for path in map(Path, ("/bin", "/sbin", "/lib", "/lib64")):
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            arguments += ["--ro-bind", str(path), str(path)]
    return arguments


def available_packages() -> list[str]:
    """The packages beyond the standard library that programs can import here."""
    python = _python()
    return [folder.name for folder in packages(python)] if python is not None else []


def _package_folders() -> Sequence[str]:
    """Arguments for the packages that programs may import."""
    python = _python()
    return [
        argument
        for folder in (packages(python) if python is not None else ())
        for argument in ("--ro-bind", str(folder), f"{MOUNT}/{folder.name}")
    ]


class _Users:
    """A different user for each sandbox, so that their limits are counted separately."""

    def __init__(self) -> None:
        self._slots, self._lock = itertools.count(), threading.Lock()

    def next_uid(self) -> int:
        with self._lock:
            return FIRST_UID + (os.getpid() * 64 + next(self._slots) % 64) % 1_000_000


_USERS: Final = ProcessWide(_Users)
