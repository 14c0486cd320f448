"""Writes docs/layout.md: every room and file of the project with the first sentence of its docstring.

`make tree` runs it; a test holds the page up to date.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
FOLDERS: Final = ("gradus", "curate", "curriculum", "train", "data_cards", "demo", "benchmarks", "docs")
PAGE: Final = ROOT / "docs" / "layout.md"
HEAD: Final = """# Layout

Each room with what comes in and what goes out, and each file with the first sentence of its docstring. `make tree`
writes this page from the code.

"""


def page(root: Path = ROOT) -> str:
    """The project's files, a line each, grouped by folder, as Markdown."""
    paths = [p for folder in FOLDERS for p in sorted((root / folder).rglob("*.py"))]
    files = [path for path in paths if path.name != "__init__.py" and "__pycache__" not in path.parts]
    folders = sorted({path.parent for path in files}, key=lambda at: (FOLDERS.index(at.relative_to(root).parts[0]), at))
    return HEAD + "\n".join(_section(root, folder, [p for p in files if p.parent == folder]) for folder in folders)


def _section(root: Path, folder: Path, paths: list[Path]) -> str:
    width = max(len(path.name) for path in paths)
    lines = "".join(f"{path.name:<{width}}  {first_sentence(path)}\n" for path in paths)
    name = folder.relative_to(root)
    room = folder / "__init__.py"
    about = f"{' '.join((docstring(room)).split())}\n\n" if room.exists() else ""
    return f"## `{name.as_posix()}/`\n\n{about}```text\n{lines}```\n"


def docstring(path: Path) -> str:
    """A module's docstring, empty where it has none."""
    return ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""


def first_sentence(path: Path) -> str:
    """The first sentence of a module's docstring, without its full stop."""
    paragraph = " ".join(docstring(path).split("\n\n")[0].split())
    return re.split(r"(?<=[.?])\s+(?=[A-Z`])", paragraph)[0].rstrip(".:")


if __name__ == "__main__":
    sys.stdout.write(page()) if "--print" in sys.argv else PAGE.write_text(page(), encoding="utf-8")
