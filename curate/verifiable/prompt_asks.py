"""What a problem's text asks for, as polars expressions: a proof, a value, several things, an open answer, a figure.

Every function takes an expression of texts and returns the words that match, or null: a reason and its evidence in one
pass. The patterns cover English and Chinese. The expressions read single rows, so the batch does not matter.
"""

from __future__ import annotations

from typing import Final

import polars as pl

EVIDENCE_CHARS: Final = 120

# the start of an instruction: the start of a text, line, sentence, clause or list item, or after "and", "then"
_BEGIN: Final = (
    r"(?:^\s*|[.;:!?,)\]}$]\s*|\\item\S*\s+|\n\s*|\b(?:and|then|also|please|hence|or|first|next)\s+(?:to\s+)?)"
)
_VERBS: Final = (
    "find|determine|compute|calculate|evaluate|express|simplify|solve|factor|list|count|estimate|convert|expand|"
    "deduce its value|give|state|identify|obtain|enter|write|round|reduce|minimize|maximize"
)
_VALUE: Final = (
    rf"(?im){_BEGIN}(?:{_VERBS})\b"
    r"|\bwhat\b|\bhow\s+(?:many|much|long|far|old|fast|tall|often|big|large|high|wide|deep|heavy)\b|\?|？"
    r"|求(?:[^证]|$)|计算|多少|几|什么|哪|何时|何值|_{2,}|\\_|\(\s*(?:\\quad|\\qquad|\s)*\s*\)|（\s*）"
)
_PROOF: Final = (
    r"(?im)\b(?:dis)?prove\b(?:\s+or\s+\w+)?|\bshow\b[^.?!]{0,100}?\bthat\b"
    rf"|{_BEGIN}proof\s+that\b|{_BEGIN}show\s+(?:how|by|algebraically|it|there|the\s+following|\\|\$|why)"
    r"|\b(?:verify|demonstrate|deduce|establish|conclude|confirm)\s+that\b"
    r"|\bgive\s+an?\s+(?:\w+\s+){0,2}proof\b|\bsupply\s+a\s+proof\b|\bwrite\s+(?:a|the)\s+(?:\w+\s+)?proof\b"
    r"|\b(?:find|write|construct|provide)\s+an?\s+(?:\w+\s+){0,2}proof\b|证明|求证|试证|试说明|証明|증명"
    r"|\b(?:d[ée])?montr(?:er|ez|ons)\s+que\b|\b(?:prouver|prouvez)\s+que\b|\b(?:zeige|beweise)n?(?:\s+sie)?\b[^.?!]*\bdass\b"
    r"|\bдокаж|\bdemuestr[ea]|\bprueb[ea]\s+que\b|\bmostre\s+que\b|\b(?:theorem|lemma)\s+\w+.*?:=|\bsorry\s*$"
)
# a request in a labelled part: an instruction or a question, not a clause of a condition ("for which", "is shown")
_PART_VERB: Final = (
    r"(?:find|determine|compute|calculate|evaluate|prove|show|solve|sketch|explain|express|simplify|describe|estimate|"
    r"factor|expand|convert|graph|draw|verify|state|list|identify|write\s+(?:down|out|an?|the)|give)\b"
)
_PART_ASK: Final = (
    rf"(?:[\s*_$}}]*{_PART_VERB}|.*?(?:(?:[.;:,)]\s*|\b(?:and|then|to|hence)\s+){_PART_VERB}"
    r"|\?|？|求|多少|几|什么|写出|计算|证明|_{2,}|\\_))"
)
# a label is separate from words: the (1) of P(1) is an argument
_BEFORE: Final = r"(?:^|[\s.;:,?!。；：，？！~*{$])"
_LABELS: Final = (
    (rf"{_BEFORE}[(\[]a[)\]]", rf"{_BEFORE}[(\[]b[)\]]"),
    (rf"{_BEFORE}\(i\)", rf"{_BEFORE}\(ii\)"),
    (rf"{_BEFORE}[(（]\s*1\s*[)）]", rf"{_BEFORE}[(（]\s*2\s*[)）]"),
    (r"\bpart\s+(?:a|1|i)\b", r"\bpart\s+(?:b|2|ii)\b"),
    (r"\b(?:question|problem|task|exercise|q)\s*1\b", r"\b(?:question|problem|task|exercise|q)\s*2\b"),
    (r"\b(?:task|exercise)\s*a\b", r"\b(?:task|exercise)\s*b\b"),
    ("(?:问题[1一]|第一问|[（(]一[)）])", "(?:问题[2二]|第二问|[（(]二[)）])"),
    (r"(?:^|\s)[*_]*a-?[).][*_]*\s", r"\s[*_]*b-?[).][*_]*\s"),
    (r"(?:^|\s)[*_]*i[).][*_]*\s", r"\s[*_]*ii[).][*_]*\s"),
    (r"(?:^|\n)[\s*_]*1[).:、．：]", r"\n[\s*_]*2[).:、．：]"),
    (r"(?:^|[\s。；：])1[)）]", r"[\s。；：]2[)）]"),
    ("①", "②"),
    ("(?:Ⅰ|ⅰ)", "(?:Ⅱ|ⅱ)"),
    (r"\\item", r"\\item"),
)
# on one line a label follows the end of a sentence: the 1. of "x = 1. Find y" is none
_ON_ONE_LINE: Final = (
    rf"(?:^|[.:;?!$]\s+|[。：；？！]\s*)1(?:[.:]\s+|[、．：])"
    rf"(?:(?:{_PART_VERB}|求).*?(?:[.:;?!$]\s+|[。；？！]\s*)|.*?(?:\?\s+|？\s*))2(?:[.:]\s+|[、．：]){_PART_ASK}"
)
_PARTS: Final = "(?is)" + "|".join([*(rf"{one}{_PART_ASK}.*?{two}{_PART_ASK}" for one, two in _LABELS), _ON_ONE_LINE])
_FIRST_LABEL: Final = r"(?:[(（]?(?:1|a|i)[)）.、．]|①|\\item)"
_SECOND_LABEL: Final = r"(?:[\s;；,，。.$?](?:[(（](?:2|b|ii)[)）]|(?:2|b|ii)[)）.、．]\s)|②|\\item)"
# one instruction for a list of items: "Evaluate the following: 1) .. 2) ..", "Find (a) the area and (b) .."
_SHARED_ASK: Final = (
    rf"(?is){_PART_VERB}\s+(?:the\s+values?\s+of\s+)?(?:(?:each\s+of\s+)?the\s+following(?:\s+(?:\w+\s+)?(?:expressions|equations|inequalities|"
    r"problems|questions|quantities|values|integrals|limits|derivatives|sums|products|probabilities|calculations|tasks))?"
    rf"|each(?:\s+(?:expression|equation|part))?)\s*[:.]?\s*(?:\\begin\{{\w+\}})?\s*{_FIRST_LABEL}.*?{_SECOND_LABEL}"
    rf"|\b(?:calculate|evaluate|simplify|compute|factor|expand|solve|find|determine)\s*:\s*{_FIRST_LABEL}.*?{_SECOND_LABEL}"
    r"|\b(?:find|determine|compute|calculate|state|give|write\s+down)\s*:?\s+[(]?(?:a|i|1)\)\s+(?:the|its|their)\b.*?"
    r"\s[(]?(?:b|ii|2)\)\s+(?:the|its|their)\b"
    r"|(?:求|计算|化简|解方程|解下列方程|求下列各式的值|解不等式)\s*[:：]\s*(?:[(（]1[)）]|①|1[.、．]).*?(?:[(（]2[)）]|②|[\s;；。]2[.、．])"
)
# ordered steps and rules are no list of questions
_PROCEDURE: Final = (
    r"(?is)\b(?:steps?|process|procedure|algorithm|rules?|instructions?|operations?|moves?|game|program|recipe|method|"
    rf"as\s+follows|in\s+(?:this|the\s+following)\s+(?:order|way))\b[^.?!\n]{{0,60}}[:.]\s*(?:\\begin\{{\w+\}})?\s*{_FIRST_LABEL}"
    rf"|(?:步骤|规则|操作|程序|方法)[^。？\n]{{0,20}}[:：]\s*{_FIRST_LABEL}"
)
# the text after the last label: an ordered step, then the one question, which has no label
_LAST_LABEL: Final = (
    rf"(?is)^.*(?:{_BEFORE}[(（]\s*(?:[1-9]|[a-h]|iii|ii|iv|i|v)\s*[)）]|(?:^|\n|[;:；：。.!?]\s*)(?:[1-9]|[a-h]|iii|ii|iv|i)[).、．]\s"
    r"|[①-⑨]|\\item)(.*)$"
)
_ASKED_OUTSIDE: Final = (
    rf"(?s)^\s*(?:(?i:[^.?!。？！]*?\b{_PART_VERB}|[^.。！!]*?[?？]|[^。]*?[求写算])|[a-z])"
    r"[^.?!。？！]*[.?!。？！].*[?？]\s*$"
)
_SEVERAL: Final = r"[,;，；]|\band\b|[和与]"
_MANY_ANSWERS: Final = (
    r"(?im)\b(?:give|provide|construct|find|produce|write|state|exhibit)\s+(?:down\s+)?"
    r"(?:an?|one|two|three|some|another|your\s+own|at\s+least\s+\w+)\s+(?:\w+\s+){0,2}(?:counter-?)?examples?\b"
    rf"|{_BEGIN}(?:name|suggest|propose|think\s+of|come\s+up\s+with|invent)\s+(?:an?|one|two|three|any|some|another)\b"
    r"|\b(?:list|name|give|find|write|state)\s+(?:down\s+)?any\s+(?:one|two|three|four|five|\d+)\b"
    r"|\banswers?\s+(?:may|will|can|could)\s+vary\b|\b(?:many|multiple|several)\s+(?:correct\s+)?answers\s+are\s+possible"
    r"|\bin\s+your\s+own\s+words\b|\bdo\s+you\s+agree\b|\bwhat\s+do\s+you\s+think\b|\byour\s+opinion\b"
    rf"|{_BEGIN}(?:write|compose|make\s+up|create|invent)\s+an?\s+(?:\w+\s+){{0,2}}"
    r"(?:essay|story|poem|paragraph|letter|report|problem)\b"
    r"|\bwhat\s+are\s+some\b|\bwhat\s+(?:patterns?\s+)?do\s+you\s+(?:notice|observe)\b|\bhow\s+would\s+you\s+explain\b"
    r"|\b(?:write|describe|give|create)\s+a\s+real[- ](?:life|world)\s+(?:situation|problem|example|story|scenario)\b"
    r"|举(?:出|一|个|例)|答案不唯一|写出一个|写一个|编一道|谈谈|你认为"
)
# the beginning of a calculation: "Think of a number. Double it. ... What is the result?"
_THOUGHT_NUMBER: Final = (
    r"(?is)\bthink\s+of\s+(?:an?|any|some)\s+(?:\S+\s+){0,3}?(?:numbers?|integers?|digits?)\b.*\b(?:what|how\s+many)\b"
)
_EXPLANATION: Final = (
    rf"(?im){_BEGIN}(?:explain|describe|discuss|interpret|justify|sketch|draw|plot|graph|comment|critique|compare|illustrate|"
    r"outline|design)\b|\bwhy\b[^.!]*\?|\bexplain\s+(?:how|why|what)\b|为什么|说明理由|解释|画出|作图|作出|讨论|叙述|描述"
)
_IMAGE_FILE: Final = r"\.(?:png|jpe?g|gif|svg|webp|bmp|eps)\b"
_IMAGE: Final = (
    r"(?i)!\[[^\]]*\][(\[]|<\|?\s*/?\s*(?:image|img|figure|graphics|picture)(?:[_ ]?\d+)?\b[^>]*>"
    r"|\\includegraphics|\\(?:epsfbox|epsfig|psfig)\b|\\begin\{figure\}|data:image/"
    r"|[\[{]\s*(?:image|img|figure)\s*\d*\s*[\]}]|\[\s*(?:image|img|figure)\s*\d*\s*:[^\]]*\]"
    rf"|https?://\S+{_IMAGE_FILE}|(?:see|attach\w*|figure|image|图片?)[\s:：]*[\w./-]+{_IMAGE_FILE}|\[图片?\d*\]|【图片?\d*】"
)
_NOUN: Final = r"(?:figure|diagram|picture|drawing|sketch|illustration|(?:bar\s+|pie\s+)?chart|histogram)s?\b"
_FIGURE_WORDS: Final = (
    rf"(?i)\b(?:shown|pictured|illustrated|depicted|drawn|indicated)\s+(?:in\s+the\s+(?:\w+\s+)?(?:{_NOUN}|graphs?\b)"
    r"|below|above|at\s+(?:the\s+)?(?:right|left)|to\s+the\s+(?:right|left)|here)\b|\bas\s+(?:shown|pictured)\s*[,.]"
    # a picture that someone takes and a drawing to scale are no figures
    r"|\b(?:in|from)\s+(?:the|this)\s+(?:\w+\s+)?(?:figure|diagram|illustration|(?:bar\s+|pie\s+)?chart|histogram)s?\b"
    r"|\b(?:see|look\s+at|refer\s+to|based\s+on|according\s+to|study|examine|use)\s+(?:the|this)\s+(?:\w+\s+)?"
    rf"{_NOUN}"
    r"|\bthe\s+(?:\w+\s+)?(?:figure|diagram|chart|map|picture)s?\s+(?:shows?|below|above|indicates?|illustrates?|at)\b"
    r"|\buse\s+the\s+graph\s+to\b|\bgraph\s+of\s+\S+\s+is\s+(?:shown|given|drawn)\b"
    r"|如图(?:[^书形]|$)|[下上]图(?:[^书形案]|$)|[右左]图|(?:^|[^向全分完地拼视树子网])图中|图示|所示|(?:观察|根据|由|看)图[象像]"
)
# content shown below in words, and figures that are no drawings
_IN_WORDS: Final = (
    r"(?i)\b(?:equations?|sequences?|lists?|data|numbers?|expressions?|tables?|systems?|functions?|matri\w+|arrays?|sums?|"
    r"additions?|subtractions?|multiplications?|products?|inequalit\w+|values?|statements?|problems?|formulas?|code|words?)\s+"
    r"(?:\w+\s+)?(?:shown|listed|indicated)\s+(?:below|above|here)|\bfigures?\s+(?:eight|skat\w+|described|bounded)"
)
_BBCODE: Final = r"\[[biu]\]([^\[\]]*)\[/[biu]\]"
_HTML: Final = r"(?i)</?(?:b|i|u|em|strong|p|br|li|ol|ul|div|span)(?:\s[^<>]*)?/?>"
_ITEM_LABEL: Final = r"\\item\s*\[([^\[\]]*)\]"
_DRAWING: Final = r"\[asy\]|\\begin\{(?:tikzpicture|asy|picture|pspicture)\}|\\chemfig|<svg\b"
_DRAWING_CODE: Final = r"(?s)\[asy\].*?\[/asy\]|\\begin\{tikzpicture\}.*?\\end\{tikzpicture\}|<svg\b.*?</svg>"
_TABLE: Final = r"\\begin\{(?:tabular|array|table|[pbv]?matrix|align\w*)|\|\s*:?-{2,}|(?m)^\s*\|.*\|\s*$"


def _found(text: pl.Expr, pattern: str) -> pl.Expr:
    """The first match, short and on one line, or null."""
    # group 0 is the whole match; an empty one is no evidence
    found = text.str.extract(f"({pattern})" if not pattern.startswith("(?") else _grouped(pattern), 1)
    return found.str.replace_all(r"\s+", " ").str.strip_chars().str.slice(0, EVIDENCE_CHARS)


def _grouped(pattern: str) -> str:
    """The pattern as group 1, its leading flags kept in front."""
    end = pattern.index(")") + 1
    return f"{pattern[:end]}({pattern[end:]})"


def proof(text: pl.Expr) -> pl.Expr:
    """A request to prove, show or disprove a statement."""
    return _found(text, _PROOF)


def value(text: pl.Expr) -> pl.Expr:
    """A question, a blank, or an instruction to find something, which a ground truth can answer."""
    return _found(text, _VALUE)


def parts(text: pl.Expr, truth: pl.Expr) -> pl.Expr:
    """Labelled parts that each ask for something; labelled conditions, statements or steps do not count.

    Nor do steps followed by one question that the ground truth answers with one value.
    """
    asked = pl.coalesce(_found(text, _PARTS), _found(text, _SHARED_ASK))
    outside = text.str.extract(_LAST_LABEL, 1).str.contains(_ASKED_OUTSIDE) & ~truth.str.contains(_SEVERAL)
    is_procedure = text.str.contains(_PROCEDURE) | outside.fill_null(value=False)
    return pl.when(asked.is_not_null() & ~is_procedure).then(asked)


def many_answers(text: pl.Expr) -> pl.Expr:
    """A request with many right answers: an example, an opinion, an essay."""
    return pl.when(~text.str.contains(_THOUGHT_NUMBER)).then(_found(text, _MANY_ANSWERS))


def explanation(text: pl.Expr) -> pl.Expr:
    """A request for prose or a drawing: explain, describe, sketch, why."""
    return _found(text, _EXPLANATION)


def image(text: pl.Expr) -> pl.Expr:
    """A reference to an image file, or a placeholder for an image."""
    return _found(text, _IMAGE)


def missing_figure(text: pl.Expr) -> pl.Expr:
    """Words that refer to a figure in a text that has neither a drawing nor a table."""
    is_there = text.str.contains(_DRAWING) | text.str.contains(_TABLE)
    return pl.when(~is_there).then(_found(text.str.replace_all(_IN_WORDS, " "), _FIGURE_WORDS))


def drawing(text: pl.Expr) -> pl.Expr:
    """A figure as code: Asymptote, TikZ, SVG."""
    return _found(text, _DRAWING)


def without_drawings(text: pl.Expr) -> pl.Expr:
    """The text without drawing code, whose words (`draw`, `label`) ask for nothing."""
    return text.str.replace_all(_DRAWING_CODE, " ")


def without_tags(text: pl.Expr) -> pl.Expr:
    """The text without tags around words, behind which a label or a request would not be seen."""
    bare = text.str.replace_all(_BBCODE, "$1").str.replace_all(_HTML, " ")
    return bare.str.replace_all(_ITEM_LABEL, "\n$1 ")
