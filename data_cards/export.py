"""Writes a dataset in the format of another trainer: TRL, verl, open-instruct, prime-rl, OpenRLHF.

The schemas are those that each project documents:

- TRL: a conversational prompt-only dataset (`prompt`), whose other columns its reward functions receive by name.
- verl: "Prepare Data for Post-Training" (`data_source`, `prompt`, `ability`, `reward_model`, `extra_info`).
- open-instruct: the RLVR sets of Tulu 3 (`messages`, `ground_truth`, `dataset`; `dataset` names its verifier).
- prime-rl: the datasets of `verifiers` (`prompt`, `answer`, `info` as JSON).
- OpenRLHF: JSON Lines with an input key and a label key (`prompt`, `label`), for `--data.apply_chat_template`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

import polars as pl

from curate.artifacts.artifact import open_artifact
from curate.engines.prompts import PromptConfig, messages
from curate.errors import UserError
from curate.records import with_all_columns

Target = Literal["trl", "verl", "open-instruct", "prime-rl", "openrlhf"]
Row = Mapping[str, Any]  # a problem's columns
Chat = list[dict[str, str]]


class Format(NamedTuple):
    """A target's file name, the kinds of problems that it can hold, and the row that a problem becomes."""

    suffix: str
    kinds: tuple[str, ...]
    row: Callable[[Row, Chat], dict[str, Any]]


class Exported(NamedTuple):
    """What an export wrote: its file, its rows, and the problems left out by kind."""

    path: Path
    num_rows: int
    left_out: dict[str, int]


def export(dataset: Path, target: Target, out: Path, prompts: PromptConfig) -> Exported:
    """Write the kept problems of a dataset or artifact to `out`, in order; an existing file is replaced as a whole.

    Problems without a ground truth or tests are left out, and kinds that the target cannot hold.
    """
    form = FORMATS[target]
    if out.suffix != form.suffix:
        raise UserError(f"--out {out}: {target} reads {form.suffix[1:]}; name the file {out.stem}{form.suffix}")
    problems = with_all_columns(open_artifact(dataset).read())
    rows, left_out = [], Counter[str]()
    for problem in problems.iter_rows(named=True):
        if reason := _unfit(problem, form):
            left_out[reason] += 1
        else:
            rows.append(form.row(problem, messages(problem["prompt"], prompts, problem["messages"])))
    if not rows:
        raise UserError(f"{dataset}: no problem fits {target} ({dict(left_out)}); nothing is written")
    _write(rows, out)
    return Exported(out, len(rows), dict(left_out))


def _unfit(problem: Row, form: Format) -> str | None:
    if problem["kind"] not in form.kinds:
        return f"kind {problem['kind']}"
    checked = problem["tests"] if problem["kind"] == "code" else problem["ground_truth"]
    return None if checked else "without an answer"


def _write(rows: list[dict[str, Any]], out: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_name(f".{out.name}.partial")
    if out.suffix == ".jsonl":
        partial.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    else:
        pl.DataFrame(rows, infer_schema_length=None).write_parquet(partial)
    partial.replace(out)


def _trl(problem: Row, chat: Chat) -> dict[str, Any]:
    kept = ("ground_truth", "kind", "tests", "key", "pass_rate")
    return {"prompt": chat, "question": problem["prompt"], **{name: problem.get(name) for name in kept}}


def _verl(problem: Row, chat: Chat) -> dict[str, Any]:
    told = {"split": "train", "index": problem["source_row"], "question": problem["prompt"]}
    return {
        "data_source": problem["source"],
        "prompt": chat,
        "ability": problem["kind"],
        "reward_model": {"style": "rule", "ground_truth": problem["ground_truth"] or ""},
        "extra_info": {**told, **{name: problem.get(name) for name in ("key", "kind", "tests", "pass_rate")}},
    }


def _open_instruct(problem: Row, chat: Chat) -> dict[str, Any]:
    return {"messages": chat, "ground_truth": problem["ground_truth"], "dataset": "math", "key": problem["key"]}


def _prime_rl(problem: Row, chat: Chat) -> dict[str, Any]:
    info = {name: problem.get(name) for name in ("key", "kind", "tests", "source", "pass_rate")}
    answer = problem["ground_truth"] or ""
    return {"prompt": chat, "answer": answer, "info": json.dumps({**info, "question": problem["prompt"]})}


def _openrlhf(problem: Row, chat: Chat) -> dict[str, Any]:
    return {"prompt": chat, "label": problem["ground_truth"], "datasource": problem["source"]}


FORMATS: Final[dict[str, Format]] = {
    "trl": Format(".parquet", ("math", "code"), _trl),
    "verl": Format(".parquet", ("math", "code"), _verl),
    "open-instruct": Format(".parquet", ("math",), _open_instruct),
    "prime-rl": Format(".parquet", ("math", "code"), _prime_rl),
    "openrlhf": Format(".jsonl", ("math",), _openrlhf),
}
