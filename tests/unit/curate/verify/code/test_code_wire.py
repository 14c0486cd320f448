"""Values sent over the wire arrive as equal plain data, and nothing but plain data arrives."""

import os
from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curate.verify.code.inside.plain import Handle, pack, unpack
from curate.verify.code.inside.wire import WireError, receive, send

SCALAR = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary())
HASHABLE = st.recursive(SCALAR, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3), max_leaves=6)
VALUE = st.recursive(
    HASHABLE,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(HASHABLE, inner, max_size=4) | st.tuples(inner, inner),
    max_leaves=12,
)


@given(VALUE)
def test_plain_data_round_trips_with_its_types(value: object) -> None:
    again = unpack(pack(value))
    assert again == value
    assert repr(again) == repr(value) or "frozenset" in repr(value)


@pytest.mark.parametrize(
    "value", [{1, "a"}, Decimal("1.50"), Fraction(1, 3), range(1, 9, 2), 1j, bytearray(b"x"), int, ValueError]
)
def test_standard_types_round_trip(value: object) -> None:
    assert unpack(pack(value)) == value


def test_figures_of_any_length_round_trip() -> None:
    assert unpack(pack(-(10**5000))) == -(10**5000)


def test_shared_and_cyclic_references_survive() -> None:
    shared = [1]
    a, b = unpack(pack([shared, shared]))
    assert a is b
    cycle: list[object] = []
    cycle.append(cycle)
    again = unpack(pack(cycle))
    assert again[0] is again


def test_a_long_chain_does_not_overflow() -> None:
    chain: list[object] = []
    for _ in range(100_000):
        chain = [chain]
    depth, again = 0, unpack(pack(chain))
    while again:
        depth, again = depth + 1, again[0]
    assert depth == 100_000


def test_subclasses_arrive_as_their_base_values() -> None:
    class Liar(int):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = int.__hash__

        def __index__(self) -> int:
            return 99

    class Sequence(list[int]):
        def __iter__(self) -> Iterator[int]:
            return iter([99])

    assert [type(part) for part in unpack(pack([Liar(5), Sequence([1])]))] == [int, list]
    assert unpack(pack([Liar(5), Sequence([1])])) == [5, [1]]


def test_other_objects_stay_and_come_back() -> None:
    class Thing:
        pass

    thing, held = Thing(), []
    message = pack([thing], hold=lambda value: held.append(value) or (7, None))
    handle = unpack(message, find=lambda _, number, __: Handle(number))[0]
    assert (held, handle._number_) == ([thing], 7)
    assert unpack(pack([handle]), find=lambda name, number: (name, number)) == [(None, 7)]


NODES = [
    ["eval", "1"], ["get"], ["_init__", []], ["type", "eval"], ["type", "__import__"],
    ["standard", "os", "system", ["true"]],
    ["object", "X", []], ["tuple", [{"r": 0}]], ["held", 1, None, "X"], ["int", "zz"], ["set", [{"r": 1}]],
    ["standard", "datetime", "date", [99999, 1, 1]], ["dict", [[{"r": 1}, 1]]], ["bytes", 5], [], None, "list",
]  # fmt: skip
HOSTILE = [
    None,
    5,
    [],
    {},
    "x",
    [1],
    [{"r": 0}, []],
    [{"r": -5}, []],
    *([{"r": 0}, [node, ["list", []]]] for node in NODES),
]


@pytest.mark.parametrize("message", HOSTILE)
def test_a_message_that_is_no_value_raises_one_error(message: object) -> None:
    with pytest.raises(WireError):
        unpack(message)


WORDS = st.sampled_from(["list", "dict", "type", "standard", "mine", "object"])
JSON = st.recursive(
    st.one_of(st.none(), st.integers(-2, 9), st.text(max_size=5), WORDS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["r", "x"]), inner, max_size=2),
)


@given(JSON)
def test_any_json_is_a_value_or_a_wire_error(message: object) -> None:
    with suppress(WireError):
        unpack(message)


def test_frames_are_capped_and_torn_ones_are_errors() -> None:
    read, write = os.pipe()
    send(write, {"a": "é" * 10})
    assert receive(read, 1000) == {"a": "é" * 10}
    send(write, "x" * 100)
    with pytest.raises(WireError, match="over 50"):
        receive(read, 50)
    os.close(read)
    read, write = os.pipe()
    os.write(write, b"\0\0\0\x08half")
    os.close(write)
    with pytest.raises(WireError, match="hung up"):
        receive(read, 1000)
