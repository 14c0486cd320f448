"""Deciding again on recorded samples, and drawing only what a new band lacks."""

from pathlib import Path
from typing import Any

import pytest
from support.model_pool import pool, problem, says, script, sums

from curate.artifacts.artifact import Artifact, open_artifact
from curate.config import parse
from curate.difficulty.redecide import RedecideConfig, redecide
from curate.difficulty.stage import DifficultyConfig, stage
from curate.errors import UserError
from curate.runner.run import run_stage

ANSWERS = {
    "0 + 7 = ?": says("cccccccc"),
    "1 + 6 = ?": says("wwwwwwww"),
    "2 + 5 = ?": says("cwcccccc"),
    "3 + 4 = ?": says("wwwwwwwc"),
}


def measure(tmp_path: Path, out: str, answers: dict[str, Any] = ANSWERS, **settings: Any) -> Artifact:
    made = tmp_path / "pool"
    rows = [*sums(4), problem("long " * 90, "7")]
    source = open_artifact(made) if made.exists() else pool(made, rows)
    options = {"script": script(tmp_path / "script.json", answers), "max_model_len": 90, "max_tokens": 20, **settings}
    run_stage(stage(parse(DifficultyConfig, options, "--")), source, tmp_path / out)
    return open_artifact(tmp_path / out)


def decide_anew(artifact: Artifact, out: str, **settings: Any) -> Artifact:
    folder = artifact.folder.parent / out
    redecide(artifact, parse(RedecideConfig, settings, "--"), folder)
    return open_artifact(folder)


def rows_of(artifact: Artifact) -> dict[str, dict[str, Any]]:
    return {row["key"]: row for part in ("kept", "dropped") for row in artifact.read(part).to_dicts()}


@pytest.mark.parametrize("keep", ["0..0", "1..7", "8", "2..6"])
def test_redeciding_full_samples_equals_measuring_with_that_band(tmp_path: Path, keep: str) -> None:
    recorded = measure(tmp_path, "recorded", early_stop=False, keep="1..7")
    anew = decide_anew(recorded, "anew", keep=keep)
    measured = measure(tmp_path, "measured", early_stop=False, keep=keep)
    assert rows_of(anew) == rows_of(measured)
    assert anew.read("samples").equals(measured.read("samples"))


def test_redeciding_needs_no_model_and_no_script(tmp_path: Path) -> None:
    recorded = measure(tmp_path, "recorded", early_stop=False)
    (tmp_path / "script.json").unlink()
    assert decide_anew(recorded, "anew", keep="8").manifest.num_kept == 1


def test_curtailed_samples_that_do_not_settle_a_new_band_leave_the_problem_undersampled(tmp_path: Path) -> None:
    anew = decide_anew(measure(tmp_path, "recorded", keep="1..7"), "anew", keep="2..6")
    # one correct and one wrong were enough for 1..7
    row = anew.read("dropped").filter(prompt="2 + 5 = ?").to_dicts()[0]
    assert (row["drop_reason"], row["drop_detail"]) == ("undersampled", "sample 2 was never drawn")
    assert anew.manifest.reasons == {"prompt_too_long": 1, "too_easy": 1, "too_hard": 2, "undersampled": 1}


def test_only_what_a_new_band_lacks_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded = measure(tmp_path, "recorded", keep="1..7")
    (tmp_path / "script.json").write_text("{}")
    with pytest.raises(UserError, match="drawn with another model"):
        measure(tmp_path, "other", {}, keep="2..6", samples_from=recorded.folder)
    continued = measure(tmp_path, "continued", keep="2..6", samples_from=recorded.folder)
    assert continued.manifest == measure(tmp_path, "fresh", keep="2..6").manifest


def test_a_changed_verifier_policy_judges_every_sample_again(tmp_path: Path) -> None:
    cut = {"*": [{"text": "\\boxed{7}", "finish_reason": "length"}]}
    recorded = measure(tmp_path, "recorded", cut, keep="8")
    assert recorded.manifest.num_kept == 0
    anew = decide_anew(measure(tmp_path, "full", cut, keep="8", early_stop=False), "anew", truncated="judged")
    assert anew.manifest.num_kept == 4


def test_options_not_given_keep_their_values(tmp_path: Path) -> None:
    recorded = measure(tmp_path, "recorded", keep="3..5", early_stop=False)
    anew = decide_anew(recorded, "anew")
    assert rows_of(anew) == rows_of(recorded)
    assert anew.manifest.config == recorded.manifest.config


def test_only_an_artifact_of_the_stage_can_be_redecided(tmp_path: Path) -> None:
    made = pool(tmp_path / "pool", sums(2))
    with pytest.raises(UserError, match="give the folder that difficulty wrote"):
        decide_anew(made, "anew", keep="0..0")
