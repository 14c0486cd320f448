"""Instruction following: whether a response meets all constraints of a problem.

A ground truth is the JSON `{"instruction_id_list": [...], "kwargs": [...]}`, as a row of IFEval has it.
`constraints_of` also reads the forms of IF_multi_constraints (a list of one table, JSON or Python) and of RLVR-IFeval
(`func_name` with its arguments).
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from curate.verify.rules.counting import RELATIONS
from curate.verify.rules.ifeval import IFEVAL, Constraint
from curate.verify.rules.iftrain import IFTRAIN

CONSTRAINTS: Final[dict[str, Constraint]] = {**IFEVAL, **IFTRAIN}
_RELATION: Final = ("relation", "let_relation", "capital_relation")
# the functions of RLVR-IFeval: the constraint, and its names of their arguments
_FUNCTIONS: Final[dict[str, tuple[str, dict[str, str]]]] = {
    "verify_keywords": ("keywords:existence", {"keyword_list": "keywords"}),
    "verify_keyword_frequency": ("keywords:frequency", {"word": "keyword", "N": "frequency"}),
    "validate_forbidden_words": ("keywords:forbidden_words", {"forbidden_words": "forbidden_words"}),
    "verify_letter_frequency": ("keywords:letter_frequency", {"letter": "letter", "N": "let_frequency"}),
    "validate_response_language": ("language:response_language", {"language": "language"}),
    "verify_paragraph_count": ("length_constraints:number_paragraphs", {"N": "num_paragraphs"}),
    "validate_word_constraint": (
        "length_constraints:number_words", {"N": "num_words", "quantifier": "relation"},
    ),
    "verify_sentence_constraint": (
        "length_constraints:number_sentences", {"N": "num_sentences", "quantifier": "relation"},
    ),
    "validate_paragraphs": (
        "length_constraints:nth_paragraph_first_word",
        {"N": "num_paragraphs", "first_word": "first_word", "i": "nth_paragraph"},
    ),
    "verify_postscript": ("detectable_content:postscript", {"postscript_marker": "postscript_marker"}),
    "validate_placeholders": ("detectable_content:number_placeholders", {"N": "num_placeholders"}),
    "verify_bullet_points": ("detectable_format:number_bullet_lists", {"N": "num_bullets"}),
    "validate_title": ("detectable_format:title", {}),
    "validate_choice": ("detectable_format:constrained_response", {"options": "options"}),
    "validate_highlighted_sections": ("detectable_format:number_highlighted_sections", {"N": "num_highlights"}),
    "validate_sections": (
        "detectable_format:multiple_sections", {"N": "num_sections", "section_splitter": "section_spliter"},
    ),
    "validate_json_format": ("detectable_format:json_format", {}),
    "validate_repeat_prompt": ("combination:repeat_prompt", {"original_prompt": "prompt_to_repeat"}),
    "validate_two_responses": ("combination:two_responses", {}),
    "validate_uppercase": ("change_case:english_capital", {}),
    "validate_lowercase": ("change_case:english_lowercase", {}),
    "validate_frequency_capital_words": (
        "change_case:capital_word_frequency", {"N": "capital_frequency", "quantifier": "capital_relation"},
    ),
    "validate_end": ("startend:end_checker", {"end_phrase": "end_phrase"}),
    "validate_quotation": ("startend:quotation", {}),
    "validate_no_commas": ("punctuation:no_comma", {}),
}  # fmt: skip


class Asked(NamedTuple):
    """A constraint of a problem: its name, and its arguments without empty ones."""

    name: str
    args: Mapping[str, Any]


def judge(response: str, ground_truth: str) -> bool | None:
    """Whether a response meets all constraints; None if a constraint is unknown. An empty response meets none."""
    if fault(ground_truth) is not None:
        return None
    asked = constraints_of(ground_truth) or []
    return bool(response.strip()) and all(CONSTRAINTS[one.name].meets(response, one.args) for one in asked)


def is_readable(ground_truth: str) -> bool:
    """Whether a ground truth lists constraints, known or not."""
    return bool(constraints_of(ground_truth))


def fault(ground_truth: str) -> str | None:
    """What is wrong with the constraints of a problem, in one line."""
    asked = constraints_of(ground_truth)
    if not asked:
        return 'no constraints: write {"instruction_id_list": [...], "kwargs": [...]}'
    return next((found for one in asked if (found := _fault_of(one))), None)


def written(value: Any) -> str | None:  # Any: a cell of a source
    """The ground truth of a problem whose constraints a cell lists in a form that is known; else None."""
    asked = constraints_of(value)
    if not asked:
        return None
    table = {"instruction_id_list": [one.name for one in asked], "kwargs": [dict(one.args) for one in asked]}
    return json.dumps(table, ensure_ascii=False, sort_keys=True)


def constraints_of(value: Any) -> list[Asked] | None:  # Any: a cell of a source
    """The constraints that a cell lists, in any of the forms; None if it lists none."""
    table = _parsed(value) if isinstance(value, str) else value
    if isinstance(table, list):
        parts = [constraints_of(one) if isinstance(one, Mapping) else None for one in table]
        return [asked for part in parts for asked in part or ()] if parts and all(parts) else None
    if not isinstance(table, Mapping):
        return None
    if isinstance(name := table.get("func_name"), str):
        return [_of_function(name, table)]
    names = table.get("instruction_id_list", table.get("instruction_id"))
    given = table.get("kwargs")
    given = _parsed(given) if isinstance(given, str) else given
    names = [names] if isinstance(names, str) else names
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        return None
    given = given if isinstance(given, list) and len(given) == len(names) else [{}] * len(names)
    return [Asked(name, _filled(args)) for name, args in zip(names, given, strict=True)]


def _of_function(name: str, table: Mapping[str, Any]) -> Asked:
    constraint, names = _FUNCTIONS.get(name, (name, {}))
    return Asked(constraint, _filled({ours: table.get(theirs) for theirs, ours in names.items()}))


def _filled(args: Any) -> dict[str, Any]:  # Any: a table of arguments, in JSON too, or nothing
    table = _parsed(args) if isinstance(args, str) else args
    return {name: value for name, value in (table or {}).items() if value is not None}


def _fault_of(asked: Asked) -> str | None:
    constraint = CONSTRAINTS.get(asked.name)
    if constraint is None:
        return f"constraint {asked.name} is unknown"
    if missing := [name for name in constraint.needs if name not in asked.args]:
        return f"constraint {asked.name} has no {missing[0]}"
    relations = {str(asked.args[name]) for name in _RELATION if name in asked.args}
    if unknown := sorted(relations.difference(RELATIONS)):
        return f"constraint {asked.name}: relation {unknown[0]!r} is none of {', '.join(RELATIONS)}"
    return None


def _parsed(text: str) -> Any:  # Any: JSON or a Python literal
    if text.lstrip()[:1] not in ("[", "{"):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
