"""The README is short, its commands and links exist, and its Python example prints what it states."""

import os
import re
import subprocess
import sys
from pathlib import Path

from support.places import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
MAX_BYTES = 8 * 1024


def test_the_readme_is_at_most_eight_kilobytes() -> None:
    assert len(README.encode()) <= MAX_BYTES


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
    targets = set(re.findall(r"^make ([a-z-]+)", README, flags=re.MULTILINE))
    assert {"demo", "test"} <= targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_every_link_in_the_readme_has_a_target() -> None:
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", README) if not link.startswith("http")]
    assert len(links) > 10
    for link in links:
        assert (ROOT / link).exists(), link


def test_every_folder_of_the_readmes_tree_exists() -> None:
    tree = README.split("## Where things are")[1].split("```")[1].splitlines()[1:]
    assert len(tree) == 21
    room = ROOT
    for line in tree:
        places, is_inside = line[:26].split(), line.startswith("  ")
        assert places
        for place in places:
            assert ((room if is_inside else ROOT) / place).exists(), line
        room = room if is_inside else ROOT / places[0]


def test_the_python_example_prints_what_its_comments_state() -> None:
    example = re.findall(r"```python\n(.*?)```", README, re.DOTALL)[0]
    stated = re.findall(r"^print\(.*\)  # (.*)$", example, re.MULTILINE)
    done = subprocess.run(
        [sys.executable, "-c", example],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert len(stated) == 2
    assert done.stdout.splitlines() == stated
    assert len([line for line in example.splitlines() if line]) <= 10
