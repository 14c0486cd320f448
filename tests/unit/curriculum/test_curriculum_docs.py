"""docs/curriculum.md names every policy, pool, event, file and command."""

import pytest
from support.places import ROOT

from curriculum import CurriculumConfig
from curriculum.commands import app
from curriculum.draw.policies import POLICIES
from curriculum.pools.transitions import EVENTS
from curriculum.state import files as state
from curriculum.statistics.stats import STATUSES

DOCS = (ROOT / "docs" / "curriculum.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "name",
    [
        *POLICIES,
        *(status.replace("_", " ") for status in STATUSES),
        *EVENTS,
        *(state.HEADER, state.PROBLEMS, state.VISITS, state.BATCHES, state.EVENTS),
        *(f"gradus curriculum {command.name or command.callback.__name__}" for command in app.registered_commands),
    ],
)
def test_the_docs_mention(name: str) -> None:
    assert name in DOCS


@pytest.mark.parametrize("name", CurriculumConfig.model_fields)
def test_every_setting_has_a_description(name: str) -> None:
    assert CurriculumConfig.model_fields[name].description
