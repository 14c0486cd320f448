"""Croissant metadata (MLCommons, version 1.0): what the tables hold, for tools that know neither Gradus nor the Hub.

`croissant.json` lists every Parquet file with its SHA-256 and, per config, every column with its type and meaning.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

from curate.artifacts.artifact import scan_part
from curate.artifacts.manifest import FileEntry, Manifest, digest_of
from data_cards.card.card import CONFIGS, citation, licences
from data_cards.config import CardConfig
from data_cards.dataset.facts import sources
from data_cards.dataset.parts import describe_columns

FILE: Final = "croissant.json"
CONFORMS_TO: Final = "http://mlcommons.org/croissant/1.0"
CONTEXT: Final = Path(__file__).parent / "templates" / "croissant_context.json"
PARQUET: Final = "application/x-parquet"
TYPES: Final = {pl.String(): "sc:Text", pl.Int64(): "sc:Integer", pl.Float64(): "sc:Float", pl.Boolean(): "sc:Boolean"}
WHAT: Final = {
    "default": "the problems to train on",
    "dropped": "what the stages took out, with stage, reason and evidence",
    "samples": "what models answered along the way, with verdicts",
}

Json = dict[str, Any]  # Any: JSON values


def describe(config: CardConfig, stages: Sequence[Manifest], dataset: Path, files: list[FileEntry]) -> bytes:
    """The bytes of `croissant.json` for the tables in the folder `dataset`, whose data files are `files`."""
    present = {name: part for name, part in CONFIGS.items() if (dataset / part).is_dir()}
    value: Json = {
        "@context": json.loads(CONTEXT.read_bytes()),
        "@type": "sc:Dataset",
        "name": config.name,
        "description": config.description or "Problems with checkable answers, curated with Gradus.",
        "conformsTo": CONFORMS_TO,
        "license": licences(config, sources(stages, dataset)),
        "citeAs": citation(config, digest_of(files)),
        **({"url": f"https://huggingface.co/datasets/{config.repo}"} if config.repo else {}),
        **({"version": config.version.removeprefix("v")} if config.version else {}),
        **({"datePublished": config.date} if config.date else {}),
        **({"creator": {"@type": "sc:Person", "name": config.authors}} if config.authors else {}),
        "distribution": [*map(_file, files), *(_file_set(name, part) for name, part in present.items())],
        "recordSet": [_record_set(name, scan_part(dataset, part).collect_schema()) for name, part in present.items()],
    }
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def _file(entry: FileEntry) -> Json:
    return {
        "@type": "cr:FileObject",
        "@id": entry.path,
        "name": entry.path,
        "contentUrl": entry.path,
        "contentSize": f"{entry.num_bytes} B",
        "encodingFormat": PARQUET,
        "sha256": entry.sha256,
    }


def _file_set(name: str, part: str) -> Json:
    return {
        "@type": "cr:FileSet",
        "@id": f"{name}-files",
        "encodingFormat": PARQUET,
        "includes": f"{part}/*.parquet",
    }


def _record_set(name: str, columns: pl.Schema) -> Json:
    meanings = describe_columns(list(columns))
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": WHAT[name],
        "field": [_field(name, column, dtype, meanings[column]) for column, dtype in columns.items()],
    }


def _field(record_set: str, column: str, dtype: pl.DataType, meaning: str) -> Json:
    inner = dtype.inner if isinstance(dtype, pl.List) else dtype
    return {
        "@type": "cr:Field",
        "@id": f"{record_set}/{column}",
        "name": column,
        "description": meaning,
        "dataType": next((name for known, name in TYPES.items() if known == inner), "sc:Text"),
        **({"repeated": True} if inner is not dtype else {}),
        "source": {"fileSet": {"@id": f"{record_set}-files"}, "extract": {"column": column}},
    }
