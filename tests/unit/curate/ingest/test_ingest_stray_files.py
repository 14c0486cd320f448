"""Files as other people leave them: compressed, packed, misnamed, in UTF-16, or written by Excel."""

import bz2
import gzip
import io
import json
import lzma
import random
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from support.pools import pool_of

from curate.artifacts.folder import OutFolder
from curate.errors import UserError
from curate.ingest.formats.files import format_in
from curate.ingest.formats.rows import Row
from curate.ingest.reading import read_rows
from curate.ingest.source_files import data_files, files_of
from curate.ingest.sources import Source
from curate.runner.stage import decide

ROWS = [{"question": f"Q{number}?", "answer": str(number)} for number in range(5)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)
TABLE = "question,answer\n" + "".join(f"{row['question']},{row['answer']}\n" for row in ROWS)


def read(path: Path) -> list[Row]:
    return list(read_rows(Source(path=path), 1_000_000))


def records(path: Path) -> list[Any]:
    return [row.record for row in read(path)]


def file(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def zstd(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


def zipped(files: dict[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as pack:
        for name, data in files.items():
            pack.writestr(name, data)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        json.dumps(ROWS),
        json.dumps(ROWS, indent=2),
        "[\n" + ",\n".join(map(json.dumps, ROWS)) + "\n]\n",
        "[" + ",\n".join(map(json.dumps, ROWS)) + "]",
        "\n".join(json.dumps(row, indent=4) for row in ROWS),
        ",\n".join(map(json.dumps, ROWS)),
        LINES.replace("\n", "\r"),
        LINES.replace("\n", ""),
        "\n".join(json.dumps([row]) for row in ROWS),
        json.dumps(ROWS[:2]) + "\n" + json.dumps(ROWS[2:]),
        json.dumps({"data": ROWS}),
        json.dumps({"version": 1, "data": ROWS}, indent=1),
        LINES.encode("utf-16"),
        LINES.encode("utf-16-le"),
        LINES.encode("utf-16-be"),
        LINES.encode("utf-32"),
        b"\xef\xbb\xbf" + json.dumps(ROWS, indent=1).encode(),
    ],
)
@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_every_layout_of_json_is_read_under_either_name(name: str, data: str | bytes, tmp_path: Path) -> None:
    assert records(file(tmp_path / name, data)) == ROWS


def test_records_by_id_one_a_line_keep_their_id(tmp_path: Path) -> None:
    data = "\n".join(json.dumps({f"Problem_{at}": row}) for at, row in enumerate(ROWS))
    assert records(file(tmp_path / "a.jsonl", data)) == [{"id": f"Problem_{at}", **row} for at, row in enumerate(ROWS)]


def test_one_record_with_a_list_of_tables_is_one_record(tmp_path: Path) -> None:
    record = {"question": "Q?", "test": [{"input": "1", "output": "2"}], "meta": {"a": 1}}
    for indent in (None, 2):
        assert records(file(tmp_path / "a.json", json.dumps(record, indent=indent))) == [record]


def test_one_record_whose_turns_are_as_many_as_its_answers_is_one_record(tmp_path: Path) -> None:
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is 2+2?"}]
    record = {"prompt": turns, "answers": ["4", "four"]}
    assert records(file(tmp_path / "a.jsonl", json.dumps(record) + "\n")) == [record]


def test_a_torn_first_line_does_not_hide_the_others(tmp_path: Path) -> None:
    for name in ("a.jsonl", "a.json"):
        rows = read(file(tmp_path / name, '{"question": "torn\n' + LINES))
        assert [row.record for row in rows] == [None, *ROWS]


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("a.jsonl.gz", gzip.compress),
        ("a.jsonl", gzip.compress),
        ("a.jsonl.bz2", bz2.compress),
        ("a.json.xz", lzma.compress),
        ("a.jsonl.lzma", lambda data: lzma.compress(data, lzma.FORMAT_ALONE)),
        ("a.jsonl.zst", zstd),
        ("a", zstd),
        ("a.jsonl.gz", bytes),
    ],
)
def test_content_and_not_the_name_decides_about_compression(name: str, pack: Any, tmp_path: Path) -> None:
    assert records(file(tmp_path / name, pack(LINES.encode()))) == ROWS


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress, zstd])
def test_a_torn_file_of_any_compression_keeps_the_rows_before_the_tear(pack: Any, tmp_path: Path) -> None:
    chance = random.Random(0)
    text = "".join(json.dumps({"a": chance.random()}) + "\n" for _ in range(50_000)).encode()
    whole = pack(text)
    rows = read(file(tmp_path / "a.jsonl", whole[: len(whole) * 9 // 10]))
    assert len(rows) > 1_000
    assert rows[-1].reason == "broken_file"


def test_compressed_tables_are_read(tmp_path: Path) -> None:
    pl.DataFrame(ROWS).write_parquet(tmp_path / "plain.parquet")
    pl.DataFrame(ROWS).write_ipc(tmp_path / "plain.arrow")
    parquet, arrow = ((tmp_path / f"plain.{name}").read_bytes() for name in ("parquet", "arrow"))
    assert records(file(tmp_path / "a.parquet.zst", zstd(parquet))) == ROWS
    assert records(file(tmp_path / "a.arrow.zst", zstd(arrow))) == ROWS
    assert records(file(tmp_path / "a.jsonl", parquet)) == ROWS
    assert records(file(tmp_path / "a.feather", arrow)) == ROWS


def test_members_of_archives_in_archives_are_files_of_the_source(tmp_path: Path) -> None:
    inner = zipped({"deep/b.csv": TABLE})
    members: dict[str, str | bytes] = {
        "z/a.jsonl": LINES,
        "z/inner.zip": inner,
        "z/c.jsonl.gz": gzip.compress(LINES.encode()),
        "__MACOSX/z/._a.jsonl": b"\0\1",
        "z/.hidden.jsonl": LINES,
        "README.md": "# About",
        "../../outside.jsonl": LINES,
    }
    for name in ("pool.zip", "pool.jsonl"):
        path = file(tmp_path / name, zipped(members))
        names = [each.name.removeprefix(name) for each in data_files(Source(path=path))]
        assert names == ["/z/a.jsonl", "/z/c.jsonl.gz", "/z/inner.zip/deep/b.csv"]
        assert records(path) == ROWS * 3
    assert not (tmp_path.parent / "outside.jsonl").exists()


@pytest.mark.parametrize("name", ["pool.tar", "pool.tar.gz", "pool.tgz", "pool.tar.xz"])
def test_a_tar_of_a_record_a_file_is_read(name: str, tmp_path: Path) -> None:
    mode = {"tar": "w", "xz": "w:xz"}.get(name.rpartition(".")[2], "w:gz")
    with tarfile.open(tmp_path / name, mode) as tar:  # type: ignore[call-overload]  # a mode
        for at, row in enumerate(ROWS):
            data = json.dumps(row, indent=4).encode()
            entry = tarfile.TarInfo(f"MATH/train/{at}.json")
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    assert records(tmp_path / name) == ROWS


@pytest.mark.parametrize("name", ["pool.zip", "pool.tar.gz"])
def test_a_damaged_archive_is_one_line(name: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"{name}: cannot be unpacked"):
        read(file(tmp_path / name, b"PK\x03\x04 no archive"))


@pytest.mark.parametrize(
    ("data", "format_name"),
    [(LINES, "jsonl"), (json.dumps(ROWS), "jsonl"), (TABLE, "csv"), ("Once upon a time.\n", None), (b"\0\0,\0", None)],
)
def test_a_file_without_a_known_suffix_is_judged_by_its_content(
    data: str | bytes, format_name: str | None, tmp_path: Path
) -> None:
    assert format_in(file(tmp_path / "a.txt", data)) == format_name


@pytest.mark.parametrize(
    "data",
    [
        TABLE.replace("\n", "\r"),
        TABLE.replace("\n", "\r\r\n"),
        TABLE.encode("utf-16"),
        TABLE.encode("utf-16-be"),
        TABLE.replace(",", "\t").replace("Q", '"Q').replace("?", '?"'),
    ],
)
def test_separated_values_with_any_line_ends_are_read(data: str | bytes, tmp_path: Path) -> None:
    assert records(file(tmp_path / "a.csv", data)) == ROWS


def test_a_quote_that_never_closes_costs_one_row(tmp_path: Path) -> None:
    rows = read(file(tmp_path / "a.csv", TABLE.replace("Q1?", '"Q1?')))
    assert [row.record for row in rows] == [ROWS[0], None, *ROWS[2:]]
    assert (rows[1].place, rows[1].reason) == ("a.csv:3", "broken_csv")


def test_quotes_behind_backslashes_are_read_and_other_backslashes_stay(tmp_path: Path) -> None:
    data = 'question,answer\n"Say \\"hi\\", then 1?",\\frac12\n"And \\"x\\", 2?",3\n'
    assert records(file(tmp_path / "a.csv", data)) == [
        {"question": 'Say "hi", then 1?', "answer": "\\frac12"},
        {"question": 'And "x", 2?', "answer": "3"},
    ]


def test_a_table_of_one_column_may_contain_commas(tmp_path: Path) -> None:
    assert records(file(tmp_path / "a.csv", "question\nIs it 1, 2 or 3?\n")) == [{"question": "Is it 1, 2 or 3?"}]


def test_the_rows_of_a_stage_that_has_not_finished_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "run" / "dedup"
    with OutFolder(out, {"stage": "dedup", "version": 1, "config": {}, "inputs": {}}) as folder:
        rows = pool_of(["a?", "b?"])
        reason = pl.Series(["near_duplicate_of", None]).to_frame("r")["r"]
        folder.write_batch(0, decide(rows, pl.lit(reason), pl.lit(reason)))
    for path in (out, tmp_path / "run"):
        with pytest.raises(UserError, match=r"dedup: is the folder of a stage that has not finished"):
            files_of(Source(path=path))
    assert len(read(out / "kept")) == 1
    with OutFolder(out, {"stage": "dedup", "version": 1, "config": {}, "inputs": {}}) as folder:
        folder.finish()
    assert len(read(out)) == 1
    with pytest.raises(UserError, match="run: holds the artifacts of several stages; name one of them"):
        files_of(Source(path=tmp_path / "run"))
