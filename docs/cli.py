"""Writes docs/cli.md: every command with its help, arguments, options and example.

The page is read from the signatures of the typer apps, not from rendered help, so no terminal width and no layout of
typer enters it. `make tree` writes it; a test holds it current.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args, get_origin

import typer

ROOT: Final = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the checkout's own rooms, whatever is installed

import gradus  # noqa: E402
from gradus.names import rows  # noqa: E402

PAGE: Final = ROOT / "docs" / "cli.md"
HEAD: Final = """# Command line

Every command of `gradus <room> <command>`. `make tree` writes this page from the code; `--help` prints the same text in
panels, as wide as the terminal, with the shortest name of each option.

Options whose type is *repeatable* may be given several times. A command with `--config` reads the same options from a
YAML file, with `_` for `-`, those with a dot (`--sampling.temperature`) in tables (`sampling: {temperature: 0.7}`);
options on the command line override the file. Options with several names may be given by any of them.

Commands that print figures take `--json`, which leaves one JSON document on stdout and sends all other lines to stderr,
and `--quiet`, which prints warnings and errors alone.

`gradus --version` prints the version; `gradus --install-completion` installs completion for the shell. The exit code is
0 after success, 1 after an error that one line on stderr explains, 2 for a command line that cannot be parsed, and 130
after Ctrl-C.
"""
NAMES: Final = """
## Names elsewhere

What TRL, transformers, open-instruct, verl, OpenRLHF and vLLM call a setting, and its option here. The error line of an
unknown option says the same.
"""
BEHIND: Final = re.compile(r"  \[(default|fields): (.*)\]$", re.DOTALL)


class Row(NamedTuple):
    """An argument or option as the page shows it; `default` is `required` where one must be given."""

    name: str
    type: str
    default: str
    help: str
    is_argument: bool


def page() -> str:
    """All rooms with their commands, as Markdown, and the commands of no room."""
    rooms = "".join(_room(name, room) for name, room in gradus.ROOMS.items())
    door: Any = typer.main.get_command(gradus.app)  # Any: click's Group, which typer does not export
    alone = [_command(f"gradus {name}", door.commands[name]) for name in gradus.ALONE]
    return f"{HEAD}{rooms}{''.join(text.replace('### ', '## ', 1) for text in alone)}{_names()}"


def _names() -> str:
    lines = [f"| {elsewhere} | {escaped(here) if not here.startswith('`') else here} |" for elsewhere, here in rows()]
    return "\n".join([NAMES, "| Elsewhere | Here |", "|---|---|", *lines, ""])


def _room(name: str, room: gradus.Room) -> str:
    app: typer.Typer = importlib.import_module(f"{room.package}.commands").app
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]  # of a room it is a group
    listed = "".join(
        f"- [`{command}`](#gradus-{name}-{command}): {escaped(_paragraphs(found.help)[0])}\n"
        for command, found in commands.items()
    )
    sections = "".join(_command(f"gradus {name} {command}", found) for command, found in commands.items())
    return f"\n## gradus {name}\n\n{escaped(room.help)}\n\n{listed}{sections}"


def _command(path: str, command: Any) -> str:  # Any: click's Command, which typer does not export
    text, _, example = command.help.partition("Example:")
    declared = inspect.signature(command.callback, eval_str=True).parameters
    shown = [param for param in command.params if param.name in declared and not getattr(param, "hidden", False)]
    rows = [_row(param, declared[param.name]) for param in shown]
    parts = [
        f"### {path}",
        *map(escaped, _paragraphs(text)),
        f"```sh\n{' '.join(example.split())}\n```",
        _table("Argument", [row for row in rows if row.is_argument]),
        _table("Option", [row for row in rows if not row.is_argument]),
    ]
    return "\n" + "\n\n".join(part for part in parts if part) + "\n"


def _paragraphs(text: str) -> list[str]:
    return [" ".join(part.split()) for part in inspect.cleandoc(text).strip().split("\n\n")]


def _row(param: Any, declared: inspect.Parameter) -> Row:  # Any: click's Parameter
    is_argument = not param.opts[0].startswith("-")
    text, described = param.help or "", BEHIND.search(param.help or "")
    default = _default(declared.default)
    if described:
        text = text[: described.start()]
        if described[1] == "default":
            default = code(described[2])
        else:
            text = f"{text.rstrip('.')}. Fields: {', '.join(map(code, described[2].split(', ')))}"
    names = [param.metavar or param.name.upper()] if is_argument else [*param.opts, *param.secondary_opts]
    kind = _type(declared.annotation, "" if is_argument else param.metavar or "")
    return Row(", ".join(map(code, names)), kind, default, escaped(text), is_argument)


def _type(annotation: Any, metavar: str) -> str:  # Any: a type form
    """A type without its None, as `--help` names it; the choices where the option has any."""
    if "|" in metavar:
        return ", ".join(map(code, metavar.strip("<>").split("|")))
    if get_origin(annotation) is Annotated:
        return _type(get_args(annotation)[0], metavar)
    if get_origin(annotation) is list:
        return f"{_type(get_args(annotation)[0], metavar)}, repeatable"
    if get_origin(annotation) is Literal:
        return ", ".join(map(code, get_args(annotation)))
    inner = [arg for arg in get_args(annotation) if arg is not NoneType]
    if inner:
        return _type(inner[0], metavar)
    return "flag" if annotation is bool else annotation.__name__.lower()


def _default(default: Any) -> str:  # Any: whatever a command's parameter has
    if default is inspect.Parameter.empty:
        return "required"
    if default is False:
        return code("off")
    return code(str(default)) if default not in (None, "", []) else ""


def _table(head: str, rows: list[Row]) -> str:
    if not rows:
        return ""
    lines = [f"| {row.name} | {row.type} | {row.default} | {row.help} |" for row in rows]
    return "\n".join([f"| {head} | Type | Default | Description |", "|---|---|---|---|", *lines])


def escaped(text: str) -> str:
    """Plain text with `code` in it as Markdown: nothing outside the code is markup, and no table cell ends early."""
    parts = re.split(r"`([^`]+)`", " ".join(text.split()))
    return "".join(code(part) if place % 2 else _literal(part) for place, part in enumerate(parts))


def code(text: str) -> str:
    """A code span; as HTML where it holds a bar or a backtick, which a cell of a table cannot."""
    if not re.search(r"[|`]", text):
        return f"`{text}`"
    return f"<code>{text.replace('&', '&amp;').replace('<', '&lt;').replace('|', '&#124;')}</code>"


def _literal(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace("|", "&#124;")
    return re.sub(r"([\\*\[\]]|\b_|_\b)", r"\\\1", text)


if __name__ == "__main__":
    sys.stdout.write(page()) if "--print" in sys.argv else PAGE.write_text(page(), encoding="utf-8")
