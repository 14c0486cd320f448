"""The README tells the truth about what stands where and which commands there are."""

import re
import subprocess
import sys
from pathlib import Path

from support.places import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_layout_page_is_the_tree_on_disk() -> None:
    printed = subprocess.run(
        [sys.executable, ROOT / "docs" / "tree.py", "--print"], capture_output=True, text=True, check=True
    ).stdout
    assert printed == (ROOT / "docs" / "layout.md").read_text(encoding="utf-8"), "run `make tree`"


def test_every_gradus_command_in_the_readme_exists_with_its_options() -> None:
    commands = re.findall(r"gradus (curate|curriculum|train|card) ([a-z-]+)([^\n#&`]*)", README)
    assert len(commands) > 8
    for room, command, rest in commands:
        shown = subprocess.run(
            [Path(sys.executable).with_name("gradus"), room, command, "--help"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert shown.returncode == 0, f"gradus {room} {command}: {shown.stderr}"
        for option in re.findall(r"(?<=\s)--[a-z-]+", rest):
            assert option in shown.stdout, f"gradus {room} {command} has no {option}"


def test_the_make_targets_in_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"^make ([a-z-]+)", README, flags=re.MULTILINE)):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_every_link_in_the_readme_leads_to_a_file() -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        if not link.startswith("http"):
            assert (ROOT / link).exists(), link
