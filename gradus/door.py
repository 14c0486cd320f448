"""The entry point: `gradus <room> <command>`. It imports a room only when one of its commands is called.

`gradus --help` imports no room, which keeps it fast. A user's mistake (`UserError`) becomes one line on stderr and exit
1, a command line that cannot be parsed one line and exit 2; any other exception is a bug and keeps its traceback.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import sys
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

import typer
from typer.core import TyperGroup

STOPPED: Final = 130  # typer's exit code after Ctrl-C
MISUSED: Final = 2  # for a command line that cannot be parsed, as shells and click use it


class Room(NamedTuple):
    """A room's package, whose `commands.app` is its typer app, and its line in `gradus --help`."""

    package: str
    help: str


ROOMS: Final = {
    "curate": Room("curate", "Raw pools to a curated, graded dataset: one command per stage."),
    "curriculum": Room("curriculum", "Problem selection: inspect, plot and simulate a curriculum."),
    "train": Room("train", "SFT, GRPO with the curriculum, and evaluation, on TRL."),
    "card": Room("data_cards", "Data cards: build, push, pull and trace dataset artifacts."),
}


DOCTOR, EXPORT = "doctor", "export"
ALONE: Final = (DOCTOR, EXPORT)  # the commands of no room

# read by torch and its OpenMP when they are loaded; values that the user set take precedence
BEFORE_TORCH: Final = {
    # otherwise its C++ side warns about memory nodes whenever vLLM starts
    "TORCH_CPP_LOG_LEVEL": "ERROR",
    # waiting threads that spin occupy the cores that others need: `benchmarks/busy_machine.py`
    "GOMP_SPINCOUNT": "10000",
}


class Door(TyperGroup):
    """A command group that imports a room when it is called, not for the help of `gradus` itself."""

    def list_commands(self, ctx: Any) -> list[str]:  # Any: click's Context, which typer does not export
        """The rooms, in the order of the workflow, and the commands of no room."""
        return [*ROOMS, *ALONE]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A placeholder with the room's help line, enough for `gradus --help`."""
        if cmd_name in ROOMS:
            return TyperGroup(name=cmd_name, help=ROOMS[cmd_name].help)
        return super().get_command(ctx, cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The room that the arguments name, imported here."""
        if args[0] in ALONE:
            return args[0], super().get_command(ctx, args[0]), args[1:]
        if args[0] not in ROOMS:
            from curate.config import nearest

            ctx.fail(f"{args[0]}: no such room; {nearest(args[0], [*ROOMS, *ALONE])}")
        room: typer.Typer = importlib.import_module(f"{ROOMS[args[0]].package}.commands").app
        return args[0], typer.main.get_command(room), args[1:]


app = typer.Typer(
    cls=Door,
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    # inherited by every command: as wide as the terminal, where click stops at 80 columns
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 10_000},
    help="Turn raw problem pools into reinforcement-learning curricula and train on them.\n\n"
    "Example: gradus curate run pipeline.yaml --out runs/first",
)


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"gradus {importlib.metadata.version('gradus-rlvr')}")
        raise typer.Exit


@app.callback()
def _door(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


@app.command(DOCTOR)
def _doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Print what this machine and environment have for gradus, and what to do about what is missing.

    Example: gradus doctor
    """
    from curate.doctor import doctor

    raise typer.Exit(doctor(as_json=as_json))


@app.command(EXPORT)
def _export(
    dataset: Annotated[Path, typer.Argument(help="Dataset or artifact folder.", show_default=False)],
    target: Annotated[
        Literal["trl", "verl", "open-instruct", "prime-rl", "openrlhf"],
        typer.Option("--to", help="Trainer that reads the file.", show_default=False),
    ],
    out: Annotated[Path, typer.Option("--out", help="Parquet file, or JSON Lines for OpenRLHF.", show_default=False)],
    template: Annotated[
        str, typer.Option(help="Text around the problem, as for curate difficulty: a name, a text or @FILE.")
    ] = "{prompt}",
    system: Annotated[str | None, typer.Option(help="System message.", show_default=False)] = None,
) -> None:
    """Write the kept problems of a dataset in the format of another trainer.

    Problems that the format cannot hold are left out and counted.

    Example: gradus export dataset --to verl --out train.parquet
    """
    from curate.config import parse
    from curate.engines.prompts import PromptConfig
    from data_cards.export import export

    prompts = parse(PromptConfig, {"template": template, "system": system}, "--")
    done = export(dataset, target, out, prompts)
    left_out = "".join(f"; {count:,} {reason}" for reason, count in done.left_out.items())
    typer.echo(f"{done.path}: {done.num_rows:,} problems for {target}{left_out and f' (left out{left_out[1:]})'}")
    if template == "{prompt}" and system is None:
        typer.echo("No instruction says how to answer; --template boxed, or a text of your own, adds one.")


def shadowed_room() -> str | None:
    """An error line naming the file that shadows one of our top-level packages, or None."""
    here = Path(__file__).resolve().parents[1]
    for package in (room.package for room in ROOMS.values()):
        spec = importlib.util.find_spec(package)
        found = Path(spec.origin).resolve() if spec is not None and spec.origin else None
        if found != here / package / "__init__.py":
            return f"{found or package}: hides gradus' own package {package!r}; rename it or take it off PYTHONPATH"
    return None


def prepare_for_torch() -> None:
    """Set the environment variables of `BEFORE_TORCH` that the user has not set."""
    for name, value in BEFORE_TORCH.items():
        os.environ.setdefault(name, value)


def misused(error: typer.TyperException) -> str:
    """The error line for a command line that cannot be parsed: an unknown option, a missing argument."""
    ctx, message = getattr(error, "ctx", None), str(getattr(error, "format_message", error.__str__)())
    if "\n" in message:
        return message  # a group without a command: its help
    reason = message[:1].lower() + message[1:].rstrip(".")
    if (unknown := getattr(error, "option_name", None)) and "no such option" in reason and ctx is not None:
        from gradus.names import hint

        options = [name for param in ctx.command.params for name in param.opts]
        reason = hint(unknown, options) or reason
    where = f"{ctx.command_path} --help" if ctx is not None else "the command's --help"
    return f"gradus: {reason}{' ' if reason.endswith('?') else '; '}see {where}"


def main() -> None:
    """Entry point of the console script `gradus`."""
    if (line := shadowed_room()) is not None:
        sys.exit(f"gradus: {line}")
    from curate.errors import Stopped, UserError
    from curate.parts import missing

    prepare_for_torch()
    try:
        code = app(prog_name="gradus", standalone_mode=False)
    except Stopped as stop:
        sys.stderr.write(f"gradus: {stop}\n")
        sys.exit(stop.exit_status)
    except UserError as error:
        sys.exit(f"gradus: {error}")
    except typer.TyperException as error:
        sys.stderr.write(f"{misused(error)}\n")
        sys.exit(MISUSED)
    except ModuleNotFoundError as error:
        if (absent := missing(error)) is None:
            raise
        sys.exit(f"gradus: {absent}")
    if code == STOPPED:
        sys.stderr.write("gradus: stopped\n")
    sys.exit(code)
