"""Keeps the disk of one box and runs each command in a sandbox of its own, which sees the repository and little else.

The argument is the file descriptor of a channel; requests and answers are JSON. The disk is a file system in memory of
a fixed size: `repo` (the working copy), `tmp` (the commands' /tmp), `hidden` (tests, which only `report` shows) and
`snapshots`. Nothing on it is executed by this program, and none of its links is followed out of it.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import select
import shutil
import signal
import stat
import subprocess
import sys
import tarfile
import time
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

from curate.verify.code.inside.wire import Message, Peer, WireError

DISK = Path("/box")
REPO, TMP, HIDDEN, SNAPSHOTS = (DISK / name for name in ("repo", "tmp", "hidden", "snapshots"))
MAX_BYTES = 256 << 20
CHUNK = 1 << 16
GRACE_S = 1.0
LOOK_S = 0.05
PAGE = os.sysconf("SC_PAGE_SIZE")
# contents of the working copy as it was loaded, by path
BASE: dict[str, tuple[str, str]] = {}


def main() -> None:
    """Answer requests until the other end of the channel closes."""
    os.umask(0o022)
    for folder in (TMP, HIDDEN, SNAPSHOTS):
        folder.mkdir()
    with suppress(WireError):
        Peer(_channel(), MAX_BYTES, answer).answer_all()


def _channel() -> int:
    return int(sys.argv[1])


def answer(request: Message) -> Message:
    """The answer to one request: `{"ok": ...}`, or `{"error": text}` if the disk is full or a path is refused."""
    try:
        return {"ok": REQUESTS[request.pop("do")](**request)}
    except (OSError, ValueError) as error:
        return {"error": f"{type(error).__name__}: {error}"[:500]}


def load(archive: str) -> None:
    """Fill the working copy from a tar archive (zlib, base64) of files and links, and remember its contents."""
    with tarfile.open(fileobj=io.BytesIO(zlib.decompress(base64.b64decode(archive)))) as files:
        files.extractall(REPO)  # noqa: S202  # the project made the archive
    REPO.mkdir(exist_ok=True)
    BASE.update(_listing())


def run(command: list[str], timeout_s: float, output_bytes: int, limits: dict[str, int]) -> dict[str, Any]:
    """Run a command in the working copy. Its output is the first and last bytes of stdout and stderr together."""
    return _run(_inner(limits, is_report=False) + command, timeout_s, output_bytes, limits["memory"])


def report(
    program: str, config: str, timeout_s: float, output_bytes: int, limits: dict[str, int], max_bytes: int
) -> dict[str, Any]:
    """Run a Python program that reads `config` on one descriptor and writes its report on another.

    The program sees the hidden tests. The working copy is read-only, so that code under test leaves nothing behind.
    """
    given, (report_read, theirs) = os.memfd_create("config"), os.pipe()
    with os.fdopen(os.dup(given), "wb") as file:
        file.write(config.encode())
    os.lseek(given, 0, os.SEEK_SET)
    command = [*_inner(limits, is_report=True), "/usr/bin/python3", "-I", "-S", "-c", program, str(given), str(theirs)]
    try:
        done = _run(
            command, timeout_s, output_bytes, limits["memory"], keeps=(given, theirs), report=(report_read, max_bytes)
        )
    finally:
        os.close(report_read)
    return done


def write(path: str, content: str, *, is_executable: bool = False) -> None:
    """Write a file of the working copy; `content` is base64. Links on the way are refused."""
    place = _place(REPO, path)
    place.parent.mkdir(parents=True, exist_ok=True)
    _put(place, base64.b64decode(content), is_executable=is_executable)


def hide(path: str, content: str) -> None:
    """Write a file of the hidden tests; `content` is base64."""
    place = _place(HIDDEN, path)
    place.parent.mkdir(parents=True, exist_ok=True)
    _put(place, base64.b64decode(content), is_executable=False)


def read(path: str, max_bytes: int) -> dict[str, Any]:
    """The beginning of a regular file of the working copy, as base64, and its size."""
    fd = os.open(_place(REPO, path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise ValueError(f"{path} is not a file")
        return {"content": base64.b64encode(file.read(max_bytes)).decode(), "size": os.fstat(fd).st_size}


def remove(path: str) -> None:
    """Delete a file or a folder of the working copy."""
    place = _place(REPO, path)
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink()


def changes(max_bytes: int) -> list[dict[str, Any]]:
    """The files that differ from the base: path, kind, size, and base64 content of regular ones up to `max_bytes`."""
    ours, found = _listing(), []
    for path in sorted(ours.keys() | BASE.keys()):
        if ours.get(path) == BASE.get(path):
            continue
        kind = ours[path][0] if path in ours else "deleted"
        size = (REPO / path).stat().st_size if kind == "file" else 0
        data = (REPO / path).read_bytes() if kind == "file" and size <= max_bytes else None
        content = None if data is None else base64.b64encode(data).decode()
        found.append({"path": path, "kind": kind, "size": size, "content": content})
    return found


def snapshot(name: str) -> None:
    """Keep a copy of the working copy under a name."""
    _open_up(REPO)
    shutil.copytree(REPO, _place(SNAPSHOTS, name), symlinks=True, ignore=_special)


def _special(folder: str, names: list[str]) -> list[str]:
    """The names that are neither files, links nor folders: a copy would wait at a pipe."""
    modes = {name: os.lstat(os.path.join(folder, name)).st_mode for name in names}
    return [
        name for name, mode in modes.items() if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode))
    ]


def restore(name: str) -> None:
    """Make the working copy what it was when the snapshot was taken."""
    _open_up(REPO)
    shutil.rmtree(REPO)
    shutil.copytree(_place(SNAPSHOTS, name), REPO, symlinks=True)


def used() -> dict[str, int]:
    """Bytes in use and in all on the disk."""
    disk = os.statvfs(DISK)
    return {"used": (disk.f_blocks - disk.f_bfree) * disk.f_frsize, "size": disk.f_blocks * disk.f_frsize}


REQUESTS = {
    function.__name__: function
    for function in (load, run, report, write, hide, read, remove, changes, snapshot, restore, used)
}


def _place(root: Path, path: str) -> Path:
    """The place of a relative path below a folder; raises ValueError if it leaves it, also through a link."""
    parts = Path(path).parts
    if not parts or Path(path).is_absolute() or ".." in parts or "\0" in path:
        raise ValueError(f"{path!r} is not a path inside the repository")
    place = root
    for part in parts[:-1]:
        place /= part
        if place.is_symlink():
            raise ValueError(f"{path!r} leads through the link {part!r}")
    return place / parts[-1]


def _put(place: Path, data: bytes, *, is_executable: bool) -> None:
    if place.is_symlink():
        place.unlink()
    fd = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
    if is_executable:
        place.chmod(0o755)


def _listing() -> dict[str, tuple[str, str]]:
    """Each path of the working copy with its kind (file, link or other) and content; no folders."""
    found: dict[str, tuple[str, str]] = {}
    _open_up(REPO)
    for folder, folders, names in os.walk(REPO):
        for name in [*names, *(name for name in folders if os.path.islink(os.path.join(folder, name)))]:
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            if stat.S_ISREG(mode):
                told = ("file", hashlib.sha256(Path(path).read_bytes()).hexdigest())
            else:
                told = ("link", os.readlink(path)) if stat.S_ISLNK(mode) else ("other", "")
            found[os.path.relpath(path, REPO)] = told
    return found


def _open_up(root: Path) -> None:
    """Make folders and files that a command closed to its owner readable again."""
    root.chmod(0o755)
    for folder, folders, names in os.walk(root):
        for name in folders:
            if not os.path.islink(path := os.path.join(folder, name)):
                os.chmod(path, 0o700)
        for name in names:
            mode = os.lstat(path := os.path.join(folder, name)).st_mode
            if stat.S_ISREG(mode) and not mode & stat.S_IRUSR:
                os.chmod(path, 0o644)


def _inner(limits: dict[str, int], *, is_report: bool) -> list[str]:
    """The sandbox of one command: its own processes; the working copy at /repo; no way up to this program."""
    hidden = ["--ro-bind", str(HIDDEN), "/hidden", "--size", str(16 << 20), "--tmpfs", "/tmp"]  # noqa: S108
    home = hidden if is_report else ["--bind", str(TMP), "/tmp"]  # noqa: S108
    links = [
        argument
        for path in ("/bin", "/sbin", "/lib", "/lib64")
        for argument in (
            ("--symlink", os.readlink(path), path) if os.path.islink(path) else ("--ro-bind-try", path, path)
        )
    ]
    return [
        "/usr/bin/prlimit", f"--as={4 * limits['memory']}", f"--cpu={limits['cpu_s']}:{limits['cpu_s'] + 1}",
        "--core=0",
        "/usr/bin/bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--new-session", "--die-with-parent",
        "--cap-drop", "ALL", "--clearenv", "--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin",
        "--setenv", "HOME", "/tmp",  # noqa: S108
        "--setenv", "LANG", "C.UTF-8", "--setenv", "PYTHONPATH", "/packages",
        "--setenv", "PYTHONDONTWRITEBYTECODE", "1",
        "--setenv", "OMP_NUM_THREADS", "1", "--setenv", "OPENBLAS_NUM_THREADS", "1", "--hostname", "box",
        "--ro-bind", "/usr", "/usr", *links, "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache",
        "--ro-bind-try", "/packages", "/packages", *home,
        "--ro-bind" if is_report else "--bind", str(REPO), "/repo",
        "--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev", "--remount-ro", "/", "--chdir",
        "/tmp" if is_report else "/repo",  # noqa: S108
        "/usr/bin/prlimit", f"--nproc={limits['processes']}",
    ]  # fmt: skip


def _run(
    command: list[str],
    timeout_s: float,
    output_bytes: int,
    memory: int,
    keeps: tuple[int, ...] = (),
    report: tuple[int, int] | None = None,
) -> dict[str, Any]:
    """Run to the end or the timeout, which kills all of its processes; `keeps` are closed here once it has started."""
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, pass_fds=keeps,
        start_new_session=True,
    )  # fmt: skip
    for fd in keeps:
        os.close(fd)
    assert process.stdout is not None
    output, written = _Ends(output_bytes), _Ends(2 * report[1] if report else 0)
    sinks = {process.stdout.fileno(): output, **({report[0]: written} if report else {})}
    end = _drain(sinks, time.monotonic() + timeout_s, memory)
    if end != "exit":
        os.killpg(process.pid, signal.SIGKILL)
        _drain(sinks, time.monotonic() + GRACE_S, memory)
    status = process.wait()
    process.stdout.close()
    return {
        "status": status, "end": end, "output": output.text(), "cut": output.cut,
        "report": base64.b64encode(written.data()).decode(), "report_cut": written.cut,
    }  # fmt: skip


def _drain(sinks: dict[int, _Ends], until: float, memory: int) -> str:
    """Read the streams until they end: exit; or until the time is over, the memory is, or the caller hung up."""
    waiting = select.poll()
    waiting.register(_channel(), select.POLLRDHUP)
    still = set(sinks)
    for fd in still:
        waiting.register(fd, select.POLLIN)
    look = time.monotonic() + LOOK_S
    while still:
        now = time.monotonic()
        if now >= until:
            return "timeout"
        if now >= look:
            if _resident() > memory:
                return "memory"
            look = now + LOOK_S
        for fd, _ in waiting.poll(max(0.0, min(until, look) - now) * 1000):
            if fd == _channel():
                return "hang_up"
            if data := os.read(fd, CHUNK):
                sinks[fd].add(data)
            else:
                waiting.unregister(fd)
                still.discard(fd)
    return "exit"


def _resident() -> int:
    """Bytes in memory of all processes but this one and its parent: those of the running command."""
    total = 0
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in (os.getpid(), 1):
            with suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/statm") as file:
                total += int(file.read().split()[1]) * PAGE
    return total


class _Ends:
    """The first and the last half of a stream within a number of bytes. cut: the bytes left out between them."""

    def __init__(self, size: int) -> None:
        self._half = size // 2
        self._head, self._tail, self.cut = bytearray(), bytearray(), 0

    def add(self, data: bytes) -> None:
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if (excess := len(self._tail) - self._half) > 0:
            self.cut += excess
            del self._tail[:excess]

    def data(self) -> bytes:
        return bytes(self._head + self._tail)

    def text(self) -> str:
        if not self.cut:
            return self.data().decode("utf-8", "replace")
        gap = f"\n[... {self.cut} bytes left out ...]\n"
        return self._head.decode("utf-8", "replace") + gap + self._tail.decode("utf-8", "replace")


if __name__ == "__main__":
    main()
