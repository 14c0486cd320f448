"""The names by which columns of public pools are recognised, and the words that make an unknown name one of them."""

from __future__ import annotations

import re
from typing import Final

# The first of these that a source has is read; `a+b` are joined, and `a` alone where `b` is empty.
PROMPT: Final = (
    "prompt", "problem", "question.stem", "question", "question_stem", "messages", "conversations", "conversation",
    "query", "instruction+input", "instruction", "informal_statement", "nl_statement", "problem_statement",
    "question_content", "statement", "题目", "问题", "题干", "original_text", "input", "inputs", "text", "content",
    "items", "0.value", "ques", "q", "ctx", "description", "task", "title+body", "body",
    "instruct_prompt", "complete_prompt", "skeleton",
)  # fmt: skip
# names that many a column has that is no problem: they replace another only where its column is missing
WEAK: Final = (
    "statement", "original_text", "input", "inputs", "text", "content", "items", "q", "ctx", "description", "task",
    "body",
)  # fmt: skip
BEFORE_PROMPT: Final = ("context", "passage", "premise", "body", "article")
# fields that hold the text of a cell that is a table
TEXT_FIELDS: Final = ("stem", "text", "content", "question", "problem", "statement", "en")
TRUTH: Final = (
    "ground_truth", "reward_model.ground_truth", "verification_info.ground_truth", "final_answer", "expected_answer",
    "gold_answer", "reference_answer", "answer", "answers", "answer_value", "correct_answer", "golden", "gold", "gt",
    "target", "targets", "extra_info.answer", "extra_info.ground_truth", "1.ground_truth", "output_answer", "答案",
    "参考答案", "标准答案", "ans",
)  # fmt: skip
LETTER: Final = (
    "answerkey", "answer_key", "correct", "label", "choice_answer", "answer_idx", "answer_index", "correct_option",
    "cop",
)  # fmt: skip
SOLUTION: Final = (
    "solution", "canonical_solution", "code", "solutions", "gold_standard_solution", "rationale", "gt_cot",
    "solution_code", "code_ground_truth", "answer_analysis", "explanation", "informal_solution", "nl_proof",
    "reasoning", "chain_of_thought", "cot", "generated_solution", "response", "output", "completion", "chosen",
    "解析", "解答", "exp",
)  # fmt: skip
CHOICES: Final = ("choices", "options", "answer_option_list", "option_list", "question.choices", "endings", "选项")
TESTS: Final = (
    "tests", "test_list", "test_cases", "input_output", "unit_tests", "public_test_cases", "public_tests",
    "private_test_cases", "official_tests", "verification_info.test_cases", "test",
)  # fmt: skip
SYSTEM: Final = ("system", "system_prompt", "system_message")
HISTORY: Final = ("history",)
IMAGES: Final = re.compile(r"(?:decoded_)?(?:image|img|picture|diagram)s?(?:[_ ]?(?:\d+|path|url|file|bytes|list))?")
# values for `number0` in a prompt, in the order of these
NUMBERS: Final = ("numbers", "nums", "num_list", "number_list")

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_a-zA-Z]+")
_CORE: Final = {
    "prompt": {"problem", "question", "prompt", "query", "exercise", "puzzle", "riddle", "problems", "questions"},
    "ground_truth": {"answer", "answers", "ans", "truth", "result"},
}
# further words of a name; with any other, such as `id`, `type` or `model`, the column holds something else
_QUALIFIERS: Final = {
    "prompt": {
        "a", "body", "clean", "cleaned", "content", "description", "en", "english", "final", "formatted", "full",
        "input", "instruction", "latex", "main", "math", "new", "original", "raw", "rewritten", "statement", "stem",
        "str", "string", "task", "text", "the", "user", "word",
    },
    "ground_truth": {
        "a", "cleaned", "clean", "correct", "exact", "expected", "extracted", "final", "gold", "golden", "ground",
        "latex", "numeric", "numerical", "official", "parsed", "ref", "reference", "right", "short", "str", "string",
        "target", "text", "the", "true", "value", "verified",
    },
}  # fmt: skip


def resembles(name: str, field: str) -> bool:
    """Whether a column's name is made of words for a field, e.g. `problem_description` for `prompt`."""
    words = [word.lower() for word in _WORDS.findall(name)]
    core, qualifiers = _CORE[field], _QUALIFIERS[field]
    return bool(core.intersection(words)) and all(word in core or word in qualifiers for word in words)
