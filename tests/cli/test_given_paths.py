"""Paths of options are refused before the work starts, and no output replaces an input."""

import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from fabricgen.cli.endings import format_for
from fabricgen.cli.given_paths import check_paths
from fabricgen.cli.main import main
from fabricgen.errors import UsageError
from tests.conftest import Cli
from tests.inventories import explicit, write


@pytest.fixture
def site(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an inventory, its bundle, an empty folder and a file, in which commands run."""
    write(tmp_path / "inv", explicit())
    assert cli("render", tmp_path / "inv", "-o", tmp_path / "build").code == 0
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("{}\n")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/ports.json.j2").write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("check inv --against empty", "empty is not a bundle: it has no fabric.json"),
        ("check inv --against empty --watch", "empty is not a bundle: it has no fabric.json"),
        ("report build --against empty", "empty is not a bundle: it has no fabric.json"),
        ("report build/sonic --against build", "build/sonic is not a bundle: it has no fabric.json"),
        ("draw build --against empty -o x.svg", "empty is not a bundle: it has no fabric.json"),
        ("check inv --output -", "--output -: write /dev/stdout for standard output"),
        ("check inv --output no/x", "--output no/x: the folder no does not exist; create it first"),
        ("check inv --output file/x", "--output file/x: file is not a folder"),
        ("diff build build --output no/x", "--output no/x: the folder no does not exist; create it first"),
        ("draw build --output no/x.svg", "--output no/x.svg: the folder no does not exist; create it first"),
        ("report build --headline no/x.md", "--headline no/x.md: the folder no does not exist; create it first"),
        ("validate build --lldp no", "no: no such file or folder"),
        ("validate build --certificate x.json", "--certificate: fabric.json has no tenants"),
        ("validate build --inventory empty", "empty: the folder has no YAML file"),
        ("render inv -o x --templates mine", "--templates mine: no file has the name of a template"),
        ("validate build --links no", "no: no such file or folder"),
        ("simulate deadlock build --lfts no", "no: no such file or folder"),
        ("simulate deadlock build --svg file/x", "--svg file/x: "),
        ("simulate congestion build --placement file --jobs-file no", "no: no such file or folder"),
        ("simulate packets build --pattern incast --series file/x", "--series file/x: "),
        ("tune build --pattern incast --evidence file/x", "--evidence file/x: file is not a folder"),
        ("accept build no", "no: no such file or folder"),
    ],
)  # fmt: skip
def test_a_wrong_path_is_refused_before_the_work(arguments: str, message: str, site: Path, cli: Cli) -> None:
    before = listed(site)
    outcome = cli(*arguments.split())
    assert outcome.code == 2 and outcome.out == ""
    (line,) = outcome.err.splitlines()  # no stage of the work has been reported
    assert line.startswith(f"error: {message}")
    assert listed(site) == before


@pytest.mark.parametrize(
    "arguments",
    [
        "check inv --output inv/fabric.yaml",
        "check inv/fabric.yaml --output inv/fabric.yaml",
        "validate build --output build/manifest.json --format gitlab",
        "validate build --output build/sonic/leaf1/config_db.json --format gitlab",
        "validate build/sonic --output build/sonic/leaf1/config_db.json --format gitlab",
        "validate build --links file --output file",
        "diff build build --format jsonpatch --output build",
        "diff build build --output build/cabling.csv",
        "simulate deadlock build --routes build/fabric.json",
        "accept build file --output file",
        "handoff cabling build -o build",
    ],
)
def test_an_output_does_not_replace_an_input(arguments: str, site: Path, cli: Cli) -> None:
    before = listed(site)
    outcome = cli(*arguments.split())
    assert outcome.code == 2 and outcome.out == ""
    assert ", which this run reads: choose another name" in outcome.err
    assert listed(site) == before


def test_a_report_beside_the_inputs_is_written_again(site: Path, cli: Cli) -> None:
    for _ in range(2):
        assert cli("validate", "build", "--format", "json", "--output", "build/report.json").code == 0
        assert cli("validate", "build/sonic", "--format", "junit", "--output", "build/sonic/junit.xml").code == 0
        assert cli("check", "inv", "--format", "json", "--output", "inv/report.json").code == 0
    assert cli("check", "inv", "--output", "/dev/null").code == 0


def test_a_lock_file_may_be_the_one_of_the_inventory(site: Path, cli: Cli) -> None:
    Path("table.csv").write_text("device,asn\nleaf1,4200000123\n")
    outcome = cli("import", "addresses", "table.csv", "inv", "-o", "inv/allocations.lock.yaml")
    assert outcome.code == 0, outcome.err
    outcome = cli("import", "addresses", "table.csv", "inv", "-o", "table.csv")
    assert outcome.code == 2 and "choose a name that ends with .yaml" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "begin"),
    [
        ("check inv --output x.json", '{\n  "format_version"'),
        ("check inv --output x.SARIF", "{"),
        ("check inv --output x.xml", "<?xml"),
        ("check inv --output x.txt", "passed: no findings"),
        ("check inv --output x.log", "passed: no findings"),
        ("check inv --format sarif --output x.json", "{"),
        ("report build -o x.json", "{"),
        ("report build -o x.html", "<!doctype html>"),
        ("compare build inv -o x.md", "| |"),
        ("diff build build --output x.md", "**fabricgen"),
    ],
)
def test_the_ending_chooses_the_format(arguments: str, begin: str, site: Path, cli: Cli) -> None:
    outcome = cli(*arguments.split())
    assert outcome.code == 0, outcome.err
    (file,) = site.glob("x.*")
    assert file.read_text().lower().startswith(begin)


def test_the_name_of_a_folder_chooses_no_format(site: Path, cli: Cli) -> None:
    outcome = cli("render", "inv", "-o", "x.json")
    assert outcome.code == 0 and "4 devices" in outcome.out and Path("x.json").is_dir()


def test_a_report_has_the_name_of_its_format(site: Path, cli: Cli) -> None:
    assert cli("report", "build", "--format", "json").code == 0
    assert Path("report.json").read_text().startswith("{") and not Path("report.html").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        "report build -o x.pdf",
        "report build -o x.html --format json",
        "report build --headline x.html",
        "check inv --output x.yaml",
        "check inv --output x.html",
        "check inv --output x.json --format text",
        "compare build inv -o x.docx",
        "simulate deadlock build --certificate x.yaml",
        "diff build build --work-order x.json",
    ],
)
def test_the_ending_of_another_format_is_refused(arguments: str, site: Path, cli: Cli) -> None:
    outcome = cli(*arguments.split())
    assert outcome.code == 2 and "the content would be" in outcome.err
    assert not [*site.glob("x.*")]


def test_a_folder_without_permission_is_refused(site: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, _: Path(path).name != "empty")  # root may write everywhere
    for arguments in ("check inv --output empty/x", "simulate deadlock build --svg empty/x"):
        outcome = cli(*arguments.split())
        assert outcome.code == 2 and "no file can be written into the folder" in outcome.err
    (site / "build").rename(site / "empty/build")
    monkeypatch.setattr("os.access", lambda _, mode: mode == os.R_OK)
    assert cli("render", "inv", "-o", "empty/build").code == 2
    assert cli("render", "inv", "-o", "empty/build", "--check").code == 0
    assert cli("check", "inv", "--cache", "empty/cache").code == 0


def commands(command: click.Command) -> Iterator[click.Command]:
    """The commands of a group, and of its groups."""
    if not isinstance(command, click.Group):
        yield command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        if member := command.get_command(context, name):
            yield from commands(member)


def test_every_output_option_is_checked(tmp_path: Path) -> None:
    """The help of an option that writes says so, and the option refuses a file as the folder above its output."""
    (tmp_path / "file").touch()
    found = 0
    for command in commands(main):
        for option in command.params:
            words = (option.help or "").split() if isinstance(option, click.Option) else []
            if isinstance(option.type, click.Path) and ({"Write", "write", "written"} & {*words[:2]}):
                if option.type.exists:
                    continue
                found += 1
                with pytest.raises(Exception, match="is not a folder"):
                    check_paths(command, {str(option.name): tmp_path / "file" / "x"})
    assert found > 20


def test_the_advice_for_an_ending_is_accepted() -> None:
    """Every --format that writes a file has an ending, or is text. An ending that no format has is refused."""
    found = set()
    for command in commands(main):
        kinds = {each.name: each.type for each in command.params}
        fmt, output = kinds.get("fmt"), kinds.get("output")
        if not (isinstance(fmt, click.Choice) and isinstance(output, click.Path) and output.file_okay):
            continue
        for name in {*fmt.choices} - {"jsonpatch", "plan"}:
            with pytest.raises(UsageError, match="choose a name that ends with") as refused:
                format_for(Path("x.pdf"), name, fmt.choices, is_chosen=True)
            for ending in str(refused.value).rpartition(" ends with ")[2].split(", "):
                assert format_for(Path(f"x{ending}"), name, fmt.choices, is_chosen=True) == name
            assert (ending == ".txt") == (name in {"text", "concise", "github"})
            found.add(name)
    assert found >= {"text", "json", "html", "markdown", "bmwg", "sarif"}


def listed(folder: Path) -> dict[str, bytes]:
    """The files of a folder with their content."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
