"""Constraints of instruction following: responses that meet them, responses that don't, and cheats."""

import json

import pytest

from curate.verify import Item, Policy, verify_many
from curate.verify.rules.instructions import CONSTRAINTS, constraints_of, fault, judge, written
from curate.verify.rules.table import RULES

PROSE = "The river is wide. It runs to the sea! Does it freeze? Dr. Smith says it does, e.g. in January."
LONG = "we went down to the old harbour this morning and watched the boats come in with the tide"
GERMAN = "Wir gingen heute Morgen zum alten Hafen hinunter und sahen den Booten bei der Einfahrt zu."

# constraint, arguments, responses that meet it, responses that don't
CASES = [
    ("keywords:existence", {"keywords": ["river", "sea"]}, [PROSE, "RIVER and Sea"], ["The river", "a lake"]),
    ("keywords:frequency", {"keyword": "it", "frequency": 2, "relation": "at least"}, ["it and It"], ["it"]),
    ("keywords:frequency", {"keyword": "tide", "frequency": 1, "relation": "less than"}, ["sea"], ["tide"]),
    ("keywords:frequency", {"keyword": "tide", "frequency": 2}, ["tide tide"], ["tide", "tide tide tide"]),
    ("keywords:forbidden_words", {"forbidden_words": ["cat"]}, ["category", "dog"], ["A Cat!"]),
    ("keywords:letter_frequency", {"letter": "e", "let_frequency": 3, "let_relation": "at least"}, ["Eee"], ["ee"]),
    ("language:response_language", {"language": "de"}, [GERMAN], [LONG]),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 4, "relation": "at least"},
        [PROSE],
        ["One. Two. Three."],
    ),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 2, "relation": "less than"},
        ["See Dr. A. Smith."],
        [PROSE],
    ),
    (
        "length_constraints:number_paragraphs",
        {"num_paragraphs": 2},
        ["a\n***\nb", "a\n\n* * *\n\nb"],
        ["a\n\nb", "a***b***c"],
    ),
    ("length_constraints:number_words", {"num_words": 3, "relation": "at least"}, ["go on now"], ["go on"]),
    ("length_constraints:number_words", {"num_words": 3, "relation": "less than"}, ["a b"], ["a b c"]),
    ("length_constraints:number_words", {"num_words": 20, "relation": "around"}, ["w " * 18], ["w " * 17, "w " * 23]),
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "then"},
        ["We met.\n\nThen, we left.", 'We met.\n\n"Then" we left.'],
        ["Then we left.", "Then.\n\nWe left.", "a\n\nThen\n\nb"],
    ),
    (
        "detectable_content:number_placeholders",
        {"num_placeholders": 2},
        ["[name], [date]"],
        ["[name]", "[] []", "[ ] [x]"],
    ),
    (
        "detectable_content:postscript",
        {"postscript_marker": "P.S."},
        ["Bye.\nP.S. Write!", "Bye.\np. s. Do"],
        ["Bye.\nP.S.", "Bye", "lips."],
    ),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"}, ["Bye.\nP.P.S. Write!"], ["Bye.\nP.S. Write!"]),
    (
        "detectable_format:number_bullet_lists",
        {"num_bullets": 2},
        ["* a\n* b", "- a\n  - b"],
        ["* a", "* a\n* b\n* c", "**a**\n**b**"],
    ),
    (
        "detectable_format:constrained_response",
        {},
        ["My answer is yes."],
        ["yes", "My answer is yes. My answer is no. My answer is maybe."],
    ),
    ("detectable_format:constrained_response", {"options": ["yes", "no"]}, ["yes"], ["yes no", "note"]),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 2}, ["*a* and **b c**"], ["*a*", "** ** * *"]),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": "Section", "num_sections": 2},
        ["Section 1\na\nSection 2\nb"],
        ["Section 1\na", "Section Section"],
    ),
    ("detectable_format:json_format", {}, ['{"a": 1}', '```json\n{"a": 1}\n```'], ["{a: 1}", 'Here: {"a": 1}']),
    ("detectable_format:title", {}, ["<<poem of joy>>\nIt is."], ["poem of joy", "<<>>", "<< >>", "<<<>>>"]),
    (
        "combination:two_responses",
        {},
        ["a******b", "******a******b******"],
        ["a", "a******a", "a******", "a******b******c"],
    ),
    (
        "combination:repeat_prompt",
        {"prompt_to_repeat": "Say hi."},
        ["Say hi.\nHi!", "say hi. Hi"],
        ["Hi!", "Say hi.", "Say hi. ."],
    ),
    (
        "startend:end_checker",
        {"end_phrase": "Any other questions?"},
        ['"Well. any other questions?"'],
        ["Any other questions? No."],
    ),
    ("startend:quotation", {}, ['"a b"'], ["a b", '"a', '""', '"']),
    (
        "change_case:capital_word_frequency",
        {"capital_frequency": 2, "capital_relation": "at least"},
        ["NO WAY"],
        ["NO way"],
    ),
    ("change_case:english_capital", {}, [LONG.upper()], [LONG, GERMAN.upper(), "123"]),
    ("change_case:english_lowercase", {}, [LONG], [LONG.upper(), LONG.capitalize(), GERMAN.lower()]),
    ("punctuation:no_comma", {}, ["a b"], ["a, b"]),
    ("keywords:word_once", {"keyword": "tide"}, ["The Tide."], ["sea", "tide, tide"]),
    (
        "keywords:word_count_different_numbers",
        {"keyword": "tide", "frequency": 2, "relation": "at least"},
        ["tide tide"],
        ["tide"],
    ),
    ("keywords:exclude_word_harder", {"keyword": "tide"}, ["tides"], ["The tide."]),
    (
        "keywords:keyword_specific_position",
        {"keyword": "sea", "n": 2, "m": 3},
        ["We go. To the sea we go."],
        ["To the sea.", "We go. The sea."],
    ),
    ("keywords:no_adjacent_consecutive", {}, ["all cats"], ["all bats"]),
    ("keywords:palindrome", {}, ["A level, one."], ["a I is", "words"]),
    ("keywords:start_end", {}, ["Sea of the sea"], ["sea", "Sea of the sea.", "Sea of land"]),
    ("letters:letter_counting", {"N": 3, "relation": "less than"}, ["a 1 b"], ["abc"]),
    ("letters:letter_counting2", {"letter": "a", "let_frequency": 2, "let_relation": "at least"}, ["Aa"], ["a"]),
    ("paragraphs:paragraphs", {}, ["a\n***\nb"], ["a\n\nb", "a"]),
    ("paragraphs:paragraphs2", {}, ["a\n\nb"], ["a\nb", "a\n\nb\n\nc"]),
    ("first_word:first_word_sent", {"first_word": "we"}, ["We go. We stay."], ["We go. They stay.", "..."]),
    ("first_word:first_word_answer", {"first_word": "we"}, ['"We" go.'], ["They go."]),
    ("last_word:last_word_sent", {"last_word": "sea"}, ["To the sea. By the sea!"], ["To the sea. By land."]),
    ("last_word:last_word_answer", {"last_word": "sea"}, ["To the sea."], ["The sea is wide."]),
    ("detectable_format:bigram_wrapping", {}, ["<<I am>> <<at home>>"], ["I am at home", "<<I am at home>>"]),
    ("detectable_format:square_brackets", {}, ["[I] [am]"], ["[I am]", "I am"]),
    ("detectable_format:sentence_hyphens", {}, ["We go.-We stay."], ["We go. We stay.", "We go.- We stay."]),
    ("punctuation:punctuation_dot", {}, ["a!"], ["a."]),
    ("punctuation:punctuation_exclamation", {}, ["a."], ["a!"]),
    ("count:lowercase_counting", {"N": 1}, ["WE go"], ["we go"]),
    (
        "count:counting_composition",
        {"n_sent": 1, "n_words": 2},
        ["We go.\n***\nWe stay.\n***\nWe rest."],
        ["We go.\n***\nWe stay.", "We.\n***\nWe go.\n***\nWe go."],
    ),
    ("count:count_unique", {}, ["we go home"], ["we go, We"]),
    (
        "count:count_increment_word",
        {"keyword1": "sea", "keyword2": "tide"},
        ["sea tide tide"],
        ["sea tide", "sea sea tide tide"],
    ),
    (
        "count:keywords_multiple",
        {f"keyword{n}": "vwxyz"[n - 1] * 2 for n in range(1, 6)},
        ["vv " + "ww " * 2 + "xx " * 3 + "yy " * 5 + "zz " * 7],
        ["vv ww xx yy zz"],
    ),
    ("copy:copy", {"prompt_to_repeat": "Say hi."}, ["say hi."], ["Say hi. Hi!"]),
    ("copy:copying_simple", {"prompt_to_repeat": "Say hi."}, ["Say hi."], ["Hi!"]),
    (
        "copy:copying_multiple",
        {"prompt_to_repeat": "Say hi.", "N": 2},
        ["Say hi. ****** Say hi."],
        ["Say hi.", "Say hi.******Hi"],
    ),
    (
        "copy:repeat_phrase",
        {"phrase": "the old grey sea", "small_n": 2},
        ["the old blue sea, the new grey sea"],
        ["the old blue sea", "the old grey sea, the old grey sea"],
    ),
    ("copy:copy_span_idx", {"prompt_to_repeat": "the old sea", "n_start": 4, "n_end": 7}, ["old"], ["the old sea"]),
    ("new:copy_span_idx", {"prompt_to_repeat": "the old sea", "n_start": 4, "n_end": 7}, ["Old"], ["sea"]),
]


def asked(name: str, args: dict[str, object]) -> str:
    return json.dumps({"instruction_id_list": [name], "kwargs": [args]})


def test_every_constraint_has_a_case() -> None:
    assert {name for name, *_ in CASES} == set(CONSTRAINTS)


@pytest.mark.parametrize(("name", "args", "meeting", "failing"), CASES)
def test_a_constraint_tells_responses_that_meet_it(
    name: str, args: dict[str, object], meeting: list[str], failing: list[str]
) -> None:
    truth = asked(name, args)
    assert fault(truth) is None
    assert [text for text in meeting if not judge(text, truth)] == []
    assert [text for text in failing if judge(text, truth)] == []
    # a response without content is none
    assert judge(" \n", truth) is False


def test_all_constraints_must_be_met() -> None:
    truth = json.dumps(
        {"instruction_id_list": ["punctuation:no_comma", "startend:quotation"], "kwargs": [{}, {"language": None}]}
    )
    assert judge('"a b"', truth) is True
    assert judge("a b", truth) is False
    assert judge('"a, b"', truth) is False


def test_every_public_form_states_the_same_constraints() -> None:
    ifeval = {
        "instruction_id_list": ["length_constraints:number_words", "punctuation:no_comma"],
        "kwargs": [{"num_words": 50, "relation": "at least", "language": None}, {}],
    }
    multi = str([{"instruction_id": ifeval["instruction_id_list"], "kwargs": [ifeval["kwargs"][0], None]}])
    assert constraints_of(ifeval) == constraints_of(multi) == constraints_of(json.dumps(ifeval))
    single = json.dumps({"func_name": "validate_word_constraint", "N": 50, "quantifier": "at least", "word": None})
    assert constraints_of(single) == [constraints_of(ifeval)[0]]  # type: ignore[index]  # as just compared
    assert written(ifeval) == written(multi)
    assert written("42") is written("[1, 2]") is written("{") is None


def test_what_cannot_be_judged_is_named_and_undecided() -> None:
    assert fault(asked("new:sonnet", {})) == "constraint new:sonnet is unknown"
    assert fault(asked("keywords:existence", {})) == "constraint keywords:existence has no keywords"
    odd = asked("length_constraints:number_words", {"num_words": 5, "relation": "nearly"})
    assert "'nearly' is none of" in (fault(odd) or "")
    assert judge("text", odd) is None
    assert "no constraints" in (fault("[]") or "")


def test_reasoning_neither_meets_nor_breaks_a_constraint() -> None:
    truth = asked("punctuation:no_comma", {})
    texts = ["<think>a, b</think>a b", "<think>a b</think>a, b", "<think>a b", "<think>a</think>"]
    found = verify_many([Item(text, truth, "instructions") for text in texts])
    assert [(one.verdict, one.reason, one.stage) for one in found] == [
        ("correct", "accepted", "rules"), ("wrong", "different", "rules"), ("wrong", "truncated", "extract"),
        ("wrong", "different", "rules"),
    ]  # fmt: skip


def test_arguments_of_the_wrong_type_make_one_completion_undecided(capfd: pytest.CaptureFixture[str]) -> None:
    bad = asked("length_constraints:number_words", {"num_words": "many", "relation": "at least"})
    good = asked("punctuation:no_comma", {})
    found = verify_many([Item("a b", bad, "instructions"), Item("a b", good, "instructions")], policy=Policy())
    assert [one.reason for one in found] == ["verifier_error", "accepted"]
    assert "instructions" in capfd.readouterr().err


def test_no_empty_answer_meets_a_format() -> None:
    formats = [name for name, *_ in CASES if name.startswith(("detectable_", "combination:", "startend:"))]
    args = {name: arguments for name, arguments, *_ in CASES}
    met = [
        name for name in formats for text in RULES["instructions"].empty_answers if judge(text, asked(name, args[name]))
    ]
    # the hyphens of one sentence are none
    assert set(met) <= {"detectable_format:sentence_hyphens"}
