"""Python values as JSON, for the channel between the two sides of a sandbox, and back as plain data.

A value is sent as a flat graph, so that shared references, cycles and long linked lists survive: numbers, strings, None
and booleans are themselves, everything else is `{"r": n}`, an index into the message's list of nodes. The receiver
rebuilds values from exact built-in types: an `int` subclass whose `__eq__` lies arrives as its integer value. Instances
of the classes that both sides know (`ListNode`) are sent by their attributes; any other object stays on its side and is
sent as a handle.
"""

from __future__ import annotations

import builtins
import datetime as dt
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple

from curate.verify.code.inside.wire import Message, WireError

ITERATOR = "an iterator"  # the state of an iterator that a test hands over
Hold = Callable[[Any], tuple[int, Any]]
Find = Callable[..., Any]
Reference = Callable[[Any], Any]


class Handle:
    """An object that stays on the other side, by its number (or name) there."""

    __slots__ = ("_number_",)  # not `number`: a stand-in reads the fields of its object

    def __init__(self, number: int | str) -> None:
        self._number_ = number


class Rebuild(NamedTuple):
    """How a receiver rebuilds `array(items, dtype)` of numpy, and `kin(value, stand_in, fields)` of built-in types."""

    array: Callable[[Any, str], Any]
    kin: Callable[[Any, Any, list[str]], Any]


def pack(
    value: Any,
    classes: Collection[str] = (),
    hold: Hold | None = None,
    behind: Callable[[Any], Handle | None] | None = None,
) -> Message:
    """A value as a message.

    classes: types sent by attributes. hold: the number and state of an object that stays. behind: the handle to send in
    place of a value.
    """
    nodes: list[Any] = []
    numbers: dict[int, int] = {}
    kept: list[Any] = []  # in the order of their numbers; kept alive, so that no id is reused

    def reference(item: Any) -> Any:
        kind = type(item)
        if item is None or kind in (bool, str, float) or (kind is int and abs(item) < 1 << 63):
            return item
        number = numbers.setdefault(id(item), len(kept))
        if number == len(kept):
            kept.append(item)
        return {"r": number}

    root = reference(value)
    while len(nodes) < len(kept):
        item = kept[len(nodes)]
        stand_in = behind(item) if behind is not None else None
        nodes.append(_node(item if stand_in is None else stand_in, classes, hold, reference))
    return [root, nodes]


def _node(value: Any, classes: Collection[str], hold: Hold | None, ref: Reference) -> Message:
    if isinstance(value, Handle):
        return ["mine", value._number_]
    kind, module = type(value).__name__, type(value).__module__.partition(".")[0]
    if hold is not None and module == "solution" and (base := base_value(value)) is not None:
        return ["kin", ref(base), *hold(value), kind, [*map(str, getattr(value, "_fields", ()))]]
    if kind in ("Counter", "OrderedDict") and module == "collections" and isinstance(value, dict):
        return ["standard", module, kind, [ref(dict(dict.items(value)))]]
    for name, types, items in SHAPES:
        if isinstance(value, types):
            return [name, *items(value, ref)]
    if isinstance(value, type) and value in BUILTIN_TYPES:
        return ["type", value.__name__]
    if module == "numpy" and hasattr(value, "tolist"):
        return ["array", str(value.dtype) if kind == "ndarray" else "", ref(value.tolist())]
    if kind in STANDARD.get(module, ()):
        return ["standard", module, kind, [ref(part) for part in _parts(value)]]
    if kind in classes and hasattr(value, "__dict__"):
        return ["object", kind, [[key, ref(item)] for key, item in vars(value).items()]]
    return ["held", *(hold(value) if hold else (-1, None)), kind]


# the base type's own methods: overrides in a subclass are ignored
BASES: Mapping[type, Callable[[Any], Any]] = {
    int: int.__index__,
    float: float.__float__,
    str: str.__str__,
    list: lambda value: [*list.__iter__(value)],
    tuple: lambda value: (*tuple.__iter__(value),),
    dict: lambda value: dict(dict.items(value)),
    set: lambda value: {*set.__iter__(value)},
}


def base_value(value: Any) -> Any:
    """The built-in value of an instance of a subclass of a built-in type; None for any other object."""
    for kind, convert in BASES.items():
        if isinstance(value, kind):
            return convert(value)
    return None


BUILTIN_TYPES = frozenset(item for item in vars(builtins).values() if isinstance(item, type))
STANDARD: Mapping[str, Collection[str]] = {
    "decimal": ("Decimal",),
    "fractions": ("Fraction",),
    "collections": ("deque", "Counter", "OrderedDict"),
    "datetime": ("date", "datetime", "time", "timedelta", "timezone"),
    "pathlib": ("PosixPath", "PurePosixPath"),
    "uuid": ("UUID",),
}


def _parts(value: Any) -> list[Any]:
    """The arguments with which the constructor of a standard type recreates the value."""
    kind = type(value).__name__
    if kind in ("Decimal", "PosixPath", "PurePosixPath", "UUID"):
        return [str(value)]
    if kind == "timezone":
        return [value.utcoffset(None)]
    if kind == "Fraction":
        return [value.numerator, value.denominator]
    if kind == "deque":
        return [list(value), value.maxlen]
    if kind == "timedelta":
        return [value.days, value.seconds, value.microseconds]
    fields = ("year", "month", "day", "hour", "minute", "second", "microsecond")
    offset = value.utcoffset() if kind != "date" else None
    zone = [] if offset is None else [dt.timezone(offset)]
    return [getattr(value, field) for field in fields if hasattr(value, field)] + zone


# the base type's own methods: overrides in a subclass are ignored
SHAPES: tuple[tuple[str, Any, Callable[[Any, Reference], list[Any]]], ...] = (
    ("int", int, lambda v, _: [hex(int.__index__(v))]),
    ("float", float, lambda v, _: [float.__float__(v)]),
    ("str", str, lambda v, _: [str.__str__(v)]),
    ("list", list, lambda v, ref: [[ref(item) for item in list.__iter__(v)]]),
    ("tuple", tuple, lambda v, ref: [[ref(item) for item in tuple.__iter__(v)]]),
    ("dict", dict, lambda v, ref: [[[ref(key), ref(item)] for key, item in dict.items(v)]]),
    ("set", set, lambda v, ref: [[ref(item) for item in set.__iter__(v)]]),
    ("frozenset", frozenset, lambda v, ref: [[ref(item) for item in frozenset.__iter__(v)]]),
    ("bytes", bytes, lambda v, _: [bytes.hex(v)]),
    ("bytearray", bytearray, lambda v, _: [bytearray.hex(v)]),
    ("complex", complex, lambda v, _: [v.real, v.imag]),
    ("range", range, lambda v, _: [v.start, v.stop, v.step]),
    ("list", (type({}.keys()), type({}.values()), type({}.items())), lambda v, ref: [[ref(item) for item in v]]),
)


def unpack(
    message: Message,
    classes: Mapping[str, type] | None = None,
    find: Find | None = None,
    rebuild: Rebuild | None = None,
) -> Any:
    """The value of a message, in exact built-in types; raises `WireError` on an invalid message.

    classes: names of the types that are sent by their attributes. find: `find(name, number, state)` returns the local
    stand-in of a handle, `find(None, number)` an object of this side that is sent back. rebuild: without it, arrays
    arrive as lists, and instances of subclasses of built-in types as their built-in value.
    """
    try:
        root, nodes = message
        return Unpacking(nodes, classes or {}, find or _no_handles, rebuild).value(root)
    except WireError:
        raise
    except Exception as error:  # noqa: BLE001  # the other side may send any JSON, and types raise what they like
        raise WireError(f"not a value: {type(error).__name__}") from None


def _no_handles(name: str | None, number: Any, _: Any = None) -> Any:
    raise WireError(f"no objects cross here: {name} {number}")


class Unpacking:
    """The nodes of one message and the values built from them so far."""

    def __init__(self, nodes: list[Any], classes: Mapping[str, type], find: Find, rebuild: Rebuild | None) -> None:
        self._nodes, self._classes, self.find, self._rebuild = nodes, classes, find, rebuild
        self._built: dict[int, Any] = {}
        self._owed: list[Callable[[], Any]] = []

    def value(self, root: Any) -> Any:
        """The value of the message's root."""
        result = self.get(root)
        while self._owed:
            self._owed.pop()()
        return result

    def get(self, reference: Any) -> Any:
        """The value of a reference: itself, or the node at its index."""
        if not isinstance(reference, dict):
            return reference
        number = reference["r"]
        if number not in self._built:
            kind, *rest = self._nodes[number]
            self._built[number] = BUILDERS[kind](self, *rest)
        return self._built[number]

    def make_list(self, items: list[Any]) -> list[Any]:
        """A list, empty at first: it may contain itself, so it is filled after its parents exist."""
        shell: list[Any] = []
        self._owed.append(lambda: shell.extend(self.get(item) for item in items))
        return shell

    def make_dict(self, items: list[Any]) -> dict[Any, Any]:
        """A dict, filled later."""
        shell: dict[Any, Any] = {}
        self._owed.append(lambda: shell.update((self.get(key), self.get(item)) for key, item in items))
        return shell

    def make_object(self, name: str, attributes: list[Any]) -> Any:
        """An instance of a class that both sides know, without `__init__`; its attributes are set later."""
        shell: Any = object.__new__(self._classes[name])
        self._owed.append(lambda: vars(shell).update((str(key), self.get(item)) for key, item in attributes))
        return shell

    def several(self, items: list[Any]) -> list[Any]:
        """The items of a collection that cannot be filled later."""
        return [self.get(item) for item in items]

    def make_type(self, name: str) -> type:
        """A built-in type; built-in functions are not sent."""
        found = getattr(builtins, name)
        if not isinstance(found, type):
            raise WireError("no type")
        return found

    def make_standard(self, module: str, name: str, parts: list[Any]) -> Any:
        """A value of one of the `STANDARD` types."""
        if name not in STANDARD[module]:
            raise WireError("no such type")
        return getattr(__import__(module), name)(*map(self.whole, parts))

    def make_array(self, dtype: str, reference: Any) -> Any:
        """An array of numpy, or a scalar of it (no dtype) as a plain number."""
        if self._rebuild is None or not dtype:
            return self.get(reference)
        return self._rebuild.array(self.whole(reference), dtype)

    def make_kin(self, reference: Any, number: int, state: Any, kind: str, fields: list[str]) -> Any:
        """An instance of a subclass of a built-in type, which has more than its built-in value."""
        if self._rebuild is None:
            return self.get(reference)
        return self._rebuild.kin(self.whole(reference), self.find(kind, number, state), fields)

    def whole(self, reference: Any) -> Any:
        """A value that is filled already."""
        return Unpacking(self._nodes, self._classes, self.find, self._rebuild).value(reference)


BUILDERS: Mapping[str, Callable[..., Any]] = {
    "int": lambda _, text: int(text, 16),
    "float": lambda _, value: float(value),
    "str": lambda _, text: str(text),
    "bytes": lambda _, text: bytes.fromhex(text),
    "bytearray": lambda _, text: bytearray.fromhex(text),
    "complex": lambda _, real, imaginary: complex(real, imaginary),
    "range": lambda _, *bounds: range(*bounds),
    "list": Unpacking.make_list,
    "dict": Unpacking.make_dict,
    "set": lambda self, items: set(self.several(items)),
    "frozenset": lambda self, items: frozenset(self.several(items)),
    "tuple": lambda self, items: tuple(self.several(items)),
    "object": Unpacking.make_object,
    "standard": Unpacking.make_standard,
    "type": Unpacking.make_type,
    "array": Unpacking.make_array,
    "kin": Unpacking.make_kin,
    "mine": lambda self, number: self.find(None, number),
    "held": lambda self, number, state, name: self.find(name, number, state),
}
