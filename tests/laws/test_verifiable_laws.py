"""Laws of the verifiable stage: every row decided alone, nothing lost, prompts changed by spaces decided alike."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curate.verifiable.stage import VerifiableConfig, run

WORDS = (
    "Prove", "that", "find", "(a)", "(b)", "?", "answer:", "4", "$x$", "求", "证明", "Give", "an", "example", "\n",
    "show", "explain", "figure", "![](a)", "None", ".", "is",
)  # fmt: skip
TEXT = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
ROWS = st.lists(st.tuples(TEXT, st.one_of(st.none(), TEXT, st.integers(0, 9).map(str))), max_size=6)


def frame(rows: list[tuple[str, str | None]]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "key": [str(index) for index in range(len(rows))],
            "prompt": [prompt for prompt, _ in rows],
            "ground_truth": [truth for _, truth in rows],
            "kind": ["math"] * len(rows),
            "choices": [None] * len(rows),
        },
        schema={**dict.fromkeys(("key", "prompt", "ground_truth", "kind"), pl.String), "choices": pl.List(pl.String)},
    )


@settings(max_examples=50, deadline=None)
@given(ROWS, ROWS)
def test_a_batch_is_decided_as_its_rows_are(
    first: list[tuple[str, str | None]], second: list[tuple[str, str | None]]
) -> None:
    config = VerifiableConfig(figures="drawn")
    apart = pl.concat([run(frame(rows), config) for rows in (first, second)])
    together = run(frame(first + second), config)
    assert together.drop("key").equals(apart.drop("key"))


@settings(max_examples=50, deadline=None)
@given(TEXT, st.integers(0, 9).map(str))
def test_white_space_around_a_prompt_decides_nothing(prompt: str, truth: str) -> None:
    padded = frame([(prompt, truth), (f"  {prompt}\n", f" {truth} ")])
    decided = run(padded, VerifiableConfig())["drop_reason"]
    assert decided[0] == decided[1]


@pytest.mark.shared
def test_real_proofs_go_and_real_answerable_problems_stay(shared: Path) -> None:
    config = VerifiableConfig()
    putnam = pl.read_json(shared / "data/putnambench/putnam.json")
    rows = frame(list(putnam.select("informal_statement", "informal_solution").iter_rows()))
    decided = run(rows, config)
    asks_proof = putnam["informal_solution"].str.starts_with("None")
    assert (decided["drop_reason"] == "proof").filter(asks_proof).mean() > 0.99

    for name, column, allowed in (("math", "problem", 0.001), ("aime", "problem", 0.0)):
        pool = pl.read_json(shared / f"data/deepscaler/train_{name}.json")
        rows = frame(list(pool.select(column, pl.col("answer").cast(pl.String)).iter_rows()))
        reasons = run(rows, config)["drop_reason"]
        assert reasons.is_not_null().mean() <= allowed
        if name == "math":
            assert reasons[5328] == reasons[5330] == "no_answer"
