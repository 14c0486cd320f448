"""What all tests share: where the real data lies, and which tests this machine can run."""

from pathlib import Path

import pytest
from support.places import SHARED

from gradus import prepare_for_torch

# as the command line does it: several tests at a time make a busy machine
prepare_for_torch()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real pools, benchmarks and labelled cases beside the project; skips where it is absent."""
    if not (SHARED / "data").is_dir():
        pytest.skip("the real data beside the project is absent")
    return SHARED


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("gpu"):
            import torch

            if not torch.cuda.is_available():
                item.add_marker(pytest.mark.skip(reason="no GPU here"))
