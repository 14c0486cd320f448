"""Tables inside a config: config models that are fields of another, and the short forms of their settings.

A field whose type is a config model is a table. In a file its settings are below its name; on a command line they are
`--table.setting`. The mark `short` gives settings of a table a name beside the table: `temperature` for
`sampling.temperature`. A table with the mark `AS_TEXT` may also be given whole, as YAML in one option. A config's
`panel` is the heading of its settings in the help of commands.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple, Union, get_args, get_origin

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo

OPTIONS: Final = "Options"  # the panel of settings whose config names none
AS_TEXT: Final[dict[str, Any]] = {"as_text": True}  # Any: pydantic's json_schema_extra is a free JSON object
Path = tuple[str, ...]


def short(*names: str, **renamed: str) -> dict[str, Any]:
    """The mark of a table with short forms: `short("temperature", probe_steps="steps")`, each as `NAME=SETTING`."""
    return {"short": {**{name: name for name in names}, **renamed}}


class Place(NamedTuple):
    """A setting of a config: its path of names, its field, and all names that it can be given by, the full one first.

    A hidden setting belongs to a table that may be given whole, and has no short form; the table's help lists it.
    """

    path: Path
    info: FieldInfo
    names: tuple[str, ...]
    is_hidden: bool
    panel: str = OPTIONS


def places(model: type[BaseModel]) -> Iterator[Place]:
    """Every setting of a config and of its tables; a model's own settings come before inherited ones."""
    yield from _places(model, Place((), FieldInfo(), ("",), is_hidden=False))


def table_of(info: FieldInfo) -> type[BaseModel] | None:
    """The config model of a field that is a table, possibly optional; None for a plain field."""
    found = info.annotation
    if get_origin(found) in (Union, types.UnionType):
        inner = [arg for arg in get_args(found) if arg is not type(None)]
        found = inner[0] if len(inner) == 1 else None
    return found if isinstance(found, type) and issubclass(found, BaseModel) else None


def panel_of(model: type[BaseModel], name: str) -> str:
    """The panel of a setting in a command's help: its own, its table's, or that of the config that declares it."""
    info = model.model_fields[name]
    if isinstance(info.json_schema_extra, dict) and "panel" in info.json_schema_extra:
        return str(info.json_schema_extra["panel"])
    table = table_of(info)
    declaring = [base for base in model.__mro__ if name in vars(base).get("__annotations__", {})]
    candidates = [*(table.__mro__ if table is not None else ()), *declaring[:1]]
    return next((str(vars(base)["panel"]) for base in candidates if vars(base).get("panel")), OPTIONS)


def is_marked(info: FieldInfo, mark: Mapping[str, Any]) -> bool:
    """Whether a field carries a mark such as `AS_TEXT`."""
    return isinstance(info.json_schema_extra, dict) and mark.items() <= info.json_schema_extra.items()


@cache
def short_forms(model: type[BaseModel]) -> Mapping[str, tuple[str, str]]:
    """The table, and the setting in it, that each short form of a model refers to."""
    return {
        form: (table, setting) for table, info in model.model_fields.items() for form, setting in _shorts(info).items()
    }


def nested(model: type[BaseModel], values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` with every short form moved into its table; raises ValueError if a setting is given twice."""
    forms = short_forms(model)
    # a table may have the name of a short form: `rewards: [a, b]` is `rewards: {names: [a, b]}`
    moving = {name: value for name, value in values.items() if name in forms and not _is_table(value, name, model)}
    result = {name: value for name, value in values.items() if name not in moving}
    for name, value in moving.items():
        table, setting = forms[name]
        held = result.get(table, {})
        if not isinstance(held, Mapping):
            # pydantic reports no TypeError
            raise ValueError(f"{table} is {held!r}, next to {name}; write it as a table with {setting} in it")  # noqa: TRY004
        if setting in held:
            raise ValueError(f"{name} is given twice, also as {table}.{setting}; remove one")
        result[table] = {**held, setting: value}
    return {name: _inside(model, name, value) for name, value in result.items()}


def merged(model: type[BaseModel], under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Both together, merged setting by setting, also inside tables; values of `over` take precedence."""
    result = dict(under)
    for name, value in over.items():
        table, below = _table_named(model, name), result.get(name)
        is_both = isinstance(below, Mapping) and isinstance(value, Mapping)
        result[name] = merged(table, below, value) if table is not None and is_both else value  # type: ignore[arg-type]  # both are mappings
    return result


def at(path: Path, value: Any) -> dict[str, Any]:  # Any: the value of any setting
    """A value inside the tables of its path: `{"sampling": {"temperature": 0.7}}`."""
    for name in reversed(path):
        value = {name: value}
    return dict(value)


def dotted(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:  # Any: values of any settings
    """Values by full name: `sampling.temperature`."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        flat |= dotted(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return flat


def holds(values: Mapping[str, Any], path: Path) -> bool:
    """Whether values contain the setting at a path, itself or inside a table that is given whole."""
    for name in path:
        if name not in values:
            return False
        if not isinstance(values[name], Mapping):
            return True
        values = values[name]
    return bool(path)


def _places(model: type[BaseModel], above: Place) -> Iterator[Place]:
    prefixes = tuple(f"{name}." if name else "" for name in above.names)
    shorts = _shorts(above.info)
    beside = [name.rpartition(".")[0] for name in above.names]
    for name in sorted(model.model_fields, key=lambda name: name not in model.__annotations__):
        info = model.model_fields[name]
        forms = [form for form, setting in shorts.items() if setting == name]
        own = [f"{prefix}{name}" for prefix in prefixes]
        other = [f"{place}.{form}" if place else form for place in beside for form in forms]
        table, is_whole = table_of(info), is_marked(info, AS_TEXT)
        panel = above.panel if above.path else panel_of(model, name)
        place = Place((*above.path, name), info, (*own, *other), above.is_hidden and not forms, panel)
        if table is None or is_whole:
            yield place
        if table is not None:
            yield from _places(table, place._replace(is_hidden=above.is_hidden or is_whole))


def _shorts(info: FieldInfo) -> dict[str, str]:
    mark = info.json_schema_extra.get("short") if isinstance(info.json_schema_extra, dict) else None
    return mark if isinstance(mark, dict) else {}  # type: ignore[return-value]  # `short` writes it


def _inside(model: type[BaseModel], name: str, value: Any) -> Any:  # Any: user input
    table = _table_named(model, name)
    if table is None:
        return value
    if isinstance(value, str) and is_marked(model.model_fields[name], AS_TEXT):
        value = _read_text(name, value)
    return nested(table, value) if isinstance(value, Mapping) else value


def _table_named(model: type[BaseModel], name: str) -> type[BaseModel] | None:
    return table_of(model.model_fields[name]) if name in model.model_fields else None


def _read_text(name: str, text: str) -> Any:  # Any: user input
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"{name}: not valid YAML ({' '.join(str(error).split())})") from None


def _is_table(value: Any, name: str, model: type[BaseModel]) -> bool:  # Any: user input
    return name in model.model_fields and isinstance(value, Mapping | BaseModel)
