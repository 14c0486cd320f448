"""Boxes need bubblewrap, and namespaces within namespaces; where a machine has neither, their tests skip and say so."""

import pytest

from curate.verify.code.sandbox import SandboxUnavailable
from curate.verify.repo.archive import Archive
from curate.verify.repo.box import BoxLimits, open_box


@pytest.fixture(scope="session", autouse=True)
def box_works() -> None:
    try:
        with open_box(Archive({}), BoxLimits(disk_mb=8)):
            pass
    except SandboxUnavailable as why:
        pytest.skip(str(why))
