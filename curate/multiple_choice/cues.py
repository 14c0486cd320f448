"""Words of a problem's text that ask to choose an answer, and words that only look like it.

`ALONE` and `CLOSED_ZH` decide without labels: no open question uses such words. `WITH_LABELS` counts only beside a
labelled list. `ASKS` finds a question or an instruction, `CONDITIONS` the words before conditions, which all hold.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Cue:
    """A slow pattern behind a cheap test: every match contains one of `words`, in lower case."""

    words: tuple[str, ...]
    pattern: re.Pattern[str]

    def search(self, text: str) -> re.Match[str] | None:
        """The first match in a text."""
        lower = text.lower()
        for word in self.words:  # `any` of a generator takes twice as long
            if word in lower:
                return self.pattern.search(text)
        return None

    def sub(self, replacement: str, text: str) -> str:
        """The text with every match replaced."""
        return self.pattern.sub(replacement, text) if self.search(text) else text


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE | re.DOTALL)


_RIGHT = "(?:correct|right|best|appropriate|true|proper|suitable|false|incorrect|valid|wrong)"
_GOOD = f"(?:(?:most |single |one )?{_RIGHT} )"
_THING = "(?:answers?|options?|alternatives?|choices?|responses?|statements?|letters?|expressions?|values?|completion)"
_PICK = r"\b(?:select|choose|pick|mark|tick|circle|check|identify|indicate)"
# "we choose one of the following meals" is no instruction
_ORDERED = r"(?<!\bwe )(?<!\bhe )(?<!she )(?<!they )(?<!people )(?<!students )"
_WRITE = r"\b(?:enter|write|give|type|answer|respond|reply|report|state|provide|submit|use|output)"
_YOURS = "(?:only )?(?:with )?(?:only )?(?:the |your answer as (?:the |an? )?|an? )?"

_ALONE = _any_of(
    r"\bwhich (?:one |two |three )?(?:of|among) (?:these|those|the (?:following|above|below))\b",
    rf"\bwhich (?:one |two |three )?(?:of|among) the (?:{_THING}\b|\w+ (?:below|above)\b)",
    r"\b(?:all|each|every one) of the following\b[^.?!]*\bexcept\b",
    rf"\bwhich {_THING} (?:below |above |(?:about|on|regarding) [^.?!]{{1,60}}? )?"
    rf"(?:is|are|must be|could be|can be) (?:always |necessarily |also )?{_RIGHT}\b",
    r"\bof the following(?: \w+)?, (?:which|the (?:best|closest|nearest|most|largest|smallest|greatest|least|only))\b",
    rf"{_PICK} (?:all |only )?(?:the |an? )?{_GOOD}+{_THING}\b",
    rf"\b{_ORDERED}{_PICK} (?:all|any|every|each|one|two|the ones?) (?:of the following\b|(?:that|which) appl)",
    rf"{_PICK} (?:all|the ones?) that (?:is|are) (?:true|correct|false)",
    rf"{_PICK} (?:one|the (?:answer|option|letter|choice))\b\s*[:：]",
    rf"\b{_ORDERED}{_PICK} (?:one|the (?:answer|option|letter|choice)) (?:from|of|among) "
    rf"(?:the )?(?:following|below|{_THING})",
    rf"{_PICK} the (?:answer|option|letter|choice) (?:that|which|for|corresponding)",
    rf"{_WRITE} {_YOURS}(?:(?:capital|corresponding|correct|option|single|upper-?case) )*letters?(?: \([^)]*\))? "
    r"(?:of(?! the (?:[\w-]+ ){0,3}(?:words?|lists?|names?|alphabet|sequence|code)\b)"
    r"|for|that|corresponding|only|\(|next to|in front|choice)",
    r"\b(?:your answer should be|answer with) (?:the |a )?(?:single )?(?:letter|option)\b",
    # Enter "C" for circle, "P" for parabola
    r"[\"“'‘`]+\w[\"”'’`]+ (?:for|if) [\w ]+[,;] .{0,80}[\"“'‘`]+\w[\"”'’`]+ (?:for|if) ",
    r"\b(?:answer|multiple) choices?\s*[:：]|\b(?:options|choices)[\"']?\s*(?:are)?\s*[:：]|选项\s*[:：]",
    r"\b(?:options|choices)\s*=\s*[\[({]",
    "哪(?:个|一个|些)选项|(?:以下|下列)选项|正确的选项|选项中|请选择|选择正确|(?:命题|结论|说法|答案)的?序号|填写?序号",
    "次のうち|次の中から|正しいものを|どれか|다음 중|옳은 것|(?:아닌|알맞은) 것은|보기에서",
    r"\bкак(?:ое|ая|ой|ие) из (?:следующих|этих|перечисленных|чисел)|\bвыберите\b",
    r"\bcuál(?:es)? de (?:los|las|estos|estas)\b|\bwelche[rs]? der folgenden\b|\bqual d(?:as|os) seguintes\b",
    r"\b(?:lequel|laquelle|lesquels|lesquelles) (?:des|de ces)\b",
    r"[（(【\[]\s*(?:单选|多选|单项选择|多项选择|不定项选择|选择)题?\s*[)）】\]]",
)
_PICKS = "select choose pick mark tick circle check identify indicate".split()
_ABROAD = (
    "次の", "正しいもの", "どれか", "다음 중", "옳은 것", " 것은", "보기", " из ", "выберите", "cuál", "lequel",
    "laquelle", "lesquel", "folgenden", "seguintes",
)  # fmt: skip
_WORDS = ("which", "letter", "option", "choice", "following", '" for', "” for", "' for", "选", "序号")
ALONE: Final = Cue((*_WORDS, *_PICKS, *_ABROAD), _ALONE)
# Write P for prime or C for composite
STANDS_FOR: Final = Cue((" for ",), re.compile(r"\b[A-Z] for [a-z]+(?:,| or| and)+ [A-Z] for [a-z]"))
CLOSED_ZH: Final = _any_of(
    "(?:下列|以下|下面)[^。？?；;]{0,60}?(?:的是|的有|的为|哪[个项种些一])"
    r"[^。？?]{0,12}(?:[（(][\s　]*[)）]|[？?：:]|_{2,}|\s*$)"
)
WITH_LABELS: Final = _any_of(
    r"\bone of the following\b",
    rf"{_PICK} (?:one|the|from|all)\b",
    rf"\bcorrect {_THING}\b",
    r"\bwhich\b[^.?!]*[?:]",
    "选出|选择|的是|正确|错误|下列|以下",
    r"(?:等于|是|为|有|应选|[=＝])\s*[$\s]*[（(][\s　]*[)）]",
)
COUNTS: Final = _any_of(
    r"\bhow many (?:of|among|(?:\w+ )?statements)\b",
    r"\bnumber of (?:the )?(?:following|true|correct|false|these|statements)\b",
    # a count far before the end does not refer to the list
    "(?:(?<![哪一二三四五六七八九十两几\\d])个数|几个|有多少个?是|共有)[^。？?]{0,30}[？?：:]?\\s*$",
)
CONDITIONS: Final = _any_of(
    r"(?:satisf\w+|conditions?|propert\w+|rules?|axioms?|such that|assum\w+|requirements?|constraints?|steps?|facts|"
    r"information|follow(?:s|ing)(?: holds?| manner| way)?|"
    r"process|procedure|条件|性质|规则|步骤|过程|方法|程序|满足)\s*[:：,，?？.。]?[\s\[(]*$"
)
STEPS: Final = _any_of(r"(?:steps?|process|procedure|rules?|步骤|过程|方法|程序|规则)\s*[:：,，.。]?[\s\[(（]*$")
_VERBS = (
    r"find|determine|show|prove|compute|calculate|evaluate|give|state|express|solve|what|how|hence|deduce|sketch|draw|"
    r"explain|verify|simplify|describe|estimate|list|write|for (?:which|what)|is it|is there|are there|does|do|can"
)
ASKS: Final = re.compile(
    rf"(?:^|[.;,:!?]\s*|\b(?:then|hence|and)\s+)[\W_]*(?:please\s+)?(?:{_VERBS})(?![a-z])|[?？][\W_]*$"
    r"|(?:^|[。；，：,;:.]\s*)(?:求|证明|试|写出|计算|解答|说明|问|画出|化简)|求めよ|答えよ|とする|구하|найдите|вычислите",
    re.IGNORECASE,
)
_QUOTE = r"[\"'“”`*]*"
_BINARY = _any_of(
    r"\btrue\s*(?:or|/)\s*false\s*[?:)\]]|\btrue\s*(?:or|/)\s*false\W*$|\byes\s*(?:or|/)\s*no\b\W*$",
    r"^\W*(?:true or false|true/false|t/f|yes or no|yes/no)\b|[\[(]\s*(?:t\s*/\s*f|y\s*/\s*n)\s*[\])]",
    r"\b(?:true|yes)\s*[(=:]\s*[1ty]\)?\W+(?:(?:or|and)\W+)?(?:false|no)\b",
    rf"{_WRITE}\W+(?:with\W+)?{_QUOTE}[ty]{_QUOTE}\s*(?:or|/)\s*{_QUOTE}[fn]\b",
    r"\bwhether\b[^.?!]*\b(?:true or false|correct or incorrect|right or wrong)\b",
    r"\bwhether (?:the|this|each) (?:following )?statements?\b[^.?!]* (?:is|are) (?:true|correct|false)\b",
    rf"(?:{_WRITE}|\b(?:say|choose|with|either))\W+(?:(?:with|only|either|simply)\W+)*"
    rf"{_QUOTE}(?:yes|true){_QUOTE}\s*(?:\bor\b|/|\band\b|,)\s*{_QUOTE}(?:no|false)\b",
    '(?<![道个些的])判断(?:正误|对错|题|下列[^。]*(?:正误|对错|是否正确)|[:：])|对的?(?:打|画)[“"]?[√✓]',
    r"[（(]\s*(?:对|正确|√)\s*(?:或|/|、|or)?\s*(?:错|错误|×)\s*[)）]",
    r"(?:是否正确|对吗|对不对|正确吗)[？?。]?\s*[（(]?\s*[)）]?\s*$",
)
BINARY: Final = Cue(
    ("true", "yes", "correct", "right", "t/f", "y/n", "y or n", "t or f", 'y" or', "y' or", "判断", "对", "正确", "√"),
    _BINARY,
)
BINARY_ANSWERS: Final = frozenset(
    "yes no true false right wrong correct incorrect 对 错 是 否 正确 错误 不正确 不对 √ × ✓ ✗ ✔ ✘ 真 假 不是 "
    "はい いいえ 正しい 正しくない 예 아니오 아니요 네 참 거짓 да нет верно неверно sí verdadero falso oui non vrai "
    "faux ja nein wahr falsch richtig sim não نعم لا".split()
)
# words that answer a yes-or-no question if one is asked, and are values otherwise
ASKED_ANSWERS: Final = frozenset(
    "能 不能 会 不会 存在 不存在 有 没有 可以 不可以 成立 不成立 够 不够 可能 不可能 相等 不相等 公平 不公平".split()
)
ASKS_BINARY: Final = re.compile("吗|是否|能否|可否|会不会|能不能|有没有|是不是|够不够")
LETTERS_ARE_THE_TOPIC: Final = _any_of(
    r"\bletters?\b|alphabet|hexadecimal|\bbase\b|\broman\b|\bgrades?\b|\bnotes?\b|vitamin|blood type|cipher",
    r"\bdecod|\bencod|integral|constant of|differential|general solution|\bint\b|boolean|字母|进制|等级|血型",
)
