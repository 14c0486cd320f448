"""Config models: frozen, strict, and the single definition of an option's name, type, default and help.

`Config` is the base of every stage's and trainer's config. `parse` turns a mapping (one YAML table, one set of command
line options) into a config, or raises one `UserError` line that names the nearest valid key. `RUNTIME` marks a field
that changes how a result is computed but not the result (a device, a number of workers); the fingerprint omits it.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Final, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import ErrorDetails

from curate.errors import UserError
from curate.tables import is_marked, nested, places, short_forms, table_of

RUNTIME: Final[dict[str, Any]] = {"runtime": True}  # Any: pydantic's json_schema_extra is a free JSON object

C = TypeVar("C", bound="Config")


class Config(BaseModel):
    """Base of all configs: frozen, no unknown keys, defaults validated, short forms read (`curate.tables`)."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)
    panel: ClassVar[str] = ""  # heading of its settings in the help of commands, see `curate.tables.panel_of`

    @model_validator(mode="before")
    @classmethod
    def _read_short_forms(cls, values: Any) -> Any:  # Any: pydantic checks what comes out
        return nested(cls, values) if isinstance(values, Mapping) else values

    def fingerprinted(self) -> dict[str, Any]:
        """The fields that decide the result, as JSON values: all but those marked `RUNTIME`."""
        runtime = {name for name, field in type(self).model_fields.items() if is_marked(field, RUNTIME)}
        fields: dict[str, Any] = json.loads(self.model_dump_json(exclude=runtime))
        nested = {name: value for name, value in self if isinstance(value, Config) and name not in runtime}
        return fields | {name: value.fingerprinted() for name, value in nested.items()}


def parse(
    model: type[C], values: Mapping[str, Any], where: str | Callable[[tuple[str, ...]], str], table: str = ""
) -> C:
    """Build `model` from `values`; raise `UserError` on the first error, prefixed with `where`.

    `where` is the origin of the values: a file name, `--` for command line options, or a function that returns either
    for the path of a field. `table` is the path of keys to the values inside the file, e.g. `stages.dedup`.
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        # an unknown name first: a misspelt key explains a missing one
        first = min(error.errors(include_url=False), key=lambda found: found["type"] != "extra_forbidden")
        origin = where(tuple(map(str, first["loc"]))) if callable(where) else where
        raise UserError(_option_line(model, first) if origin == "--" else _line(model, first, origin, table)) from None


class _Loader(yaml.SafeLoader):
    """Safe YAML in which a duplicate key is an error: PyYAML silently keeps the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        if doubled := [key for place, key in enumerate(keys) if key in keys[:place]]:
            raise yaml.constructor.ConstructorError(None, None, f"{doubled[0]} occurs twice", node.start_mark)
        return super().construct_mapping(node, deep)


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a YAML mapping, or raise `UserError` naming the file and line."""
    try:
        loaded = yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506  # a SafeLoader
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; give the path of a YAML file") from None
    except IsADirectoryError:
        raise UserError(f"{path}: is a folder; give the path of a YAML file") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not valid YAML ({' '.join(str(error).split())}); correct it and run again") from None
    if not isinstance(loaded, dict):
        raise UserError(f"{path}: is not a table of settings; write `name: value` lines")
    return loaded


def nearest(word: str, known: list[str]) -> str:
    """`did you mean X?` for the closest known word, else `choose from` the list of known words."""
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f"did you mean {close[0]}?" if close else f"choose from {', '.join(sorted(known))}"


def option(name: str) -> str:
    """The command line form of a setting: `--sampling.max-tokens`."""
    return f"--{name.replace('_', '-')}"


def _line(model: type[Config], error: ErrorDetails, where: str, table: str) -> str:
    path = ".".join([*filter(None, [table]), *(str(part) for part in error["loc"])])
    if error["type"] == "extra_forbidden":
        return f"{where}: {path} is not a setting; {_nearest_setting(model, error['loc'])}"
    return f"{where}: {_complaint(path, error)}"


def _option_line(model: type[Config], error: ErrorDetails) -> str:
    if error["type"] == "extra_forbidden":
        # inside a table given as YAML, or a keyword in our own code
        above, wrong = [str(part) for part in error["loc"][:-1]], str(error["loc"][-1])
        name = f"{option('.'.join(above))}: {wrong}" if above else option(wrong)
        return f"{name} is not a setting; {_nearest_setting(model, error['loc'])}"
    return _complaint(_option_at(model, error["loc"]), error)


def _complaint(name: str, error: ErrorDetails) -> str:
    if error["type"] == "missing":
        return f"{name} is missing; set it"
    if error["type"] == "model_type":
        return f"{name} is {error['input']!r}; write a table of its settings"
    message = error["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    return f"{name} is {error['input']!r}; {message}" if name else message


def _option_at(model: type[Config], loc: tuple[int | str, ...]) -> str:
    """The option of the setting at `loc`, in its short form if it has one; '' for the config as a whole."""
    found = [place for place in places(model) if place.path == loc[: len(place.path)]]
    if not found:
        return ""
    return option(max(found, key=lambda place: len(place.path)).names[-1])


def _nearest_setting(model: type[BaseModel], loc: tuple[int | str, ...]) -> str:
    """A suggestion for the unknown setting at the end of `loc`; names are relative to its table."""
    inner, word = model, str(loc[-1])
    for part in loc[:-1]:
        found = table_of(inner.model_fields[str(part)]) if str(part) in inner.model_fields else None
        if found is None:
            # the path leaves our models
            return nearest(word, list(model.model_fields))
        inner = found
    dotted = [".".join(place.path) for place in places(inner)]
    if below := [name for name in dotted if name.endswith(f".{word}")]:
        return f"did you mean {below[0]}?"
    known = [*inner.model_fields, *short_forms(inner)]
    close = difflib.get_close_matches(word, [*known, *dotted], n=1, cutoff=0.6)
    return f"did you mean {close[0]}?" if close else nearest(word, known)
