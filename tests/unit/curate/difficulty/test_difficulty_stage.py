"""The difficulty stage on scripted answers: decisions, evidence, costs, resume."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.model_pool import pool, problem, says, script, sums

from curate.artifacts.artifact import Artifact, open_artifact
from curate.artifacts.samples import LOG
from curate.config import parse
from curate.difficulty.plot import bars, by_decision
from curate.difficulty.plot import figure as histogram_of
from curate.difficulty.stage import DifficultyConfig, stage
from curate.errors import UserError
from curate.runner.run import Outcome, run_stage

ANSWERS = {
    "0 + 7 = ?": says("cccccccc"),
    "1 + 6 = ?": says("wwwwwwww"),
    "2 + 5 = ?": says("cwcccccc"),
    "3 + 4 = ?": says("wwwwwwwc"),
}


def measure(tmp_path: Path, answers: dict[str, Any], out: str = "out", rows: Any = None, **settings: Any) -> Artifact:
    run(tmp_path, answers, out, rows, **settings)
    return open_artifact(tmp_path / out)


def run(tmp_path: Path, answers: dict[str, Any], out: str = "out", rows: Any = None, **settings: Any) -> Outcome:
    made = tmp_path / "pool"
    source = open_artifact(made) if made.exists() else pool(made, rows or sums(4))
    config = parse(DifficultyConfig, {"script": script(tmp_path / "script.json", answers), **settings}, "--")
    return run_stage(stage(config), source, tmp_path / out)


def decisions(artifact: Artifact) -> dict[str, str | None]:
    kept = dict.fromkeys(artifact.read("kept")["prompt"])
    dropped = artifact.read("dropped").select("prompt", "drop_reason").iter_rows()
    return kept | {str(prompt): str(reason) for prompt, reason in dropped}


def test_the_keep_band_drops_what_is_always_or_never_solved(tmp_path: Path) -> None:
    assert decisions(measure(tmp_path, ANSWERS, keep="1..7")) == {
        "0 + 7 = ?": "too_easy",
        "1 + 6 = ?": "too_hard",
        "2 + 5 = ?": None,
        "3 + 4 = ?": None,
    }


def test_the_lectures_band_keeps_only_what_best_of_k_never_solves(tmp_path: Path) -> None:
    kept = measure(tmp_path, ANSWERS, keep="0..0").read("kept")
    assert kept["prompt"].to_list() == ["1 + 6 = ?"]


@pytest.mark.parametrize("keep", ["1..7", "0..0", "2..6", "8", "0..8"])
def test_stopping_early_changes_no_decision_and_costs_less(tmp_path: Path, keep: str) -> None:
    early = measure(tmp_path, ANSWERS, "early", keep=keep)
    full = measure(tmp_path, ANSWERS, "full", keep=keep, early_stop=False)
    assert decisions(early) == decisions(full)
    assert full.manifest.facts["samples"] == 4 * 8
    assert early.manifest.facts["samples"] < full.manifest.facts["samples"]


def test_full_k_for_kept_measures_kept_problems_with_all_samples_and_no_others(tmp_path: Path) -> None:
    early = measure(tmp_path, ANSWERS, "early", keep="1..7")
    full = measure(tmp_path, ANSWERS, "full", keep="1..7", full_k_for_kept=True)
    assert decisions(full) == decisions(early)
    assert early.read("kept")["num_samples"].min() == 2
    assert full.read("kept")["num_samples"].to_list() == [8, 8]
    assert full.read("dropped").equals(early.read("dropped"))


def test_rates_and_lengths_come_from_the_judged_samples(tmp_path: Path) -> None:
    completions = [{"text": "\\boxed{7}", "num_tokens": 10}, {"text": "\\boxed{8}", "num_tokens": 30}]
    row = measure(tmp_path, {"*": completions}, rows=sums(1), k=4, early_stop=False).read("kept").to_dicts()[0]
    assert (row["num_correct"], row["num_wrong"], row["num_samples"], row["pass_rate"]) == (2, 2, 4, 0.5)
    assert (row["mean_tokens_correct"], row["mean_tokens_wrong"]) == (10, 30)
    assert row["pass_rate_low"] < 0.5 < row["pass_rate_high"]


def test_unjudgeable_samples_enter_no_rate_and_too_many_drop_the_problem_with_their_reasons(tmp_path: Path) -> None:
    rows = [problem("What is it?", "a \\frac{", source_row=0)]
    row = measure(tmp_path, {"*": ["\\boxed{7}"]}, rows=rows, max_undecided=2).read("dropped").to_dicts()[0]
    assert row["drop_reason"] == "unverifiable"
    assert row["drop_detail"].startswith("3 samples undecided: ")
    assert (row["num_undecided"], row["num_samples"], row["pass_rate"]) == (3, 0, None)


@pytest.mark.parametrize(("choice", "counts"), [("wrong", (0, 2, 0)), ("undecided", (0, 0, 1)), ("judged", (2, 0, 0))])
def test_the_verdict_of_a_truncated_completion_is_a_setting_in_the_manifest(
    tmp_path: Path, choice: str, counts: tuple[int, int, int]
) -> None:
    cut = [{"text": "\\boxed{7}", "finish_reason": "length"}]
    made = measure(tmp_path, {"*": cut}, rows=sums(1), k=2, keep="1", truncated=choice, max_undecided=0)
    row = made.read("dropped").to_dicts()[0]
    assert (row["num_correct"], row["num_wrong"], row["num_undecided"]) == counts
    assert made.manifest.config["truncated"] == choice
    assert set(made.read("samples")["finish_reason"]) == {"length"}


def test_a_prompt_beyond_the_context_drops_only_its_problem(tmp_path: Path) -> None:
    rows = [problem("long " * 50, "7"), *sums(1)]
    made = measure(tmp_path, {"*": says("cw")}, rows=rows, max_model_len=40, max_tokens=10)
    assert decisions(made) == {"long " * 50: "prompt_too_long", "0 + 7 = ?": None}
    assert made.read("dropped")["drop_detail"].to_list() == ["50 + 10 > 40 tokens"]


def test_empty_completions_are_wrong_answers(tmp_path: Path) -> None:
    row = measure(tmp_path, {"*": [""]}, rows=sums(1)).read("dropped").to_dicts()[0]
    assert (row["drop_reason"], row["num_wrong"]) == ("too_hard", 8)


def test_a_complete_artifact_is_reused_and_another_band_is_refused(tmp_path: Path) -> None:
    assert not run(tmp_path, ANSWERS).is_reused
    assert run(tmp_path, ANSWERS).is_reused
    with pytest.raises(UserError, match="another configuration"):
        run(tmp_path, ANSWERS, keep="0..0")


def test_resume_pays_only_for_owed_samples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = {name: answer for name, answer in ANSWERS.items() if name != "3 + 4 = ?"}
    with pytest.raises(UserError, match=r"3 \+ 4"):
        run(tmp_path, missing)
    num_logged = len((tmp_path / "out" / LOG).read_text().splitlines())
    assert num_logged > 0
    # the scripted engine is identified by its script, so a corrected script would be another run
    (tmp_path / "out" / "state.json").unlink()
    capsys.readouterr()
    resumed = measure(tmp_path, ANSWERS)
    assert f"difficulty: {resumed.manifest.facts['samples'] - num_logged} samples" in capsys.readouterr().err
    assert resumed.manifest == measure(tmp_path, ANSWERS, "undisturbed").manifest


def test_a_torn_log_gives_the_same_bytes_at_every_line(tmp_path: Path) -> None:
    whole = measure(tmp_path, ANSWERS, "whole", k=4)
    log = [
        line.encode() for line in whole.read("samples").sort("index", "key").write_ndjson().splitlines(keepends=True)
    ]
    for num_lines in range(len(log) + 1):
        out = tmp_path / f"torn{num_lines}"
        out.mkdir()
        torn = log[num_lines][:20] if num_lines < len(log) else b""
        (out / LOG).write_bytes(b"".join(log[:num_lines]) + torn)
        assert measure(tmp_path, ANSWERS, out.name, k=4).manifest == whole.manifest


def test_precise_mode_reports_the_error_it_reached(tmp_path: Path) -> None:
    coin = {"pass_rate": 0.5, "right": "\\boxed{7}", "wrong": "\\boxed{8}"}
    made = measure(tmp_path, {"*": coin}, keep_rate="0.1..0.9", target_error=0.02)
    assert made.manifest.num_kept == 4
    assert 0 < made.manifest.facts["mean_decision_error"] <= made.manifest.facts["max_decision_error"] < 0.02


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"keep": "7..1"}, r"7\.\.1 is not a band"),
        ({"keep": "1..9"}, r"1\.\.9 is not a band of 8"),
        ({"keep": "1..7", "keep_rate": ".1...9"}, "both set"),
        ({"target_error": 0.1}, "needs keep_rate"),
        ({"keep_rate": "high"}, "write the lowest and highest rate"),
        ({"kep": "1..7"}, "did you mean keep"),
        ({"verify": "{boxes: first}"}, "verify"),
    ],
)
def test_a_bad_setting_is_one_line_that_names_it(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message) as caught:
        parse(DifficultyConfig, settings, "--")
    assert "\n" not in str(caught.value)


def test_the_histogram_is_a_picture(tmp_path: Path) -> None:
    picture = (measure(tmp_path, ANSWERS).folder / "plots" / "pass_rate.png").read_bytes()
    assert picture.startswith(b"\x89PNG")


def test_the_histogram_shows_problems_that_stopped_early_apart(tmp_path: Path) -> None:
    made = measure(tmp_path, {**ANSWERS, "3 + 4 = ?": says("wwwwwwwc")}, keep="1..7")
    kept, dropped = made.read("kept"), made.read("dropped")
    assert by_decision(kept, dropped, 8) == {"kept": 1}
    assert by_decision(kept, dropped, None) == {}
    figure = histogram_of(kept, dropped, 8, "toy")
    full, early = figure.axes
    # 8 wrong, 8 right; 7 wrong and 1 right needed all eight; the fourth problem needed two
    assert [bar.get_height() for bar in full.patches[:9]] == [0, 1, 0, 0, 0, 0, 0, 0, 0]
    assert [bar.get_height() for bar in full.patches[9:]] == [1, 0, 0, 0, 0, 0, 0, 0, 1]
    assert [bar.get_height() for bar in early.patches] == [1]
    assert len(histogram_of(kept, dropped, None, "toy").axes) == 1
    assert full.get_ylim() == early.get_ylim() == (0, 1.05)


@pytest.mark.parametrize("k", [None, 3, 64])
def test_every_rate_falls_into_one_bar(k: int | None) -> None:
    rates = pl.Series([n / 64 for n in range(65)] if k != 3 else [0.0, 1 / 3, 2 / 3, 1.0])
    counts = list(bars(rates, k).values())
    assert sum(counts) == rates.len()
    assert counts[0] == counts[-1] == 1
    assert list(bars(pl.Series([0.1, 0.5, None, 1.0]), None).values()) == [0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1]
