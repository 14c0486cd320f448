"""Help of a command in panels, as wide as the terminal: the settings of one thing under one heading.

A config model names the panel of its settings (`Config.panel`); what a command takes beside its settings is its input
and output. An option is listed by its short name; docs/cli.md lists all names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import typer
from typer.core import TyperCommand

from curate.tables import OPTIONS

Command = TypeVar("Command", bound=Callable[..., Any])  # Any: a function with any options

IO: Final = "Input and output"
_INDENT_MAX: Final = 44  # names up to this width share a line with their text
_HALF: Final = 3  # of a narrow terminal the names take at most a third


class PanelCommand(TyperCommand):
    """A command whose options are listed by panel."""

    def format_options(self, ctx: Any, formatter: Any) -> None:  # Any: click's types, which typer does not export
        """Write the arguments, then the options of each panel."""
        panels: dict[str, list[tuple[str, str]]] = {"Arguments": [], IO: []}
        for param in self.get_params(ctx):
            if (record := _record(param, ctx)) is not None:
                is_argument = param.param_type_name == "argument"
                panel = "Arguments" if is_argument else getattr(param, "rich_help_panel", None) or IO
                panels.setdefault(panel, []).append(record)
        filled = {name: rows for name, rows in panels.items() if rows}
        if IO in filled and not {*filled} - {"Arguments", IO}:
            filled[OPTIONS] = filled.pop(IO)
        for name, rows in filled.items():
            with formatter.section(name):
                formatter.write_dl(rows, col_max=max(24, min(_INDENT_MAX, formatter.width // _HALF)))


class Commands(typer.Typer):
    """A room's commands, each with its help in panels."""

    def __init__(self, **settings: Any) -> None:  # Any: typer's settings
        super().__init__(
            no_args_is_help=True,
            add_completion=False,
            rich_markup_mode=None,
            pretty_exceptions_enable=False,
            **settings,
        )

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Command], Command]:
        """See typer."""
        decorator: Callable[[Command], Command] = super().command(name, **{"cls": PanelCommand, **settings})
        return decorator


def _record(param: Any, ctx: Any) -> tuple[str, str] | None:
    """Names and text of a parameter for a list; an option of a table by its short name."""
    record: tuple[str, str] | None = param.get_help_record(ctx)
    if record is None or param.param_type_name == "argument" or len(param.opts) == 1:
        return record
    if not any("." in name for name in param.opts):
        return record
    names = [names[-1] for names in (param.opts, param.secondary_opts) if names]
    kind = "" if param.secondary_opts else record[0].rpartition(names[0])[2]  # " <float>"
    return f"{' / '.join(names)}{kind}", record[1]
