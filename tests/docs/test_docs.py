"""Pages are true: commands and options exist, links have a target, tables are complete, generated pages are fresh."""

import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import pytest
import yaml
from jsonschema import Draft202012Validator

from fabricgen.cli.main import main
from tests.docs.pages import PAGES, ROOT, blocks, name_of

QUICKSTART = ROOT / "inventories" / "quickstart"
_LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")


def load(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_in_running_text_exist(page: Path) -> None:
    """`fabricgen verb --option` in the text names an existing verb and existing options."""
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


_IN_BLOCK = re.compile(r"^ *(?:\$ |[\w=./ -]+&& |- run: )?fabricgen ([a-z][^\n|>;&#]*)", re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_in_blocks_exist(page: Path) -> None:
    """Verbs and options of the commands in blocks, which are not run if they need a network, a switch or files."""
    for block in re.findall(r"^```[^\n]*\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
        for line in _IN_BLOCK.findall(block.replace("\\\n", " ")):
            words = line.replace('"', " ").replace("'", " ").split()
            command: click.Command = main
            context = click.Context(main)
            while isinstance(command, click.Group) and words and re.fullmatch(r"[a-z-]+", words[0]):
                found = command.get_command(context, words.pop(0))
                assert found, f"no command in {line!r}"
                command = found
            known = {option for one in (*command.params, *main.params) for option in (*one.opts, *one.secondary_opts)}
            unknown = [word for word in words if re.match(r"--?[a-z]", word) and word.partition("=")[0] not in known]
            assert not unknown, f"{line!r} has no option {unknown}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in _LINK.findall(page.read_text(encoding="utf-8")):
        if "://" not in target and not target.startswith("mailto:"):
            assert (page.parent / target).exists(), f"{name_of(page)} links to {target}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_files_named_in_pages_exist(page: Path) -> None:
    """`tests/...` and others in running text. "*" matches a part of a name, and a word in capitals is a placeholder."""
    folders = "tests|fabricgen|templates|schemas|scripts|benchmarks|inventories|docs"
    for name in re.findall(rf"`((?:{folders})/[\w./*-]+)`", page.read_text(encoding="utf-8")):
        pattern = re.sub(r"\b[A-Z]{3,}\b", "*", name.rstrip("/"))
        assert list(ROOT.glob(pattern)), f"{name_of(page)} names {name}"


def test_tables_of_keys_are_fresh(update: bool) -> None:
    generator = load(ROOT / "docs" / "make_keys.py")
    for file in generator.PAGES:
        text = generator.page(file)
        if update:
            file.write_text(text, encoding="utf-8")
        assert file.read_text(encoding="utf-8") == text, "refresh the page with `make golden`"


@pytest.mark.parametrize("name", ["make_findings.py", "make_catalog.py", "make_image.py"])
def test_generated_pages_are_fresh(name: str, update: bool) -> None:
    generator = load(ROOT / "docs" / name)
    if update:
        generator.PAGE.write_text(generator.page(), encoding="utf-8")
    assert generator.PAGE.read_text(encoding="utf-8") == generator.page(), "refresh the page with `make golden`"


def test_manual_pages_are_fresh(update: bool) -> None:
    generator = load(ROOT / "docs" / "make_man.py")
    if update:
        generator.write()
    written = {file.name: file.read_text(encoding="utf-8") for file in generator.FOLDER.iterdir()}
    assert written == generator.pages(), "refresh the pages with `make golden`"


def test_figures_are_fresh(update: bool) -> None:
    generator = load(ROOT / "docs" / "make_figures.py")
    if update:
        generator.main()
    drawn = {name: draw() for name, draw in generator.FIGURES.items()}
    assert {file.stem: file.read_text(encoding="utf-8") for file in generator.FOLDER.iterdir()} == drawn


def test_every_inventory_key_is_described() -> None:
    """Each key of the schema is, as code, in one of the pages that describe keys."""
    text = "".join(
        (ROOT / "docs" / page).read_text(encoding="utf-8")
        for page in ("inventory.md", "designs.md", "outside.md", "access.md", "management.md")
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


@pytest.mark.parametrize(
    "page", [ROOT / "docs" / "inventory.md", ROOT / "docs" / "tour.md", ROOT / "README.md"], ids=name_of
)
def test_yaml_examples_conform_to_the_schema(page: Path) -> None:
    """A fragment is merged into the quickstart; a whole inventory is checked alone."""
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
    """Every attribute that a template may use is in docs/templates.md."""
    from dataclasses import fields

    from fabricgen.lossless.classes import Classes
    from fabricgen.lossless.congestion import WatchdogRows
    from fabricgen.lossless.plan import LosslessPlan, PortBuffers
    from fabricgen.render import contexts

    text = (ROOT / "docs" / "templates.md").read_text(encoding="utf-8")
    named = ("Switch", "ManagementAddress", "Management", "Port", "Link", "LinkAddress", "Plane", "Sonic")
    shared = [vars(contexts)[name if name.endswith("Address") else f"{name}Context"] for name in named]
    outside = ("OutsideContext", "OutsideSession", "Policy", "PrefixRange", "DiscardRoute", "StaticRouteContext")
    shared += [vars(contexts)[name] for name in outside]
    for each in (*shared, LosslessPlan, Classes, WatchdogRows, PortBuffers):
        missing = [field.name for field in fields(each) if f"`{field.name}`" not in text]
        assert not missing, f"{each.__name__}: {missing}"


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def test_every_verb_is_listed() -> None:
    rows = re.findall(r"^\| `([a-z]+)[ `]", (ROOT / "docs" / "verbs.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(rows) == set(main.list_commands(click.Context(main)))
