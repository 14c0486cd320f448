"""Push and pull of datasets on the Hub: one commit with a tag that never moves, and verification of every digest.

A push checks the dataset first and makes a single commit: a failed push leaves no commit (where
the dataset is new, an empty repository), and the next one sends only missing files. A pull downloads beside the target
folder and moves the files there after verification.
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

UNCHANGED: Final = "nothing on the Hub was changed; a rerun sends only missing files"
CREATED: Final = "the dataset was created on the Hub and is still empty; a rerun sends only missing files"


@dataclass(frozen=True)
class Pushed:
    """The result of a push: commit, page, and whether the dataset was already on the Hub."""

    commit: str
    url: str
    is_reused: bool = False


def push(api: HfApi, dataset: Path, config: PushConfig) -> Pushed:
    """Commit a dataset and tag the commit; a rerun of a finished push changes nothing.

    Args:
        api: the Hub's client, with endpoint and token.
        dataset: a folder of `gradus card build`.
        config: the destination; a private push into a public repository and a tag of another dataset are refused.

    Raises:
        UserError: for an invalid dataset, or an error of the Hub or the network; at most an empty repository is left.
    """
    repo, tag = config.repo, config.tag
    check_names(repo, tag)
    manifest = open_published(dataset)
    curriculum = curriculum_files(config.with_curriculum) if config.with_curriculum else {}
    with plainly(repo, UNCHANGED):
        head = _head(api, repo, private=config.private)
        if tag and (at := _tagged(api, repo, tag, head)) is not None:
            return _same_or_refuse(api, repo, tag, at, manifest)
        is_new = head is None
        if is_new:
            api.create_repo(repo, repo_type="dataset", private=config.private, exist_ok=True)
    with plainly(repo, CREATED if is_new else UNCHANGED):
        if is_new:
            head = _head(api, repo, private=config.private)
        commit = _commit(api, config, {**dataset_files(dataset, manifest), **curriculum}, manifest, str(head))
    if tag and not config.create_pr:
        with plainly(f"{repo}: the data is committed, the tag {tag} is not set", "run the same command again"):
            api.create_tag(repo, tag=tag, revision=commit.oid, repo_type="dataset")
    return Pushed(commit.oid, commit.pr_url or commit.commit_url)


def pull(api: HfApi, repo: str, revision: str, out: Path) -> tuple[Manifest, str, bool]:
    """Fetch a dataset into `out` and verify every digest; resumes an interrupted pull.

    Returns the manifest, the commit, and whether `out` already held this dataset. Raises `UserError` if the revision
    does not exist, `out` holds something else, or a file does not match the manifest.
    """
    check_names(repo)
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
    for left in out.absolute().parent.glob(f".{out.name}.*.partial"):  # of interrupted pulls of other commits
        shutil.rmtree(left)
    return manifest, commit, False


def tags(api: HfApi, repo: str) -> list[str]:
    """The version tags of a dataset on the Hub, lowest version first."""
    with plainly(repo, "nothing was read"):
        refs = api.list_repo_refs(repo, repo_type="dataset").tags
    found = [ref.name for ref in refs if TAG.fullmatch(ref.name)]
    return sorted(found, key=lambda tag: [int(number) for number in re.findall(r"\d+", tag)[:3]])


def check_names(repo: str, tag: str = "") -> None:
    """Raise `UserError` for what is no ORG/NAME, or no version."""
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
    """The head commit of main; None if there is no such dataset."""
    try:
        info = api.repo_info(repo, repo_type="dataset")
    except RepositoryNotFoundError as error:
        if error.response.status_code == 401:  # not logged in: the Hub hides whether it exists
            raise UserError(f"{repo}: the Hub requires a token; log in with `hf auth login` and run again") from None
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
        f"{repo}: tag {tag} already exists and holds {held}, not {manifest.digest[:16]}; tags never move: use the "
        "version that `gradus card bump` proposes"
    )


def _commit(
    api: HfApi, config: PushConfig, files: Mapping[str, Path | bytes], manifest: Manifest, head: str
) -> CommitInfo:
    """Make the commit on top of `head`."""
    return api.create_commit(
        config.repo,
        _operations(api, config.repo, files, manifest, head),
        commit_message=f"Dataset {manifest.digest}",
        commit_description=f"{manifest.num_kept} problems, fingerprint {manifest.fingerprint}",
        repo_type="dataset",
        create_pr=config.create_pr,
        parent_commit=head,  # a concurrent push is a conflict, not overwritten
    )


def _operations(
    api: HfApi, repo: str, files: Mapping[str, Path | bytes], manifest: Manifest, head: str
) -> list[CommitOperationAdd | CommitOperationDelete]:
    """The commit's operations: add the dataset's files, and delete those that only an earlier version has."""
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
    """The manifest at a commit on the Hub; None if it has none."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            api.hf_hub_download(repo, MANIFEST, repo_type="dataset", revision=commit, local_dir=folder)
        except RemoteEntryNotFoundError:
            return None
        return read_manifest(Path(folder))


def _holds(out: Path, wanted: Manifest) -> bool:
    """Whether `out` already is this dataset; `UserError` if it holds anything else."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return False
    if (out / MANIFEST).exists() and read_manifest(out) == wanted:
        open_published(out)
        return True
    raise UserError(f"{out}: holds something else; choose a new folder")


def _folders() -> set[str]:
    return {pattern.split("/")[0] for pattern in MANAGED if "/" in pattern}
