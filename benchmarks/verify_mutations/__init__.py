"""Mutations of an answer that change what it says, by name: each takes a text and a random source.

A mutation returns its input where it does not apply. `HOSTILE` ones make an answer costly instead of false.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

from verify_mutations.additions import ADDITIONS
from verify_mutations.changes import CHANGES
from verify_mutations.hostile import HOSTILE

Mutation = Callable[[str, Random], str]
FALSE: Final[dict[str, Mutation]] = {**CHANGES, **ADDITIONS}
ALL: Final[dict[str, Mutation]] = {**FALSE, **HOSTILE}
