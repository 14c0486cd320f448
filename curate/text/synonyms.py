"""Words that are one word to a comparison: British and American spelling, and the names of one task or one extreme.

The hash of the word on the right takes the place of the other's, so that the spellings agree wherever hashes do. The
words keep their kinds: one that makes another problem of a text still does.
"""

from __future__ import annotations

from typing import Final

# each line: the word that stays, then its other spellings
_BRITISH: Final = """
color colour|colors colours|colored coloured|coloring colouring|colorings colourings|gray grey|center centre
centers centres|centered centred|meter metre|meters metres|kilometer kilometre|kilometers kilometres
centimeter centimetre|centimeters centimetres|millimeter millimetre|millimeters millimetres|liter litre|liters litres
milliliter millilitre|milliliters millilitres|labeled labelled|labeling labelling|traveled travelled
traveling travelling|traveler traveller|modeled modelled|canceled cancelled|neighbor neighbour|neighbors neighbours
neighboring neighbouring|favorite favourite|honor honour|labor labour|theater theatre|fiber fibre|check cheque
checks cheques|program programme|practice practise|organize organise|organizes organises|organized organised
organizers organisers|organizing organising|recognize recognise|recognizes recognises|maximize maximise
maximizes maximises|maximized maximised|minimize minimise|minimizes minimises|minimized minimised|analyze analyse
factorize factorise|realize realise|realizes realises|generalize generalise|summarize summarise|symbolize symbolise
rationalize rationalise|normalize normalise|defense defence|catalog catalogue|judgment judgement|math maths mathematics
skillful skilful|tire tyre|tires tyres|ton tonne|tons tonnes|jewelry jewellery|plow plough|mold mould|pajamas pyjamas
trapezoid trapezium|candy sweets|gram gramme|grams grammes|aluminum aluminium|airplane aeroplane|inquiry enquiry
"""
_ONE_MEANING: Final = """
maximum maximal maxima greatest largest biggest|minimum minimal minima smallest least|find determine compute calculate
divisor factor|divisors factors|distinct different|exactly precisely|real reals|integer integers
"""

SYNONYMS: Final[dict[str, str]] = {
    other: line.split()[0]
    for line in (_BRITISH + _ONE_MEANING).replace("\n", "|").split("|")
    for other in line.split()[1:]
}
