"""The report in a real browser, without a network: it renders, and hostile text neither runs nor changes it."""

import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import polars as pl
import pytest
from support.small_run import HOSTILE, PROMPTS, write_run

from data_cards.dataset.tables import open_tables
from data_cards.show.report import report

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1000,1600",
    "--virtual-time-budget=2000",
)
ATTACK = (
    "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "</div></article><style>h1{display:none}</style>$\\frac{1}{2}$"
)

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def browser() -> str:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no Chromium on this machine")
    return found


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    run = write_run(folder / "run", [*PROMPTS[:3], ATTACK, *PROMPTS[3:12]])
    report(open_tables(run), folder / "report.html", "The report", {("bench", "7"): f"a leak {ATTACK}"})
    return folder / "report.html"


def run_browser(browser: str, page: Path, profile: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    command = [browser, *FLAGS, f"--user-data-dir={profile}", *flags, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=90, check=True)


def test_hostile_text_is_shown_as_text(browser: str, page: Path, tmp_path: Path) -> None:
    document = run_browser(browser, page, tmp_path / "profile", "--dump-dom").stdout
    assert re.search(r"<title>\s*The report\s*</title>", document)
    assert "<script" not in document
    assert len(re.findall(r"<img\b", document)) == 2  # rates and lengths, nothing else
    assert len(re.findall(r"<style\b", document)) == 1
    shown = unescape(re.sub(r"<[^>]*>", "", document))
    assert shown.count(ATTACK) >= 2  # among the problems, and beside the benchmark's item
    assert HOSTILE in shown


def test_the_page_renders(browser: str, page: Path, tmp_path: Path) -> None:
    run_browser(browser, page, tmp_path / "profile", f"--screenshot={tmp_path / 'page.png'}")
    from matplotlib.image import imread

    pixels = imread(tmp_path / "page.png")
    assert pixels.shape[:2] == (1600, 1000)
    colours = pl.DataFrame((pixels[:, :, :3] * 255).astype(int).reshape(-1, 3), schema=["r", "g", "b"])
    seen = {row[:3]: row[3] for row in colours.group_by("r", "g", "b").len().iter_rows()}
    assert seen[(0x2F, 0x6F, 0x8F)] > 2_000  # the funnel's bars and the histogram's
    assert seen[(0xC8, 0x55, 0x3D)] > 200  # what was dropped
    assert 0.3 < seen[(255, 255, 255)] / colours.height < 0.97


def test_the_attack_would_work_on_a_page_that_does_not_escape(browser: str, tmp_path: Path) -> None:
    bare = tmp_path / "bare.html"
    bare.write_text(f"<title>The report</title><h1>Report</h1>{ATTACK}")
    document = run_browser(browser, bare, tmp_path / "profile", "--dump-dom").stdout
    assert re.search(r"<title>\s*owned\s*</title>", document)
