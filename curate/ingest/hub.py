"""Datasets of the Hugging Face Hub: the commit that a revision means, and their rows as a stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from curate.errors import UserError
from curate.ingest.formats.files import format_of
from curate.ingest.formats.rows import Row
from curate.ingest.sources import HUB_ID, Source


def pinned(source: Source) -> Source:
    """The source with the commit that `revision` now means on the Hub, and with the licence of its card."""
    if source.path is not None or not HUB_ID.fullmatch(str(source.hub)) or Path(str(source.hub)).exists():
        return source
    from httpx import HTTPError
    from huggingface_hub import DatasetCard, HfApi
    from huggingface_hub.errors import (
        EntryNotFoundError,
        GatedRepoError,
        HfHubHTTPError,
        HFValidationError,
        OfflineModeIsEnabled,
    )

    try:
        info = HfApi().dataset_info(str(source.hub), revision=source.revision)
        path = HfApi().hf_hub_download(str(source.hub), "README.md", repo_type="dataset", revision=info.sha)
        licence = source.licence or DatasetCard.load(path).data.get("license")
    except EntryNotFoundError:
        licence = source.licence  # a dataset without a card
    except GatedRepoError:
        raise UserError(
            f"{source.hub}: the Hub requires that you accept its terms; accept them on its page, then run "
            "`hf auth login`"
        ) from None
    except (HTTPError, HfHubHTTPError, HFValidationError, OfflineModeIsEnabled, OSError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"{source.hub}: not found on the Hub ({reason}); check the id and the network") from None
    return source.model_copy(update={"revision": info.sha, "licence": str(licence) if licence else None})


def hub_rows(source: Source) -> Iterator[Row]:
    """Every row of a Hub dataset, in order."""
    from datasets.exceptions import DatasetNotFoundError
    from httpx import HTTPError

    try:
        for number, record in enumerate(_streamed(source)):
            yield Row(f"{source.hub}:{number + 1}", dict(record))
    except (DatasetNotFoundError, HTTPError, ValueError, OSError) as error:
        # the library's message lists the splits and subsets that exist
        raise UserError(f"{source.hub}: {' '.join(str(error).split())}; check the id, subset and split") from None


def _streamed(source: Source) -> Iterable[Mapping[str, Any]]:
    from datasets import load_dataset

    if source.files:
        at = f"hf://datasets/{source.hub}@{source.revision or 'main'}"
        form = {"jsonl": "json", "ndjson": "json", "tsv": "csv"}
        suffix = format_of(Path(source.files[0])) or ""
        files = [f"{at}/{file}" for file in source.files]
        return cast(
            "Iterable[Mapping[str, Any]]",
            load_dataset(form.get(suffix, suffix), data_files=files, split="train", streaming=True),
        )
    return cast(
        "Iterable[Mapping[str, Any]]",
        load_dataset(str(source.hub), source.subset, split=source.split, revision=source.revision, streaming=True),
    )
