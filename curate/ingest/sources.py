"""Sources of problems: a file, a folder or a Hub id, read as a stream of numbered rows.

`Source` describes one source and the facts to record about it (licence, revision, weight). `read_rows` yields its rows
one by one: a bad row has a reason instead of a record, and reading continues after it.
"""

from __future__ import annotations

import codecs
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final, cast

from pydantic import Field, field_validator, model_validator

from curate.artifacts.manifest import MANIFEST, sha256_of
from curate.config import Config, nearest, parse
from curate.errors import UserError
from curate.ingest.formats import READERS, format_of, read_file
from curate.ingest.rows import Row

ENCODING_HINT: Final = "if it is text in another encoding, name it: --encoding latin-1 (or cp1252, gb18030, ...)"
HUB_ID: Final = re.compile(r"[\w.-]+/[\w.-]+")

_ABOUT: Final = ("dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json")  # beside the data
SPLIT_NAMES: Final = ("train", "test", "dev", "valid", "validation", "val", "data", "ingest")


class Source(Config):
    """One source of raw problems: a path or a Hub id, and the facts to record about it."""

    path: Path | None = Field(None, description="File or folder: JSONL, JSON, CSV, TSV, Parquet or Arrow, also gzipped")
    hub: str | None = Field(None, description="Id of a dataset on the Hugging Face Hub")
    name: str = Field("", description="Name in the `source` column; by default the file's name")
    subset: str | None = Field(None, description="Configuration of a Hub dataset")
    split: str = Field("train", description="Split of a Hub dataset, or of one saved by `save_to_disk`")
    files: tuple[str, ...] = Field((), description="Files of a Hub dataset to read instead of a split")
    map: dict[str, str] = Field({}, description="Columns by field, e.g. `prompt: question`; the others are guessed")
    licence: str | None = Field(None, description="Licence, recorded in the manifest and the card")
    revision: str | None = Field(None, description="Revision to record; for a Hub dataset, also to read")
    encoding: str = Field("utf-8", description="Encoding of text files, such as latin-1; UTF-16 is detected")
    weight: float = Field(1.0, gt=0, description="Weight of the source in a mixture, recorded in the manifest")

    @field_validator("licence", "revision", "name", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:  # Any: YAML reads `revision: 12` as a number
        return str(value) if isinstance(value, int | float) else value

    @field_validator("encoding")
    @classmethod
    def _is_known(cls, value: str) -> str:
        try:
            return codecs.lookup(value).name
        except LookupError:
            raise ValueError("no known encoding; use utf-8, latin-1, cp1252, gb18030, shift_jis or the like") from None

    @model_validator(mode="after")
    def _one_place(self) -> Source:
        if (self.path is None) == (self.hub is None):
            raise ValueError("name either a path or a hub id")
        return self

    def label(self) -> str:
        """The name in the `source` column: as given, else the file's or dataset's own."""
        if self.name:
            return self.name
        if self.path is None:
            return str(self.hub)
        path = self.path.resolve()
        stem = re.sub(r"(\.(gz|jsonl|ndjson|json|csv|tsv|parquet|arrow))+$", "", path.name, flags=re.IGNORECASE)
        return f"{path.parent.name}-{stem}" if stem in SPLIT_NAMES and path.parent.name else stem

    def described(self) -> dict[str, Any]:
        """The fields that enter the fingerprint and the manifest: all except the place on this machine."""
        fields = self.model_dump(mode="json", exclude={"path", "name", "hub"})
        return {"name": self.label(), **({"hub": self.hub} if self.hub else {}), **fields}


def source_at(text: str) -> Source:
    """The source that a command line argument names: an existing path, else a Hub id."""
    path = Path(text)
    if path.exists():
        return Source(path=path)
    if HUB_ID.fullmatch(text) and format_of(path) is None:
        return Source(hub=text)
    raise UserError(f"{text}: no such file or folder; give a path that exists or a Hub id like owner/name")


def sources_from(texts: Sequence[str], names: Sequence[str], stated: Mapping[str, Sequence[str]]) -> list[Source]:
    """The sources of a command line. `stated` holds options by field: `VALUE` for all sources, `NAME=VALUE` for one.

    For `map`, the values are `FIELD=COLUMN` and `NAME:FIELD=COLUMN`.
    """
    if names and len(names) != len(texts):
        raise UserError(f"--name is given {len(names)} times for {len(texts)} sources; give one for each")
    sources = [source_at(text) for text in texts]
    fields = [
        {**source.model_dump(), **({"name": name} if name else {})}
        for source, name in zip(sources, names or [""] * len(sources), strict=True)
    ]
    labels = [parse(Source, values, "--").label() for values in fields]
    for field, values in stated.items():
        for value in values:
            head, sign, rest = value.partition(":" if field == "map" else "=")
            is_for_one = bool(sign) and head in labels
            names_one = bool(sign) and (field != "map" or ("=" in rest and "=" not in head))
            if names_one and not is_for_one:
                raise UserError(f"--{field} is {value!r}, and no source is called {head}; {nearest(head, labels)}")
            meant = [source for label, source in zip(labels, fields, strict=True) if label == head or not is_for_one]
            if field == "split" and not any(_has_splits(source) for source in meant):
                raise UserError(
                    f"--split is {value!r}: {meant[0]['path']} has no splits; leave it out, or name the file"
                )
            for source in meant:
                _state(source, field, rest if is_for_one else value)
    return [parse(Source, values, "--") for values in fields]


def _has_splits(source: Mapping[str, Any]) -> bool:
    return source["path"] is None or (source["path"] / "dataset_dict.json").is_file()


def _state(source: dict[str, Any], field: str, value: str) -> None:
    if field != "map":
        source[field] = value
        return
    name, sign, column = value.partition("=")
    if not sign:
        raise UserError(f"--map is {value!r}; write FIELD=COLUMN, e.g. --map prompt=question")
    source["map"] = {**source["map"], name.strip(): column.strip()}


def files_of(source: Source) -> list[Path]:
    """The data files of a source on disk, in path order; for an artifact, only its kept rows."""
    path = source.path
    if path is None:
        return []
    if not path.exists():
        raise UserError(f"{path}: no such file or folder; correct the path of source {source.label()}")
    if path.is_file():
        if format_of(path) is None:
            raise UserError(f"{path}: is of an unknown format; use {', '.join(READERS)}, with or without .gz")
        return [path]
    root = path / "kept" if (path / MANIFEST).exists() else _saved(path, source.split)
    found = sorted(file for file in root.rglob("*") if _is_data(file, root))
    if not found:
        raise UserError(f"{path}: holds no {', '.join(READERS)} file; give a folder with data")
    return found


def _saved(path: Path, split: str) -> Path:
    """The folder itself, or the split's folder if `datasets.save_to_disk` wrote one per split."""
    index = path / "dataset_dict.json"
    if not index.is_file():
        return path
    if not (path / split).is_dir():
        splits = sorted(folder.name for folder in path.iterdir() if folder.is_dir())
        raise UserError(f"{path}: has no split {split!r}; name one of {', '.join(splits)} in its path or as `split`")
    return path / split


def _is_data(file: Path, root: Path) -> bool:
    is_hidden = any(part.startswith(".") for part in file.relative_to(root).parts)
    return file.is_file() and not is_hidden and file.name not in _ABOUT and format_of(file) is not None


def digest_of_source(source: Source) -> str:
    """Identity of a source's content: SHA-256 over its files' names and bytes; for a Hub dataset, its commit."""
    if source.path is None:
        part = ",".join(source.files) or f"{source.subset}/{source.split}"
        return f"{source.hub}@{source.revision or 'main'}/{part}"
    files = files_of(source)
    if files == [source.path]:
        return sha256_of(source.path)
    lines = [f"{file.relative_to(source.path).as_posix()} {sha256_of(file)}" for file in files]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def first_records(source: Source, max_bytes: int, num_records: int) -> list[Mapping[str, Any]]:
    """Records from the beginning of every file of a source, since files of one folder may differ in columns.

    Raises `UserError` with the fault of the first row if no row can be read.
    """
    if source.path is None:
        streams, share = [_hub_rows(source)], num_records
    else:
        files = files_of(source)
        streams, share = (
            [read_file(file, file.name, max_bytes, source.encoding) for file in files],
            max(10, num_records // len(files)),
        )
    bad: list[Row] = []
    records = [record for rows in streams for record in _good(rows, share, bad)]
    if not records:
        found = f"{bad[0].place} is {bad[0].reason}: {bad[0].detail}" if bad else "it is empty"
        next_step = ENCODING_HINT if bad and bad[0].reason == "invalid_utf8" else "check the file's format"
        raise UserError(f"{source.label()}: holds no readable row ({found}); {next_step}")
    return records


def _good(rows: Iterable[Row], num_records: int, bad: list[Row]) -> list[Mapping[str, Any]]:
    """The first records; the first bad row is added to `bad`."""

    def records() -> Iterator[Mapping[str, Any]]:
        for row in rows:
            if row.record is not None:
                yield row.record
            elif not bad:
                bad.append(row)

    return list(islice(records(), num_records))


def read_rows(source: Source, max_bytes: int) -> Iterator[Row]:
    """Every row of a source in order; a row of more than `max_bytes` is bad and never held whole."""
    if source.path is None:
        return _hub_rows(source)
    root = source.path if source.path.is_dir() else source.path.parent
    return chain.from_iterable(
        read_file(file, file.relative_to(root).as_posix(), max_bytes, source.encoding) for file in files_of(source)
    )


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


def _hub_rows(source: Source) -> Iterator[Row]:
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
