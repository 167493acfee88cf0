"""The documentation says what is so: commands run, pasted output is real, links lead somewhere, tables are complete."""

import importlib.util
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import click
import pytest
import yaml
from jsonschema import Draft202012Validator

from fabricgen.cli.main import main, run

ROOT = Path(__file__).parents[2]
PAGES = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"))]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
QUICKSTART = ROOT / "inventories" / "quickstart"

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
_EXIT = re.compile(r"\s+# exit code (\d+)$")
_SHELL_WORDS = {"cp", "mkdir", "sed"}  # what a page may do between two calls of fabricgen
_NOT_RUN = {"make", "pip", "python", "git", "ansible-playbook", "cd"}
_RULES = re.compile(r"\b\d+ rules\b")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks(page: Path, *languages: str) -> Iterator[tuple[str, str]]:
    """(language, text) of the page's code blocks."""
    for match in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        if match[1] in languages:
            yield match[1], match[2]


class Step(NamedTuple):
    """A command of a page: its line as it stands there, the command, its exit code, the output shown ("" for none)."""

    line: str
    command: str
    code: int
    shown: str


def steps(page: Path) -> Iterator[Step]:
    """The commands in the order of the page.

    `sh` blocks have one command a line; `console` blocks have `$ command`, followed by what it prints.
    """
    for language, text in blocks(page, "sh", "console"):
        found: list[Step] = []
        output: list[str] = []
        for line in reversed(text.splitlines()):
            if language == "console" and not line.startswith("$ "):
                output.insert(0, line)
                continue
            code = _EXIT.search(line)
            command = _EXIT.sub("", line.removeprefix("$ "))
            found.append(Step(line, command, int(code[1]) if code else 0, "\n".join(output)))
            output = []
        yield from reversed(found)


def load(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", [page for page in PAGES if list(steps(page))], ids=name_of)
def test_commands_do_what_the_page_shows(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    """All commands of a page, one after the other, in a folder with the examples and the files that the page has."""
    shutil.copytree(ROOT / "inventories", tmp_path / "inventories")
    write_files(page, tmp_path)
    monkeypatch.chdir(tmp_path)
    for step in steps(page):
        words = shlex.split(step.command, comments=True)
        if not words or words[0] in _NOT_RUN:
            continue
        if words[0] != "fabricgen":
            assert words[0] in _SHELL_WORDS, f"{name_of(page)} shows {step.command!r}"
            subprocess.run(step.command, shell=True, check=True)
            continue
        with pytest.raises(SystemExit) as stop:
            run(words[1:])
        printed = capsys.readouterr()
        assert stop.value.code == step.code, f"{step.command}\n{printed.out}{printed.err}"
        if step.shown and request.config.getoption("--update-golden", default=False):
            old, new = f"{step.line}\n{step.shown}\n", f"{step.line}\n{printed.out.rstrip()}\n"
            page.write_text(page.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
        elif step.shown:
            hint = f"{step.command}: refresh the page with `make golden`"
            assert _plain(printed.out) == _plain(step.shown), hint


def write_files(page: Path, folder: Path) -> None:
    """The blocks that begin with a comment `file: NAME`, as files; the comment is no part of a CSV file."""
    for language, text in blocks(page, "yaml", "csv", "jinja"):
        named = re.match(r"(?:#|\{#) file: (\S+)", text)
        if named:
            file = folder / named[1]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text if language != "csv" else text.partition("\n")[2], encoding="utf-8")


def _plain(text: str) -> str:
    """Output without what changes with every new rule."""
    return _RULES.sub("N rules", text).strip()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_in_running_text_exist(page: Path) -> None:
    """`fabricgen verb --option` in the text names a verb and options that there are."""
    for match in re.finditer(r"`fabricgen ([a-z][^`]*)`", page.read_text(encoding="utf-8")):
        words = match[1].split()
        command: click.Command = main
        context = click.Context(main)
        while isinstance(command, click.Group) and words and re.fullmatch(r"[a-z]+", words[0]):
            found = command.get_command(context, words.pop(0))
            assert found, f"no command in {match[0]}"
            command = found
        known = {option for parameter in command.params for option in parameter.opts}
        unknown = [word for word in words if word.startswith("-") and word not in known]
        assert not unknown, f"{match[0]} has no option {unknown}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in _LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in target and not target.startswith("mailto:"):
            assert (page.parent / target).exists(), f"{name_of(page)} links to {target}"


def test_findings_page_is_fresh(request: pytest.FixtureRequest) -> None:
    generator = load(ROOT / "docs" / "make_findings.py")
    if request.config.getoption("--update-golden", default=False):
        generator.PAGE.write_text(generator.page(), encoding="utf-8")
    assert generator.PAGE.read_text(encoding="utf-8") == generator.page(), "refresh the page with `make golden`"


def test_every_inventory_key_is_described() -> None:
    """Each key of the schema stands, as code, on docs/inventory.md, docs/designs.md or docs/outside.md."""
    text = "".join(
        (ROOT / "docs" / page).read_text(encoding="utf-8") for page in ("inventory.md", "designs.md", "outside.md")
    )
    schema = json.loads((ROOT / "schemas" / "inventory.schema.json").read_text())
    words = set(re.findall(r"`([A-Za-z0-9_-]+)`", text))
    assert sorted(set(_keys(schema)) - words) == []


def _keys(schema: Any) -> Iterator[str]:
    for name, part in schema.items() if isinstance(schema, dict) else ():
        if name == "properties":
            yield from part
        for each in part if isinstance(part, list) else [part]:
            yield from _keys(each)
        if name in ("properties", "$defs"):
            for each in part.values():
                yield from _keys(each)


class _Loader(yaml.SafeLoader):
    """YAML of an inventory: keys as text, `!secret name` as its name."""


_Loader.add_constructor("!secret", lambda loader, node: node.value)


@pytest.mark.parametrize("page", [ROOT / "docs" / "inventory.md", ROOT / "README.md"], ids=name_of)
def test_yaml_examples_conform_to_the_schema(page: Path) -> None:
    """A fragment is laid over the quickstart; a whole inventory stands for itself."""
    schema = json.loads((ROOT / "schemas" / "inventory.schema.json").read_text())
    base = _read((QUICKSTART / "fabric.yaml").read_text(encoding="utf-8"))
    examples = [_read(text) for _, text in blocks(page, "yaml")]
    assert examples
    for example in examples:
        whole = example if "fabricgen" in example else {**base, **example}
        assert [error.message for error in Draft202012Validator(schema).iter_errors(whole)] == []


def _read(text: str) -> dict[str, Any]:
    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {str(key): plain(child) for key, child in value.items()}
        return [plain(child) for child in value] if isinstance(value, list) else value

    content: dict[str, Any] = plain(yaml.load(text, _Loader))
    return content


def test_context_classes_are_described() -> None:
    """Every attribute that a template may use stands on docs/templates.md."""
    from dataclasses import fields

    from fabricgen.lossless.classes import Classes
    from fabricgen.lossless.congestion import Watchdog
    from fabricgen.lossless.plan import LosslessPlan, PortBuffers
    from fabricgen.render import contexts

    text = (ROOT / "docs" / "templates.md").read_text(encoding="utf-8")
    named = ("Switch", "ManagementAddress", "Management", "Port", "Link", "LinkAddress", "Sonic")
    shared = [vars(contexts)[name if name.endswith("Address") else f"{name}Context"] for name in named]
    outside = ("OutsideContext", "OutsideSession", "Policy", "PrefixRange", "DiscardRoute", "StaticRouteContext")
    shared += [vars(contexts)[name] for name in outside]
    for each in (*shared, LosslessPlan, Classes, Watchdog, PortBuffers):
        missing = [field.name for field in fields(each) if f"`{field.name}`" not in text]
        assert not missing, f"{each.__name__}: {missing}"


def test_readme_lists_every_verb() -> None:
    rows = re.findall(r"^\| `([a-z]+)[ `]", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(rows) == set(main.list_commands(click.Context(main)))
