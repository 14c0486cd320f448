"""Inference backends: one protocol, five engines that implement it, and one way to build prompts from problems."""

from curate.engines.config import EngineConfig, Settled, settle
from curate.engines.open import open_engine
from curate.engines.prompts import PromptConfig, messages, raw_text
from curate.engines.protocol import CannotAsk, Completion, Engine, NotRecorded, PromptTooLong, Request, Sampling
from curate.engines.warm import Shelf

__all__ = [
    "CannotAsk",
    "Completion",
    "Engine",
    "EngineConfig",
    "NotRecorded",
    "PromptConfig",
    "PromptTooLong",
    "Request",
    "Sampling",
    "Settled",
    "Shelf",
    "messages",
    "open_engine",
    "raw_text",
    "settle",
]
