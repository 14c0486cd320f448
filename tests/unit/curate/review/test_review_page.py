"""The review page in a real browser, and what its server refuses."""

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from support.browser import chromium
from support.places import ROOT
from support.review_pool import make_artifact

from curate.artifacts.artifact import open_artifact
from curate.review.log import read_rulings
from curate.review.queue import QueueConfig, build_queue

uvicorn = pytest.importorskip("uvicorn", reason="the extra `review` is not installed")
pytest.importorskip("fastapi", reason="the extra `review` is not installed")
from fastapi.testclient import TestClient  # noqa: E402  # after the check that it can be imported

from curate.review.server import Session, make_app  # noqa: E402  # after the check that it can be imported


@pytest.fixture
def session(tmp_path: Path) -> Session:
    artifact = open_artifact(make_artifact(tmp_path / "clean"))
    # the dropped row first
    entries = sorted(build_queue([artifact], QueueConfig(num_audit=5)), key=lambda entry: entry.part)
    return Session(entries, {str(artifact.folder): artifact}, "ada", tmp_path / "verdicts.jsonl")


@contextmanager
def served(session: Session) -> Iterator[str]:
    """The page's printed address while a real server runs."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        server = uvicorn.Server(uvicorn.Config(make_app(session, port), log_level="error", lifespan="off", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{port}/?token={session.token}"
        finally:
            server.should_exit = True
            thread.join(timeout=10)


@pytest.mark.heavy
def test_a_person_reads_and_rules_with_the_keyboard_and_hostile_text_stays_text(
    session: Session, tmp_path: Path
) -> None:
    with served(session) as url, chromium(tmp_path / "profile") as page:
        page.go(url)
        page.wait_for("document.querySelectorAll('#queue option').length > 1")
        page.wait_for("document.querySelector('#prompt').textContent.includes('<img src=x')")
        page.press("nnn")
        page.wait_for("document.querySelector('#position').textContent.startsWith('4 of 4')")
        page.press("ppp")
        page.wait_for("document.querySelector('#prompt').textContent.includes('<img src=x')")
        assert (
            page.ask("document.querySelectorAll('main img, main script, main b, main i, main u, main a').length") == 0
        )
        assert page.ask("window.hacked") is None
        assert page.ask("document.querySelectorAll('#prompt .katex').length") > 0
        assert page.ask("document.querySelector('#item_text').textContent") == "Find <i>x</i>"
        assert "<b>bench</b>" in page.ask("document.querySelector('#evidence').textContent")
        assert "window.hacked" in page.ask("document.querySelector('#samples').textContent")
        assert page.ask("location.search") == ""

        page.press("f")
        page.wait_for("document.querySelector('#ask').open")
        page.ask("document.querySelector('#answer').select()")
        page.press("((")
        page.press("Enter")
        page.wait_for("document.querySelector('#refused').textContent.startsWith('the verifier cannot check')")
        assert page.ask("document.querySelector('#ask').open && document.querySelector('#answer').value") == "(("
        page.ask("document.querySelector('#answer').select()")
        page.press("3^2")
        page.press("Enter")
        page.wait_for("document.querySelector('#status').textContent === 'fix saved'")
        page.wait_for("document.querySelector('#prompt').textContent.startsWith('What is')")
        page.press("k")
        page.wait_for("document.querySelector('#status').textContent === 'keep saved'")
    rulings = {ruling.key: ruling for ruling in read_rulings(session.log)}
    fixed = rulings[session.entries[0].key]
    assert (fixed.decision, fixed.ground_truth, fixed.reviewer, fixed.drop_reason) == (
        "fix",
        "3^2",
        "ada",
        "contaminated",
    )
    assert sorted(ruling.decision for ruling in rulings.values()) == ["fix", "keep"]


def test_ctrl_c_stops_cleanly_and_prints_how_to_apply_the_rulings(tmp_path: Path) -> None:
    folder = make_artifact(tmp_path / "clean")
    command = [sys.executable, "-c", "import gradus; gradus.main()", "curate", "review", str(folder)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        start_new_session=True,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        lines = [running.stdout.readline(), running.stdout.readline()]
        time.sleep(0.5)
        running.send_signal(signal.SIGINT)
        more, wrong = running.communicate(timeout=30)
    assert (running.returncode, wrong) == (0, "")
    assert "http://127.0.0.1:" in lines[1]
    assert f"gradus curate reviewed {folder} --verdicts {folder}.verdicts.jsonl --out {folder}-reviewed" in more


PORT = 8123


def client_of(session: Session, host: str = f"127.0.0.1:{PORT}") -> TestClient:
    return TestClient(make_app(session, PORT), base_url=f"http://{host}", follow_redirects=False)


def test_the_token_opens_the_page_once_and_only_its_cookie_after(session: Session) -> None:
    first, second = client_of(session), client_of(session)
    assert first.get("/api/queue").status_code == 403
    assert first.get("/", params={"token": "wrong"}).status_code == 403
    assert first.get("/", params={"token": session.token}).status_code == 303
    assert first.get("/api/queue").status_code == 200
    assert "<title>Gradus review" in first.get("/").text
    assert second.get("/", params={"token": session.token}).status_code == 403
    assert second.get("/static/review.js").status_code == 403


def test_other_hosts_pages_and_forms_are_refused(session: Session) -> None:
    client = client_of(session)
    client.get("/", params={"token": session.token})
    word = {"index": 0, "decision": "drop", "reason": "contaminated"}
    assert client.post("/api/rulings", json=word, headers={"Origin": "http://evil.example"}).status_code == 403
    assert client.post("/api/rulings", data=word).status_code == 415
    assert client.get("/api/queue", headers={"Host": "evil.example"}).status_code == 421
    assert not session.log.exists()
    assert client.post("/api/rulings", json=word, headers={"Origin": f"http://127.0.0.1:{PORT}"}).status_code == 200


def test_an_invalid_ruling_is_refused_with_a_reason(session: Session) -> None:
    client = client_of(session)
    client.get("/", params={"token": session.token})
    for word, reason in (
        ({"index": 0, "decision": "fix"}, "comes with the right ground_truth"),
        ({"index": 99, "decision": "keep"}, "no such problem"),
        ({"index": 0, "decision": "burn"}, "'keep', 'drop' or 'fix'"),
    ):
        answer = client.post("/api/rulings", json=word)
        assert answer.status_code == 422
        assert reason in answer.json()["detail"]


@pytest.mark.parametrize(
    ("kind", "answer", "line"),
    [("math", "\\frac{1", "the verifier cannot check that answer"), ("code", "7", "a program is judged by its tests")],
)
def test_a_fix_that_no_verifier_could_use_is_refused(session: Session, kind: str, answer: str, line: str) -> None:
    entries = [replace(entry, row={**entry.row, "kind": kind}) for entry in session.entries]
    client = client_of(replace(session, entries=entries))
    client.get("/", params={"token": session.token})
    refused = client.post("/api/rulings", json={"index": 0, "decision": "fix", "ground_truth": answer})
    assert (refused.status_code, refused.json()["detail"].startswith(line)) == (422, True)
    assert not session.log.exists()


PROSE = [
    ("It is $5 now and $6 then.", 0), ("She has $20 and he has 30$ left.", 0), ("It is $60 * 2 = $<<60*2>>120.", 0),
    (r"It costs \$5, that is $x$ and \(y\).", 2), (r"$\text{if it rains}\ x > 0$ and $$\frac{1}{2}$$ \[z\]", 3),
    ("$a\n\nb$", 0), (r"\begin{pmatrix}1\\[2pt]2\end{pmatrix}", 0), ("$\\href{x}{y}$ and $x$", 1),
]  # fmt: skip


@pytest.mark.heavy
def test_formulas_are_set_and_prices_and_what_katex_refuses_stay_text(session: Session, tmp_path: Path) -> None:
    with served(session) as url, chromium(tmp_path / "profile") as page:
        page.go(url)
        page.wait_for("document.querySelectorAll('#queue option').length > 1")
        page.wait_for("document.querySelector('#prompt').textContent.includes('<img src=x')")
        for text, num_formulas in PROSE:
            page.ask(f"setFormulas(document.querySelector('#prompt'), {json.dumps(text)}, false)")
            assert page.ask("document.querySelectorAll('#prompt .katex').length") == num_formulas, text
            if not num_formulas:
                assert page.ask("document.querySelector('#prompt').textContent") == text
        assert page.ask("document.querySelector('#prompt .unset').textContent") == "$\\href{x}{y}$"
        page.ask("setText('prompt', 'احسب مجموع $2+3$ \u202ereversed')")
        assert page.ask("getComputedStyle(document.querySelector('#prompt .katex')).direction") == "ltr"
        assert page.ask("document.querySelector('#prompt').textContent").endswith("[U+202E]reversed")
        page.ask(r"setFormulas(document.querySelector('#prompt'), '\\frac{1}{2}', true)")
        assert page.ask("document.querySelectorAll('#prompt .katex').length") == 1


@pytest.mark.heavy
def test_a_narrow_window_shows_everything_and_keys_scroll_it(session: Session, tmp_path: Path) -> None:
    long = {**session.entries[0].row, "solution": "One step more.\n" * 400}
    session = replace(session, entries=[replace(session.entries[0], row=long), *session.entries[1:]])
    with served(session) as url, chromium(tmp_path / "profile") as page:
        for width, scrolled in ((390, "main"), (1280, "section[aria-label='Reference solution']")):
            page.call("Emulation.setDeviceMetricsOverride", width=width, height=700, deviceScaleFactor=1, mobile=False)
            if width == 390:
                page.go(url)
                page.wait_for("document.querySelectorAll('#queue option').length > 1")
            page.wait_for("document.querySelector('#solution').textContent.includes('One step more')")
            assert page.ask("document.documentElement.scrollWidth") <= width
            page.press("PageDown")
            page.wait_for(f"document.querySelector({json.dumps(scrolled)}).scrollTop > 100")


@pytest.mark.heavy
def test_a_program_is_shown_as_it_is_written_with_its_tests(session: Session, tmp_path: Path) -> None:
    tests = json.dumps(
        {"style": "assert", "tests": ["assert f('$x$') == 2", "assert f(2) == 3"], "entry_points": ["f"]}
    )
    program = "def f(cost='$x$'):\n    return cost"
    row = {**session.entries[0].row, "kind": "code", "tests": tests, "solution": program, "ground_truth": None}
    session = replace(session, entries=[replace(session.entries[0], row=row), *session.entries[1:]])
    with served(session) as url, chromium(tmp_path / "profile") as page:
        page.go(url)
        page.wait_for("document.querySelectorAll('#queue option').length > 1")
        page.wait_for("document.querySelector('#solution').textContent !== ''")
        assert page.ask("document.querySelector('#solution').textContent") == program
        assert page.ask("document.querySelector('#tests').textContent") == "assert f('$x$') == 2\nassert f(2) == 3"
        assert page.ask("document.querySelectorAll('.katex').length") == 0
        assert page.ask("document.querySelector('#ground_truth').checkVisibility()") is False
        page.press("n")
        page.wait_for("document.querySelector('#prompt').textContent.startsWith('What is')")
        assert page.ask("document.querySelector('#tests').checkVisibility()") is False
        assert page.ask("document.querySelector('#ground_truth').checkVisibility()") is True


def test_no_script_or_style_comes_from_elsewhere(session: Session) -> None:
    client = client_of(session)
    client.get("/", params={"token": session.token})
    answer = client.get("/")
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert "://" not in answer.text
    for name in ("katex/katex.min.js", "katex/katex.min.css", "formulas.js", "review.js", "review.css"):
        assert client.get(f"/static/{name}").status_code == 200
