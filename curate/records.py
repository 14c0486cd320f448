"""The columns of a problem and of a sample, documented once, and a problem's key.

`PROBLEM` holds the columns that ingest writes, `ADDED` those that later stages add, `DECISION` the two that record
whether a row was kept, and `SAMPLE` one model completion. A stage reads only columns listed here.

A problem is a text or a conversation. Of a conversation, `messages` holds the turns that a model is sent and `prompt`
their `transcript`, so that a stage that compares, searches or shows texts reads `prompt` alone.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import polars as pl

RULED: Final = ("instructions", "json", "words", "puzzle")  # kinds that a rule of `curate.verify.rules` judges
KINDS: Final = ("math", "code", "agent", *RULED)
OWN_KIND: Final = re.compile(r"[a-z][a-z0-9_-]{0,30}")  # of problems with a verifier of the user's own


class Column(NamedTuple):
    """A column's type and its meaning, as the data card prints it."""

    dtype: pl.DataType
    doc: str


def _text(doc: str) -> Column:
    return Column(pl.String(), doc)


def _count(doc: str) -> Column:
    return Column(pl.Int64(), doc)


def _rate(doc: str) -> Column:
    return Column(pl.Float64(), doc)


PROBLEM: Final[dict[str, Column]] = {
    "key": _text("content identity: hash of the normalised prompt, kind and choices"),
    "prompt": _text("the problem as the model will see it, without chat template; of a conversation, all its turns"),
    "messages": _text(
        "JSON list of the turns of a conversation, `{role, content}`, the user's question last; null if the prompt is "
        "one user turn"
    ),
    "ground_truth": _text("the answer a completion is checked against; null where the source has none"),
    "kind": _text(
        "math, code, agent, instructions, json, words, puzzle, or a kind of your own: which verifier applies"
    ),
    "choices": Column(pl.List(pl.String()), "options of a multiple-choice problem, in order; null otherwise"),
    "tests": _text("JSON of the tests of a code problem, or of the name and digest of an agent's task; null otherwise"),
    "solution": _text("a reference solution or chain of thought; null where the source has none"),
    "source": _text("name of the source the row came from"),
    "source_row": _count("row in that source, counted from 0"),
    "also_in": Column(pl.List(pl.String()), "further `source#row` places where the same problem stood, merged here"),
    "extra": _text("JSON object of the source's other columns"),
}

DECISION: Final[dict[str, Column]] = {
    "drop_reason": _text("code of why the row was dropped; null = kept"),
    "drop_detail": _text("the evidence: a key, a benchmark item, a score"),
}

ADDED: Final[dict[str, Column]] = {
    "variant_of": _text("key of the problem this one is a number- or word-changed variant of"),
    "benchmark_variant": _text("JSON evidence: the benchmark item this one is a variant of, method, score, words"),
    "benchmark_paraphrase": _text("JSON evidence: the benchmark item whose meaning this one is close to, score"),
    "contaminated_by": _text("`benchmark/item` whose text this problem contains"),
    "proof": _text(
        "JSON of what makes an agent's task sure: tests that fail and pass every time, canaries, tests dropped by name"
    ),
    "num_correct": _count("samples judged correct"),
    "num_wrong": _count("samples judged wrong"),
    "num_undecided": _count("samples that could not be judged; they enter no rate"),
    "num_samples": _count("samples judged correct or wrong"),
    "pass_rate": _rate("num_correct / num_samples; null without samples"),
    "pass_rate_low": _rate("lower end of the 90% posterior interval of the pass rate, uniform prior"),
    "pass_rate_high": _rate("upper end of that interval"),
    "mean_tokens_correct": _rate("mean tokens of the correct samples"),
    "mean_tokens_wrong": _rate("mean tokens of the wrong samples"),
    "num_no_think": _count("attempts made without reasoning"),
    "num_no_think_correct": _count("attempts without reasoning that were correct"),
    "no_think_chance": _rate(
        "share of blind guesses that would be right, by the form of the answer; 0 = not guessable"
    ),
    "no_think_p_value": _rate("probability that a blind guesser has as many of all attempts right, or more"),
}

LATER: Final = ("messages",)  # columns of `PROBLEM` that artifacts of earlier versions lack

SAMPLE: Final[dict[str, Column]] = {
    "key": _text("the problem's key"),
    "index": _count("which sample of the problem, from 0"),
    "text": _text("the completion"),
    "num_tokens": _count("tokens of the completion"),
    "finish_reason": _text("stop, or length when cut at max_tokens"),
    "verdict": _text("correct, wrong or undecided"),
    "verdict_reason": _text("the verifier's reason code"),
    "seed": _count("seed of this sample: a function of (run seed, key, index)"),
}


def schema(columns: dict[str, Column]) -> pl.Schema:
    """The polars schema of a table of columns, e.g. `schema(PROBLEM)`."""
    return pl.Schema({name: column.dtype for name, column in columns.items()})


def with_all_columns(problems: pl.DataFrame) -> pl.DataFrame:
    """Problems of an earlier version with the columns that it did not have yet, empty."""
    missing = [name for name in LATER if name not in problems.columns]
    return problems.with_columns(pl.lit(None, PROBLEM[name].dtype).alias(name) for name in missing)


def turns_of(messages: str | None) -> list[dict[str, str]]:
    """The turns in a `messages` cell, `{"role", "content"}` each; empty if it is null."""
    turns: list[dict[str, str]] = json.loads(messages) if messages else []
    return turns


def transcript(turns: Sequence[Mapping[str, str]]) -> str:
    """The text of a conversation: a system turn, then the user's turn or, if there are several, each with its role."""
    system = [turn["content"] for turn in turns if turn["role"] == "system"]
    spoken = [turn for turn in turns if turn["role"] != "system"]
    if len(spoken) > 1:
        texts = [f"{turn['role'].capitalize()}: {turn['content']}" for turn in spoken]
    else:
        texts = [turn["content"] for turn in spoken]
    return "\n\n".join([*system, *texts])


_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufeff]")


def normalise_prompt(prompt: str) -> str:
    """The prompt without meaningless differences: Unicode form (NFC), invisible marks, runs of white space.

    NFC, not NFKC: NFKC turns x² into x2 and would merge two different problems.
    """
    # ASCII has neither forms nor invisible marks
    text = prompt if prompt.isascii() else _INVISIBLE.sub("", unicodedata.normalize("NFC", prompt))
    return " ".join(text.split())


def problem_key(prompt: str, kind: str = "math", choices: Sequence[str] | None = None) -> str:
    """Content identity of a problem: 24 hex digits of SHA-256 over the normalised prompt, kind and choices.

    White space and Unicode form do not matter; operators, digits and the order of choices do.
    """
    parts = [kind, normalise_prompt(prompt), *(normalise_prompt(choice) for choice in choices or ())]
    # unit separators keep the parts distinct: normalising turns \x1f into a space
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]
