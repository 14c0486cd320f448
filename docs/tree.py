"""Prints what stands where: every file of the project with the first sentence of its docstring.

README.md holds the output between two marks; `make tree` writes it there, and a test holds it up to date.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
FOLDERS: Final = ("curate", "curriculum", "train", "data_cards", "demo", "benchmarks", "docs")
START, END = "<!-- tree -->\n", "<!-- /tree -->"


def tree(root: Path = ROOT) -> str:
    """The project's files, a line each, grouped by folder, as Markdown."""
    paths = [root / "gradus.py", *(p for folder in FOLDERS for p in sorted((root / folder).rglob("*.py")))]
    told = [path for path in paths if path.name != "__init__.py" and "__pycache__" not in path.parts]
    folders = dict.fromkeys(path.parent for path in told)
    return "".join(_section(folder.relative_to(root), [p for p in told if p.parent == folder]) for folder in folders)


def _section(folder: Path, paths: list[Path]) -> str:
    width = max(len(path.name) for path in paths)
    lines = "".join(f"{path.name:<{width}}  {first_sentence(path)}\n" for path in paths)
    title = f"{folder.as_posix()}/" if folder.parts else "the door"
    return f"<details><summary><code>{title}</code></summary>\n\n```\n{lines}```\n\n</details>\n"


def first_sentence(path: Path) -> str:
    """The first sentence of a module's docstring, without its full stop."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    paragraph = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<=[.?])\s+(?=[A-Z`])", paragraph)[0].rstrip(".:")


def write(readme: Path) -> None:
    """Put the tree between the marks in a README."""
    text = readme.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    after = rest.partition(END)[2]
    readme.write_text(f"{before}{START}{tree()}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    sys.stdout.write(tree()) if "--print" in sys.argv else write(ROOT / "README.md")
