"""What a ground truth is, as polars expressions: absent, a remark about a proof, prose, or several labelled answers.

`curate.verify.check_truth` decides whether a verifier can check a truth; these expressions find what it cannot see: a
missing value that a source wrote as "None", or a sentence in place of a value.
"""

from __future__ import annotations

from typing import Final

import polars as pl

MIN_WORDS: Final = 3
MAX_WORDS: Final = 5
MAX_CJK: Final = 20

_ABSENT: Final = (
    r"(?i)^[\s$.。,，\-—–_*#'\"()\[\]（）]*(?:\\boxed\{\s*\}|\\text\{\s*\}|none|null|nan|n[/.]?a|not\s+(?:available|found|given|provided)|unknown|"
    r"(?:no\s+)?(?:answer|ground\s+truth|solution)(?:\s+(?:is\s+)?not)?(?:\s+(?:available|found|given|provided))|no\s+answer|"
    r"see\s+(?:the\s+)?(?:solution|above|below|explanation|text|book)s?|(?:final\s+)?answer(?:\s+is)?\s*[:：]|no\s+final\s+answer|blank|missing|tbd|todo|\?+|"
    r"无答案|答案[:：]|暂无(?:答案|解析)?|未知|(?:答案|解析|解答|过程)?略|(?:详)?见(?:解析|答案))?"
    r"[\s$.。,，\-—–_*#'\"()\[\]（）]*$"
)
_PROOF: Final = (
    r"(?i)^\W*(?:(?:see\s+)?(?:the\s+)?proof|q\.?\s?e\.?\s?d\.?|proved|proven|证明(?:略|见解析|过程|题)?|得证|略证)\W*$"
    r"|^\s*(?:\\begin\{proof\}|proof\s*[.:]|证明\s*[：:])"
)
_CLAIM: Final = (
    r"\b(?:is|are|was|equals?|must|exists?|has|have|does|can|cannot|need|if|iff|where|converges?|diverges?|when|"
    r"because|since)\b"
)
_STATEMENT: Final = r"(?i)^\s*(?:we\s+(?:show|prove|have)|(?:show|prove)\s+that)\b"
_MATH: Final = (
    r"(?s)\$\$.*?\$\$|\$.*?\$|\\\(.*?\\\)|\\\[.*?\\\]|\\(?:mathrm|operatorname\*?|mathit|mathbf)\s*\{[^{}]*\}"
    r"|\\[a-zA-Z]+"
)
_LABELLED: Final = (
    r"(?is)^\W*\(?(?:a|i|1|part\s+(?:a|1|i))[).:）：]\s*[^\s(（].*?"
    r"[\s;,，；。.]\(?(?:b|ii|2|part\s+(?:b|2|ii))[).:）：]\s*[^\s(（]"
)
_VARIES: Final = (
    r"(?i)\banswers?\s+(?:may|will|can)\s+vary\b|\bfor\s+example\b|\be\.\s?g\.|\bone\s+possible\b"
    r"|答案不唯一|合理即可|言之有理"
)


def absent(truth: pl.Expr) -> pl.Expr:
    """Whether there is no answer: null, blank, or a word that means a missing value."""
    return truth.is_null() | truth.str.contains(_ABSENT)


def says_proof(truth: pl.Expr) -> pl.Expr:
    """Whether the truth is a proof, or a remark that a proof exists."""
    return truth.str.contains(_PROOF).fill_null(value=False)


def varies(truth: pl.Expr) -> pl.Expr:
    """Whether the truth itself states that it is one of many."""
    return truth.str.contains(_VARIES).fill_null(value=False)


def labelled_parts(truth: pl.Expr) -> pl.Expr:
    """Whether the truth answers several labelled parts: `(a) 5 (b) 7`."""
    return truth.str.contains(_LABELLED).fill_null(value=False)


def formula(truth: pl.Expr) -> pl.Expr:
    """Whether the truth has digits and no words."""
    words = truth.str.replace_all(_MATH, " ").str.contains(r"\p{L}{3}|\p{Han}")
    return (truth.str.contains(r"\d") & ~words).fill_null(value=False)


def prose(truth: pl.Expr) -> pl.Expr:
    """Whether the truth is a sentence rather than a value: words outside mathematics that state something."""
    words = truth.str.replace_all(_MATH, " ")
    num_words = words.str.count_matches(r"[A-Za-z]{2,}")
    has_claim = words.str.to_lowercase().str.contains(_CLAIM)
    # "no such integer" stays a value, "the supremum is" does not
    sentence = (num_words > MAX_WORDS) | (has_claim & (num_words >= MIN_WORDS)) | truth.str.contains(_STATEMENT)
    return (sentence | (words.str.count_matches(r"\p{Han}") > MAX_CJK)).fill_null(value=False)
