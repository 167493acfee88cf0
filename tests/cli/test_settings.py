"""Options from the command line, the environment and a settings file, in that order."""

from pathlib import Path

import pytest

from fabricgen.cli import settings
from tests.conftest import Cli, Outcome
from tests.inventories import explicit, write


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A new working directory with a wrong inventory."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "wrong", explicit(mtu="large"))
    return tmp_path


def form(outcome: Outcome) -> str:
    return "json" if outcome.out.startswith("{") else "text" if "Checked" in outcome.out else "concise"


def test_command_line_overrides_environment_overrides_file(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert form(cli("check", "wrong")) == "text"
    Path("fabricgen.toml").write_text('format = "json"\n')
    assert form(cli("check", "wrong")) == "json"
    monkeypatch.setenv("FABRICGEN_FORMAT", "concise")
    assert form(cli("check", "wrong")) == "concise"
    assert form(cli("check", "wrong", "--format", "text")) == "text"


@pytest.mark.parametrize("key", ["fail-on", "fail_on"])
def test_the_table_of_a_verb_overrides_the_keys_for_all(key: str, cli: Cli) -> None:
    Path("fabricgen.toml").write_text(
        f'{key} = "error"\nformat = "json"\n[check]\n{key} = "never"\nformat = "concise"\n'
    )
    outcome = cli("check", "wrong")
    assert (outcome.code, form(outcome)) == (0, "concise")
    assert cli("capacity", "wrong").out.startswith("{")


def test_pyproject_is_read_without_fabricgen_toml(cli: Cli) -> None:
    Path("pyproject.toml").write_text('[tool.fabricgen]\nformat = "concise"\n[tool.other]\nx = 1\n')
    assert form(cli("check", "wrong")) == "concise"
    Path("fabricgen.toml").write_text('format = "json"\n')
    assert form(cli("check", "wrong")) == "json"


def test_the_nearest_settings_above_the_working_directory_count(
    cli: Cli, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "fabricgen.toml").write_text('format = "json"\n[render]\noutput = "b"\n')
    (here / "below" / "deep").mkdir(parents=True)
    monkeypatch.chdir(here / "below" / "deep")
    outcome = cli("check", here / "wrong", "-v")
    assert form(outcome) == "json" and f"settings: {here}/fabricgen.toml" in outcome.err
    write(here / "right", explicit())
    assert cli("render", here / "right", "-q").code == 0 and (here / "b" / "manifest.json").is_file()
    (here / "below" / "pyproject.toml").write_text("[tool.other]\nx = 1\n")  # it has no settings
    assert form(cli("check", here / "wrong")) == "json"
    (here / "below" / "pyproject.toml").write_text('[tool.fabricgen]\nformat = "concise"\n')
    outcome = cli("check", here / "wrong", "-v")
    assert form(outcome) == "concise" and f"settings: {here}/below/pyproject.toml#tool.fabricgen" in outcome.err
    Path("fabricgen.toml").write_text("")  # the nearest file counts, also if it is empty
    assert form(cli("check", here / "wrong")) == "text"


def test_subcommands_have_settings(cli: Cli) -> None:
    cli("render", write(Path("right"), explicit()), "-o", "b", "-q")
    Path("fabricgen.toml").write_text('format = "concise"\n')
    assert cli("simulate", "deadlock", "b").out == ""
    Path("fabricgen.toml").write_text('[simulate]\nformat = "concise"\n[simulate.deadlock]\nformat = "json"\n')
    assert form(cli("simulate", "deadlock", "b")) == "json"


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("fabricgen.toml", "format = \n", "fabricgen.toml: not TOML"),
        ("fabricgen.toml", 'format = "xml"\n', "'xml' is not one of"),
        ("fabricgen.toml", '[check]\nformt = "json"\n', "check has no option 'formt'"),
        ("fabricgen.toml", 'check = "json"\n', "'check' names a verb"),
        ("fabricgen.toml", "[check]\nfail-on = 3\n", "is not one of"),
        ("fabricgen.toml", "quiet = 5\n", "'5' is not a valid boolean"),
        ("fabricgen.toml", "quiet = [1]\n", "is not a valid boolean"),
        ("fabricgen.toml", "fail-on = 2099-01-31\n", "'2099-01-31' is not one of"),
        ("pyproject.toml", "[tool]\nfabricgen = 5\n", "tool.fabricgen is not a table"),
    ],
)
def test_mistakes_in_a_settings_file(name: str, text: str, problem: str, cli: Cli) -> None:
    Path(name).write_text(text)
    outcome = cli("check", "wrong")
    assert outcome.code == 2 and problem in outcome.err


@pytest.mark.parametrize(
    ("variable", "value"), [("FABRICGEN_COLOR", "always"), ("FABRICGEN_FAIL_ON", "never"), ("FABRICGEN_QUIET", "1")]
)
def test_every_option_has_a_variable(variable: str, value: str, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = cli("check", "wrong")
    monkeypatch.setenv(variable, value)
    changed = cli("check", "wrong")
    assert {"FABRICGEN_COLOR": "\x1b[" in changed.out, "FABRICGEN_FAIL_ON": changed.code == 0, "FABRICGEN_QUIET": True}[
        variable
    ] and plain.code == 1


def test_the_folder_of_the_bundle_is_read_from_the_environment(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FABRICGEN_OUTPUT", "built")
    assert cli("render", write(Path("right"), explicit()), "-q").code == 0
    assert cli("validate", "built", "-q").code == 0 and Path("built").is_dir()


def test_common_options_before_and_after_the_verb(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" in cli("--color", "always", "check", "wrong").out
    assert "\x1b[" in cli("check", "wrong", "--color", "always").out
    assert "\x1b[" not in cli("--color", "always", "check", "wrong", "--color", "never").out
    Path("fabricgen.toml").write_text('color = "always"\n')
    assert "\x1b[" not in cli("--color", "never", "check", "wrong").out
    monkeypatch.setenv("FABRICGEN_COLOR", "always")
    assert "\x1b[" not in cli("--color", "never", "check", "wrong").out


@pytest.mark.parametrize(
    ("quota", "expected"),
    [("max 100000", 4), ("250000 100000", 2), ("50000 100000", 1), ("9900000 100000", 4), (None, 4)],
)
def test_processes_by_default_are_the_cores_of_the_container(
    quota: str | None, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings.os, "sched_getaffinity", lambda _: {0, 1, 2, 3})
    monkeypatch.setattr(settings, "_QUOTA", tmp_path / "cpu.max")
    if quota:
        (tmp_path / "cpu.max").write_text(f"{quota}\n")
    assert settings.Settings().jobs == expected
    assert settings.Settings().updated({"jobs": 3}).jobs == 3
