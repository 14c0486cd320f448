"""Scores a task in its image: 1 in /logs/verifier/reward.txt if each named test passes exactly once, else 0.

A report counts only if pytest came to its end, and reward files that the code under test wrote are replaced. Code that
patches pytest in its process is not found out here; the grader of Gradus finds it by canaries.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from pathlib import Path

TESTS, REWARDS, REPO = Path("/tests"), Path("/logs/verifier"), Path("/repo")


def main() -> None:
    """Run the hidden tests beside a fresh copy of the repository."""
    wanted = json.loads((TESTS / "names.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        tree, report = Path(folder, "tree"), Path(folder, "report.xml")
        shutil.copytree(
            REPO, tree, symlinks=True, ignore=shutil.ignore_patterns("conftest.py", "*.ini", "*.pth", ".git")
        )
        shutil.copytree(TESTS / "hidden", tree, dirs_exist_ok=True)
        files = sorted({name.partition("::")[0] for name in wanted})
        options = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", ".", f"--junitxml={report}", "-o",
                   "junit_family=xunit1"]  # fmt: skip
        subprocess.run([sys.executable, "-m", "pytest", *options, *files], cwd=tree, timeout=280, check=False)
        passed = _passed(report) if report.is_file() else []
    solved = all(passed.count(name) == 1 for name in wanted)
    shutil.rmtree(REWARDS, ignore_errors=True)
    REWARDS.mkdir(parents=True)
    (REWARDS / "reward.txt").write_text(f"{int(solved)}\n")


def _passed(report: Path) -> list[str]:
    """The names of the tests that passed, as pytest writes them."""
    names = []
    for case in ET.parse(report).getroot().iter("testcase"):  # noqa: S314  # pytest wrote it
        if not any(child.tag in ("failure", "error", "skipped") for child in case):
            file = case.get("file", "")
            module = file.removesuffix(".py").replace("/", ".")
            inner = case.get("classname", "").removeprefix(module).strip(".").split(".")
            names.append("::".join([file, *filter(None, inner), case.get("name", "")]))
    return names


main()
