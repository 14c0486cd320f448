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
from curate.tables import AS_TEXT, short


class Inner(Config):
    """A nested table."""

    depth: int = Field(2, ge=0, description="How deep.")
    is_wet: bool = Field(False, description="Wet.")
    tags: tuple[str, ...] = Field((), description="Tags.")
    seed: int = Field(0, description="Changes nothing.", json_schema_extra=RUNTIME)


class Whole(Config):
    """A table that may also be given as text."""

    rate: float = Field(0.5, le=1, description="How often.")
    rule: str = Field("none", description="Which.")


class Example(Config):
    """Do a thing."""

    threshold: float = Field(0.7, ge=0, le=1, description="Where it starts.")
    mode: Literal["drop", "keep"] = Field("drop", description="What to do.")
    names: tuple[str, ...] = Field((), description="Names.")
    limit: int | None = Field(None, ge=1, description="At most so many.")
    is_loud: bool = Field(False, description="Shout.")
    num_workers: int = Field(2, description="Processes.", json_schema_extra=RUNTIME)
    inner: Inner = Field(
        Inner(), description="The inner table.", json_schema_extra=short("depth", inner="tags", wet="is_wet")
    )
    whole: Whole = Field(Whole(), description="A whole.", json_schema_extra=AS_TEXT | short("rule"))
    absent: Whole | None = Field(None, description="Perhaps.", json_schema_extra=AS_TEXT)


def run(*words: str) -> tuple[int, str]:
    """Exit code and output of a command made from `Example`; a `UserError` is shown as the main program shows it."""
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


def test_options_override_the_file_and_errors_name_their_origin(tmp_path: Path) -> None:
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


def test_runtime_fields_stay_out_of_the_fingerprint() -> None:
    assert Example(num_workers=1).fingerprinted() == Example(num_workers=9).fingerprinted()
    assert Example(threshold=0.1).fingerprinted() != Example(threshold=0.2).fingerprinted()


def test_configs_cannot_be_edited() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Example().threshold = 0.1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: [1", "not valid YAML"),
        ("- a\n- b\n", "is not a table of settings"),
        ("a: 1\na: 2\n", "a occurs twice"),
    ],
)
def test_a_file_without_a_table_is_one_line(tmp_path: Path, text: str, line: str) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(text)
    with pytest.raises(UserError, match=line) as caught:
        read_yaml(file)
    assert "\n" not in str(caught.value)


def test_help_shows_a_default_as_it_is_typed() -> None:
    shown = " ".join(run("--help")[1].replace("│", " ").split())
    assert "Where it starts. [default: 0.7]" in shown
    assert "--inner.depth, --depth <int> How deep. [default: 2]" in shown
    assert "--whole <str> A whole. One field: --whole.rate VALUE. [fields: rate, rule]" in shown


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--inner.depth", "5"), {"inner": {"depth": 5}}),
        (("--depth", "5", "--inner.is-wet"), {"inner": {"depth": 5, "is_wet": True}}),
        (("--no-wet", "--inner", "a", "--inner.tags", "b"), {"inner": {"is_wet": False, "tags": ["a", "b"]}}),
        (("--whole", "{rate: 0.1}"), {"whole": {"rate": 0.1}}),
        (("--whole.rule", "x", "--whole", "{rate: 0.1}"), {"whole": {"rate": 0.1, "rule": "x"}}),
        (("--absent.rate", "0.1"), {"absent": {"rate": 0.1}}),
    ],
)
def test_a_setting_of_a_table_is_an_option_of_its_own(words: tuple[str, ...], expected: dict[str, object]) -> None:
    code, printed = run(*words)
    assert (code, Example.model_validate_json(printed)) == (0, Example.model_validate(expected))


def test_options_override_single_settings_of_tables_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    for written in ("inner: {depth: 7, is_wet: true}\n", "depth: 7\nwet: true\n", "depth: 7\ninner: {is_wet: true}\n"):
        file.write_text(f"{written}whole: {{rate: 0.1}}\n")
        code, printed = run("--config", str(file), "--depth", "9", "--whole.rule", "x")
        inner = {"inner": {"depth": 9, "is_wet": True}, "whole": {"rate": 0.1, "rule": "x"}}
        assert (code, Example.model_validate_json(printed)) == (0, Example.model_validate(inner))
    file.write_text("inner: [a, b]\n")
    assert Example.model_validate_json(run("--config", str(file))[1]).inner == Inner(tags=("a", "b"))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("inner: {depth: -1}\n", "{file}: inner.depth is -1; input should be greater than or equal to 0"),
        ("depth: -1\n", "{file}: inner.depth is -1; input should be greater than or equal to 0"),
        ("inner: {dept: 1}\n", "{file}: inner.dept is not a setting; did you mean depth?"),
        ("is_wet: true\n", "{file}: is_wet is not a setting; did you mean inner.is_wet?"),
        ("rul: x\n", "{file}: rul is not a setting; did you mean rule?"),
        ("depth: 1\ninner: {depth: 1}\n", "{file}: depth is given twice, also as inner.depth; remove one"),
        ("rule: x\nwhole: 3\n", "{file}: whole is 3, next to rule; write it as a table with rule in it"),
        ("whole: 3\n", "{file}: whole is 3; write a table of its settings"),
        ("whole: '{rate'\n", "{file}: whole: not valid YAML ("),
    ],
)
def test_a_mistake_inside_a_table_of_a_file_is_one_line_with_its_place(tmp_path: Path, text: str, line: str) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(text)
    code, printed = run("--config", str(file))
    assert code == 1
    assert printed.startswith(line.replace("{file}", str(file)))
    assert "\n" not in printed


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--inner.depth", "-1"), "--depth is -1; input should be greater than or equal to 0"),
        (("--whole.rate", "3"), "--whole.rate is 3.0; input should be less than or equal to 1"),
        (("--whole", "{rate: 3}"), "--whole.rate is 3; input should be less than or equal to 1"),
        (("--whole", "{rat: 3}"), "--whole: rat is not a setting; did you mean rate?"),
        (("--whole", "{rat"), "--whole: not valid YAML ("),
    ],
)
def test_a_mistake_inside_a_table_names_the_option(words: tuple[str, ...], line: str) -> None:
    code, printed = run(*words)
    assert (code, printed[: len(line)]) == (1, line)


def test_runtime_fields_of_a_table_stay_out_of_the_fingerprint() -> None:
    assert Example(inner=Inner(seed=1)).fingerprinted() == Example().fingerprinted()
    assert Example(inner=Inner(depth=3)).fingerprinted() != Example().fingerprinted()


@dataclass(frozen=True)
class Guests:
    """Options about guests."""

    invited: Annotated[list[str], typer.Option("--guest", help="Who comes.")] = field(default_factory=list)
    size: Annotated[int, typer.Option("--table-size", help="Seats.")] = 4


def test_a_record_is_replaced_by_its_fields_in_its_place() -> None:
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


def test_a_command_takes_a_record_and_a_config() -> None:
    seen: list[tuple[Guests, Example]] = []

    def seat(config: Example, guests: Guests) -> None:
        seen.append((guests, config))

    app = typer.Typer(rich_markup_mode=None)
    app.command()(with_options(seat, Example))
    assert CliRunner().invoke(app, ["--table-size", "7", "--limit", "3"]).exit_code == 0
    assert seen == [(Guests(size=7), Example(limit=3))]
