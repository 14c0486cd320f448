"""The 25 constraints of IFEval (Zhou et al. 2023, arXiv:2311.07911, table 1), each a check of a response.

A constraint is met as strictly as the paper's checks meet it, or more strictly where those accept what no reader would:
an empty placeholder, two of the options at once, a repeated request without an answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from curate.verify.rules.counting import divided, has_word, occurrences, satisfies, sentences, words

Args = Mapping[str, Any]  # Any: numbers, texts and lists, as the data set gives them
_TOKEN: Final = re.compile(r"\w+")  # don't are two: the paper's count
_MIN_WORDS: Final = 6  # of a text whose language can be told
_FENCE: Final = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n?\s*```\s*", re.DOTALL | re.IGNORECASE)
_OPTIONS: Final = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_HIGHLIGHT: Final = re.compile(r"\*\*[^\n*]*[^\s*][^\n*]*\*\*|(?<!\*)\*[^\n*]*[^\s*][^\n*]*\*(?!\*)")
_BULLET: Final = re.compile(r"^\s*(?:\*[^*\n]|-(?!-)).*$", re.MULTILINE)
_OPENING: Final = "\"'“‘*_#> "


class Constraint(NamedTuple):
    """The check of a response, and the arguments that it needs."""

    meets: Callable[[str, Args], bool]
    needs: tuple[str, ...] = ()


def language_of(text: str) -> str | None:
    """The ISO 639-1 code of a text's language; None if it is too short to tell."""
    if len(text) < 2 * _MIN_WORDS or (text.isascii() and len(text.split()) < _MIN_WORDS):
        return None
    return str(_identifier().classify(text.lower())[0])


@cache
def _identifier() -> Any:  # Any: the library has no types
    import py3langid

    return py3langid


def _relates(count: Callable[[str, Args], int], wanted: str, relation: str) -> Constraint:
    """A constraint on a count; without a relation, on exactly that number."""

    def meets(text: str, args: Args) -> bool:
        return satisfies(count(text, args), args.get(relation) or "exactly", int(args[wanted]))

    return Constraint(meets, (wanted,))


def _in_language(text: str, args: Args) -> bool:
    found = language_of(text)
    return found is None or found == str(args["language"]).split("-")[0]


def _in_english(text: str) -> bool:
    return _in_language(text, {"language": "en"})


def _num_paragraphs(text: str, args: Args) -> bool:
    found = divided(text)
    return found is not None and len(found) == int(args["num_paragraphs"])


def _first_word(text: str, args: Args) -> bool:
    found = [block for block in text.split("\n\n") if block.strip()]
    number, nth = int(args["num_paragraphs"]), int(args["nth_paragraph"])
    if len(found) != number or not 1 <= nth <= number:
        return False
    first = re.match(r"[\w'’-]+", found[nth - 1].strip().lstrip(_OPENING))
    return first is not None and first[0].casefold() == str(args["first_word"]).strip().casefold()


def _has_postscript(text: str, args: Args) -> bool:
    marker = str(args["postscript_marker"]).strip()
    pattern = r"\s?".join(re.escape(letter) for letter in marker if not letter.isspace())
    found = re.search(rf"(?:^|[\s*_>]){pattern}(?P<rest>.*)", text, re.IGNORECASE | re.DOTALL)
    return found is not None and re.search(r"\w", found["rest"]) is not None


def _one_option(text: str, args: Args) -> bool:
    options = args.get("options") or _OPTIONS
    named = [option for option in dict.fromkeys(options) if has_word(text, option)]
    return len([one for one in named if not any(one != other and one in other for other in named)]) == 1


def _sections(text: str, args: Args) -> int:
    name = re.escape(str(args["section_spliter"]).strip())
    return len(re.findall(rf"(?<!\w){name}\s?\d+", text))


def _is_json(text: str, _: Args) -> bool:
    fenced = _FENCE.fullmatch(text)
    try:
        json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return False
    return True


def _has_title(text: str, _: Args) -> bool:
    return any(inside.strip(" <>") for inside in re.findall(r"<<([^\n]+?)>>", text))


def _two_responses(text: str, _: Args) -> bool:
    parts = [part.strip() for part in text.split("******")]
    if len(parts) > 2 and not parts[0]:  # a separator before the first one
        parts = parts[1:]
    if len(parts) > 2 and not parts[-1]:  # or behind the last one
        parts = parts[:-1]
    return len(parts) == 2 and all(parts) and parts[0] != parts[1]  # two responses


def _repeats(text: str, args: Args) -> bool:
    request, said = str(args["prompt_to_repeat"]).strip().casefold(), text.strip().casefold()
    return said.startswith(request) and re.search(r"\w", said[len(request) :]) is not None


def _ends(text: str, args: Args) -> bool:
    return text.strip().strip('"').casefold().endswith(str(args["end_phrase"]).strip().casefold())


def _is_quoted(text: str, _: Args) -> bool:
    inside = text.strip()
    return len(inside) > 2 and inside[0] == inside[-1] == '"' and bool(inside.strip('" \n'))  # marks


def _letters(text: str, args: Args) -> int:
    return text.casefold().count(str(args["letter"]).casefold())


def _placeholders(text: str, _: Args) -> int:
    return len(re.findall(r"\[[^\[\]\n]*\w[^\[\]\n]*\]", text))


def _at_least(count: Callable[[str, Args], int], wanted: str, *further: str) -> Constraint:
    return Constraint(lambda text, args: count(text, args) >= int(args[wanted]), (wanted, *further))


IFEVAL: Final[dict[str, Constraint]] = {
    "keywords:existence": Constraint(
        lambda text, args: all(occurrences(text, word) for word in args["keywords"]), ("keywords",)
    ),
    "keywords:frequency": _relates(
        lambda text, args: occurrences(text, args["keyword"]), "frequency", "relation"
    )._replace(needs=("keyword", "frequency")),
    "keywords:forbidden_words": Constraint(
        lambda text, args: not any(has_word(text, word) for word in args["forbidden_words"]), ("forbidden_words",)
    ),
    "keywords:letter_frequency": _relates(_letters, "let_frequency", "let_relation")._replace(
        needs=("letter", "let_frequency")
    ),
    "language:response_language": Constraint(_in_language, ("language",)),
    "length_constraints:number_sentences": _relates(lambda text, _: len(sentences(text)), "num_sentences", "relation"),
    "length_constraints:number_paragraphs": Constraint(_num_paragraphs, ("num_paragraphs",)),
    "length_constraints:number_words": _relates(lambda text, _: len(_TOKEN.findall(text)), "num_words", "relation"),
    "length_constraints:nth_paragraph_first_word": Constraint(
        _first_word, ("num_paragraphs", "nth_paragraph", "first_word")
    ),
    "detectable_content:number_placeholders": _at_least(_placeholders, "num_placeholders"),
    "detectable_content:postscript": Constraint(_has_postscript, ("postscript_marker",)),
    "detectable_format:number_bullet_lists": _relates(
        lambda text, _: len(_BULLET.findall(text)), "num_bullets", "relation"
    ),
    "detectable_format:constrained_response": Constraint(_one_option),
    "detectable_format:number_highlighted_sections": _at_least(
        lambda text, _: len(_HIGHLIGHT.findall(text)), "num_highlights"
    ),
    "detectable_format:multiple_sections": _at_least(_sections, "num_sections", "section_spliter"),
    "detectable_format:json_format": Constraint(_is_json),
    "detectable_format:title": Constraint(_has_title),
    "combination:two_responses": Constraint(_two_responses),
    "combination:repeat_prompt": Constraint(_repeats, ("prompt_to_repeat",)),
    "startend:end_checker": Constraint(_ends, ("end_phrase",)),
    "startend:quotation": Constraint(_is_quoted),
    "change_case:capital_word_frequency": _relates(
        lambda text, _: sum(word.isupper() for word in words(text)), "capital_frequency", "capital_relation"
    ),
    "change_case:english_capital": Constraint(lambda text, _: text.isupper() and _in_english(text)),
    "change_case:english_lowercase": Constraint(lambda text, _: text.islower() and _in_english(text)),
    "punctuation:no_comma": Constraint(lambda text, _: "," not in text),
}
