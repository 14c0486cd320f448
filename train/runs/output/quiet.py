"""Silences progress bars, notices and deprecation warnings of the model libraries."""

from __future__ import annotations

import logging
import os
import warnings
from typing import Final

NOISY: Final = (
    "accelerate", "datasets", "huggingface_hub", "torch", "torch._library.triton", "transformers", "trl", "vllm",
)  # fmt: skip


def quiet() -> None:
    """Show only errors of the model libraries; call it before they are used."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    warnings.filterwarnings("ignore", module=r"(transformers|trl|torch|accelerate|vllm)\.")
    import datasets
    import transformers

    datasets.disable_progress_bars()
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    for name in NOISY:
        logging.getLogger(name).setLevel(logging.ERROR)
