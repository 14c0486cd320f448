"""Sources of problems as they are named: a file, a folder, standard input or a Hub id.

`Source` describes one source and the facts to record about it (licence, revision, weight).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from pydantic import Field, field_validator, model_validator

from curate.config import Config, nearest, parse
from curate.errors import UserError
from curate.ingest.formats.files import NAMES, format_of
from curate.ingest.formats.unpacked import standard_input

HUB_ID: Final = re.compile(r"[\w.-]+/[\w.-]+")

SPLIT_NAMES: Final = ("train", "test", "dev", "valid", "validation", "val", "data", "ingest")


class Source(Config):
    """One source of raw problems: a path or a Hub id, and the facts to record about it."""

    path: Path | None = Field(None, description=f"File, folder or archive: {NAMES}, also compressed; - for stdin")
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
        stem = _ENDINGS.sub("", path.name)
        return f"{path.parent.name}-{stem}" if stem in SPLIT_NAMES and path.parent.name else stem

    def described(self) -> dict[str, Any]:
        """The fields that enter the fingerprint and the manifest: all except the place on this machine."""
        fields = self.model_dump(mode="json", exclude={"path", "name", "hub"})
        return {"name": self.label(), **({"hub": self.hub} if self.hub else {}), **fields}


_ENDINGS: Final = re.compile(
    r"(?i)(\.(gz|bz2|xz|lzma|zstd?|zip|tar|tgz|tbz2|txz|jsonl|ndjson|json|csv|tsv|parquet|arrow|feather|xlsx|xml|ya?ml))+$"
)


def source_at(text: str) -> Source:
    """The source that a command line argument names: `-` for standard input, an existing path, else a Hub id."""
    if text == "-":
        return Source(path=standard_input())
    path = Path(text)
    if path.exists():
        return Source(path=path)
    if HUB_ID.fullmatch(text) and format_of(path) is None:
        return Source(hub=text)
    raise UserError(f"{text}: no such file or folder; give a path that exists or a Hub id like owner/name")


def sources_from(
    texts: Sequence[str],
    names: Sequence[str],
    stated: Mapping[str, Sequence[str]],
    known: Mapping[str, Source] = MappingProxyType({}),
) -> list[Source]:
    """The sources of a command line. `stated` holds options by field: `VALUE` for all sources, `NAME=VALUE` for one.

    For `map`, the values are `FIELD=COLUMN` and `NAME:FIELD=COLUMN`. known: sources that have a name, which a file here
    with that name hides.
    """
    if names and len(names) != len(texts):
        raise UserError(f"--name is given {len(names)} times for {len(texts)} sources; give one for each")
    sources = [known[text] if text in known and not Path(text).exists() else source_at(text) for text in texts]
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
