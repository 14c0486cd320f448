"""A box: a repository in which an agent works, on a disk in memory, with a sandbox for each command.

    this process -> keeper (a sandbox with the disk; no network) -> one sandbox per command (its own processes)

What lasts between commands is files alone. The disk has a fixed size and disappears with the keeper, which ends when
this process does, however that ends. Every answer is data: nothing of the box's disk is opened by this process.
"""

from __future__ import annotations

import base64
import itertools
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, ClassVar, Final, NamedTuple

from pydantic import Field

from curate.config import Config
from curate.verify.code.inside import wire
from curate.verify.code.sandbox import Limits, SandboxUnavailable, Space, check_sandbox, start
from curate.verify.readable import can_be_read
from curate.verify.repo.archive import Archive
from curate.verify.repo.packages import mounts

KEEPER: Final = "curate.verify.repo.inside.keeper"
ANSWER_BYTES: Final = 300 << 20
SLACK_S: Final = 30.0  # for the keeper itself on a machine at full load
KEEPER_MB: Final = 1024
FILE_BYTES: Final = 4 << 20  # the largest changed file that is read


class BoxLimits(Config):
    """The resources of one episode in a box."""

    panel: ClassVar[str] = "Box"

    command_s: float = Field(default=60, gt=0, description="seconds of one command")
    episode_s: float = Field(default=900, gt=0, description="seconds of an episode, from the first command")
    output_chars: int = Field(default=8000, ge=100, description="characters of a command's output: its head and tail")
    memory_mb: int = Field(default=2048, ge=64, description="memory of all processes of a command together")
    disk_mb: int = Field(default=512, ge=8, description="size of the box's disk, which is in memory")
    processes: int = Field(default=64, ge=8, description="processes and threads of a command")


class BoxFault(Exception):  # noqa: N818  # a state of the machine, not a mistake in a program
    """The box itself failed: no verdict follows from it."""


class Refused(Exception):  # noqa: N818  # part of the conversation with an agent
    """The box refused a request: a path outside the repository, a missing file, a full disk. One line."""


class Output(NamedTuple):
    """The end of a command.

    status: exit status, negative for a signal. end: exit, timeout, memory or episode (its time is over).
    cut: bytes left out of the output.
    """

    status: int
    output: str
    end: str
    cut: int


class Change(NamedTuple):
    """A path that differs from the base. kind: file, deleted, link or other. content: None unless it is a file."""

    path: str
    kind: str
    size: int
    content: bytes | None


class Box:
    """A running box; `open_box` makes one. Its methods raise `BoxFault`, and `Refused` where they name a path."""

    def __init__(self, channel: socket.socket, limits: BoxLimits) -> None:
        self._channel, self.limits = channel, limits
        self._begun: float | None = None
        self._names = itertools.count()

    def load(self, base: Archive) -> None:
        """Fill the repository, once."""
        self._ask(0, do="load", archive=base.packed)

    def run(self, command: str, timeout_s: float | None = None) -> Output:
        """Run a shell command in the repository, for at most the command's and what is left of the episode's time."""
        left = self.seconds_left()
        if left <= 0:
            return Output(-9, "", "episode", 0)
        allowed = min(timeout_s or self.limits.command_s, self.limits.command_s)
        seconds = min(allowed, left)
        done = self._ask(
            seconds, do="run", command=["/usr/bin/sh", "-c", command], timeout_s=seconds,
            output_bytes=self.limits.output_chars, limits=self._inner(seconds),
        )  # fmt: skip
        end = "episode" if done["end"] == "timeout" and seconds < allowed else done["end"]
        return Output(done["status"], done["output"], end, done["cut"])

    def report(self, program: str, config: str, timeout_s: float, max_bytes: int) -> dict[str, Any]:
        """Run a Python program that sees the hidden files and a read-only repository; its report is in `report`."""
        done = self._ask(
            timeout_s, do="report", program=program, config=config, timeout_s=timeout_s,
            output_bytes=self.limits.output_chars, limits=self._inner(timeout_s), max_bytes=max_bytes,
        )  # fmt: skip
        return {**done, "report": base64.b64decode(done["report"])}

    def write(self, path: str, content: bytes, *, is_executable: bool = False) -> None:
        """Write a file of the repository."""
        self._ask(0, do="write", path=path, content=base64.b64encode(content).decode(), is_executable=is_executable)

    def hide(self, path: str, content: bytes) -> None:
        """Write a file that no command sees, only `report`."""
        self._ask(0, do="hide", path=path, content=base64.b64encode(content).decode())

    def read(self, path: str, max_bytes: int = FILE_BYTES) -> bytes:
        """The beginning of a file of the repository."""
        return base64.b64decode(self._ask(0, do="read", path=path, max_bytes=max_bytes)["content"])

    def remove(self, path: str) -> None:
        """Delete a file or a folder of the repository."""
        self._ask(0, do="remove", path=path)

    def changes(self) -> list[Change]:
        """The paths that differ from the base."""
        found = self._ask(0, do="changes", max_bytes=FILE_BYTES)
        return [
            Change(
                one["path"],
                one["kind"],
                one["size"],
                base64.b64decode(one["content"]) if one["content"] is not None else None,
            )
            for one in found
        ]

    def snapshot(self) -> str:
        """Keep the state of the repository; returns its name for `restore`."""
        name = f"s{next(self._names)}"
        self._ask(0, do="snapshot", name=name)
        return name

    def restore(self, name: str) -> None:
        """Bring the repository back to a snapshot."""
        self._ask(0, do="restore", name=name)

    def used_bytes(self) -> int:
        """Bytes in use on the box's disk, snapshots included."""
        return int(self._ask(0, do="used")["used"])

    def seconds_left(self) -> float:
        """Seconds that are left of the episode, which begins with the first command."""
        if self._begun is None:
            self._begun = time.monotonic()
        return self.limits.episode_s - (time.monotonic() - self._begun)

    def _inner(self, seconds: float) -> dict[str, int]:
        return {
            "memory": self.limits.memory_mb << 20,
            "cpu_s": int(8 * seconds) + 1,
            "processes": self.limits.processes,
        }

    def _ask(self, seconds: float, **request: Any) -> Any:
        """The keeper's answer to a request that may take `seconds` and some."""
        try:
            wire.send(self._channel.fileno(), {"q": request})
            if not can_be_read(self._channel.fileno(), seconds + SLACK_S):
                raise BoxFault("the keeper of the box does not answer")
            message = wire.receive(self._channel.fileno(), ANSWER_BYTES)
        except wire.WireError as error:
            raise BoxFault(f"the keeper of the box ended: {error}") from None
        answer = message["a"]
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["ok"]


@contextmanager
def open_box(base: Archive, limits: BoxLimits, packages: tuple[str, ...] = ()) -> Iterator[Box]:
    """A box with a copy of the base. packages: distributions of this environment that commands can import.

    Raises `SandboxUnavailable` if no sandbox can run here, and `BoxFault` if this one does not start.
    """
    check_sandbox(Limits(cpu_s=5, memory_mb=512))
    if (why := _why_no_box()) is not None:
        raise SandboxUnavailable(why)
    with _opened(base, limits, packages) as box:
        yield box


@cache
def _why_no_box() -> str | None:
    """Why no command can run in a box here, by a trial; None if one can. A machine may forbid nested namespaces."""
    try:
        with _opened(Archive({}), BoxLimits(disk_mb=8), ()) as box:
            done = box.run("true")
    except BoxFault as why:
        return f"a box cannot start here ({why})"
    if done.end == "exit" and done.status != 0:
        last = (done.output.strip().splitlines() or ["no message"])[-1]
        return f"a sandbox cannot start inside another one here ({last}); allow nested user namespaces"
    return None


@contextmanager
def _opened(base: Archive, limits: BoxLimits, packages: tuple[str, ...]) -> Iterator[Box]:
    space = Space(mounts(packages), limits.disk_mb)
    whole = Limits(
        cpu_s=limits.episode_s * 8, memory_mb=max(KEEPER_MB, 4 * limits.memory_mb), num_processes=limits.processes + 16,
        space=space,
    )  # fmt: skip
    ours, theirs = socket.socketpair()
    try:
        keeper = start(KEEPER, theirs.fileno(), whole, dies_with_us=False)
    except OSError as error:
        ours.close()
        raise BoxFault(f"no sandbox can start: {error}") from None
    finally:
        theirs.close()
    try:
        box = Box(ours, limits)
        box.load(base)
        yield box
    finally:
        ours.close()
        keeper.kill()
        keeper.close()
