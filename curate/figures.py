"""`--json` and `--quiet` of every command that prints figures: one mechanism.

A command prints its lines and returns its figures, as JSON holds them. With `--json` the lines go to stderr and stdout
holds one JSON document; with `--quiet` only warnings are printed, on stderr.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from typing import IO, Annotated, Any, Final

import typer

from curate.options import signed

Figures = Mapping[str, Any] | Sequence[Any]  # Any: JSON
_WARNING: Final = "warning"
_OPTIONS: Final = {
    "as_json": ("--json", "Print the figures as one JSON document; all other lines go to stderr."),
    "is_quiet": ("--quiet", "Print warnings and errors alone."),
}


def with_figures(command: Callable[..., Figures]) -> Callable[..., None]:
    """The command with `--json` and `--quiet`."""
    parameters = list(inspect.signature(command, eval_str=True).parameters.values())

    def run(*, as_json: bool, is_quiet: bool, **given: Any) -> None:  # Any: typer passes the value of each option
        with _lines(as_json=as_json, is_quiet=is_quiet):
            figures = command(**given)
        if as_json:
            typer.echo(json.dumps(figures, ensure_ascii=False, indent=1))

    return signed(run, command, [*parameters, *(_switch(name, *words) for name, words in _OPTIONS.items())])


def _switch(name: str, flag: str, text: str) -> inspect.Parameter:
    annotation = Annotated[bool, typer.Option(flag, help=text)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=False)


class _Warnings:
    """A text file that passes lines with a warning to stderr."""

    def __init__(self) -> None:
        self._line = ""

    def write(self, text: str) -> int:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            if _WARNING in line.lower():
                sys.stderr.write(f"{line}\n")
        return len(text)

    def flush(self) -> None:
        sys.stderr.flush()

    def isatty(self) -> bool:
        return False


@contextmanager
def _lines(*, as_json: bool, is_quiet: bool) -> Iterator[None]:
    """What is printed inside goes where the options say."""
    if not (as_json or is_quiet):
        yield
        return
    file: Any = _Warnings() if is_quiet else sys.stderr  # Any: a file as print needs it
    with _other_programs(), redirect_stdout(file):
        yield


@contextmanager
def _other_programs() -> Iterator[None]:
    """What libraries and child processes write to descriptor 1 goes to stderr: the JSON document stands alone."""
    plain: IO[str] | None = sys.__stdout__
    saved = None
    with suppress(OSError, ValueError, AttributeError):
        if plain is not None:
            plain.flush()
        saved = os.dup(1)
        os.dup2(2, 1)
    try:
        yield
    finally:
        if saved is not None:
            os.dup2(saved, 1)
            os.close(saved)
