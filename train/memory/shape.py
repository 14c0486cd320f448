"""Shape of a model, from its config.json and the headers of its weight files; no weight is loaded."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Shape:
    """Sizes of a decoder: `hidden` channels of the residual stream, `inner` of the feed-forward part of a layer.

    queries, keys: channels of all query heads, and of all key heads, which are those of the values.
    parameters: weights of the whole model.
    """

    layers: int
    hidden: int
    inner: int
    queries: int
    keys: int
    vocabulary: int
    parameters: int

    def adapters(self, rank: int) -> int:
        """Weights of LoRA adapters of this rank on all linear parts of all layers."""
        attention = 2 * (self.hidden + self.queries) + 2 * (self.hidden + self.keys)
        return rank * self.layers * (attention + 3 * (self.hidden + self.inner))


def shape_of(model: str | Path) -> Shape | None:
    """The shape of the model in a folder; None where it has no config.json, or one of another kind of model."""
    try:
        config: dict[str, Any] = json.loads((Path(model) / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    config = config.get("text_config") or config
    try:
        hidden, heads = int(config["hidden_size"]), int(config["num_attention_heads"])
        width = int(config.get("head_dim") or hidden // heads)
        made = Shape(
            layers=int(config["num_hidden_layers"]),
            hidden=hidden,
            inner=int(config["intermediate_size"]),
            queries=heads * width,
            keys=int(config.get("num_key_value_heads") or heads) * width,
            vocabulary=int(config["vocab_size"]),
            parameters=_num_stored(model) or 0,
        )
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return None
    if made.parameters:
        return made
    has_experts = any(name.endswith(("num_experts", "num_local_experts", "n_routed_experts")) for name in config)
    return None if has_experts else _with_counted(made, is_tied=bool(config.get("tie_word_embeddings")))


def num_parameters(model: str | Path) -> int | None:
    """Parameters of a local model: of its safetensors headers, else of its shape; None where neither is known."""
    if (stored := _num_stored(model)) is not None:
        return stored
    shape = shape_of(model)
    return None if shape is None else shape.parameters


def _num_stored(model: str | Path) -> int | None:
    files = sorted(Path(model).glob("*.safetensors")) if Path(model).is_dir() else []
    return sum(map(_num_in, files)) if files else None


def _with_counted(shape: Shape, *, is_tied: bool) -> Shape:
    """The shape with the weights of its matrices, for a model whose files are not here; norms are left out."""
    attention = 2 * shape.hidden * (shape.queries + shape.keys)
    layer = attention + 3 * shape.hidden * shape.inner
    embeddings = shape.vocabulary * shape.hidden * (1 if is_tied else 2)
    return Shape(**{**vars(shape), "parameters": shape.layers * layer + embeddings})


def _num_in(path: Path) -> int:
    with path.open("rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
    header.pop("__metadata__", None)
    return sum(prod(tensor["shape"]) for tensor in header.values())
