"""Every format yields its rows with their places, and a broken row does not end the stream."""

import gzip
import json
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from curate.errors import UserError
from curate.ingest.formats.files import format_of, read_file
from curate.ingest.formats.json_streams import BLOCK_CHARS
from curate.ingest.formats.rows import Row, compression_of
from curate.ingest.reading import first_records, read_rows
from curate.ingest.source_files import files_of
from curate.ingest.sources import Source

ROWS = [{"question": f"Q{number}?", "answer": str(number)} for number in range(5)]


def rows_of(path: Path, max_bytes: int = 1_000_000) -> list[Row]:
    return list(read_file(path, path.name, max_bytes))


def written(path: Path, data: str | bytes) -> Path:
    raw = data.encode() if isinstance(data, str) else data
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path


LINES = "".join(json.dumps(row) + "\n" for row in ROWS)
TABLE = "question,answer\n" + "".join(f"{row['question']},{row['answer']}\n" for row in ROWS)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.jsonl", LINES),
        ("a.ndjson", LINES.replace("\n", "\r\n")),
        ("a.jsonl", "\ufeff" + LINES.rstrip()),
        ("a.json", LINES),
        ("a.json", json.dumps(ROWS)),
        ("a.json", json.dumps(ROWS, indent=2)),
        ("a.json", "\ufeff" + json.dumps({"version": "1", "data": ROWS})),
        ("a.csv", TABLE),
        ("a.csv", "\ufeff" + TABLE.replace("\n", "\r\n")),
        ("a.csv", TABLE.replace(",", ";")),
        ("a.csv", TABLE.replace(",", "\t")),
        ("a.csv", TABLE.replace(",", " | ").replace(" | ", "|")),
        ("a.csv", "sep=;\n" + TABLE.replace(",", ";")),
        ("a.csv", TABLE.replace("question,answer", " question , answer")),
        ("a.csv", TABLE.replace("Q", '"Q').replace("?", '?"')),
        ("a.json", json.dumps({name: [row[name] for row in ROWS] for name in ROWS[0]})),
        ("a.json", json.dumps({name: [row[name] for row in ROWS] for name in ROWS[0]}, indent=1)),
        ("a.json", json.dumps({name: {str(at): row[name] for at, row in enumerate(ROWS)} for name in ROWS[0]})),
        ("a.json", json.dumps({"features": [{"name": "question"}], "rows": ROWS}, indent=1)),
        ("a.tsv", TABLE.replace(",", "\t")),
    ],
)
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_every_format_gives_the_same_records(name: str, data: str, suffix: str, tmp_path: Path) -> None:
    rows = rows_of(written(tmp_path / (name + suffix), data))
    assert [row.record for row in rows] == ROWS


def test_records_by_their_id_keep_it(tmp_path: Path) -> None:
    by_id = {f"q{at}": row for at, row in enumerate(ROWS)}
    for indent in (None, 2):
        rows = rows_of(written(tmp_path / "a.json", json.dumps(by_id, indent=indent)))
        assert [row.record for row in rows] == [{"id": f"q{at}", **row} for at, row in enumerate(ROWS)]


def test_one_record_is_no_table(tmp_path: Path) -> None:
    for record in (
        ROWS[0],
        {"messages": [{"role": "user", "content": "Q?"}], "tags": ["a"]},
        {"question": "Q?", "m": {}},
    ):
        assert [row.record for row in rows_of(written(tmp_path / "a.json", json.dumps(record)))] == [record]


def test_a_conversation_in_an_array_is_a_record(tmp_path: Path) -> None:
    turns = [{"from": "human", "value": "Q?"}, {"from": "assistant", "ground_truth": {"value": "7"}}]
    (row,) = rows_of(written(tmp_path / "a.json", json.dumps([turns])))
    assert row.record == {"0": turns[0], "1": turns[1]}


def test_arrays_beside_each_other_are_all_read_with_their_split(tmp_path: Path) -> None:
    rows = rows_of(written(tmp_path / "a.json", json.dumps({"train": ROWS, "version": 2, "test": ROWS[:2]})))
    wanted = [{"split": "train", **row} for row in ROWS] + [{"split": "test", **row} for row in ROWS[:2]]
    assert [row.record for row in rows] == wanted


def test_two_columns_of_one_name_are_both_kept(tmp_path: Path) -> None:
    (row,) = rows_of(written(tmp_path / "a.csv", "question,question,answer\nQ?,b,2\n"))
    assert row.record == {"question": "Q?", "question_2": "b", "answer": "2"}


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "gb18030", "utf-16", "utf-16-le"])
def test_text_in_a_named_encoding_is_read(encoding: str, suffix: str, tmp_path: Path) -> None:
    word = "数" if encoding == "gb18030" else "é"
    texts = {"a.csv": f"question,answer\n{word}?,1\n", "a.jsonl": f'{{"question": "{word}?", "answer": "1"}}\n'}
    for name, text in texts.items():
        file = written(tmp_path / (name + suffix), text.encode(encoding))
        ((record,),) = first_records(Source(path=file, encoding=encoding), 1_000, 10).values()
        assert record == {"question": f"{word}?", "answer": "1"}


def test_utf16_is_detected_and_other_encodings_must_be_named(tmp_path: Path) -> None:
    (row,) = rows_of(written(tmp_path / "a.csv", "question,answer\né?,1\n".encode("utf-16")))
    assert row.record == {"question": "é?", "answer": "1"}
    file = written(tmp_path / "b.csv", "question,answer\né?,1\n".encode("latin-1"))
    with pytest.raises(UserError, match="name it: --encoding latin-1"):
        first_records(Source(path=file), 1_000, 10)
    with pytest.raises(ValueError, match="no known encoding"):
        Source(path=file, encoding="latin-99")


def test_bytes_invalid_in_the_named_encoding_drop_only_their_row(tmp_path: Path) -> None:
    file = written(tmp_path / "a.csv", b"question,answer\n\x81\xff?,1\nQ?,2\n")
    rows = list(read_rows(Source(path=file, encoding="gb18030"), 1_000))
    assert [row.reason for row in rows] == ["invalid_utf8", None]


def test_parquet_gives_records_with_their_row_as_place(tmp_path: Path) -> None:
    pl.DataFrame(ROWS).write_parquet(tmp_path / "a.parquet")
    rows = rows_of(tmp_path / "a.parquet")
    assert [row.record for row in rows] == ROWS
    assert [row.place for row in rows] == [f"a.parquet:{number}" for number in range(1, 6)]


def test_bad_lines_have_their_number_and_reason_and_the_rest_is_read(tmp_path: Path) -> None:
    lines = [
        b'{"question": "first"}',
        b'{"question": "torn',
        b"",
        b'["a list"]',
        b'{"question": "nul \0 byte"}',
        b'{"question": "\xff\xfe"}',
        b'{"question": "' + b"x" * 3_000 + b'"}',
        b"null",
        b'{"question": "last", "score": NaN}',
        b'{"question": "no newline at the end, no brace"',
    ]
    rows = rows_of(written(tmp_path / "a.jsonl", b"\n".join(lines)), max_bytes=2_000)
    assert [(row.place, row.reason) for row in rows] == [
        ("a.jsonl:1", None),
        ("a.jsonl:2", "broken_json"),
        ("a.jsonl:4", "not_an_object"),
        ("a.jsonl:5", "nul_bytes"),
        ("a.jsonl:6", "invalid_utf8"),
        ("a.jsonl:7", "too_large"),
        ("a.jsonl:8", "not_an_object"),
        ("a.jsonl:9", None),
        ("a.jsonl:10", "broken_json"),
    ]
    assert rows[-2].record == {"question": "last", "score": None}


def test_an_array_is_read_across_blocks_and_past_broken_records(tmp_path: Path) -> None:
    long = "long " * (BLOCK_CHARS // 4)
    good = [
        {"question": 'Ünïcode \\ " ] } , {', "n": 1.5e3},
        {"question": long},
        {"question": long, "deep": [{"a": [1, {}]}]},
    ]
    text = json.dumps(good[0]) + ',\n{"question": broken},\n' + json.dumps(good[1]) + ",\n" + json.dumps(good[2])
    rows = rows_of(written(tmp_path / "a.json", f"[\n{text}\n]"), max_bytes=10 * BLOCK_CHARS)
    assert [row.record for row in rows] == [good[0], None, good[1], good[2]]
    assert [row.place for row in rows] == ["a.json:2", "a.json:3", "a.json:4", "a.json:5"]
    assert rows[1].reason == "broken_json"


@pytest.mark.parametrize(
    ("data", "reasons"),
    [
        ('[{"a": 1}, {"a": 2', [None, "broken_json", "broken_json"]),
        ('[{"a": 1}', [None, "broken_json"]),
        ("42", ["broken_json"]),
        ('{"a": 1', ["broken_json"]),
        ("", ["broken_json"]),
        (b'[{"a": "\xff"}, {"a": 1}]', ["invalid_utf8", None]),
        ('[1, "two", {"a": 1}]', ["not_an_object", "not_an_object", None]),
        ("[]", []),
    ],
)
def test_a_broken_json_file_is_reported_and_its_whole_records_are_kept(
    data: str | bytes, reasons: list[str | None], tmp_path: Path
) -> None:
    assert [row.reason for row in rows_of(written(tmp_path / "a.json", data))] == reasons


def test_a_record_over_the_limit_in_an_array_is_skipped(tmp_path: Path) -> None:
    rows = [{"a": "x" * 5 * BLOCK_CHARS}, {"a": "y"}]
    found = rows_of(written(tmp_path / "a.json", json.dumps(rows)), max_bytes=BLOCK_CHARS)
    assert [(row.reason, row.record) for row in found] == [("too_large", None), (None, {"a": "y"})]


def test_csv_rows_of_the_wrong_width_and_bytes_are_bad(tmp_path: Path) -> None:
    data = b'q,a\n"two\nlines, quoted",1\nonly one\n1,2,3\nbad \xff,1\nnul\0,1\n\nlast,\n'
    rows = rows_of(written(tmp_path / "a.csv", data))
    assert [(row.place, row.reason) for row in rows] == [
        ("a.csv:2", None),
        ("a.csv:4", "broken_csv"),
        ("a.csv:5", "broken_csv"),
        ("a.csv:6", "invalid_utf8"),
        ("a.csv:7", "nul_bytes"),
        ("a.csv:9", None),
    ]
    assert [row.record for row in rows if row.record] == [
        {"q": "two\nlines, quoted", "a": "1"},
        {"q": "last", "a": None},
    ]


def test_a_torn_gzip_file_keeps_the_rows_before_the_tear(tmp_path: Path) -> None:
    whole = gzip.compress("".join(f'{{"a": {number * 7919}}}\n' for number in range(20_000)).encode())
    (tmp_path / "a.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    rows = rows_of(tmp_path / "a.jsonl.gz")
    assert len(rows) > 1_000
    assert all(row.record for row in rows[:-1])
    assert rows[-1].reason == "broken_file"


def test_a_torn_parquet_file_is_one_bad_row(tmp_path: Path) -> None:
    pl.DataFrame(ROWS).write_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.parquet").write_bytes((tmp_path / "a.parquet").read_bytes()[:-20])
    assert [row.reason for row in rows_of(tmp_path / "a.parquet")] == ["broken_file"]


@pytest.mark.parametrize("name", ["a.txt", "a.gz", "jsonl", "a.txt.zst"])
def test_other_names_have_no_known_format(name: str) -> None:
    assert format_of(Path(name)) is None


def test_a_folder_is_its_data_files_in_order_without_hidden_ones(tmp_path: Path) -> None:
    for name in ("b/2.jsonl", "a/1.jsonl.gz", "notes.txt", ".cache/x.jsonl", "b/.hidden.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        written(tmp_path / name, LINES)
    source = Source(path=tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in files_of(source)] == ["a/1.jsonl.gz", "b/2.jsonl"]
    assert [row.place for row in read_rows(source, 1_000)][::5] == ["a/1.jsonl.gz:1", "b/2.jsonl:1"]


def test_first_records_come_from_every_file_of_a_folder(tmp_path: Path) -> None:
    written(tmp_path / "a.jsonl", LINES * 100)
    written(tmp_path / "b.jsonl", '{"input": "other columns"}\n')
    records = first_records(Source(path=tmp_path), 1_000, 20)
    assert {name: len(found) for name, found in records.items()} == {"a.jsonl": 10, "b.jsonl": 1}
    assert records["b.jsonl"] == [{"input": "other columns"}]


@given(
    lines=st.lists(st.binary(max_size=40) | st.sampled_from([b'{"a": 1}', b'{"a": "\\u00e9"}', b"[", b"\xff", b"\0"]))
)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_read_to_the_end_and_every_line_is_accounted_for(lines: list[bytes], tmp_path: Path) -> None:
    data = b"\n".join(lines)
    assume(compression_of(data) is None)
    (tmp_path / "a.jsonl").write_bytes(data)
    rows = rows_of(tmp_path / "a.jsonl")
    whole = [line for line in data.split(b"\n") if line.strip()]
    assert len(rows) == len(whole)
    assert all((row.record is None) == (row.reason is not None) for row in rows)


@pytest.mark.parametrize("line", [b"ARROW1\0", b"PAR1", b"PAR1 and more", b"ARROW1"])
def test_a_line_that_begins_like_a_table_is_a_line(line: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(line + b'\n{"a": 1}\n')
    rows = rows_of(tmp_path / "a.jsonl")
    assert [row.record for row in rows] == [None, {"a": 1}]


@given(text=st.text(alphabet='[]{}",: \\n1ax\n', max_size=60))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_json_text_is_read_to_the_end(text: str, tmp_path: Path) -> None:
    rows = rows_of(written(tmp_path / "a.json", text))
    assert all((row.record is None) == (row.reason is not None) for row in rows)
