"""Cells of the mapped columns: fields inside tables, JSON in a cell, columns with dots in their names."""

import json

from curate.ingest.columns import CellReader, ColumnMap, cell, is_in


def test_fields_inside_tables_are_read_even_from_json_text() -> None:
    columns = ColumnMap(prompt=(("row.question",),), ground_truth=("row.meta.answer", "answer"), kind="row.kind")
    row = {"question": "Q?", "meta": {"answer": "7"}, "kind": "code"}
    for table in (row, json.dumps(row), {**row, "meta": json.dumps(row["meta"])}):
        cells = CellReader(columns).cells({"row": table, "answer": 8})
        assert (list(cells.prompt), list(cells.truths), cells.kind) == (["Q?"], ["7", 8], "code")


def test_a_column_name_may_contain_a_dot() -> None:
    record = {"a.b": 1, "a": {"b": 2, "c": None}}
    assert (cell(record, "a.b"), cell(record, "a.c"), cell(record, "a.d")) == (1, None, None)
    assert [is_in(record, path) for path in ("a.b", "a.c", "a.d", "d", "a.b.c")] == [True, True, False, False, False]
    columns = ColumnMap(prompt=(("a.b",),), ground_truth=("a.c", "a.d"))
    assert list(CellReader(columns).cells(record).prompt) == [1]
    assert list(CellReader(columns).cells({"a": record["a"]}).prompt) == [2]


def test_a_cell_that_two_fields_share_is_read_once() -> None:
    columns = ColumnMap(prompt=(("q",),), ground_truth=("s", "t"), solution=("s",))
    cells = CellReader(columns).cells({"q": "Q?", "s": '["x", "y"]', "t": "[1,2]"})
    (solution,) = cells.solutions
    truth, interval = cells.truths
    assert truth == ["x", "y"]
    assert truth is solution
    assert interval == "[1,2]"


def test_only_the_last_prompt_column_may_hold_turns_as_json() -> None:
    turns = [{"role": "user", "content": "Q?"}]
    cells = CellReader(ColumnMap(prompt=(("a", "b"),))).cells({"a": json.dumps(turns), "b": json.dumps(turns)})
    assert list(cells.prompt) == [json.dumps(turns), turns]


def test_options_in_separate_columns_are_the_ones_present() -> None:
    one, several = ColumnMap(prompt=(("q",),), choices=("A",)), ColumnMap(prompt=(("q",),), choices=("A", "B", "C"))
    record = {"q": "Q?", "A": "x", "B": None, "C": "z"}
    assert (CellReader(one).cells(record).choices, CellReader(several).cells(record).choices) == ("x", ["x", "z"])
    assert CellReader(ColumnMap(prompt=(("q",),))).cells(record).choices is None
