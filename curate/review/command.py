"""`gradus curate review`: shows people the problems that need a decision, and records their rulings.

`queue` picks the problems, `server` shows them, `log` keeps the rulings; `reviewed` applies them.
"""

from __future__ import annotations

import getpass
import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import Field

from curate.artifacts.artifact import open_artifact
from curate.errors import UserError
from curate.parts import require
from curate.review.log import read_rulings
from curate.review.queue import QueueConfig, build_queue


class ReviewConfig(QueueConfig):
    """Review problems in the browser: the doubtful ones of an artifact, and some drawn at random.

    Serves a page on this machine only, at an address that works once. Press k to keep, d to drop, f to fix the answer.
    Rulings are appended to a JSONL file; `gradus curate reviewed` applies them. Needs the extra `review`.

    Example: gradus curate review runs/clean --reviewer ada
    """

    reviewer: str = Field("", description="Your name in the rulings; the login name if not given.")
    verdicts: Path | None = Field(
        None, description="File that rulings are appended to; ARTIFACT.verdicts.jsonl if not given."
    )
    port: int = Field(0, ge=0, lt=65536, description="Port of the page; 0 for any free one.")


def review(folders: Sequence[Path], config: ReviewConfig) -> None:
    """Serve the page until it is interrupted."""
    require("review", "fastapi", "uvicorn")
    import uvicorn

    from curate.review.server import Session, make_app

    artifacts = [open_artifact(folder) for folder in folders]
    entries = build_queue(artifacts, config)
    log = config.verdicts or Path(f"{folders[0]}.verdicts.jsonl")
    if log.exists():
        read_rulings(log)  # a damaged file is reported now, not at the first ruling
    by_folder = {str(artifact.folder): artifact for artifact in artifacts}
    session = Session(entries, by_folder, config.reviewer or getpass.getuser(), log)
    with _bound(config.port) as listener:
        port = listener.getsockname()[1]
        server = uvicorn.Server(uvicorn.Config(make_app(session, port), log_level="warning", access_log=False))
        print(f"{len(entries)} problems to review; rulings go to {log}", flush=True)
        print(f"open http://127.0.0.1:{port}/?token={session.token} and stop with Ctrl-C", flush=True)
        # uvicorn shuts down cleanly at Ctrl-C, and then raises it again
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
    num_rulings = len(read_rulings(log)) if log.exists() else 0
    print(f"{num_rulings} rulings in {log}; to apply them:")
    for folder in folders:
        print(f"gradus curate reviewed {folder} --verdicts {log} --out {str(folder).rstrip('/')}-reviewed")


def _bound(port: int) -> socket.socket:
    """A socket on the loopback interface."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        listener.close()
        raise UserError(f"--port {port}: {error.strerror}; choose another, or 0 for any free one") from None
    return listener
