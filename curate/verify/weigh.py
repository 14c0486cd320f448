"""The decision on the answers that a completion gives: whether they agree, and whether the last equals the truth.

An answer that differs as it stands is read once more: by its labelled parts, by the scale or the options that the
question names, as a sentence that states a value. One that is equal must also be evaluated, and in the asked form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from curate.verify.compare.decide import SYMBOLIC, decide
from curate.verify.compare.kinds.plus_minus import adds_nothing
from curate.verify.compare.reading import keyed, parsed, reads_as_answer
from curate.verify.extract.find import Extraction
from curate.verify.extract.parts import Part, labelled_parts, pieces
from curate.verify.extract.sentences import stated
from curate.verify.nodes import TooLargeError, UnreadableError
from curate.verify.policy import Policy
from curate.verify.question.forms import lacks_asked_form
from curate.verify.question.options import options
from curate.verify.question.scale import asked_scale, in_percent, without_scale
from curate.verify.question.unevaluated import is_unevaluated
from curate.verify.values.work import limited
from curate.verify.verdict import Decision, Item, wrong
from curate.verify.vocabulary.words import is_letter_alone, is_prose, num_words, option_letter

_WORDS_FOR: Final = {"yes": "yes", "true": "yes", "no": "no", "false": "no"}
_YES_NO_QUESTION: Final = re.compile(
    r"(?:^|[.!?,:;\n]\s*)(?:is|are|was|were|do|does|did|can|could|will|must|has|have|should)\b[^.!?]*\?|"
    r"\btrue or false\b|"
    r"\b(?:determine|decide|state|prove or disprove)\b[^.!?]*\b(?:whether|if)\b|吗|是否",
    re.IGNORECASE,
)
_PLACEHOLDER: Final = re.compile(
    r"(?:\\text\{ ?)?(?:(?:the|your|my|final|numerical) )*(?:answer|result)(?: here)? ?\}?|\\ldots ?", re.IGNORECASE
)


class Weighed(NamedTuple):
    """A decision and the answer that it is about; None if there is no answer."""

    decision: Decision
    answer: str | None


def weigh(found: Extraction, item: Item, policy: Policy) -> Weighed:
    """The decision on the last answer, unless an earlier or a later one contradicts it."""
    if found.reason is not None:
        is_missing = found.reason in ("no_answer", "think_only") or not found.answers
        return Weighed(wrong(found.reason, "extract"), None if is_missing else found.answers[-1])
    answers = _with_later(found, item)
    answer = answers[-1]
    decision = _decide(item, answer, policy, may_be_sentence=found.otherwise is None)
    if found.otherwise and decision.verdict == "wrong" and not reads_as_answer(answer, policy):
        return Weighed(wrong(found.otherwise, "extract"), None)
    others = dict.fromkeys(other for other in answers[:-1] if _claims(other, found.how))
    others.pop(answer, None)
    if not others or policy.boxes == "last":
        return Weighed(decision, answer)
    if found.how == "box" and len(found.answers) > 1:
        together = decide(item.ground_truth, ", ".join(dict.fromkeys(found.answers)), policy, item.question)
        if together.verdict == "correct" and all(_is_one_of(later, found, item, policy) for later in found.later):
            return Weighed(together, found.answers[-1])
    with limited() as work:
        if all(not work.is_over and _agree(answer, other, policy) for other in others):
            return Weighed(decision, answer)
    return Weighed(wrong("multiple_answers", "extract"), answer)


def _with_later(found: Extraction, item: Item) -> tuple[str, ...]:
    """The answers with the claims behind the last box.

    An option letter and its content do not contradict each other: the one of the truth's kind counts.
    """
    later = tuple(claim for claim in found.later if _claims(claim, "claim"))
    if not later:
        return found.answers
    is_lettered = [option_letter(keyed(side[-1]).cleaned) is not None for side in (found.answers, later)]
    if is_lettered[0] == is_lettered[1]:
        return found.answers + later
    return later if is_letter_alone(keyed(item.ground_truth).cleaned) == is_lettered[1] else found.answers


def _is_one_of(claim: str, found: Extraction, item: Item, policy: Policy) -> bool:
    return (
        not _claims(claim, "claim")
        or claim in found.answers
        or decide(item.ground_truth, claim, policy).verdict == "correct"
    )


def _agree(answer: str, other: str, policy: Policy) -> bool:
    return decide(answer, other, policy).verdict == "correct" or decide(other, answer, policy).verdict == "correct"


def _claims(answer: str, how: str) -> bool:
    """Whether an earlier box or claim has content: an empty box or "the answer is found by adding" has none."""
    cleaned, key = keyed(answer)
    return bool(key) and not (how == "claim" and is_prose(cleaned)) and not _PLACEHOLDER.fullmatch(cleaned)


def _decide(item: Item, answer: str, policy: Policy, *, may_be_sentence: bool) -> Decision:
    """The decision on one answer, with its form."""
    truth, question = item.ground_truth, item.question
    decision = _by_parts(truth, answer, policy, question) or decide(truth, answer, policy, question)
    if decision.verdict == "correct" or decision == SYMBOLIC:
        return _in_form(decision, truth, answer, policy, question)
    for other_truth, other_answer in _readings(truth, answer, question, may_be_sentence=may_be_sentence):
        again = decide(other_truth, other_answer, policy, question)
        if again.verdict == "correct":
            return _in_form(again, other_truth, other_answer, policy, question)
    return decision


def _in_form(decision: Decision, truth: str, answer: str, policy: Policy, question: str | None) -> Decision:
    """The decision, or wrong if the answer is not evaluated or lacks the form that the question asks for."""
    if keyed(truth).key == keyed(answer).key:
        return decision
    if _hedges(truth, answer, policy):
        return wrong("hedged", "form")
    if policy.unevaluated == "wrong" and is_unevaluated(truth, answer, policy, question):
        return wrong("unevaluated", "form")
    if policy.asked_form == "required" and question and lacks_asked_form(truth, answer, policy, question):
        return wrong("other_form", "form")
    return decision


def _hedges(truth: str, answer: str, policy: Policy) -> bool:
    r"""Whether an answer has a sign of both values that changes nothing, as in `42\pm 0`."""
    try:
        return adds_nothing(parsed(keyed(answer).cleaned, policy)) and "pm" not in keyed(truth).cleaned
    except (TooLargeError, UnreadableError):
        return False


def _readings(truth: str, answer: str, question: str | None, *, may_be_sentence: bool) -> Iterator[tuple[str, str]]:
    """Other readings of a pair: in percent, without the scale of the question, by its options, as a sentence."""
    plain_t, plain_a = in_percent(truth), in_percent(answer)
    if plain_t or plain_a:
        yield plain_t or truth, plain_a or answer
    if question:
        yield from _affirmed(truth, answer, question)
        yield from _scaled(truth, answer, question)
        yield from _chosen(truth, answer, question)
    if may_be_sentence and num_words(keyed(answer).cleaned) > 1 and (value := stated(answer)) is not None:
        yield truth, value
        if question:
            yield from _scaled(truth, value, question)


def _affirmed(truth: str, answer: str, question: str) -> Iterator[tuple[str, str]]:
    """Yes for True and No for False, where the question is one that both answer."""
    words = [_WORDS_FOR.get(keyed(side).cleaned.strip(" .").lower()) for side in (truth, answer)]
    if all(words) and _YES_NO_QUESTION.search(question):
        yield words[0] or "", words[1] or ""


def _scaled(truth: str, answer: str, question: str) -> Iterator[tuple[str, str]]:
    scale = asked_scale(question)
    if scale is None:
        return
    bare_t, bare_a = without_scale(truth, scale), without_scale(answer, scale)
    if bare_a is not None and bare_t is None:
        yield truth, bare_a
    if bare_t is not None and bare_a is None:
        yield bare_t, answer


def _chosen(truth: str, answer: str, question: str) -> Iterator[tuple[str, str]]:
    """The content of an option for its letter, on the side that has only the letter."""
    clean_t, clean_a = keyed(truth).cleaned, keyed(answer).cleaned
    letter_t, letter_a = is_letter_alone(clean_t), is_letter_alone(clean_a)
    if letter_t == letter_a:
        return
    letter = option_letter(clean_t if letter_t else clean_a)
    content = options(question).get(letter or "")
    if content:
        yield (content, answer) if letter_t else (truth, content)


def _by_parts(truth: str, answer: str, policy: Policy, question: str | None) -> Decision | None:
    """Compare an answer in several parts part by part; None if a side has no parts or not the same number."""
    wanted, given = labelled_parts(truth), labelled_parts(answer)
    if not wanted and not given:
        return None
    left = wanted or _unlabelled(truth)
    right = given or _unlabelled(answer)
    if len(left) != len(right) or any(_STATES.search(part.content) for part in (*left, *right) if not part.label):
        return None
    if {part.label for part in left} == {part.label for part in right}:
        by_label = dict(right)
        right = tuple(Part(part.label, by_label[part.label]) for part in left)
    elif all(len(part.label) > 1 for part in (*left, *right)):
        return None  # other names
    pairs = zip(left, right, strict=True)
    return _every([decide(t.content, a.content, policy, question) for t, a in pairs], is_sure=bool(wanted))


_STATES: Final = re.compile(r"[=<>:]|\\(?:leq?|geq?|neq?|approx|in)(?![a-z])")  # a part with a name of its own


def _unlabelled(text: str) -> tuple[Part, ...]:
    # markdown around the whole answer belongs to none of its parts
    return tuple(Part("", piece) for piece in pieces(text.strip(" *`")))


def _every(decisions: Sequence[Decision], *, is_sure: bool) -> Decision | None:
    """The first decision that is not correct, else the last; without labels in the truth only "correct" is sure."""
    bad = next((decision for decision in decisions if decision.verdict != "correct"), None)
    if bad is None:
        return decisions[-1]
    return bad if is_sure and bad != SYMBOLIC else None
