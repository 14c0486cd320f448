"""An engine that replays the samples of an earlier artifact; a model draws the missing ones.

A sample is found by key, index and seed, so only samples that this run would draw itself are reused. The model starts
at the first missing sample; without a model, the problem is `undersampled`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

from curate.artifacts.artifact import Artifact, open_artifact
from curate.engines.protocol import Completion, Engine, NotRecorded, PromptTooLong, Request
from curate.engines.warm import Shelf
from curate.errors import UserError

Start = Callable[[Shelf], AbstractContextManager[Engine]]


class RecordedEngine:
    """Completes requests from an artifact's samples."""

    def __init__(self, artifact: Artifact, start: Start | None, shelf: Shelf) -> None:
        columns = ("key", "index", "seed", "text", "num_tokens", "finish_reason")
        rows = artifact.scan("samples").select(columns).collect().iter_rows()
        self._samples = {(key, index, seed): (text, tokens, reason) for key, index, seed, text, tokens, reason in rows}
        dropped = artifact.scan("dropped").select("key", "drop_reason", "drop_detail").collect().iter_rows()
        self._too_long = {key: detail for key, reason, detail in dropped if reason == PromptTooLong.reason}
        self._identity = artifact.manifest.inputs
        self._start, self._shelf, self._stack = start, shelf, ExitStack()
        self._model: Engine | None = None

    def identity(self) -> dict[str, str]:
        """See `Engine`."""
        return dict(self._identity)

    async def complete(self, request: Request) -> Completion:
        """See `Engine`."""
        if (sample := self._samples.get((request.key, request.index, request.seed))) is not None:
            text, num_tokens, reason = sample
            return Completion(request.key, request.index, text, num_tokens, reason, request.seed)
        if self._start is None:
            if request.key in self._too_long:
                raise PromptTooLong(self._too_long[request.key])
            raise NotRecorded(f"sample {request.index} was never drawn")
        return await self._started(self._start).complete(request)

    def close(self) -> None:
        """See `Engine`."""
        self._stack.close()

    def _started(self, start: Start) -> Engine:
        if self._model is None:
            self._model = self._stack.enter_context(start(self._shelf))
        return self._model


@contextmanager
def open_recorded(folder: Path, identity: Mapping[str, str], start: Start | None, shelf: Shelf) -> Iterator[Engine]:
    """The samples of the artifact in `folder` as an engine; `UserError` where another model or sampling drew them.

    start: opens the model that draws what the artifact lacks, given the shelf; None where nothing may be drawn.
    """
    artifact = open_artifact(folder)
    for name in {**identity, "agent": None}:
        if artifact.manifest.inputs.get(name) != identity.get(name):
            raise UserError(f"{folder}: its samples were drawn with another {name}; draw again or give its options")
    engine = RecordedEngine(artifact, start, shelf)
    try:
        yield engine
    finally:
        engine.close()
