"""A package is mounted in a sandbox only where the sandbox's Python and user can read it."""

import os
import sys
import tempfile
from pathlib import Path

import pytest

from curate.verify.code import packages


def test_a_folder_that_another_user_cannot_enter_is_not_mounted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with tempfile.TemporaryDirectory() as made:
        home = Path(made)
        if not all(folder.stat().st_mode & 1 for folder in home.parents):
            pytest.skip("the temporary folder is closed to others")
        (home / "numpy").mkdir(mode=0o755)
        home.chmod(0o755)
        assert packages.is_open(home / "numpy")
        home.chmod(0o700)
        assert not packages.is_open(home / "numpy")


def test_a_package_of_another_version_is_not_mounted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "SYSTEM", ())
    packages.packages.cache_clear()
    try:
        monkeypatch.setattr(packages, "_version", lambda _: (3, 1))
        assert packages.packages(sys.executable) == ()
    finally:
        packages.packages.cache_clear()
