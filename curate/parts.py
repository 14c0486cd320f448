"""The optional parts of the package: the extra that installs each library, and the error of one that is missing."""

from __future__ import annotations

import importlib.util
from typing import Final

from curate.errors import UserError

# extra to the libraries that the base lacks and this package imports
PARTS: Final = {
    "train": ("accelerate", "peft", "torch", "transformers", "trl"),
    "vllm": ("vllm",),
    "ray": ("ray",),
    "review": ("fastapi", "starlette", "uvicorn"),
    "puzzles": ("reasoning_gym",),
    "paraphrases": ("wordllama", "safetensors", "tokenizers"),
}


def is_installed(library: str) -> bool:
    """Whether a library can be imported; does not import it."""
    return importlib.util.find_spec(library) is not None


def require(what: str, *libraries: str, otherwise: str = "") -> None:
    """Raise `UserError` unless all libraries are installed: `what` needs them, `otherwise` is what to do instead."""
    for library in libraries:
        if not is_installed(library):
            raise UserError(_line(what, library, otherwise))


def missing(error: ModuleNotFoundError) -> UserError | None:
    """The error line for an import that failed; None if the module belongs to no optional part, which is a bug."""
    library = (error.name or "").partition(".")[0]
    known = any(library in libraries for libraries in PARTS.values())
    return UserError(_line("this command", library, "")) if known else None


def _line(what: str, library: str, otherwise: str) -> str:
    extra = next(extra for extra, libraries in PARTS.items() if library in libraries)
    return f"{what} needs {library}, which is not installed; pip install 'gradus-rlvr[{extra}]'{otherwise}"
