"""State on disk: complete or refused, bound by name, transferred to another dataset or run by key."""

import hashlib
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from curate.errors import UserError
from curriculum import Curriculum, CurriculumConfig, Visit
from curriculum.state.files import VERSION

BINDING = {"dataset": "a" * 64, "model": "m1", "sampling": "temperature=1.0"}
CONFIG = CurriculumConfig(recheck_after=4, park_after=2, outage_p=0)


def frame(keys: list[str]) -> pl.DataFrame:
    return pl.DataFrame({"key": keys, "num_correct": [4] * len(keys), "num_samples": [8] * len(keys)})


KEYS = [f"k{i:02}" for i in range(30)]


def trained(folder: Path, config: CurriculumConfig = CONFIG, steps: int = 30) -> Curriculum:
    curriculum = Curriculum.create(frame(KEYS), config, BINDING)
    for step in range(1, steps + 1):
        rows = curriculum.draw(8, step=step)
        curriculum.observe([Visit(row, 8 * (row % 3) // 2, 8 - 8 * (row % 3) // 2, 0, 9.5) for row in rows], step=step)
    curriculum.save(folder)
    return curriculum


def figures(curriculum: Curriculum, key: str) -> list[str]:
    row = curriculum.keys.to_list().index(key)
    # as text: NaN equals itself there
    return [f"{name}={array[row]}" for name, array in vars(curriculum.stats).items()]


def test_the_state_is_text_and_parquet_that_a_person_can_read(tmp_path: Path) -> None:
    curriculum = trained(tmp_path)
    header = json.loads((tmp_path / "curriculum.json").read_text())
    assert header["binding"] == BINDING
    assert header["config"]["policy"] == CONFIG.policy
    table = pl.read_parquet(tmp_path / "curriculum.parquet")
    assert table["key"].to_list() == KEYS
    assert dict(table["status"].value_counts().iter_rows()) == {k: v for k, v in curriculum.occupancy().items() if v}
    event = json.loads((tmp_path / "curriculum-events.jsonl").read_text().splitlines()[0])
    assert set(event) == {"event", "draw", "step", "key", "visit", "detail"}


def test_saving_what_was_loaded_gives_the_same_bytes(tmp_path: Path) -> None:
    trained(tmp_path / "a")
    Curriculum.load(tmp_path / "a", frame(KEYS), CONFIG, BINDING).save(tmp_path / "b")
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes(), path.name


def test_a_curriculum_that_was_never_drawn_from_survives(tmp_path: Path) -> None:
    Curriculum.create(frame(KEYS), CONFIG, BINDING).save(tmp_path)
    loaded = Curriculum.load(tmp_path, frame(KEYS), CONFIG, BINDING)
    assert loaded.draw(8) == Curriculum.create(frame(KEYS), CONFIG, BINDING).draw(8)


@pytest.mark.parametrize("name", BINDING)
def test_a_mismatch_is_refused_by_name(tmp_path: Path, name: str) -> None:
    trained(tmp_path)
    with pytest.raises(UserError, match=f"belongs to {name} .*, not other") as error:
        Curriculum.load(tmp_path, frame(KEYS), CONFIG, {**BINDING, name: "other"})
    assert ("--adopt-dataset" in str(error.value)) == (name == "dataset")


def test_a_mismatch_inside_a_table_names_the_entry(tmp_path: Path) -> None:
    binding = {"sampling": '{"temperature":1.0,"top_p":1.0}'}
    Curriculum.create(frame(KEYS), CONFIG, binding).save(tmp_path)
    with pytest.raises(UserError, match=r"sampling temperature 1\.0, not 0\.6"):
        Curriculum.load(tmp_path, frame(KEYS), CONFIG, {"sampling": '{"temperature":0.6,"top_p":1.0}'})


def test_another_setting_is_refused_by_name(tmp_path: Path) -> None:
    trained(tmp_path)
    with pytest.raises(UserError, match=r"curriculum\.floor 0\.05, not 0\.1"):
        Curriculum.load(tmp_path, frame(KEYS), CONFIG.model_copy(update={"floor": 0.1}), BINDING)


def test_a_dataset_in_another_order_is_never_silently_misaligned(tmp_path: Path) -> None:
    before = trained(tmp_path)
    turned = frame(KEYS[::-1])
    with pytest.raises(UserError, match="order changed"):
        Curriculum.load(tmp_path, turned, CONFIG, BINDING)
    after = Curriculum.load(tmp_path, turned, CONFIG, {**BINDING, "dataset": "b"}, adopt_dataset=True)
    for key in KEYS:
        assert figures(after, key) == figures(before, key)


def test_an_adopted_dataset_keeps_known_problems_adds_new_ones_and_lists_missing_ones(tmp_path: Path) -> None:
    before = trained(tmp_path)
    keys = ["new1", *KEYS[5:][::-1], "new2"]
    after = Curriculum.load(tmp_path, frame(keys), CONFIG, {**BINDING, "dataset": "b"}, adopt_dataset=True)
    event = after.history.events[-1]
    assert event["event"] == "adopted"
    assert event["joined"] == ["new1", "new2"]
    assert event["vanished"] == KEYS[:5]
    assert all(figures(after, key) == figures(before, key) for key in KEYS[5:])
    fresh = Curriculum.create(frame(keys), CONFIG, BINDING)
    assert figures(after, "new1") == figures(fresh, "new1")
    visits = after.history.visits
    earlier = before.history.visits.filter(pl.col("row") == KEYS.index("k07"))
    assert visits.filter(pl.col("row") == keys.index("k07")).drop("row").equals(earlier.drop("row"))
    assert after.binding["dataset"] == "b"
    assert "new1" in {after.keys[row] for step in range(40) for row in after.draw(8)}


def test_adoption_still_refuses_another_model(tmp_path: Path) -> None:
    trained(tmp_path)
    with pytest.raises(UserError, match="belongs to model"):
        Curriculum.load(tmp_path, frame(KEYS), CONFIG, {**BINDING, "dataset": "b", "model": "m2"}, adopt_dataset=True)


def test_an_adopted_probe_set_stays_held_out(tmp_path: Path) -> None:
    config = CONFIG.model_copy(update={"probe_size": 6})
    before = trained(tmp_path, config)
    probe = {before.keys[row] for row in before.probe_rows()}
    keys = [f"x{i}" for i in range(30)] + KEYS
    after = Curriculum.load(tmp_path, frame(keys), config, {**BINDING, "dataset": "b"}, adopt_dataset=True)
    assert {after.keys[row] for row in after.probe_rows()} == probe


def test_a_new_run_continues_from_an_earlier_one(tmp_path: Path) -> None:
    before = trained(tmp_path)
    assert before.occupancy()["retired"] > 0
    config = CONFIG.model_copy(update={"policy": "prioritized", "seed": 9})
    after = Curriculum.continue_from(
        tmp_path, frame([*KEYS, "new"]), config, {**BINDING, "model": "m2", "dataset": "b"}
    )
    assert after.occupancy() == {**before.occupancy(), "active": before.occupancy()["active"] + 1}
    assert np.array_equal(after.stats.successes[:30], before.stats.successes)
    assert np.array_equal(after.stats.evidence[:30], before.stats.evidence)
    assert (after.clock.step, after.clock.draw_number) == (0, before.clock.draw_number)
    retired = before.stats.status == 1
    waits = np.maximum(before.stats.next_check - 30, 0)
    assert np.array_equal(after.stats.next_check[:30][retired], waits[retired])
    assert after.history.events[0]["joined"] == ["new"]


def test_a_new_run_with_another_p0_restarts_the_tests(tmp_path: Path) -> None:
    trained(tmp_path)
    after = Curriculum.continue_from(tmp_path, frame(KEYS), CONFIG.model_copy(update={"p0": 0.9}), BINDING)
    assert not after.stats.evidence.any()
    assert not after.stats.num_tested.any()


def test_a_new_run_with_other_sampling_is_refused(tmp_path: Path) -> None:
    trained(tmp_path)
    with pytest.raises(UserError, match="belongs to sampling"):
        Curriculum.continue_from(tmp_path, frame(KEYS), CONFIG, {**BINDING, "sampling": "temperature=0.6"})


@pytest.mark.parametrize(
    "name",
    [
        "curriculum.json",
        "curriculum.parquet",
        "curriculum-visits.parquet",
        "curriculum-batches.parquet",
        "curriculum-events.jsonl",
    ],
)
@pytest.mark.parametrize("harm", ["missing", "torn"])
def test_a_damaged_state_is_refused_in_one_line_naming_the_file(tmp_path: Path, name: str, harm: str) -> None:
    trained(tmp_path)
    path = tmp_path / name
    if harm == "missing":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(UserError, match=name) as error:
        Curriculum.load(tmp_path, frame(KEYS), CONFIG, BINDING)
    assert "\n" not in str(error.value)


def test_a_state_of_another_version_is_refused(tmp_path: Path) -> None:
    trained(tmp_path)
    path = tmp_path / "curriculum.json"
    path.write_text(path.read_text().replace(f'"version": {VERSION}', '"version": 99'))
    with pytest.raises(UserError, match="version 99"):
        Curriculum.load(tmp_path, frame(KEYS), CONFIG, BINDING)


def test_mixed_files_of_two_states_are_refused(tmp_path: Path) -> None:
    trained(tmp_path / "a")
    Curriculum.create(frame(KEYS[:7]), CONFIG, BINDING).save(tmp_path / "b")
    (tmp_path / "b" / "curriculum.parquet").rename(tmp_path / "a" / "curriculum.parquet")
    with pytest.raises(UserError, match="changed since"):
        Curriculum.load(tmp_path / "a", frame(KEYS), CONFIG, BINDING)


def as_version_2(folder: Path, rate: float) -> None:
    """Rewrite a state in the form of version 2: one gain of the pool, `rate` logits per step, and no groups."""
    table = folder / "curriculum.parquet"
    pl.read_parquet(table).drop("scale_at", "shift_at", "group").write_parquet(table)
    header = json.loads((folder / "curriculum.json").read_text())
    del header["forecast"], header["config"]["groups"]
    header["version"] = 2
    header["clock"]["drift"] = {"score": rate * 4000, "information": 1500.0, "step": header["clock"]["step"]}
    header["files"]["curriculum.parquet"] = hashlib.sha256(table.read_bytes()).hexdigest()
    (folder / "curriculum.json").write_text(json.dumps(header))


def test_a_state_of_version_2_resumes_with_its_counts_and_its_gain(tmp_path: Path) -> None:
    problems = frame(KEYS).with_columns(source=pl.Series(["a", "b"] * 15))
    before = trained(tmp_path)
    as_version_2(tmp_path, 0.02)
    loaded = Curriculum.load(tmp_path, problems, CONFIG, BINDING)
    assert (loaded.stats.successes == before.stats.successes).all()
    assert loaded.forecaster.population.names == ["source=a", "source=b"]
    # what was seen at step 10 has gained 0.4 logits by step 30
    assert loaded.stats.shift_at == pytest.approx(0.02 * before.stats.seen_at)
    assert loaded.forecaster.mean_progress() == pytest.approx((0.0, 0.02 * before.clock.step))
    assert loaded.draw(8, step=31)
    loaded.save(tmp_path / "now")
    assert json.loads((tmp_path / "now" / "curriculum.json").read_text())["version"] == VERSION
    again = Curriculum.load(tmp_path / "now", problems, CONFIG, BINDING)
    assert (again.forecast().mean_rate() == loaded.forecast().mean_rate()).all()
