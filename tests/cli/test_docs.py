"""The pages of docs/: generated pages are current, every page is in the nav, every link has a target."""

import importlib
import importlib.util
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from support.places import ROOT

import gradus

DOCS = ROOT / "docs"
SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md"))}
INCLUDE = re.compile(r'^--8<-- "(.+)"$', re.MULTILINE)


def printed(script: str, **environment: str) -> str:
    return subprocess.run(
        [sys.executable, DOCS / script, "--print"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    ).stdout


@pytest.mark.parametrize(("script", "page"), [("tree.py", "layout.md"), ("cli.py", "cli.md")])
def test_a_page_that_is_generated_from_the_code_is_current(script: str, page: str) -> None:
    assert printed(script) == PAGES[page], "run `make tree`"


def test_the_command_line_page_does_not_depend_on_the_terminal() -> None:
    assert printed("cli.py", COLUMNS="40", TERM="dumb", NO_COLOR="1") == PAGES["cli.md"]


def commands() -> Iterator[tuple[str, Any]]:  # Any: click's Command, which typer does not export
    for name, room in gradus.ROOMS.items():
        group: Any = typer.main.get_command(importlib.import_module(f"{room.package}.commands").app)
        yield from ((f"gradus {name} {command}", found) for command, found in group.commands.items())
    door: Any = typer.main.get_command(gradus.app)
    yield from ((f"gradus {name}", door.commands[name]) for name in gradus.ALONE)


@pytest.mark.parametrize(("path", "command"), [pytest.param(*found, id=found[0]) for found in commands()])
def test_the_command_line_page_has_every_option_and_the_example_of(path: str, command: Any) -> None:
    section = re.split(r"^##+ ", re.split(f"\n##+ {path}\n", PAGES["cli.md"])[1], flags=re.MULTILINE)[0]
    shown = set(re.findall(r"`(--?[\w.-]+)`", "".join(re.findall(r"(?m)^\| (.*?) \|", section))))
    names, inside = (
        {name for p in command.params if p.hidden is hidden for name in (*p.opts, *p.secondary_opts) if name[0] == "-"}
        for hidden in (False, True)
    )
    assert shown == names - {"--help"}
    for name in inside:
        # one field of a table that is shown as a whole, with its fields
        table, _, field = name.removeprefix("--no-").removeprefix("--").rpartition(".")
        row = next(line for line in section.splitlines() if line.startswith(f"| `--{table}` |"))
        assert f"`{field.replace('-', '_')}`" in row.partition("Fields:")[2]
    assert " ".join(command.help.partition("Example:")[2].split()) in section
    for line in (line for line in section.splitlines() if line.startswith("|")):
        assert line.count("|") == 5, line


def leaves(nav: Any) -> Iterator[str]:  # Any: YAML values
    if isinstance(nav, str):
        yield nav
    else:
        for part in nav.values() if isinstance(nav, dict) else nav:
            yield from leaves(part)


def test_every_page_is_in_the_nav_once() -> None:
    assert sorted(leaves(SITE["nav"])) == sorted(PAGES)


def whole(page: str) -> str:
    """A page with the files that it includes, without its code blocks."""
    text = INCLUDE.sub(lambda found: (ROOT / found[1]).read_text(encoding="utf-8"), PAGES[page])
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(page: str) -> set[str]:
    """The ids of a page's headings, as mkdocs and GitHub make them."""
    headings = re.findall(r"^#+ (.+)$", whole(page), re.MULTILINE)
    plain = (unicodedata.normalize("NFKD", re.sub(r"[`*]", "", heading)) for heading in headings)
    return {re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in plain}


def links(page: str) -> list[str]:
    """The targets of a page's links and pictures, code spans left out."""
    return re.findall(r"\]\(([^)\s]+)\)", re.sub(r"(?<!\[)`[^`\n]*`(?!\])", "", whole(page)))


@pytest.mark.parametrize("page", PAGES)
def test_every_link_and_anchor_has_a_target(page: str) -> None:
    for link in links(page):
        if not re.match(r"https?://", link):
            target, _, anchor = link.partition("#")
            assert not target or (DOCS / target).is_file(), f"{page}: {link}"
            assert not anchor or anchor in anchors(target or page), f"{page}: {link}"


def test_links_are_found_at_all() -> None:
    assert sum(len(links(page)) for page in PAGES) > 50
    assert all(links(page) for page in ("index.md", "cli.md", "design.md"))


def test_a_file_that_a_page_includes_has_no_relative_link() -> None:
    """The file is rendered at the root and on the site, so a relative link would be right in only one of them."""
    included = [name for page in PAGES.values() for name in INCLUDE.findall(page)]
    assert sorted(included) == ["CHANGELOG.md", "CONTRIBUTING.md"]
    for page in ("changelog.md", "contributing.md"):
        assert [link for link in links(page) if not link.startswith(("http", "#"))] == []


@pytest.mark.parametrize("page", [*PAGES, "../README.md", "../CONTRIBUTING.md", "../CHANGELOG.md"])
def test_every_code_block_is_closed(page: str) -> None:
    assert (DOCS / page).read_text(encoding="utf-8").count("\n```") % 2 == 0


@pytest.mark.parametrize("page", [*PAGES, "../README.md"])
def test_every_path_into_the_code_exists(page: str) -> None:
    text = whole(page) if page in PAGES else (DOCS / page).read_text(encoding="utf-8")
    for path in re.findall(
        r"`((?:curate|curriculum|train|data_cards|tests|benchmarks|demo|docs)/[\w/]*(?:/|\.\w+))`", text
    ):
        assert (ROOT / path).exists(), f"{page}: {path}"


@pytest.mark.skipif(
    importlib.util.find_spec("material") is None, reason="mkdocs-material is not installed: `make docs`"
)
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    assert {path.with_suffix(".md").name for path in (tmp_path / "site").glob("*.html")} >= set(PAGES)
