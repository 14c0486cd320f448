"""The further constraints of IFTrain (Pyatkin et al. 2025, arXiv:2507.02833, appendix), of IF_multi_constraints."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Final

from curate.verify.rules.counting import blocks, divided, has_word, occurrences, satisfies, sentences, words
from curate.verify.rules.ifeval import Args, Constraint

_TIMES: Final = (1, 2, 3, 5, 7)  # how often each of five keywords is asked for
_PALINDROME_LETTERS: Final = 3  # "a" is one that nobody asks for


def _bare(word: str) -> str:
    return re.sub(r"[^\w\s]", "", word).casefold()


def _text(args: Args, name: str) -> str:
    """An argument that is a text, or a list with one."""
    value = args[name]
    return str(value[0] if isinstance(value, list) and value else value).strip()


def _is_copy(text: str, args: Args) -> bool:
    return text.strip().casefold() == str(args["prompt_to_repeat"]).strip().casefold()


def _copies(text: str, args: Args) -> bool:
    parts = text.split("******")
    return len(parts) == int(args["N"]) and all(_is_copy(part, args) for part in parts)


def _is_span(text: str, args: Args) -> bool:
    span = str(args["prompt_to_repeat"])[int(args["n_start"]) : int(args["n_end"])]
    return text.strip().casefold() == span.strip().casefold()


def _varied_phrases(text: str, args: Args) -> bool:
    """Whether a phrase occurs so many times, each time with another word in its middle."""
    phrase = str(args["phrase"]).split()
    inner = r"\s+".join([r"\S+"] * (len(phrase) - 2))
    found = re.findall(rf"{re.escape(phrase[0])}\s+{inner}\s+{re.escape(phrase[-1])}", text)
    changed = [sum(a != b for a, b in zip(one.split(), phrase, strict=True)) for one in found]
    return len(found) == int(args["small_n"]) and all(number == 1 for number in changed)


def _each_sentence(text: str, args: Args, name: str, at: int) -> bool:
    wanted, found = _text(args, name).casefold(), [words(sentence) for sentence in sentences(text)]
    return bool(found) and all(of_one[at].casefold() == wanted for of_one in found if of_one)


def _in_response(text: str, args: Args, name: str, at: int) -> bool:
    found = words(text)
    return bool(found) and found[at].casefold() == _text(args, name).casefold()


def _at_position(text: str, args: Args) -> bool:
    number, place = int(args["n"]), int(args["m"])
    found = sentences(text)
    of_one = words(found[number - 1]) if 1 <= number <= len(found) else []
    return 1 <= place <= len(of_one) and of_one[place - 1].casefold() == _text(args, "keyword").casefold()


def _is_composed(text: str, args: Args) -> bool:
    found = divided(text)
    if found is None or len(found) != 3:  # the constraint always asks for three
        return False
    of_each = [[len(words(sentence)) for sentence in sentences(one)] for one in found]
    return all(counts == [int(args["n_words"])] * int(args["n_sent"]) for counts in of_each)


def _keywords(text: str, args: Args) -> bool:
    wanted = [(times, args.get(f"keyword{number}")) for number, times in enumerate(_TIMES, start=1)]
    return all(occurrences(text, str(word)) == times for times, word in wanted if word)


def _is_hyphenated(text: str, _: Args) -> bool:
    parts = text.strip().split("-")
    return all(part == part.strip() and part for part in parts) and not re.search(r"[.!?]\s", text.strip())


def _no_neighbours(text: str, _: Args) -> bool:
    first = [word[0].casefold() for word in text.split()]
    return not any(a.isalpha() and b.isalpha() and ord(b[0]) - ord(a[0]) == 1 for a, b in pairwise(first))


def _in_brackets(text: str, _: Args) -> bool:
    return re.fullmatch(r"(?:\s*\[[^\[\]\s]+\])+\s*", text) is not None


def _in_pairs(text: str, _: Args) -> bool:
    return re.fullmatch(r"(?:\s*<<[^\s<>]+ [^\s<>]+>>[.,;:!?]*)+(?:\s*<<[^\s<>]+>>|\s*[^\s<>]+)?\s*", text) is not None


def _has_palindrome(text: str, _: Args) -> bool:
    found = map(_bare, text.split())
    return any(len(word) >= _PALINDROME_LETTERS and word == word[::-1] for word in found)


def _starts_as_it_ends(text: str, _: Args) -> bool:
    found = words(text)
    return len(found) > 1 and found[0].casefold() == found[-1].casefold() and text.strip().endswith(found[-1])


def _two(split: Callable[[str], list[str] | None]) -> Constraint:
    return Constraint(lambda text, _: len(split(text) or ()) == 2)  # two paragraphs


def _are_unique(text: str, _: Args) -> bool:
    found = [word.casefold() for word in words(text)]
    return len(found) == len(set(found))


_COPY: Final = Constraint(_is_copy, ("prompt_to_repeat",))
_SPAN: Final = Constraint(_is_span, ("prompt_to_repeat", "n_start", "n_end"))

IFTRAIN: Final[dict[str, Constraint]] = {
    "keywords:word_once": Constraint(lambda text, args: occurrences(text, _text(args, "keyword")) == 1, ("keyword",)),
    "keywords:word_count_different_numbers": Constraint(
        lambda text, args: satisfies(
            occurrences(text, _text(args, "keyword")), args.get("relation") or "exactly", int(args["frequency"])
        ),
        ("keyword", "frequency"),
    ),
    "keywords:exclude_word_harder": Constraint(
        lambda text, args: not has_word(text, _text(args, "keyword")), ("keyword",)
    ),
    "keywords:keyword_specific_position": Constraint(_at_position, ("keyword", "n", "m")),
    "keywords:no_adjacent_consecutive": Constraint(_no_neighbours),
    "keywords:palindrome": Constraint(_has_palindrome),
    "keywords:start_end": Constraint(_starts_as_it_ends),
    "letters:letter_counting": Constraint(
        lambda text, args: satisfies(
            len(re.findall(r"[A-Za-z]", text)), args.get("relation") or "exactly", int(args["N"])
        ),
        ("N",),
    ),
    "letters:letter_counting2": Constraint(
        lambda text, args: satisfies(
            text.casefold().count(_text(args, "letter").casefold()),
            args.get("let_relation") or "exactly",
            int(args["let_frequency"]),
        ),
        ("letter", "let_frequency"),
    ),
    "paragraphs:paragraphs": _two(divided),
    "paragraphs:paragraphs2": _two(blocks),
    "first_word:first_word_sent": Constraint(
        lambda text, args: _each_sentence(text, args, "first_word", 0), ("first_word",)
    ),
    "first_word:first_word_answer": Constraint(
        lambda text, args: _in_response(text, args, "first_word", 0), ("first_word",)
    ),
    "last_word:last_word_sent": Constraint(
        lambda text, args: _each_sentence(text, args, "last_word", -1), ("last_word",)
    ),
    "last_word:last_word_answer": Constraint(
        lambda text, args: _in_response(text, args, "last_word", -1), ("last_word",)
    ),
    "detectable_format:bigram_wrapping": Constraint(_in_pairs),
    "detectable_format:square_brackets": Constraint(_in_brackets),
    "detectable_format:sentence_hyphens": Constraint(_is_hyphenated),
    "punctuation:punctuation_dot": Constraint(lambda text, _: "." not in text),
    "punctuation:punctuation_exclamation": Constraint(lambda text, _: "!" not in text),
    "count:lowercase_counting": Constraint(
        lambda text, args: len(re.findall(r"\b[a-z]+\b", text)) <= int(args["N"]), ("N",)
    ),
    "count:counting_composition": Constraint(_is_composed, ("n_sent", "n_words")),
    "count:count_unique": Constraint(_are_unique),
    "count:count_increment_word": Constraint(_keywords, ("keyword1", "keyword2")),
    "count:keywords_multiple": Constraint(_keywords, tuple(f"keyword{number}" for number in range(1, 6))),
    "copy:copy": _COPY,
    "copy:copying_simple": _COPY,
    "copy:copying_multiple": Constraint(_copies, ("prompt_to_repeat", "N")),
    "copy:repeat_phrase": Constraint(_varied_phrases, ("phrase", "small_n")),
    "copy:copy_span_idx": _SPAN,
    "new:copy_span_idx": _SPAN,
}
