"""The sources of a command line: their names, options for one or for all, and refused options."""

from pathlib import Path

import pytest

from curate.decontaminate.benchmarks import BY_NAME
from curate.errors import UserError
from curate.ingest.source_files import files_of
from curate.ingest.sources import Source, source_at, sources_from


def file_at(path: Path) -> Path:
    path.write_text('{"question": "1 + 1?", "answer": "2"}\n')
    return path


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("x/gsm8k/train.jsonl", "gsm8k-train"),
        ("x/aqua.json.gz", "aqua"),
        ("x/pool", "pool"),
        ("x/data.v2.csv", "data.v2"),
    ],
)
def test_a_source_is_named_after_its_file(path: str, label: str) -> None:
    assert Source(path=Path(path)).label() == label


def test_options_for_one_source_and_for_all(tmp_path: Path) -> None:
    one, other = (str(file_at(tmp_path / name)) for name in ("one.jsonl", "other.jsonl"))
    stated = {
        "licence": ["MIT", "other=CC-BY-4.0"],
        "weight": ["one=2"],
        "map": ["prompt=question", "other:ground_truth=answer"],
    }
    first, second = sources_from([one, other], [], stated)
    assert (first.licence, first.weight, first.map) == ("MIT", 2.0, {"prompt": "question"})
    assert (second.licence, second.weight) == ("CC-BY-4.0", 1.0)
    assert second.map == {"prompt": "question", "ground_truth": "answer"}


@pytest.mark.parametrize(
    ("texts", "names", "stated", "line"),
    [
        (["missing.jsonl"], [], {}, "missing.jsonl: no such file or folder; give a path that exists or a Hub id"),
        (["HERE"], ["a", "b"], {}, "--name is given 2 times for 1 sources"),
        (["HERE"], [], {"map": ["prompt"]}, "--map is 'prompt'; write FIELD=COLUMN"),
        (["HERE"], [], {"weight": ["-1"]}, "--weight is '-1'; input should be greater than 0"),
        (["HERE"], [], {"licence": ["b=MIT"]}, "--licence is 'b=MIT', and no source is called b; choose from a"),
        (["HERE"], ["gsm8k"], {"map": ["gsm8:prompt=q"]}, "no source is called gsm8; did you mean gsm8k"),
        (["HERE"], [], {"split": ["test"]}, "--split is 'test': .* has no splits"),
        (["HERE", "o/hub"], [], {"split": ["a=test"]}, "--split is 'a=test': .* has no splits"),
    ],
)
def test_a_wrong_source_option_is_one_line(
    texts: list[str], names: list[str], stated: dict[str, list[str]], line: str, tmp_path: Path
) -> None:
    here = str(file_at(tmp_path / "a.jsonl"))
    with pytest.raises(UserError, match=line.replace("(", r"\(")):
        sources_from([here if text == "HERE" else text for text in texts], names, stated)


def test_a_file_or_folder_without_data_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Once upon a time.\n")
    with pytest.raises(UserError, match="is of an unknown format; use JSONL, JSON, CSV, TSV, Parquet, Arrow"):
        files_of(source_at(str(tmp_path / "a.txt")))
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="holds no JSONL, JSON"):
        files_of(source_at(str(tmp_path / "empty")))


def test_a_benchmark_of_the_bundle_has_a_name_which_a_file_here_hides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert sources_from(["aime25"], [], {"split": ["train"]}, BY_NAME)[0].hub == "math-ai/aime25"
    assert sources_from(["aime25"], [], {"split": ["train"]}, BY_NAME)[0].split == "train"
    (tmp_path / "aime25").mkdir()
    assert sources_from(["aime25"], [], {}, BY_NAME)[0].path == Path("aime25")
