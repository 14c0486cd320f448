"""Config models: frozen, strict, and the single place where an option's name, type, default and help stand.

`Config` is the base of every stage's and trainer's config. `parse` turns a mapping (one YAML table, one set of command
line options) into a config or into one `UserError` line that names the nearest right key. `RUNTIME` marks a field that
changes how a result is computed but not the result (a device, a number of workers): it stays out of the fingerprint.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from curate.errors import UserError

RUNTIME: Final[dict[str, Any]] = {"runtime": True}  # Any: pydantic's json_schema_extra is a free JSON object

C = TypeVar("C", bound="Config")


class Config(BaseModel):
    """Base of all configs: frozen, no unknown keys, defaults validated."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)

    def fingerprinted(self) -> dict[str, Any]:
        """The fields that decide the result, as JSON values: all but those marked `RUNTIME`."""
        runtime = {
            name
            for name, field in type(self).model_fields.items()
            if isinstance(field.json_schema_extra, dict) and field.json_schema_extra.get("runtime")
        }
        fields: dict[str, Any] = json.loads(self.model_dump_json(exclude=runtime))
        nested = {name: value for name, value in self if isinstance(value, Config) and name not in runtime}
        return fields | {name: value.fingerprinted() for name, value in nested.items()}


def parse(model: type[C], values: Mapping[str, Any], where: str | Callable[[str], str], table: str = "") -> C:
    """Build `model` from `values`; raise `UserError` on the first thing wrong, with `where` in front.

    `where` is how the user knows the values: a file name, or `--` for command line options, or a function that says
    which for a field; `table` is the path of keys to them inside the file, e.g. `stages.dedup`.
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        # a name that does not exist explains one that is missing
        first = min(error.errors(include_url=False), key=lambda found: found["type"] != "extra_forbidden")
        origin = where(str(first["loc"][0]) if first["loc"] else "") if callable(where) else where
        raise UserError(_line(model, first, origin, table)) from None


class _Loader(yaml.SafeLoader):
    """Safe YAML in which a key that stands twice is an error: PyYAML silently keeps the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        if doubled := [key for place, key in enumerate(keys) if key in keys[:place]]:
            raise yaml.constructor.ConstructorError(None, None, f"{doubled[0]} stands twice", node.start_mark)
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
        raise UserError(f"{path}: not valid YAML ({' '.join(str(error).split())}); mend it and run again") from None
    if not isinstance(loaded, dict):
        raise UserError(f"{path}: holds no table of settings; write `name: value` lines")
    return loaded


def nearest(word: str, known: list[str]) -> str:
    """`; did you mean X?` for the closest known word, else the list of what exists."""
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f"did you mean {close[0]}?" if close else f"choose from {', '.join(sorted(known))}"


def _line(model: type[Config], error: ErrorDetails, where: str, table: str) -> str:
    is_option = where == "--"
    path = [*filter(None, [table]), *(str(part) for part in error["loc"])]
    if is_option:
        path = [part.replace("_", "-") for part in path]
    name = f"--{path[0]}" if is_option and path else f"{where}: {'.'.join(path)}".removesuffix(": ")
    if error["type"] == "extra_forbidden":
        inner = f": {'.'.join(path[1:])}" if is_option and len(path) > 1 else ""
        return f"{name}{inner} is not a setting; {nearest(path[-1], _settings_at(model, error['loc'][:-1]))}"
    if error["type"] == "missing":
        return f"{name} is missing; set it"
    message = error["msg"].removeprefix("Value error, ")
    message = message[:1].lower() + message[1:]
    if not path:
        return f"{where}: {message}" if not is_option else message
    return f"{name} is {error['input']!r}; {message}"


def _settings_at(model: type[BaseModel], path: tuple[int | str, ...]) -> list[str]:
    """The names that a table inside the settings may hold; those of the whole where the path leaves our models."""
    inner = model
    for part in path:
        found = inner.model_fields[str(part)].annotation if str(part) in inner.model_fields else None
        if not (isinstance(found, type) and issubclass(found, BaseModel)):
            return list(model.model_fields)
        inner = found
    return list(inner.model_fields)
