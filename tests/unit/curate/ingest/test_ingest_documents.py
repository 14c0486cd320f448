"""Files of other kinds than JSON and separated values: workbooks, XML and YAML."""

from datetime import date
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest

from curate.ingest.formats.files import read_file
from curate.ingest.formats.rows import Row
from curate.ingest.reading import read_rows
from curate.ingest.sources import Source

ROWS = [{"question": f"Q{number}?", "answer": str(number)} for number in range(5)]


def read(path: Path) -> list[Row]:
    return list(read_rows(Source(path=path), 1_000_000))


def records(path: Path) -> list[Any]:
    return [row.record for row in read(path)]


def file(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def zstd(data: bytes) -> bytes:
    return bytes(pa.Codec("zstd").compress(data, asbytes=True))


def workbook(path: Path) -> Path:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["My problems", None, None])
    sheet.append([])
    sheet.append(["Question", "Answer", "Day"])
    for row in (["a?", 2.0, date(2024, 1, 2)], ["b?", 0.1 + 0.2, None], ["c?", 0.5, None], ["d?", "#N/A", True]):
        sheet.append(row)
    sheet["B6"].number_format = "0%"
    hidden = book.create_sheet("old")
    hidden.append(["Question", "Answer"])
    hidden.append(["hidden?", "1"])
    hidden.sheet_state = "hidden"
    more = book.create_sheet("more")
    more.append(["problem", "answer"])
    more.append(["e?", 5])
    book.save(path)
    return path


def test_a_workbook_is_read_as_excel_shows_it(tmp_path: Path) -> None:
    rows = read(workbook(tmp_path / "a.xlsx"))
    assert [(row.record or {}) for row in rows] == [
        {"Question": "a?", "Answer": 2.0, "Day": "2024-01-02T00:00:00"},
        {"Question": "b?", "Answer": 0.3, "Day": None},
        {"Question": "c?", "Answer": "50%", "Day": None},
        {"Question": "d?", "Answer": None, "Day": "TRUE"},
        {"problem": "e?", "answer": 5},
    ]
    assert rows[0].place == "a.xlsx/Sheet:4"
    (broken,) = read_file(file(tmp_path / "b.xlsx", b"not a workbook"), "b.xlsx", 1_000)
    assert broken.reason == "broken_file"


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (
            "<S><P ID='1'><Body>b</Body><Question>How <i>many</i>?</Question></P><P ID='2'><Body>c</Body></P></S>",
            [{"ID": "1", "Body": "b", "Question": "How many?"}, {"ID": "2", "Body": "c"}],
        ),
        (
            "<r><row Id='1' Title='t'/><row Id='2' Title='u'/></r>",
            [{"Id": "1", "Title": "t"}, {"Id": "2", "Title": "u"}],
        ),
        ("<r xmlns='x'><q><o>1</o><o>2</o></q><q><o>3</o></q></r>", [{"o": ["1", "2"]}, {"o": "3"}]),
        ("<r><q><a>only</a></q></r>", [{"a": "only"}]),
    ],
)
def test_the_outermost_repeated_element_of_xml_is_a_record(
    data: str, found: list[dict[str, Any]], tmp_path: Path
) -> None:
    assert records(file(tmp_path / "a.xml", data)) == found


def test_damaged_xml_keeps_the_records_before_the_damage(tmp_path: Path) -> None:
    rows = read(file(tmp_path / "a.xml", "<r>" + "<q><a>1</a></q>" * 3 + "<q"))
    assert [row.reason for row in rows] == [None, None, None, "broken_file"]


def test_xml_entities_that_expand_without_end_are_refused(tmp_path: Path) -> None:
    entities = '<!ENTITY a0 "ha">' + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    rows = read(file(tmp_path / "a.xml", f"<!DOCTYPE r [{entities}]><r><q>&a11;</q><q>x</q></r>"))
    assert [row.reason for row in rows] == ["broken_file"]


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ("- question: a?\n  answer: yes\n- question: b?\n  answer: 0.50\n", [("a?", "yes"), ("b?", "0.50")]),
        ("---\nquestion: a?\nanswer: 1/2\n---\nquestion: b?\nanswer: ~\n", [("a?", "1/2"), ("b?", None)]),
        ("all:\n- {question: a, answer: 12:30}\n- {question: b, answer: 017}\n", [("a", "12:30"), ("b", "017")]),
        ("p1: {question: a, answer: 7}\np2: {question: b, answer: 2024-01-02}\n", [("a", 7), ("b", "2024-01-02")]),
    ],
)
def test_yaml_values_stay_as_they_are_written(data: str, found: list[tuple[str, Any]], tmp_path: Path) -> None:
    assert [(row["question"], row["answer"]) for row in records(file(tmp_path / "a.yaml", data))] == found


def test_yaml_aliases_that_repeat_without_end_are_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    assert [row.reason for row in read(file(tmp_path / "a.yaml", "\n".join(lines)))] == ["too_large"]
