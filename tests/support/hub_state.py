"""What a Hub on loopback holds: repositories, commits over content-addressed blobs, tags, and faults to come."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from dataclasses import dataclass, field
from typing import Any

TOKEN = "hf_loopbackSecretToken0123456789"


@dataclass
class Commit:
    """One commit: files by path, each the SHA-256 of a blob; `lfs` names those stored by LFS."""

    message: str
    files: dict[str, str]
    lfs: set[str]
    parent: str | None

    @property
    def sha(self) -> str:
        text = json.dumps([self.message, sorted(self.files.items()), self.parent])
        return hashlib.sha1(text.encode()).hexdigest()


@dataclass
class Repo:
    """A dataset repository."""

    private: bool
    commits: dict[str, Commit] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)

    def resolve(self, revision: str) -> str | None:
        for refs in (self.branches, self.tags):
            if revision in refs:
                return refs[revision]
        return revision if revision in self.commits else None


@dataclass
class Fault:
    """Answer the next `times` requests that match `METHOD path` with `status`; status 0 breaks the connection off."""

    pattern: str
    status: int
    times: int = 10**9
    code: str = ""
    message: str = "made to fail"


@dataclass
class Hub:
    """The state of the server."""

    url: str = ""
    tokens: set[str] = field(default_factory=lambda: {TOKEN})
    repos: dict[str, Repo] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    before_commit: list[Any] = field(default_factory=list)  # callables run once, just before a commit is judged
    lock: threading.RLock = field(default_factory=threading.RLock)

    def head(self, name: str, revision: str = "main") -> Commit:
        repo = self.repos[name]
        return repo.commits[repo.resolve(revision) or ""]

    def read(self, name: str, path: str, revision: str = "main") -> bytes:
        return self.blobs[self.head(name, revision).files[path]]

    def num_sent(self, pattern: str) -> int:
        return sum(re.search(pattern, line) is not None for line in self.log)

    def commit(self, name: str, message: str, files: dict[str, bytes | None], branch: str = "main") -> str:
        """Commit content (None deletes) as if somebody else had pushed it."""
        repo = self.repos[name]
        parent = repo.branches.get(branch) or repo.branches.get("main")
        before = repo.commits[parent] if parent else Commit("", {}, set(), None)
        now = dict(before.files)
        for path, content in files.items():
            now.pop(path, None)
            if content is not None:
                oid = hashlib.sha256(content).hexdigest()
                self.blobs[oid] = content
                now[path] = oid
        made = Commit(message, now, {path for path in before.lfs if path in now}, parent)
        repo.commits[made.sha] = made
        repo.branches[branch] = made.sha
        return made.sha
