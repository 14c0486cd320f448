"""Opens the engine that a config names. The engine's module, and the library behind it, is imported only then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from curate.engines.config import EngineConfig, Settled, settle
from curate.engines.protocol import Engine
from curate.engines.warm import Shelf
from curate.progress import announce


@contextmanager
def open_engine(config: EngineConfig, shelf: Shelf | None = None) -> Iterator[Engine]:
    """The engine, ready to complete, closed at the end. Raises `UserError` where it cannot start.

    shelf: may hold a vLLM that an earlier stage started, and keeps this one for the next.
    """
    engine = _start(settle(config), shelf or Shelf())
    try:
        yield engine
    finally:
        engine.close()


def _start(settled: Settled, shelf: Shelf) -> Engine:
    if settled.config.engine != "vllm":
        shelf.clear()
    if settled.config.engine == "scripted":
        from curate.engines.scripted import ScriptedEngine

        return ScriptedEngine(settled)
    if settled.config.engine == "server":
        from curate.engines.server import ServerEngine

        return ServerEngine(settled)
    if settled.config.engine == "transformers":
        announce(f"loading {settled.config.model} with transformers")
        from curate.engines.transformers import TransformersEngine

        return TransformersEngine(settled)
    from curate.engines.vllm import VllmEngine

    return VllmEngine(settled, shelf)
