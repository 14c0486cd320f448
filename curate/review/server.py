"""Serves the local page on which people review problems: one process, one reviewer, loopback only.

The printed address has a token that works once: it is exchanged for a cookie, and every request needs that cookie and a
Host header of this machine, so that no other user, page or DNS trick reaches the data. Texts are sent as JSON and shown
as text; the page may load scripts, styles and fonts from this server only.
"""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import polars as pl
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import FileResponse, JSONResponse, PlainTextResponse, RedirectResponse
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict, ValidationError

from curate.artifacts.artifact import Artifact
from curate.artifacts.trajectory import readable
from curate.errors import UserError
from curate.review.log import Decision, Ruling, append_ruling, latest, read_rulings
from curate.review.queue import Entry
from curate.review.suspects import COLUMN as SUSPECT
from curate.verify import check_truth
from curate.verify.code.tests_format import parse_tests

PAGE: Final = Path(__file__).parent / "page"
COOKIE: Final = "gradus_review"
HINTS: Final = {
    SUSPECT: "a suspect of a training run",
    "benchmark_variant": "a variant of a benchmark's problem",
    "benchmark_paraphrase": "perhaps a paraphrase of a benchmark's problem",
}
MAX_SAMPLES: Final = 16
MAX_TESTS_CHARS: Final = 20_000
HEADERS: Final = {
    # KaTeX sets style attributes; scripts may come from this server only
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Word(BaseModel):
    """The message of the page: a ruling on entry `index` of the queue."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    index: int
    decision: Decision
    reason: str = ""
    ground_truth: str | None = None


@dataclass
class Session:
    """One run of the page: its entries, the reviewer, the log of rulings, and the access token.

    token: opens the page once. cookie: required in every later request.
    """

    entries: Sequence[Entry]
    artifacts: dict[str, Artifact]
    reviewer: str
    log: Path
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    is_token_used: bool = False

    def spend(self, token: str) -> bool:
        """Whether a token opens the page; true only once."""
        is_right = hmac.compare_digest(token.encode(), self.token.encode()) and not self.is_token_used
        self.is_token_used = self.is_token_used or is_right
        return is_right

    def own_rulings(self) -> dict[str, str]:
        """By problem, this reviewer's decision so far, also from earlier sessions."""
        rulings = read_rulings(self.log) if self.log.exists() else []
        return {key: by[self.reviewer].decision for key, by in latest(rulings).items() if self.reviewer in by}


def make_app(session: Session, port: int) -> FastAPI:
    """The application that serves `session` on a port of this machine."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}

    @app.middleware("http")
    async def guard(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
        refusal = _refusal(request, session, hosts)
        response = refusal or await call_next(request)
        response.headers.update(HEADERS)
        return response

    @app.get("/")
    def page(token: str = "") -> Response:
        if not token:
            return FileResponse(PAGE / "index.html")
        response = RedirectResponse("/", status_code=303)
        response.set_cookie(COOKIE, session.cookie, httponly=True, samesite="strict")
        return response

    @app.get("/api/queue")
    def queue() -> dict[str, Any]:  # Any: JSON
        own = session.own_rulings()
        entries = [
            {"index": index, "queue": entry.queue, "ruling": own.get(entry.key)}
            for index, entry in enumerate(session.entries)
        ]
        return {"reviewer": session.reviewer, "entries": entries}

    @app.get("/api/items/{index}")
    def item(index: int) -> dict[str, Any]:  # Any: JSON
        if not 0 <= index < len(session.entries):
            raise HTTPException(404, "no such problem")
        return shown(session.entries[index], session.artifacts)

    @app.post("/api/rulings")
    async def rule(request: Request) -> dict[str, str]:
        try:
            ruling = ruling_of(Word.model_validate_json(await request.body()), session)
            append_ruling(session.log, ruling)
        except ValidationError as error:
            raise HTTPException(422, error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")) from None
        except UserError as error:
            raise HTTPException(422, str(error)) from None
        return {"saved": ruling.decision}

    app.mount("/static", StaticFiles(directory=PAGE))
    return app


def _refusal(request: Request, session: Session, hosts: set[str]) -> Response | None:
    """The response that refuses a request, with the reason; None if it may pass."""
    if request.headers.get("host") not in hosts:
        return PlainTextResponse("this page is for this machine only", 421)
    origin = request.headers.get("origin")
    if origin is not None and origin.removeprefix("http://") not in hosts:
        return PlainTextResponse("requests from other pages are refused", 403)
    if hmac.compare_digest(request.cookies.get(COOKIE, "").encode(), session.cookie.encode()):
        is_json = request.headers.get("content-type", "").startswith("application/json")
        return None if request.method == "GET" or is_json else JSONResponse({"detail": "send JSON"}, 415)
    if request.url.path == "/" and request.method == "GET" and session.spend(request.query_params.get("token", "")):
        return None
    return PlainTextResponse("open the address that gradus printed; its token works once", 403)


def ruling_of(word: Word, session: Session) -> Ruling:
    """The line for the log: ruling, problem, reviewer and time. `UserError` where there is no such entry."""
    if not 0 <= word.index < len(session.entries):
        raise UserError("no such problem; load the page again")
    entry = session.entries[word.index]
    if word.decision == "fix" and (why := _unfit(word.ground_truth or "", entry.row)) is not None:
        raise UserError(why)
    return Ruling(
        key=entry.key,
        reviewer=session.reviewer,
        decision=word.decision,
        reason=word.reason.strip(),
        ground_truth=word.ground_truth,
        queue=entry.queue,
        drop_reason=entry.drop_reason,
        time=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _unfit(answer: str, row: Mapping[str, Any]) -> str | None:  # Any: a row's columns
    """The reason why an answer cannot be a problem's ground truth; None if it can."""
    if row.get("kind") == "code":
        return "a program is judged by its tests, not by an answer; keep the problem or drop it"
    code = check_truth(answer) if answer.strip() else None
    return (
        f"the verifier cannot check that answer ({code}); write it as a plain value, or drop the problem"
        if code
        else None
    )


def shown(entry: Entry, artifacts: dict[str, Artifact]) -> dict[str, Any]:  # Any: JSON
    """The fields of an entry that the page shows."""
    row = entry.row
    evidence = _evidence(row)
    return {
        "key": entry.key,
        "queue": entry.queue,
        "drop_reason": entry.drop_reason,
        "prompt": row["prompt"],
        "kind": row.get("kind"),
        "ground_truth": row["ground_truth"],
        "tests": _readable(row.get("tests")),
        "choices": row.get("choices") or [],
        "solution": row.get("solution"),
        "source": f"{row.get('source')}#{row.get('source_row')} in {entry.artifact}/{entry.part}, key {entry.key}",
        "item_text": evidence.pop("item_text", None),
        "evidence": [
            [name, value if isinstance(value, str) else json.dumps(value)] for name, value in evidence.items()
        ],
        "samples": _samples(artifacts[entry.artifact], entry.key),
    }


def _readable(tests: str | None) -> str | None:
    """The tests of a code problem in readable form, one test a line."""
    parsed = parse_tests(tests) if tests else None
    if parsed is None:
        return tests and tests[:MAX_TESTS_CHARS]
    lines = [test if isinstance(test, str) else test.model_dump_json(exclude_defaults=True) for test in parsed.tests]
    return "\n".join(lines)[:MAX_TESTS_CHARS]


def _evidence(row: Mapping[str, Any]) -> dict[str, Any]:  # Any: a row's columns, JSON
    """The detail of a drop, or the finding on a kept row, as named values."""
    if row.get("drop_detail"):
        return _named(row["drop_detail"])
    reported = [(meaning, row[column]) for column, meaning in HINTS.items() if row.get(column)]
    return {"kept as": reported[0][0], **_named(reported[0][1])} if reported else {}


def _named(detail: str) -> dict[str, Any]:  # Any: JSON
    """Evidence in JSON unchanged; plain text gets the name `detail`."""
    try:
        loaded = json.loads(detail)
    except ValueError:
        loaded = detail
    return loaded if isinstance(loaded, dict) else {"detail": detail}


def _samples(artifact: Artifact, key: str) -> list[dict[str, Any]]:  # Any: JSON
    if not any(entry.path.startswith("samples/") for entry in artifact.manifest.files):
        return []
    columns = ("index", "text", "num_tokens", "verdict", "verdict_reason")
    rows = artifact.scan("samples").filter(pl.col("key") == key).select(columns).sort("index").head(MAX_SAMPLES)
    return [{**row, "text": readable(row["text"])} for row in rows.collect().to_dicts()]
