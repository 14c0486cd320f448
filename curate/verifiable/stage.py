"""Drops problems whose completions no verifier can judge: proofs, missing or vague answers, several questions in one.

The text decides first, in expressions over a whole batch (`asks`, `truths`). The verifier then checks the remaining
ground truths: each must equal itself. Code problems run: their tests must exist, pass the reference solution and fail a
program that does nothing (`code_checks`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Final, Literal

import polars as pl
from pydantic import Field

from curate.engines import settle
from curate.records import KINDS, RULED
from curate.runner.stage import Run, Stage, Workspace, bound, decide
from curate.sampling.model_stage import replica
from curate.verifiable import prompt_asks as asks
from curate.verifiable import truth_kinds as truths
from curate.verifiable.rule_checks import RuledProblem, check_ruled_problems
from curate.verifiable.usual_forms import states_a_value, unmet
from curate.verifiable.vote import VoteConfig, open_poll
from curate.verify import Item, Policy, Verdict, check_truth, verify_many

Figures = Literal["keep", "image", "mentioned", "drawn"]

MARK: Final = (
    r"(?:[\[【](?:final\s+|correct\s+)?(?:answer|(?:参考|正确)?答案)[\]】]\s*[:：]?|\b(?:the\s+)?(?:final\s+|correct\s+)?ans(?:wer)?(?:\s+is|\s*[:：=])|####|\\boxed\s*\{"
    r"|(?:参考|正确)?答案\s*[:：是为])"
)
# a last sentence that states something; a question without its mark would offer lettered options
CLAIM: Final = (
    r"(?i)\b(?:then|is|are|has|have|exists?|converges?|diverges?|divides?|contains?|holds?|vanish(?:es)?|commutes?|admits?|"
    r"intersects?|coincides?|cannot|must)\b[^.。]*[.。]\s*$"
)
OPTIONS: Final = r"\(\s*A\s*\).*\(\s*B\s*\)"
SHORT_CHARS: Final = 3


class VerifiableConfig(VoteConfig):
    """Drop problems whose completions no verifier can judge.

    Proofs, missing, vague or unparseable answers, several questions in one, answers that the prompt contains; code
    whose tests fail the reference solution or pass a program that does nothing. With --model (or --base-url) a model
    votes: a problem is dropped as suspect, for review, if its samples agree on an answer other than the ground truth.

    Example: gradus curate verifiable pools/math --out runs/verifiable --figures mentioned
    """

    figures: Figures = Field(
        default="image",
        description="Problems dropped because the model does not see their figure: those with an image (image), also "
        "those that mention a missing figure (mentioned), also those with a figure as code (drawn), none (keep).",
    )
    max_prompt_chars: int = Field(default=20_000, ge=1, description="Longer prompts are dropped as too_long.")


def run(problems: pl.DataFrame, config: VerifiableConfig) -> pl.DataFrame:
    """Decide each row; the first reason that applies counts, and the verifier checks the rows that the text passed."""
    evidence = problems.select(key="key", **_evidence(config, _values_in_words(problems, config.verify)))
    reasons = [name for name in evidence.columns if name != "key"]
    reason = pl.coalesce(pl.when(pl.col(name).is_not_null()).then(pl.lit(name)) for name in reasons)
    decided = evidence.select(reason=reason, detail=pl.coalesce(reasons))
    decided = _ask_verifier(problems, decided, config.verify)
    decided = _run_code(problems, decided, config.verify)
    decided = _ask_own(problems, decided, config.verify)
    decided = _ask_rules(problems, decided, config.verify)
    return decide(problems, pl.lit(decided["reason"]), pl.lit(decided["detail"]))


def stage(config: VerifiableConfig) -> Stage:
    """The stage that the command and a pipeline run; `UserError` if a model is named and cannot be found."""
    shape = Stage(name="verifiable", version=9, scope="batch", config=config, open=bound(run, config))
    if not config.has_voters:
        return shape
    settled = settle(config)
    return replace(
        shape,
        open=partial(_open_with_voters, config),
        inputs=settled.identity,
        has_samples=True,
        replica=replica(config),
    )


@contextmanager
def _open_with_voters(config: VerifiableConfig, workspace: Workspace) -> Iterator[Run]:
    with open_poll(config, workspace) as poll:

        def run_and_poll(problems: pl.DataFrame) -> pl.DataFrame:
            decided = run(problems, config)
            is_open = decided["drop_reason"].is_null() & (decided["kind"] == "math")
            suspicions = iter(poll(decided.filter(is_open)))
            found = pl.Series([next(suspicions) if owed else None for owed in is_open], dtype=pl.String)
            reason = pl.when(pl.lit(found).is_not_null()).then(pl.lit("suspect_answer"))
            return decided.with_columns(
                drop_reason=pl.coalesce("drop_reason", reason), drop_detail=pl.coalesce("drop_detail", pl.lit(found))
            )

        yield run_and_poll


def _values_in_words(problems: pl.DataFrame, policy: Policy) -> list[str]:
    """The ground truths that are sentences and state one value."""
    truth = pl.col("ground_truth")
    sentences = problems.filter((pl.col("kind") == "math") & truths.prose(truth) & ~truths.says_proof(truth))
    return sorted(states_a_value(sentences["ground_truth"].unique(maintain_order=True), policy))


def _evidence(config: VerifiableConfig, values: list[str]) -> Mapping[str, pl.Expr]:
    """For each reason, in order, the words that show it, or null; `values` are sentences that state a value."""
    prompt, truth = pl.col("prompt"), pl.col("ground_truth")
    text = asks.without_tags(asks.without_drawings(prompt))
    is_prose = truths.prose(truth) & ~truth.is_in(values)
    is_math, is_open_form = pl.col("kind") == "math", pl.col("choices").is_null()
    is_absent = truths.absent(truth)
    is_value = ~is_absent & ~truths.says_proof(truth) & ~is_prose
    # "Prove that it is constant and find its value" can be checked if the ground truth is a value
    is_answerable = is_value & asks.value(text).is_not_null()
    explanation = asks.explanation(text)
    # "Describe the solutions as an interval" still has a value
    has_formula = explanation.str.contains(r"(?i)^\W*(?:describe|compare)") & truths.formula(truth)
    has_figures = truth.str.contains(r"\d").fill_null(value=False)
    shown_truth = truth.str.slice(0, asks.EVIDENCE_CHARS)
    is_claim = is_absent & asks.value(text).is_null() & text.str.contains(CLAIM) & ~text.str.contains(OPTIONS)
    rules = {
        "proof": _first(
            (asks.proof(text), ~is_answerable),
            (shown_truth, truths.says_proof(truth)),
            (pl.lit("states a claim and asks nothing"), is_claim),
        ),
        "no_answer": pl.when(is_absent).then(pl.format("ground truth is {}", _quoted(truth))),
        "multi_part": _first((asks.parts(text, truth), is_open_form), (shown_truth, truths.labelled_parts(truth))),
        "open_ended": _first(
            (asks.many_answers(text), is_open_form),
            (shown_truth, truths.varies(truth)),
            (explanation, is_open_form & ~(is_answerable & has_figures) & ~has_formula),
        ),
        "figure_needed": _figure_needed(prompt, config.figures),
        "answer_in_prompt": _leak(text, truth),
        "unparseable_answer": pl.when(is_open_form & is_prose).then(shown_truth),
    }
    too_long = prompt.str.len_chars() > config.max_prompt_chars
    length = pl.format("{} characters", prompt.str.len_chars())
    return {"too_long": pl.when(too_long).then(length)} | {
        name: pl.when(is_math).then(found) for name, found in rules.items()
    }


def _first(*rules: tuple[pl.Expr, pl.Expr]) -> pl.Expr:
    """The first evidence that is not null and whose condition holds."""
    return pl.coalesce(pl.when(condition).then(evidence) for evidence, condition in rules)


def _quoted(truth: pl.Expr) -> pl.Expr:
    return pl.coalesce(pl.format("'{}'", truth.str.strip_chars()), pl.lit("null"))


def _figure_needed(prompt: pl.Expr, figures: Figures) -> pl.Expr:
    levels = {"image": asks.image, "mentioned": asks.missing_figure, "drawn": asks.drawing}
    wanted = [] if figures == "keep" else list(levels)[: list(levels).index(figures) + 1]
    return pl.coalesce(pl.lit(None, pl.String), *(levels[level](prompt) for level in wanted))


def _leak(text: pl.Expr, truth: pl.Expr) -> pl.Expr:
    """The words "answer: X" where X is the ground truth: the first or last such words, to the end of the line."""
    wanted = _bare(truth)
    behind_last = text.str.extract(rf"(?is)^.*({MARK}.*)$", 1)
    # a short value that a question follows belongs to an earlier question
    settles = (wanted.str.len_chars() >= SHORT_CHARS) | asks.value(behind_last).is_null()
    mentions = (behind_last, text.str.extract(rf"(?is)({MARK}.*)$", 1))
    return pl.coalesce(
        pl.when(_reveals(mention, wanted) & settles).then(mention.str.slice(0, asks.EVIDENCE_CHARS))
        for mention in mentions
    )


def _reveals(mention: pl.Expr, wanted: pl.Expr) -> pl.Expr:
    words = mention.str.extract(rf"(?i)^{MARK}[\s$*]*([^\n]*)", 1)
    claim = _bare(words)
    behind = claim.str.slice(wanted.str.len_chars(), 1)
    is_whole = claim.str.starts_with(wanted) & ~behind.str.contains(r"[\w^/*+\-\\(]")
    # a unit may follow a figure
    has_unit = wanted.str.contains(r"^[\d.,/-]+$") & (
        _bare(words.str.extract(r"^(\S+)\s+\p{L}{2,}[\s.)]*$", 1)) == wanted
    )
    return (wanted.str.len_chars() > 0) & (is_whole | has_unit.fill_null(value=False))


def _bare(answer: pl.Expr) -> pl.Expr:
    return answer.str.replace_all(r"\\boxed\s*\{|[\s$]|^\{|[{}]|[.。]+$", "").str.to_lowercase()


def _ask_verifier(problems: pl.DataFrame, decided: pl.DataFrame, policy: Policy) -> pl.DataFrame:
    """Add the verifier's reason to rows without one; each distinct ground truth is checked once."""
    rows = problems.select("ground_truth", "kind").with_columns(decided)
    is_owed = pl.col("reason").is_null() & (pl.col("kind") == "math")
    truths_owed = rows.filter(is_owed)["ground_truth"].unique(maintain_order=True)
    codes = {truth: check_truth(truth, policy=policy) for truth in truths_owed}
    refused = {truth: code for truth, code in codes.items() if code is not None}
    met = (truth for truth in truths_owed if truth not in refused)
    refused |= {truth: f"no usual form meets it ({forms})" for truth, forms in unmet(met, policy).items()}
    code = pl.when(is_owed).then(pl.col("ground_truth").replace_strict(refused, default=None, return_dtype=pl.String))
    is_long = code == "too_long"
    name = pl.when(is_long).then(pl.lit("too_long")).when(code.is_not_null()).then(pl.lit("unparseable_answer"))
    shown = pl.format("{}: {}", code, pl.col("ground_truth").str.slice(0, asks.EVIDENCE_CHARS))
    return rows.select(reason=pl.coalesce("reason", name), detail=pl.coalesce("detail", shown))


def _ask_own(problems: pl.DataFrame, decided: pl.DataFrame, policy: Policy) -> pl.DataFrame:
    """Add the findings on kinds of the user's own: one without a verifier, or whose verifier accepts nothing at all."""
    kinds, known = problems["kind"], policy.own_kinds
    is_other = ~kinds.is_in(KINDS) & decided["reason"].is_null()
    if not is_other.any():
        return decided
    rows = problems.filter(is_other).select("prompt", "ground_truth", "kind", "tests", "source").iter_rows()
    items = [Item("", truth or "", kind, asked, tests, source=source) for asked, truth, kind, tests, source in rows]
    verdicts = verify_many(items, policy=policy)
    findings = iter(_of_own(item, verdict, known) for item, verdict in zip(items, verdicts, strict=True))
    pairs = [next(findings) if is_owed else (None, None) for is_owed in is_other]
    reasons, details = (pl.Series(column, dtype=pl.String) for column in zip(*pairs, strict=True))
    return decided.select(reason=pl.coalesce("reason", pl.lit(reasons)), detail=pl.coalesce("detail", pl.lit(details)))


def _of_own(item: Item, of_nothing: Verdict, known: Mapping[str, str]) -> tuple[str | None, str | None]:
    if item.kind not in known:
        return "no_verifier", f"kind {item.kind}; give --verifier {item.kind}=FILE.py:FUNCTION"
    if of_nothing.verdict == "correct":
        return "no_tests", f"the verifier of kind {item.kind} accepts an empty answer"
    return None, None


def _ask_rules(problems: pl.DataFrame, decided: pl.DataFrame, policy: Policy) -> pl.DataFrame:
    """Add the findings on problems that a rule judges."""
    is_ruled = problems["kind"].is_in(RULED) & decided["reason"].is_null()
    if not is_ruled.any():
        return decided
    rows = problems.filter(is_ruled).select("kind", "ground_truth", "prompt").iter_rows()
    findings = iter(check_ruled_problems([RuledProblem(*row) for row in rows], policy))
    pairs = [next(findings) if is_owed else (None, None) for is_owed in is_ruled]
    reasons, details = (pl.Series(column, dtype=pl.String) for column in zip(*pairs, strict=True))
    return decided.select(reason=pl.coalesce("reason", pl.lit(reasons)), detail=pl.coalesce("detail", pl.lit(details)))


def _run_code(problems: pl.DataFrame, decided: pl.DataFrame, policy: Policy) -> pl.DataFrame:
    """Add the findings on their tests to code problems without a reason."""
    is_owed = decided["reason"].is_null() & (problems["kind"] == "code")
    if not is_owed.any():
        return decided
    from curate.verifiable.code_checks import CodeProblem, check_code_problems

    rows = problems.filter(is_owed).select("tests", "solution").iter_rows()
    findings = check_code_problems([CodeProblem(*row) for row in rows], policy)
    found = iter(findings)
    pairs = [next(found) if owed else None for owed in is_owed]
    reasons = pl.Series([pair.reason if pair else None for pair in pairs], dtype=pl.String)
    details = pl.Series([pair.detail if pair else None for pair in pairs], dtype=pl.String)
    return decided.select(reason=pl.coalesce("reason", pl.lit(reasons)), detail=pl.coalesce("detail", pl.lit(details)))
