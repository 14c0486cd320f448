"""Builds command line options from a config model, so that name, type, default and help are written once.

`with_options(command, Config)` gives typer a signature in which the parameter `config` is replaced by one option per
setting of the model and of its tables (`--sampling.temperature`), and by `--config FILE`, a YAML file of the same
settings. Types that typer supports pass unchanged; the model parses all others from text. `with_records` replaces a
dataclass parameter by its fields, each annotated for typer.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import typer
from pydantic.fields import FieldInfo

from curate.config import Config, option, parse, read_yaml
from curate.errors import UserError
from curate.tables import Place, at, holds, merged, nested, places, table_of

T = TypeVar("T")
PLAIN = (int, float, bool, str, Path)

# options for several sources on a command line, for `curate.ingest.sources.sources_from`
Maps = Annotated[
    list[str],
    typer.Option("--map", metavar="<str>", help="FIELD=COLUMN, or NAME:FIELD=COLUMN for one source; repeatable."),
]
Names = Annotated[list[str], typer.Option("--name", metavar="<str>", help="Names of the sources, in order.")]
Revisions = Annotated[
    list[str], typer.Option("--revision", metavar="<str>", help="Revision, or NAME=REVISION for one source.")
]
Splits = Annotated[
    list[str], typer.Option("--split", metavar="<str>", help="Split of a Hub dataset, or NAME=SPLIT for one source.")
]


SETTINGS: Final = inspect.Parameter(
    "settings",
    inspect.Parameter.KEYWORD_ONLY,
    annotation=Annotated[
        Path | None, typer.Option("--config", help="YAML file of the options below; command-line options override it.")
    ],
    default=None,
)


def with_options(command: Callable[..., T], model: type[Config]) -> Callable[..., T]:
    """The command with a signature for typer: its own parameters, then one option per setting of `model`.

    `command` takes a parameter `config`; the wrapper builds it from the given options. A bad value raises `UserError`
    with one line.
    """
    command = with_records(command)
    own = [p for p in inspect.signature(command).parameters.values() if p.name != "config"]
    options = {_variable(place): place for place in places(model)}
    settable = [_parameter(name, place) for name, place in options.items()]

    def run(settings: Path | None, **given: Any) -> T:  # Any: typer passes the parsed value of each option
        mine = {p.name: given.pop(p.name) for p in own}
        # an option that is not given comes from the file, else from the model's default
        values = _values(model, {options[key].path: value for key, value in given.items() if value not in (None, [])})
        table = _read(settings, model) if settings else {}

        def where(path: tuple[str, ...]) -> str:
            return str(settings) if path and path[0] in table and not holds(values, path) else "--"

        return command(**mine, config=parse(model, merged(model, table, values), where))

    return signed(run, command, [*own, SETTINGS, *settable])


def with_records(command: Callable[..., T]) -> Callable[..., T]:
    """The command with a signature for typer: a dataclass parameter is replaced by one parameter per field."""
    parameters = list(inspect.signature(command, eval_str=True).parameters.values())
    # Any: the dataclasses of the command's annotations
    records: dict[str, Any] = {p.name: p.annotation for p in parameters if is_dataclass(p.annotation)}

    def run(**given: Any) -> T:  # Any: typer passes the parsed value of each option
        for name, record in records.items():
            given[name] = record(**{field.name: given.pop(field.name) for field in fields(record)})
        return command(**given)

    flat = [part for p in parameters for part in (_of_record(p.annotation) if p.name in records else (p,))]
    return signed(run, command, flat)


def _of_record(record: Any) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(record, include_extras=True)
    for field in fields(record):
        default = field.default if field.default_factory is MISSING else field.default_factory()
        yield inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hints[field.name],
            default=inspect.Parameter.empty if default is MISSING else default,
        )


def signed(run: Callable[..., T], command: Callable[..., Any], parameters: list[inspect.Parameter]) -> Callable[..., T]:
    """`run` with the command's name and docstring, and these parameters as keywords."""
    parameters = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in parameters]
    run.__name__ = command.__name__
    run.__doc__ = command.__doc__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # functions take it at run time
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def _read(settings: Path, model: type[Config]) -> dict[str, Any]:
    try:
        return nested(model, read_yaml(settings))
    except ValueError as error:
        raise UserError(f"{settings}: {error}") from None


def _values(model: type[Config], given: dict[tuple[str, ...], Any]) -> dict[str, Any]:  # Any: as typer parsed it
    """The values of options, inside their tables; one setting of a table overrides a table that is given whole."""
    values: dict[str, Any] = {}
    try:
        for path in sorted(given, key=len):
            values = merged(model, values, nested(model, at(path, given[path])))
    except ValueError as error:
        raise UserError(f"--{error}") from None
    return values


def _variable(place: Place) -> str:
    """A valid Python name for the parameter of an option."""
    return "__".join(place.path)


def _parameter(name: str, place: Place) -> inspect.Parameter:
    flags = [option(each) for each in place.names]
    is_switch = place.info.annotation is bool
    made = typer.Option(
        *([f"{flag}/--no-{flag[2:]}" for flag in flags] if is_switch else flags),
        help=_help(place),
        show_default=False,
        metavar=_metavar(place.info),
        hidden=place.is_hidden,
        rich_help_panel=place.panel,
    )
    annotation = Annotated[_option_type(place.info.annotation), made]  # type: ignore[valid-type]  # made at run time
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=None)


def _option_type(annotation: Any) -> Any:
    """The type that typer parses: a plain type, a list, or text for the model to parse; None if not given."""
    args = [arg for arg in get_args(annotation) if arg is not type(None)]
    if get_origin(annotation) in (Union, types.UnionType):
        return _option_type(args[0]) if len(args) == 1 else str | None
    if get_origin(annotation) is Annotated:
        return _option_type(args[0])
    if get_origin(annotation) in (list, tuple):
        return list[str] | None
    return annotation | None if annotation in PLAIN else str | None


def _help(place: Place) -> str:
    """The field's description, then its default; typer itself would put a text default in parentheses."""
    info = place.info
    if (table := table_of(info)) is not None:
        first, *_ = table.model_fields
        alone = option(f"{place.names[-1]}.{first}")
        return f"{info.description} One field: {alone} VALUE.  [fields: {', '.join(table.model_fields)}]"
    default = info.get_default(call_default_factory=True) if not info.is_required() else None
    if default in (None, (), [], {}, ""):
        return info.description or ""
    return f"{info.description}  [default: {_shown(default)}]"


def _shown(default: Any) -> str:
    if isinstance(default, bool):
        return "on" if default else "off"
    shown = ", ".join(map(str, default)) if isinstance(default, list | tuple) else str(default)
    return shown.replace("\n", "\\n")


def _metavar(info: FieldInfo) -> str | None:
    if get_origin(info.annotation) is Literal:
        return "|".join(str(arg) for arg in get_args(info.annotation))
    # typer would show list[str], which does not help a user
    return "<str>" if _option_type(info.annotation) == (list[str] | None) else None
