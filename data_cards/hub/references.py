"""References to a dataset: a local folder, `ORG/NAME@REVISION` on the Hub, or a revision of `--repo`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from curate.errors import UserError
from data_cards.dataset.tables import Tables, open_tables


@contextmanager
def opened(reference: str, repo: str = "") -> Iterator[Tables]:
    """The tables of a folder, or of a dataset on the Hub, which is pulled and verified first.

    `ORG/NAME` alone means its newest version. Raises `UserError` if the reference does not exist.
    """
    if Path(reference).exists():
        yield open_tables(Path(reference))
        return
    name, revision = settled(reference, repo)
    from huggingface_hub import HfApi

    from data_cards.hub.hub import pull

    with TemporaryDirectory() as folder:
        pull(HfApi(), name, revision, Path(folder) / "dataset")
        yield open_tables(Path(folder) / "dataset")


def settled(reference: str, repo: str = "") -> tuple[str, str]:
    """The dataset name on the Hub and the revision of a reference."""
    name, at, revision = reference.partition("@")
    if repo and not at:
        return repo, reference
    if "/" not in name:
        raise UserError(f"{reference}: no such folder; give one, ORG/NAME@REVISION, or --repo ORG/NAME and a revision")
    if revision:
        return name, revision
    from huggingface_hub import HfApi

    from data_cards.hub.hub import tags

    versions = tags(HfApi(), name)
    return name, versions[-1] if versions else "main"


def version_of(reference: str, repo: str = "") -> str:
    """The version tag of a reference to the Hub; empty for a folder, a branch or a commit."""
    if Path(reference).exists():
        return ""
    from data_cards.config import TAG

    revision = settled(reference, repo)[1]
    return revision if TAG.fullmatch(revision) else ""
