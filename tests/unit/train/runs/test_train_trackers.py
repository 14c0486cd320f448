"""Trackers: one that cannot report is refused when the settings are read, before a model is loaded."""

import pytest
from pydantic import ValidationError

from train.runs import tables
from train.runs.tables import TRACKERS, Logging


def test_the_trackers_are_those_of_transformers() -> None:
    from transformers.integrations.integration_utils import INTEGRATION_TO_CALLBACK

    assert set(TRACKERS) <= set(INTEGRATION_TO_CALLBACK)


def test_an_unknown_or_missing_tracker_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValidationError, match="did you mean wandb"):
        Logging(report_to=("wandbb",))
    monkeypatch.setattr(tables, "is_installed", lambda library: library == "tensorboardX")
    with pytest.raises(ValidationError, match="trackio is not installed; pip install trackio"):
        Logging(report_to=("tensorboard", "trackio"))
    assert Logging(report_to=("tensorboard",)).report_to == ("tensorboard",)
