"""`card report`: one self-contained page that loads nothing and that no text can change."""

import re
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.small_run import HOSTILE, PROMPTS, problems, write_pool, write_run

from curate.artifacts.artifact import open_artifact
from data_cards.build import build
from data_cards.config import CardConfig
from data_cards.dataset.tables import open_tables
from data_cards.show.report import report
from data_cards.show.trace import visible

ATTACKS = [
    HOSTILE,
    "<img src=http://evil.example/x.png onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "</div></article></body></html>",
    "<style>body{display:none}</style>",
    "&lt;b&gt; &amp; &#60;script&#62;",
    "\u202egnp.exe",
    "$$\\href{javascript:alert(1)}{x}$$ \\(\\unicode{x3c}\\)",
    "{{ config }} {% raw %}",
    "NUL \x00 and \x1b[31m",
]


class Page(HTMLParser):
    """The tags of a page, and the text of its boxes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.handlers: list[str] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "action", "srcset")]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.text += data


def page_of(folder: Path, out: Path, texts: dict[tuple[str, str], str] | None = None) -> str:
    report(open_tables(folder), out, "A report", texts or {})
    return out.read_text()


def test_the_page_loads_nothing_and_runs_nothing(tmp_path: Path) -> None:
    text = page_of(write_run(tmp_path / "run"), tmp_path / "report.html")
    page = Page(text)
    assert "script" not in page.tags
    assert not page.handlers
    assert page.addresses
    assert all(address.startswith("data:image/png;base64,") for address in page.addresses)
    assert "default-src 'none'" in text
    assert "url(" not in text
    assert "@import" not in text


def test_hostile_text_adds_no_tag_and_stays_readable(tmp_path: Path) -> None:
    harmless = [f"harmless {n}" for n in range(len(ATTACKS))]
    pages = []
    for name, prompts in (("harmless", harmless), ("hostile", ATTACKS)):
        rows = problems(prompts, source=prompts[0] if name == "hostile" else "source")
        write_pool(tmp_path / name / "ingest", rows.with_columns(ground_truth=pl.Series(prompts)))
        pages.append(Page(page_of(tmp_path / name / "ingest", tmp_path / f"{name}.html")))
    assert pages[1].tags == pages[0].tags
    assert not pages[1].handlers
    for attack in ATTACKS[:3]:  # as many as the page shows
        assert visible(attack) in pages[1].text


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(min_size=1, max_size=60).filter(lambda text: text.strip() and text.isprintable()))
def test_any_prompt_comes_out_as_it_went_in(tmp_path: Path, prompt: str) -> None:
    from data_cards.show.report import _environment

    template = _environment().from_string("<div>{{ prompt | text }}</div>")
    page = Page(template.render(prompt=prompt))
    assert page.tags == ["div"]
    assert page.text == prompt


def test_every_reason_has_its_count_and_examples(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    page = Page(page_of(run, tmp_path / "report.html"))
    for stage in ("ingest", "decontaminate", "difficulty"):
        for reason, number in open_artifact(run / stage).manifest.reasons.items():
            assert re.search(rf"{reason}\s*\({stage}\): {number} row", page.text)
    dropped = open_artifact(run / "difficulty").read("dropped")
    assert dropped["key"][0] in page.text


def test_matches_are_side_by_side_with_differences_marked(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [*PROMPTS[:3], "What is 3 + 4?"])
    without = page_of(run, tmp_path / "without.html")
    assert "make the report with --against" in without
    page = page_of(run, tmp_path / "with.html", {("bench", "7"): "a leak from my bench"})
    assert "<mark>the</mark>" in page
    assert "<mark>my</mark>" in page


def test_the_report_of_a_dataset_equals_that_of_its_run(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run")
    build(run, tmp_path / "dataset", CardConfig())
    assert page_of(run, tmp_path / "a.html") == page_of(tmp_path / "dataset", tmp_path / "b.html")


@pytest.mark.parametrize("prompts", [["What is 1 + 1?"], PROMPTS[:2]])
def test_a_run_with_nothing_to_show_still_gives_a_page(tmp_path: Path, prompts: list[str]) -> None:
    write_pool(tmp_path / "run" / "ingest", problems(prompts))
    page = Page(page_of(tmp_path / "run" / "ingest", tmp_path / "report.html"))
    assert "img" not in page.tags
    assert ("Nothing was dropped" in page.text) == (len(prompts) == 1)
