"""Tests here run commands in boxes."""

from support.boxes import box_works  # noqa: F401  # a fixture of every test
