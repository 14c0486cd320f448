"""The card of a push: the dataset's text, configs that match the data, and additions made on the Hub.

Without `configs`, `load_dataset` would silently merge kept and dropped rows.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml
from huggingface_hub import DatasetCard, HfApi

from curate.artifacts.manifest import Manifest
from curate.errors import UserError
from data_cards.card.card import configs, rows_by_config
from data_cards.dataset.published import CURRICULUM

# keys of the Hub's card that describe its data: ours replace them, all other keys are kept
OURS_IN_CARD: Final = ("configs", "dataset_info")


def merged(ours: DatasetCard, theirs: DatasetCard) -> DatasetCard:
    """Our card with the additions in the head of the Hub's card: keys that we do not write, and tags."""
    mine, other = _head_of(ours), _head_of(theirs)
    for name in other.keys() - mine.keys() - {*OURS_IN_CARD}:
        ours.data[name] = other[name]
    ours.data["tags"] = sorted({*mine.get("tags", ()), *other.get("tags", ())})
    return ours


def own_card(files: Mapping[str, Path | bytes], manifest: Manifest) -> DatasetCard:
    """The dataset's card with configs from the manifest, since README.md may have been edited without them."""
    try:
        card = DatasetCard(_text(files["README.md"]))
    except (yaml.YAMLError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise UserError(
            f"README.md: its head is no YAML table ({reason}); repair it or build the dataset again"
        ) from None
    card.data["configs"] = configs(rows_by_config(manifest))
    if f"{CURRICULUM}/curriculum.parquet" in files:
        table = [{"split": "train", "path": f"{CURRICULUM}/curriculum.parquet"}]
        card.data["configs"] = [*card.data["configs"], {"config_name": CURRICULUM, "data_files": table}]
    return card


def card_on_hub(api: HfApi, repo: str, head: str) -> DatasetCard | None:
    """The card on the Hub; None if its head cannot be parsed, so that nothing of it can be kept."""
    try:
        return DatasetCard(_fetch(api, repo, "README.md", head).decode())
    except (yaml.YAMLError, ValueError):
        return None


def _head_of(card: DatasetCard) -> dict[str, Any]:
    head: dict[str, Any] = card.data.to_dict()  # type: ignore[no-untyped-call]  # the library's
    return head


def _fetch(api: HfApi, repo: str, path: str, commit: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        fetched = api.hf_hub_download(repo, path, repo_type="dataset", revision=commit, local_dir=folder)
        return Path(fetched).read_bytes()


def _text(content: Path | bytes) -> str:
    return (content if isinstance(content, bytes) else content.read_bytes()).decode()
