"""What an installed package carries beside its modules."""

import tomllib

import pytest
from support.places import ROOT

import gradus

SETUP = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]


@pytest.mark.parametrize("package", [room.package for room in gradus.ROOMS.values()])
def test_type_checkers_are_offered_the_annotations_of(package: str) -> None:
    assert (ROOT / package / "py.typed").read_bytes() == b""
    assert "py.typed" in SETUP["package-data"][package]


@pytest.mark.parametrize("package", SETUP["package-data"])
def test_every_pattern_of_package_data_finds_a_file_of(package: str) -> None:
    for pattern in SETUP["package-data"][package]:
        assert any(path.is_file() for path in (ROOT / package.replace(".", "/")).glob(pattern)), pattern
