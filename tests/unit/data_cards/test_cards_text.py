"""The card and the Croissant metadata: valid, complete, consistent with the data, safe against hostile text."""

import json
import re
from pathlib import Path

import pytest
import yaml
from huggingface_hub import DatasetCard
from pydantic import ValidationError
from support.small_run import PROMPTS, problems, write_pool, write_run

from curate.artifacts.artifact import open_artifact
from curate.artifacts.manifest import Manifest
from curate.pipeline import read_pipeline, run_pipeline
from data_cards.build import build
from data_cards.card.card import pipeline_yaml
from data_cards.config import CardConfig
from data_cards.dataset.facts import languages, licence_ids, size_category


def built(folder: Path, **settings: object) -> DatasetCard:
    build(write_run(folder / "run"), folder / "dataset", CardConfig(**settings))
    return DatasetCard.load(folder / "dataset" / "README.md")


def table_under(text: str, heading: str) -> list[list[str]]:
    """The rows of the first table under a heading, without its head."""
    section = text.split(f"## {heading}\n")[1].split("\n## ", maxsplit=1)[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows[2:]]


def test_the_head_is_what_the_hub_reads(tmp_path: Path) -> None:
    head = built(tmp_path, name="My problems", tags=("mine",), language=("de",)).data.to_dict()
    assert head["pretty_name"] == "My problems"
    assert head["license"] == "mit"
    assert head["language"] == ["de"]
    assert head["size_categories"] == ["n<1K"]
    assert "mine" in head["tags"]
    assert [entry["config_name"] for entry in head["configs"]] == ["default", "dropped", "samples"]


def test_the_funnel_in_the_card_adds_up(tmp_path: Path) -> None:
    rows = table_under(built(tmp_path).text, "The funnel")
    assert [row[0] for row in rows] == ["ingest", "decontaminate", "difficulty"]
    for _, num_in, num_kept, reasons in rows:
        assert int(num_in) == int(num_kept) + sum(int(n) for n in re.findall(r"` (\d+)", reasons))
    assert [row[1] for row in rows[1:]] == [row[2] for row in rows[:-1]]
    assert int(rows[0][1]) == len(PROMPTS)


def test_the_card_lists_each_source_and_the_contaminated_rows(tmp_path: Path) -> None:
    text = built(tmp_path).text
    assert table_under(text, "Sources") == [["made_up", "MIT", "r1", "`" + "0" * 16 + "`", "33", "25"]]
    assert table_under(text, "Decontamination")[0] == ["bench", "`" + "1" * 16 + "`", "1", "exact 1"]
    assert open_artifact(tmp_path / "dataset").manifest.digest in text


def test_the_card_names_the_model_of_the_rates_and_their_precision(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", facts={"model": "tiny-v3", "samples_saved_rate": 0.41})
    build(run, tmp_path / "dataset", CardConfig())
    text = DatasetCard.load(tmp_path / "dataset" / "README.md").text
    assert "Pass rates hold for **tiny-v3**" in text
    assert ["`model digest`", "2" * 16] in table_under(text, "Difficulty")
    assert "sparing 41% of the samples" in text
    assert "sparing" not in built(tmp_path / "other").text


def test_every_column_is_explained(tmp_path: Path) -> None:
    explained = {row[0].strip("`"): row[1] for row in table_under(built(tmp_path).text, "Columns")}
    for part in ("kept", "dropped", "samples"):
        for column in open_artifact(tmp_path / "dataset").scan(part).collect_schema():
            assert explained[column]


def test_the_card_states_which_stages_did_not_run(tmp_path: Path) -> None:
    write_pool(tmp_path / "ingest", problems(["What is 1 + 1?"]))
    build(tmp_path / "ingest", tmp_path / "dataset", CardConfig())
    text = DatasetCard.load(tmp_path / "dataset" / "README.md").text
    assert "No decontamination stage ran" in text
    assert "No model graded these problems" in text
    assert "plots/difficulty.png" not in text


NASTY = '<img src=x onerror=alert(1)> | `a` \n## Fake\n---\nlicense: gpl\n{{ 7*7 }} "x: [y'


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    write_pool(tmp_path / "ingest", problems(PROMPTS[3:], source=NASTY))
    build(tmp_path / "ingest", tmp_path / "dataset", CardConfig(name=NASTY, authors=NASTY))
    card = DatasetCard.load(tmp_path / "dataset" / "README.md")
    assert card.data.to_dict()["pretty_name"] == NASTY
    assert card.data.to_dict()["license"] == "mit"
    assert len(table_under(card.text, "Sources")) == 1
    outside_code = re.sub(r"```.*?```", "", card.text, flags=re.DOTALL)
    assert "<img" not in outside_code
    assert "\n## Fake" not in outside_code
    assert "49" not in outside_code.split("## Sources")[0].replace("{{ 7*7 }}", "")


def test_the_pipeline_in_the_card_rebuilds_the_dataset(tmp_path: Path) -> None:
    rows = [{"question": f"Add {n} and {n * 7}.", "answer": str(n * 8)} for n in range(40)]
    rows.append({"question": "Which is prime?\n(A) 4\n(B) 6\n(C) 7\n(D) 9", "answer": "C"})
    source = tmp_path / "raw.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    file = tmp_path / "first.yaml"
    file.write_text(f"sources:\n- path: {source}\n  licence: MIT\nstages:\n  multiple-choice: {{}}\n")
    run_pipeline(read_pipeline(file), tmp_path / "run", lambda _: None)
    first, _ = build(tmp_path / "run", tmp_path / "dataset", CardConfig())
    text = (tmp_path / "dataset" / "README.md").read_text()
    pipeline = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)[0])
    pipeline["sources"][0]["path"] = str(source)
    again = tmp_path / "again.yaml"
    again.write_text(yaml.safe_dump(pipeline, sort_keys=False))
    run_pipeline(read_pipeline(again), tmp_path / "second", lambda _: None)
    second, _ = build(tmp_path / "second", tmp_path / "again", CardConfig())
    assert first.num_dropped > 0
    assert second == first


def test_the_pipeline_names_the_model_that_the_config_lacks() -> None:
    stage = {"version": 1, "fingerprint": "", "digest": "", "num_in": 1, "num_kept": 1, "num_dropped": 0}
    ingest = Manifest(stage="ingest", config={"sources": []}, inputs={}, reasons={}, files=[], **stage)
    settings, facts = {"k": 8, "keep": None}, {"model": "m"}
    graded = Manifest(stage="difficulty", config=settings, inputs={}, reasons={}, files=[], facts=facts, **stage)
    assert yaml.safe_load(pipeline_yaml([ingest, graded]))["stages"]["difficulty"] == {"model": "m", "k": 8}


@pytest.mark.parametrize(
    ("texts", "ids"),
    [
        (["MIT", "Apache-2.0"], ["apache-2.0", "mit"]),
        (["MIT (repo LICENSE; AIME text (c) MAA)", "mit"], ["mit"]),
        (["CC BY-SA 4.0"], ["cc-by-sa-4.0"]),
        (["our own terms"], ["other"]),
        (["", "MIT"], ["mit", "unknown"]),
        (["unknown"], ["unknown"]),
        ([], ["unknown"]),
    ],
)
def test_licences_become_the_hubs_identifiers(texts: list[str], ids: list[str]) -> None:
    assert licence_ids(texts) == ids


@pytest.mark.parametrize(
    ("rows", "word"),
    [(1, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (10**6, "1M<n<10M"), (10**7, "10M<n<100M"), (10**9, "n>1B")],
)
def test_size_categories_are_the_hubs(rows: int, word: str) -> None:
    assert size_category(rows) == word


def test_languages_follow_the_script() -> None:
    assert languages(problems(["How many?"] * 9).lazy()) == ["en"]
    assert languages(problems(["有多少？"] * 9).lazy()) == ["zh"]
    assert languages(problems(["How many?"] * 9 + ["有多少？"]).lazy()) == ["en", "zh"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # rdflib's and pandas' own, inside mlcroissant
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_croissant_is_valid_and_reads_the_tables(tmp_path: Path) -> None:
    mlcroissant = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed (extra `test`)")
    built(tmp_path, name="Problems", repo="me/problems", authors="Me", version="v1.2.0", date="2026-11-30")
    croissant = mlcroissant.Dataset(tmp_path / "dataset" / "croissant.json")
    assert not croissant.metadata.ctx.issues.errors
    assert not croissant.metadata.ctx.issues.warnings
    assert croissant.metadata.version == "1.2.0"
    for config, part in (("default", "kept"), ("dropped", "dropped"), ("samples", "samples")):
        table = open_artifact(tmp_path / "dataset").read(part)
        records = list(croissant.records(config))
        assert [record[f"{config}/key"].decode() for record in records] == table["key"].to_list()
        assert {name.split("/")[1] for name in records[0]} == set(table.columns)


@pytest.mark.parametrize(("field", "value"), [("version", "1.2"), ("date", "30.11.2026")])
def test_a_version_or_date_in_another_form_is_refused_by_name(field: str, value: str) -> None:
    with pytest.raises(ValidationError, match=field):
        CardConfig.model_validate({field: value})
