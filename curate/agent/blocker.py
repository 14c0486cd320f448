"""Blocks commands that combine the repository's address with a network word, as Qwen3-Coder-Next did (2603.00729).

Nothing is reachable from a box. A model that learns to fetch the fix would do so where something is; so the command is
not run, and the reply says why.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

NETWORK: Final = re.compile(
    r"\b(?:curl|wget|aria2c|nc|ncat|ssh|scp|rsync|sftp|ftp|https?|urllib|requests|httpx|aiohttp|socket|"
    r"git\s+(?:-\S+\s+)*(?:clone|fetch|pull|ls-remote|remote|submodule|archive)|"
    r"gh\s+(?:api|repo|pr)|pip3?\s+(?:install|download)|uv\s+(?:add|pip)|easy_install|conda\s+install)\b",
    re.IGNORECASE,
)
MESSAGE: Final = (
    "blocked: the command names the repository's address ({address}) together with a network word ({word}). "
    "Nothing is reachable from here, and the fix must not be fetched; work on the files of the repository."
)


def why_blocked(command: str, origin: Mapping[str, str]) -> str | None:
    """The message for a blocked command; None for one that may run. origin: the task's, with its `repo`."""
    word = NETWORK.search(command)
    if word is None:
        return None
    for address in addresses(origin.get("repo", "")):
        if re.search(rf"(?<![\w.-]){re.escape(address)}(?![\w-])", command, re.IGNORECASE):
            return MESSAGE.format(address=address, word=word[0])
    return None


def addresses(repo: str) -> list[str]:
    """The ways to write a repository's address: host/owner/name, owner/name, or the name alone if that is all."""
    plain = re.sub(r"^[a-z+]+://|^git@|\.git/?$", "", repo.strip(), flags=re.IGNORECASE).replace(":", "/").strip("/")
    parts = [part for part in plain.split("/") if part]
    if not parts:
        return []
    # the name alone, with a version of a distribution: toolz-1.1.0
    name = re.sub(r"-\d[\w.]*$", "", parts[-1])
    return [plain, "/".join(parts[-2:])] if len(parts) > 1 else [name]
