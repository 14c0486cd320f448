"""Datasets on the Hub: pushed as one commit with a tag that never moves, pulled with every digest verified.

A push is checked first and made in one commit: a failed push leaves the dataset on the Hub unchanged, and the next one
sends only the missing files. A pull is written beside its final place until every digest is verified.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from huggingface_hub import CommitInfo, CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.errors import HFValidationError, RemoteEntryNotFoundError, RepositoryNotFoundError
from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]  # exported lazily

from curate.artifacts.manifest import MANIFEST, Manifest, read_manifest
from curate.errors import UserError
from data_cards.config import TAG, PushConfig
from data_cards.dataset.published import MANAGED, curriculum_files, dataset_files, open_published
from data_cards.hub.card import card_on_hub, merged, own_card
from data_cards.hub.errors import plainly

UNCHANGED: Final = "nothing on the Hub was changed, and what was already sent is not sent again"


@dataclass(frozen=True)
class Pushed:
    """Where a push left the dataset: its commit, tag and page, and whether it was there already."""

    commit: str
    url: str
    is_reused: bool = False


def push(api: HfApi, dataset: Path, config: PushConfig) -> Pushed:
    """Commit a dataset, create the tag and return its address; a rerun of a finished push changes nothing.

    Args:
        api: the Hub's client with its token.
        dataset: a folder that `gradus card build` made.
        config: where to; a private push into a public repository and a tag of another dataset are refused.

    Raises:
        UserError: on anything amiss here, there or between; nothing is half-pushed.
    """
    repo, tag = config.repo, config.tag
    _check_names(repo, tag)
    manifest = open_published(dataset)
    curriculum = curriculum_files(config.with_curriculum) if config.with_curriculum else {}
    with plainly(repo, UNCHANGED):
        head = _head(api, repo, private=config.private)
        if tag and (at := _tagged(api, repo, tag, head)) is not None:
            return _same_or_refuse(api, repo, tag, at, manifest)
        commit = _commit(api, config, {**dataset_files(dataset, manifest), **curriculum}, manifest, head)
    if tag and not config.create_pr:
        with plainly(f"{repo}: the data is committed, the tag {tag} is not set", "run the same command again"):
            api.create_tag(repo, tag=tag, revision=commit.oid, repo_type="dataset")
    return Pushed(commit.oid, commit.pr_url or commit.commit_url)


def pull(api: HfApi, repo: str, revision: str, out: Path) -> tuple[Manifest, str, bool]:
    """Fetch a dataset into `out`, verify every digest, and put it in place; resumes an interrupted pull.

    Returns the manifest, the commit, and whether `out` held this very dataset already. Raises `UserError` where the
    revision does not exist, `out` holds something else, or a file differs from the manifest.
    """
    _check_names(repo)
    with plainly(f"{repo}@{revision}", f"{out} was not written"):
        commit = str(api.repo_info(repo, repo_type="dataset", revision=revision).sha)
        wanted = _remote_manifest(api, repo, commit)
        if wanted is None:
            raise UserError(f"{repo}@{revision}: has no {MANIFEST}, so Gradus did not make it; load it with datasets")
        if _holds(out, wanted):
            return wanted, commit, True
        partial = out.absolute().with_name(f".{out.absolute().name}.{commit[:12]}.partial")
        api.snapshot_download(
            repo, repo_type="dataset", revision=commit, local_dir=partial, allow_patterns=list(MANAGED)
        )
    try:
        manifest = open_published(partial, f"{repo}@{revision}")
    except UserError:
        shutil.rmtree(partial)
        raise
    shutil.rmtree(partial / ".cache", ignore_errors=True)
    if out.exists():
        out.rmdir()
    partial.rename(out)
    for left in out.absolute().parent.glob(f".{out.name}.*.partial"):  # of pulls of other commits that broke off
        shutil.rmtree(left)
    return manifest, commit, False


def tags(api: HfApi, repo: str) -> list[str]:
    """The version tags of a dataset on the Hub, lowest version first."""
    with plainly(repo, "nothing was read"):
        refs = api.list_repo_refs(repo, repo_type="dataset").tags
    found = [ref.name for ref in refs if TAG.fullmatch(ref.name)]
    return sorted(found, key=lambda tag: [int(number) for number in re.findall(r"\d+", tag)[:3]])


def _check_names(repo: str, tag: str = "") -> None:
    try:
        validate_repo_id(repo)
        is_whole = repo.count("/") == 1
    except HFValidationError:
        is_whole = False
    if not is_whole:
        raise UserError(f"--repo is {repo!r}; use ORG/NAME of letters, digits, '-', '_' and '.'")
    if tag and not TAG.fullmatch(tag):
        raise UserError(f"--tag is {tag!r}; use vMAJOR.MINOR.PATCH, such as v1.2.0")


def _head(api: HfApi, repo: str, *, private: bool) -> str | None:
    """The commit at the tip of main; None where there is no such dataset."""
    try:
        info = api.repo_info(repo, repo_type="dataset")
    except RepositoryNotFoundError as error:
        if error.response.status_code == 401:  # not logged in: the Hub hides whether it exists
            raise UserError(f"{repo}: the Hub wants a token; log in with `hf auth login` and run again") from None
        return None
    if private and not info.private:
        raise UserError(f"{repo}: exists and is public; leave out --private, or make it private on its page first")
    return info.sha


def _tagged(api: HfApi, repo: str, tag: str, head: str | None) -> str | None:
    if head is None:
        return None
    refs = api.list_repo_refs(repo, repo_type="dataset").tags
    return next((ref.target_commit for ref in refs if ref.name == tag), None)


def _same_or_refuse(api: HfApi, repo: str, tag: str, at: str, manifest: Manifest) -> Pushed:
    found = _remote_manifest(api, repo, at)
    if found is not None and (found.digest, found.fingerprint) == (manifest.digest, manifest.fingerprint):
        return Pushed(at, f"{api.endpoint}/datasets/{repo}/tree/{tag}", is_reused=True)
    held = found.digest[:16] if found else "something else"
    raise UserError(
        f"{repo}: tag {tag} exists and holds {held}, not {manifest.digest[:16]}; tags are never moved: use the "
        "version that `gradus card bump` proposes"
    )


def _commit(
    api: HfApi, config: PushConfig, files: Mapping[str, Path | bytes], manifest: Manifest, head: str | None
) -> CommitInfo:
    """Make the one commit on top of `head`, in a new repository where there is none."""
    if head is None:
        api.create_repo(config.repo, repo_type="dataset", private=config.private, exist_ok=True)
        head = _head(api, config.repo, private=config.private)
    return api.create_commit(
        config.repo,
        _operations(api, config.repo, files, manifest, str(head)),
        commit_message=f"Dataset {manifest.digest}",
        commit_description=f"{manifest.num_kept} problems, fingerprint {manifest.fingerprint}",
        repo_type="dataset",
        create_pr=config.create_pr,
        parent_commit=head,  # what somebody else pushes meanwhile is a conflict, not overwritten
    )


def _operations(
    api: HfApi, repo: str, files: Mapping[str, Path | bytes], manifest: Manifest, head: str
) -> list[CommitOperationAdd | CommitOperationDelete]:
    """What the commit does: add the dataset's files, and remove those of an earlier version that it has no more."""
    there = [file.path for file in api.list_repo_tree(repo, repo_type="dataset", revision=head, recursive=True)]
    card = own_card(files, manifest)
    if "README.md" in there and (theirs := card_on_hub(api, repo, head)) is not None:
        card = merged(card, theirs)
    adds = {**files, "README.md": str(card).encode()}
    stale = [path for path in there if "/" in path and path.split("/")[0] in _folders() and path not in files]
    return [
        *(CommitOperationAdd(path, content) for path, content in sorted(adds.items())),
        *(CommitOperationDelete(path) for path in sorted(stale)),
    ]


def _remote_manifest(api: HfApi, repo: str, commit: str) -> Manifest | None:
    """The manifest at a commit of the Hub; None where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            api.hf_hub_download(repo, MANIFEST, repo_type="dataset", revision=commit, local_dir=folder)
        except RemoteEntryNotFoundError:
            return None
        return read_manifest(Path(folder))


def _holds(out: Path, wanted: Manifest) -> bool:
    """Whether `out` is this very dataset already; `UserError` where it is anything else."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return False
    if (out / MANIFEST).exists() and read_manifest(out) == wanted:
        open_published(out)
        return True
    raise UserError(f"{out}: holds something else; choose a new folder")


def _folders() -> set[str]:
    return {pattern.split("/")[0] for pattern in MANAGED if "/" in pattern}
