"""Push of a trained model: the run's `model/`, one commit, with a card of base, data, settings and figures.

The folder of a finished run is read as files; nothing of the trainer is imported.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from huggingface_hub import CommitOperationAdd, HfApi, ModelCard
from huggingface_hub.errors import RepositoryNotFoundError
from huggingface_hub.hf_api import RepoFile

from curate.errors import UserError
from data_cards.config import PushModelConfig
from data_cards.hub.errors import plainly
from data_cards.hub.hub import Pushed, check_names

CONFIG, CARD, PICTURE = "config.yaml", "README.md", "curriculum.png"
UNCHANGED: Final = "nothing on the Hub was changed; a rerun sends only missing files"
CREATED: Final = "the repository was created on the Hub and is still empty; a rerun sends only missing files"


def push_model(api: HfApi, run: Path, config: PushModelConfig) -> Pushed:
    """Commit the model of a finished run; a rerun of a finished push changes nothing.

    Raises `UserError` for a run without a model, or an error of the Hub or the network; at most an empty repository is
    left.
    """
    check_names(config.repo, config.tag)
    files, card = model_files(run), card_of(run, config)
    repo, tag = config.repo, config.tag
    with tempfile.TemporaryDirectory() as place:
        files[CARD] = Path(place) / CARD
        files[CARD].write_text(card, encoding="utf-8")
        with plainly(repo, UNCHANGED):
            head = _head(api, config)
            if head is None:
                api.create_repo(repo, repo_type="model", private=config.private, exist_ok=True)
            elif tag and (at := _tagged(api, repo, tag)) is not None:
                return _same_or_refuse(api, config, at, files)
        with plainly(repo, UNCHANGED if head else CREATED):
            operations = [CommitOperationAdd(name, str(path)) for name, path in files.items()]
            # the client sends no file that is there already, and makes no commit where all are
            message = f"model of {run.resolve().name}"
            done = api.create_commit(repo, operations, repo_type="model", commit_message=message)
    if tag:
        with plainly(f"{repo}: the model is committed, the tag {tag} is not set", "run the same command again"):
            api.create_tag(repo, tag=tag, revision=done.oid, repo_type="model")
    return Pushed(done.oid, done.commit_url, is_reused=done.oid == head)


def _tagged(api: HfApi, repo: str, tag: str) -> str | None:
    refs = api.list_repo_refs(repo, repo_type="model").tags
    return next((ref.target_commit for ref in refs if ref.name == tag), None)


def _same_or_refuse(api: HfApi, config: PushModelConfig, at: str, files: Mapping[str, Path]) -> Pushed:
    """What is pushed already, if the tag names these very files."""
    there = {
        entry.path: entry.lfs.sha256 if entry.lfs else entry.blob_id
        for entry in api.list_repo_tree(config.repo, recursive=True, revision=at, repo_type="model")
        if isinstance(entry, RepoFile)
    }
    for name, path in files.items():
        if there.get(name) not in _hashes(path):
            raise UserError(f"{config.repo}: {config.tag} holds another {name}; tags never move, use the next version")
    return Pushed(at, f"{api.endpoint}/{config.repo}/tree/{config.tag}", is_reused=True)


def _hashes(path: Path) -> tuple[str, str]:
    """SHA-256 as LFS has it, and the id of a blob as git has it."""
    data = path.read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    return hashlib.sha256(data).hexdigest(), blob


def model_files(run: Path) -> dict[str, Path]:
    """The files of a finished run's model by their path in the repository, with its settings and its picture."""
    model = run / "model"
    if not (model / "config.json").is_file() or not (run / CONFIG).is_file():
        raise UserError(f"{run}: holds no trained model; give the folder of a finished gradus train")
    files = {path.relative_to(model).as_posix(): path for path in sorted(model.rglob("*")) if path.is_file()}
    more = {f"gradus/{name}": run / name for name in (CONFIG, PICTURE, "evaluations.jsonl", "best.json")}
    return {name: path for name, path in files.items() if name != CARD} | {
        name: path for name, path in more.items() if path.is_file()
    }


def card_of(run: Path, config: PushModelConfig) -> str:
    """The card of the run's model with the dataset, the picture of the curriculum and figures before and after."""
    card = ModelCard((run / "model" / CARD).read_text(encoding="utf-8"))
    head = yaml.safe_load(str(card.data.to_yaml())) or {}
    if config.dataset:
        head["datasets"] = [config.dataset.partition("@")[0]]
    parts = [card.text.strip()]
    if config.dataset:
        name, _, tag = config.dataset.partition("@")
        parts.append(f"Data: [{name}](https://huggingface.co/datasets/{name}){f', version {tag}' if tag else ''}.")
    if rows := [*_during(run), *_compared(config)]:
        lines = ["| benchmark | before | after |", "|---|---|---|", *rows]
        parts.append("## Before and after\n\nMean success rates with their 95% intervals.\n\n" + "\n".join(lines))
    if (run / PICTURE).is_file():
        parts.append(f"## Curriculum\n\n![Pools, success rates and groups without a gradient](gradus/{PICTURE})")
    return f"---\n{yaml.safe_dump(head, sort_keys=False)}---\n\n" + "\n\n".join(parts) + "\n"


def _during(run: Path) -> list[str]:
    """The first and the last evaluation of each benchmark while training."""
    path = run / "evaluations.jsonl"
    by_name: dict[str, list[dict[str, Any]]] = {}
    for text in path.read_text(encoding="utf-8").splitlines() if path.is_file() else []:
        line = json.loads(text)
        by_name.setdefault(line["benchmark"], []).append(line)
    return [
        f"| {name}, while training | {_figure(lines[0])} (step {lines[0]['step']}) | "
        f"{_figure(lines[-1])} (step {lines[-1]['step']}) |"
        for name, lines in by_name.items()
        if len(lines) > 1
    ]


def _compared(config: PushModelConfig) -> list[str]:
    """Benchmarks of two evaluations of gradus train evaluate."""
    if config.before is None or config.after is None:
        return []
    before, after = (_results(folder) for folder in (config.before, config.after))
    names = [name for name in after["benchmarks"] if name in before["benchmarks"]]
    if not names:
        raise UserError(f"{config.before} and {config.after}: have no benchmark in common")
    cells = [[_figure_of(part["benchmarks"][name], part["n"]) for part in (before, after)] for name in names]
    return [f"| {name} | {first} | {last} |" for name, (first, last) in zip(names, cells, strict=True)]


def _results(folder: Path) -> Mapping[str, Any]:  # Any: JSON
    path = folder / "results.json"
    if not path.is_file():
        raise UserError(f"{folder}: holds no results.json; give the --out of a finished gradus train evaluate")
    results: Mapping[str, Any] = json.loads(path.read_bytes())
    return results


def _figure(line: Mapping[str, Any]) -> str:
    return f"{line['average']:.3f} [{line['low']:.3f}, {line['high']:.3f}]"


def _figure_of(figures: Mapping[str, Any], n: int) -> str:
    mean = figures["average"]
    return f"avg@{n} {mean['value']:.3f} [{mean['low']:.3f}, {mean['high']:.3f}]" if mean else "nothing judged"


def _head(api: HfApi, config: PushModelConfig) -> str | None:
    try:
        info = api.repo_info(config.repo, repo_type="model")
    except RepositoryNotFoundError as error:
        if error.response.status_code == 401:  # not logged in: the Hub hides whether it exists
            raise UserError(f"{config.repo}: the Hub requires a token; log in with `hf auth login`") from None
        return None
    if config.private and not info.private:
        raise UserError(f"{config.repo}: exists and is public; leave out --private, or make it private on its page")
    return str(info.sha)
