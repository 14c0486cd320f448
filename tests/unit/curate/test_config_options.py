"""Configs, their files and their command line options: one line for a mistake, and the nearest right name."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import pytest
import typer
from pydantic import Field
from typer.testing import CliRunner

from curate.config import RUNTIME, Config, parse, read_yaml
from curate.errors import UserError
from curate.options import with_options, with_records


class Inner(Config):
    """A nested table."""

    depth: int = Field(2, description="How deep.")


class Example(Config):
    """Do a thing."""

    threshold: float = Field(0.7, ge=0, le=1, description="Where it starts.")
    mode: Literal["drop", "keep"] = Field("drop", description="What to do.")
    names: tuple[str, ...] = Field((), description="Names.")
    limit: int | None = Field(None, ge=1, description="At most so many.")
    is_loud: bool = Field(False, description="Shout.")
    num_workers: int = Field(2, description="Processes.", json_schema_extra=RUNTIME)
    inner: Inner = Field(Inner(), description="The inner table.")


def run(*words: str) -> tuple[int, str]:
    """Exit code and output of a command made from `Example`; a `UserError` is shown as the door shows it."""
    app = typer.Typer(rich_markup_mode=None)

    def command(config: Example) -> None:
        typer.echo(config.model_dump_json())

    app.command()(with_options(command, Example))
    result = CliRunner().invoke(app, list(words))
    if isinstance(result.exception, UserError):
        return 1, str(result.exception)
    return result.exit_code, result.stdout


def test_options_not_given_leave_the_models_defaults() -> None:
    assert run() == (0, Example().model_dump_json() + "\n")


def test_every_kind_of_field_can_be_given() -> None:
    code, printed = run(
        "--threshold", ".5", "--mode", "keep", "--names", "a", "--names", "b", "--limit", "3", "--is-loud"
    )
    expected = Example(threshold=0.5, mode="keep", names=("a", "b"), limit=3, is_loud=True)
    assert (code, Example.model_validate_json(printed)) == (0, expected)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--threshold", "1.4"), "--threshold is 1.4; input should be less than or equal to 1"),
        (("--mode", "kep"), "--mode is 'kep'; input should be 'drop' or 'keep'"),
        (("--limit", "0"), "--limit is 0; input should be greater than or equal to 1"),
    ],
)
def test_a_bad_option_is_one_line_that_names_it(words: tuple[str, ...], line: str) -> None:
    assert run(*words) == (1, line)


def test_options_win_over_the_file_and_each_is_blamed_for_its_own(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("threshold: 0.2\nmode: keep\n")
    code, printed = run("--config", str(file), "--threshold", "0.9")
    assert (code, Example.model_validate_json(printed)) == (0, Example(threshold=0.9, mode="keep"))
    file.write_text("threshold: 7\n")
    assert run("--config", str(file))[1].startswith(f"{file}: threshold is 7; ")
    assert run("--config", str(file), "--threshold", "8")[1].startswith("--threshold is 8.0; ")


def test_a_wrong_key_names_its_nearest_right_one() -> None:
    with pytest.raises(UserError, match=r"pool\.yaml: treshold is not a setting; did you mean threshold\?"):
        parse(Example, {"treshold": 0.5}, "pool.yaml")


def test_what_changes_no_result_stays_out_of_the_fingerprint() -> None:
    assert Example(num_workers=1).fingerprinted() == Example(num_workers=9).fingerprinted()
    assert Example(threshold=0.1).fingerprinted() != Example(threshold=0.2).fingerprinted()


def test_configs_cannot_be_edited() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Example().threshold = 0.1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: [1", "not valid YAML"),
        ("- a\n- b\n", "holds no table of settings"),
        ("a: 1\na: 2\n", "a stands twice"),
    ],
)
def test_a_file_that_is_no_table_is_one_line(tmp_path: Path, text: str, line: str) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(text)
    with pytest.raises(UserError, match=line) as caught:
        read_yaml(file)
    assert "\n" not in str(caught.value)


def test_help_shows_a_default_as_it_is_typed() -> None:
    shown = " ".join(run("--help")[1].replace("│", " ").split())
    assert "Where it starts. [default: 0.7]" in shown
    assert "[fields: depth]" in shown


@dataclass(frozen=True)
class Guests:
    """What is said of guests."""

    invited: Annotated[list[str], typer.Option("--guest", help="Who comes.")] = field(default_factory=list)
    size: Annotated[int, typer.Option("--table-size", help="Seats.")] = 4


def test_a_record_stands_for_its_fields_in_their_place_among_the_options() -> None:
    seen: list[tuple[str, Guests, bool]] = []

    def invite(
        host: Annotated[str, typer.Argument()],
        guests: Guests,
        quiet: Annotated[bool, typer.Option("--quiet")] = False,
    ) -> None:
        """Invite."""
        seen.append((host, guests, quiet))

    app = typer.Typer(rich_markup_mode=None)
    app.command()(with_records(invite))
    words = ["me", "--guest", "a", "--quiet", "--guest", "b", "--table-size", "2"]
    assert CliRunner().invoke(app, words).exit_code == 0
    assert CliRunner().invoke(app, ["me"]).exit_code == 0
    assert seen == [("me", Guests(["a", "b"], 2), True), ("me", Guests(), False)]
    printed = CliRunner().invoke(app, ["--help"]).stdout
    assert "Invite." in printed
    assert printed.index("--guest") < printed.index("--table-size") < printed.index("--quiet")


def test_a_record_and_a_config_go_together() -> None:
    seen: list[tuple[Guests, Example]] = []

    def seat(config: Example, guests: Guests) -> None:
        seen.append((guests, config))

    app = typer.Typer(rich_markup_mode=None)
    app.command()(with_options(seat, Example))
    assert CliRunner().invoke(app, ["--table-size", "7", "--limit", "3"]).exit_code == 0
    assert seen == [(Guests(size=7), Example(limit=3))]
