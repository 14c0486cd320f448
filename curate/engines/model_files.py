"""Reads a model's digest, chat template and vocabulary from its files, without loading it.

A complete artifact must be recognised without starting vLLM, so the model's identity comes from here: SHA-256 over the
files that decide its output. Equal files give equal digests in any folder.
"""

from __future__ import annotations

import hashlib
import json
import re
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from curate.artifacts.manifest import sha256_of
from curate.errors import UserError

WEIGHTS: Final = ("*.safetensors", "pytorch_model*.bin", "*.gguf")
DECIDING: Final = (
    *WEIGHTS,
    "*.index.json",
    "*.jinja",
    "*.model",
    "*.tiktoken",
    "adapter_config.json",
    "added_tokens.json",
    "config.json",
    "generation_config.json",
    "merges.txt",
    "special_tokens_map.json",
    "tokenizer*.json",
    "vocab.*",
)
BLOB: Final = re.compile(r"[0-9a-f]{64}")


def model_folder(model: str) -> Path:
    """The folder of a model: the path itself, or the snapshot of a Hub id, downloaded if it is not cached.

    Raises `UserError` if there is no such model.
    """
    folder = Path(model).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise UserError(
                f"{model}: holds no config.json, so it is no model; give a folder that transformers can load"
            )
        return folder
    if not model or folder.is_absolute() or model.startswith((".", "~")) or model.count("/") > 1:
        raise UserError(f"model {model!r}: there is no such folder, give a model's folder or its name on the Hub")
    return _snapshot(model)


def model_digest(folder: Path) -> str:
    """Hex SHA-256 over the names and hashes of the files that decide the output; raises `UserError` without weights."""
    # no subfolders: they hold a trainer's checkpoints
    paths = sorted(p for p in folder.iterdir() if any(fnmatch(p.name, pattern) for pattern in DECIDING))
    if not any(fnmatch(path.name, pattern) for path in paths for pattern in WEIGHTS):
        raise UserError(f"{folder}: holds no weights ({', '.join(WEIGHTS)}); give the folder of a whole model")
    return _digest(folder, tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in paths))


@lru_cache
def _digest(folder: Path, files: tuple[tuple[Path, int, int], ...]) -> str:
    """The digest, cached until a size or time changes: a stage needs it twice, training rewrites files."""
    paths = [path for path, _, _ in files]
    with ThreadPoolExecutor() as pool:
        hashes = list(pool.map(_file_hash, paths))
    lines = [f"{p.relative_to(folder).as_posix()} {h}" for p, h in zip(paths, hashes, strict=True)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def chat_template(folder: Path) -> str | None:
    """The Jinja text of the model's default chat template, or None if it has none."""
    if (file := folder / "chat_template.jinja").is_file():
        return file.read_text(encoding="utf-8")
    found = _json(folder / "tokenizer_config.json").get("chat_template")
    if isinstance(found, list):
        found = next((entry.get("template") for entry in found if entry.get("name") == "default"), None)
    return found if isinstance(found, str) else None


def knows_think(folder: Path) -> bool:
    """Whether `</think>` is a token of the model, by its tokenizer's files."""
    return any(
        "</think>" in file.read_text(encoding="utf-8")
        for name in ("tokenizer.json", "tokenizer_config.json", "added_tokens.json")
        if (file := folder / name).is_file()
    )


def context_tokens(folder: Path) -> int | None:
    """Context length of the model in tokens, prompt and completion together, by its config."""
    config = _json(folder / "config.json")
    nested = config.get("text_config")
    found = config.get("max_position_embeddings") or (nested or {}).get("max_position_embeddings")
    return int(found) if found else None


def _file_hash(path: Path) -> str:
    # the Hub's cache names large files by their SHA-256
    target = path.resolve().name
    return target if path.is_symlink() and BLOB.fullmatch(target) else sha256_of(path)


def _json(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(f"{path}: not valid JSON ({error}); copy the model again") from None
    return loaded if isinstance(loaded, dict) else {}


def _snapshot(model: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    allowed = [*DECIDING, "*.py"]
    try:
        return Path(snapshot_download(model, allow_patterns=allowed, ignore_patterns=["original/*", "*.gguf"]))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        first = str(error).strip().splitlines()[0]
        raise UserError(f"model {model!r}: no such folder, and not available from the Hub ({first})") from None
