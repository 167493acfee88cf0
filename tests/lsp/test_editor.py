"""`fabricgen lsp` in a real client over standard input and output: findings, hover, completion, definitions."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.lsp.editor import Editor, Work, server

ROOT = Path(__file__).parents[2]
Edited = Callable[[Work], Any]
CATALOG = ROOT / "fabricgen" / "platforms" / "catalog"


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Edited]:
    """One server for all tests; the files of each are in a separate folder."""
    with server(tmp_path_factory.getbasetemp()) as found:
        yield found


@pytest.fixture
def fabric(tmp_path: Path) -> Path:
    """The file of the quickstart in a separate folder."""
    shutil.copytree(ROOT / "inventories" / "quickstart", tmp_path / "fabric")
    return tmp_path / "fabric" / "fabric.yaml"


def places(found: list[types.Diagnostic]) -> list[tuple[object, int, int, int]]:
    """(code, line, first column, end column) of diagnostics."""
    return [(one.code, one.range.start.line, one.range.start.character, one.range.end.character) for one in found]


def labels(items: list[types.CompletionItem]) -> list[str]:
    return [item.label for item in items]


def test_findings_come_and_go_with_the_text(edited: Edited, fabric: Path) -> None:
    """Unsaved text is judged by all stages before rendering; after the document is closed, the file on disk is."""

    async def work(editor: Editor) -> None:
        editor.open(fabric)
        assert await editor.diagnostics(fabric) == []
        text = editor.texts[fabric]
        editor.type(fabric, text.replace("hosts: [gpu]", "hosts: [gpus]").replace("length: 40m", "lenght: 40m"))
        wrong = await editor.diagnostics(fabric)
        assert sorted(places(wrong)) == [("FG101", 19, 19, 25), ("FG107", 12, 12, 16)]
        assert {one.severity for one in wrong} == {types.DiagnosticSeverity.Error}
        assert "help: did you mean 'gpu'?" in "".join(one.message for one in wrong)
        editor.type(fabric, text.replace("asn: rfc7938", "asn: {first: 65000, last: 65001}"))
        assert [one.code for one in await editor.diagnostics(fabric)] == ["FG385"]  # of the allocation
        editor.type(fabric, text.replace("count: 32", "count: 48"))
        grown = await editor.diagnostics(fabric)
        assert [(one.code, one.severity) for one in grown] == []
        lock = fabric.parent / "allocations.lock.yaml"
        await editor.until(lock, ["FG382"])
        notes = editor.published[lock.as_uri()][-1].diagnostics
        assert [(one.code, one.severity) for one in notes] == [("FG382", types.DiagnosticSeverity.Information)]
        editor.type(fabric, "planes: [")
        broken = await editor.diagnostics(fabric)
        assert [(one.severity, one.message[:8]) for one in broken] == [(types.DiagnosticSeverity.Error, "not YAML")]
        identifier = types.TextDocumentIdentifier(fabric.as_uri())
        editor.client.text_document_did_close(types.DidCloseTextDocumentParams(identifier))
        await editor.until(fabric, [])

    edited(work)
    assert fabric.read_text() == (ROOT / "inventories" / "quickstart" / "fabric.yaml").read_text()


def test_quick_fixes_follow_the_hints(edited: Edited, fabric: Path) -> None:
    """Each fix removes its finding; a hint without one value has none."""

    async def work(editor: Editor) -> None:
        text = fabric.read_text()
        editor.open(fabric)
        for right, wrong, title in (
            ("hosts: [gpu]", "hosts: ['😀', gpus]", "Replace gpus with gpu"),
            ("length: 40m", "lenght: 40m", "Replace lenght with length"),
            ("design: rail-optimized", 'design: "rail-optimised"', "Replace rail-optimised with rail-optimized"),
        ):
            assert right in text
            editor.type(fabric, text.replace(right, wrong, 1))
            wrong_codes = [one.code for one in await editor.diagnostics(fabric)]
            action = next(one for one in await editor.fixes(fabric) if one.title == title)
            assert action.kind == types.CodeActionKind.QuickFix and action.diagnostics, title
            editor.type(fabric, editor.fixed(fabric, action))
            assert len(await editor.diagnostics(fabric)) < len(wrong_codes), title
        editor.type(fabric, text.replace("count: 32", "count: 0"))
        assert await editor.diagnostics(fabric) and await editor.fixes(fabric) == []

    edited(work)


def test_a_finding_marks_the_whole_value_and_links_its_page(edited: Edited, fabric: Path) -> None:
    async def work(editor: Editor) -> None:
        text = fabric.read_text().replace("asn: rfc7938", "asn: {first: 65001, last: 65000}  # reversed")
        editor.open(fabric, text)
        (found,) = (one for one in await editor.diagnostics(fabric) if one.range.start.line == _line(text, "asn: {"))
        row = text.split("\n")[found.range.start.line]
        marked = row[found.range.start.character : found.range.end.character]
        assert marked in ("{first: 65001, last: 65000}", "first", "65001", "65000", "last"), marked
        assert found.code_description
        assert found.code_description.href.endswith(f"docs/rules/{found.code}.md")

    edited(work)


def _line(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n")


def test_the_outline_has_sections_planes_and_named_items(edited: Edited, fabric: Path) -> None:
    async def work(editor: Editor) -> None:
        text = fabric.read_text() + "\ndevices:\n  - {name: compute-spine-00, rack: A07}\n"
        editor.open(fabric, text)
        top = {one.name: one for one in await editor.symbols(fabric)}
        assert {"fabric", "hosts", "planes", "devices"} <= set(top)
        planes = {one.name: one for one in top["planes"].children or ()}
        assert "design" in {one.name for one in planes["compute"].children or ()}
        (device,) = top["devices"].children or ()
        assert device.name == "compute-spine-00" and device.range.start.line == _line(text, "- {name")
        for one in [*top.values(), *planes.values(), device]:
            assert one.range.start <= one.selection_range.start <= one.selection_range.end <= one.range.end
        editor.type(fabric, "planes: [")
        assert await editor.symbols(fabric) == []

    edited(work)


def test_positions_count_utf_16_units(edited: Edited, fabric: Path) -> None:
    async def work(editor: Editor) -> None:
        text = fabric.read_text().replace("hosts: [gpu]", 'hosts: ["😀", gpu]')
        editor.open(fabric, text)
        assert places(await editor.diagnostics(fabric)) == [("FG107", 12, 12, 16)]
        editor.type(fabric, text.replace('"😀"', '"😀", oops'))
        assert ("FG107", 12, 18, 22) in places(await editor.diagnostics(fabric))

    edited(work)


def test_hover_has_the_meaning_and_the_computed_values(edited: Edited, fabric: Path) -> None:
    async def work(editor: Editor) -> None:
        editor.open(fabric)
        await editor.diagnostics(fabric)
        cable = await editor.hover(fabric, "leaf-spine: {length: 4")
        assert "BUFFER_PROFILE|pg_lossless_400000_40m_profile|xoff` = `612140`" in cable
        design = await editor.hover(fabric, "design")
        assert "layout of switches and links" in design and "- leaf switches: 16 arista-7060x6-64pe" in design
        assert "20 given, from" not in design
        assert "`4200000000`" in await editor.hover(fabric, "asn")
        assert "8 GPUs" in await editor.hover(fabric, "model: d")
        assert "1 to 1000000" in await editor.hover(fabric, "count")
        editor.type(
            fabric, editor.texts[fabric] + "suppressions: [{code: FG512, reason: x}]  # fabricgen: ignore[FG513]\n"
        )
        await editor.diagnostics(fabric)
        assert "FG513" in await editor.hover(fabric, "ignore[FG5")

    edited(work)


def test_a_hover_never_shows_a_secret(edited: Edited, fabric: Path) -> None:
    async def work(editor: Editor) -> None:
        secret = "management:\n  addresses: 10.255.0.0/20\n  gateway: 10.255.0.1\n  snmp: {community: hunter2}\n"
        editor.open(fabric, fabric.read_text().partition("management:")[0] + secret)
        found = await editor.diagnostics(fabric)
        assert "hunter2" not in repr(found)
        assert "hunter2" not in await editor.hover(fabric, "community: hun")

    edited(work)


def test_completion_of_keys_and_names(edited: Edited, fabric: Path) -> None:
    async def work(editor: Editor) -> None:
        editor.open(fabric)
        await editor.diagnostics(fabric)
        assert "nvidia-sn5600" in labels(await editor.complete(fabric, "leaf: {platform: "))
        assert "dgx-b300" in labels(await editor.complete(fabric, "model: "))
        assert "rail-only" in labels(await editor.complete(fabric, "design: "))
        assert labels(await editor.complete(fabric, "    hosts: [")) == ["gpu"]
        text = fabric.read_text()
        editor.type(fabric, text.replace("    speed: 400G\n", "    speed: 400G\n    over\n"))  # not YAML while typed
        keys = await editor.complete(fabric, "    over")
        assert "oversubscription" in labels(keys) and "speed" not in labels(keys)
        edit = next(item.text_edit for item in keys if item.label == "oversubscription")
        assert isinstance(edit, types.TextEdit)
        assert (edit.new_text, edit.range.start.character, edit.range.end.character) == ("oversubscription: ", 4, 8)
        editor.type(fabric, text.replace("platform: arista-7060x6-64pe}", "platform: arista-7060x6-64pe, ", 1))
        assert "spare_ports" in labels(await editor.complete(fabric, "leaf: {platform: arista-7060x6-64pe, "))
        nic = "{name: a, model: ConnectX-7, speed: 400G, plane: compute}"
        nics = f"host_models:\n  own: {{vendor: x, gpus: 1, nics: [{nic}]}}\n"
        editor.type(fabric, text + nics)
        assert "ConnectX-7" in labels(await editor.complete(fabric, "name: a, model: "))
        assert "compute" in labels(await editor.complete(fabric, "speed: 400G, plane: "))
        editor.type(fabric, text + "devices:\n- name: \n")
        assert "compute-su01-r7-leaf" in labels(await editor.complete(fabric, "devices:\n- name: "))
        editor.type(fabric, text + 'names: {leaf: "{plane}-"}\n')
        assert "{rail}" in labels(await editor.complete(fabric, 'leaf: "{plane}-'))
        editor.type(fabric, text + "# fabricgen: ignore[FG5")
        assert "FG512" in labels(await editor.complete(fabric, "# fabricgen: ignore[FG5"))

    edited(work)


def test_definitions(edited: Edited, fabric: Path) -> None:
    async def work(editor: Editor) -> None:
        editor.open(fabric)
        await editor.diagnostics(fabric)
        assert await editor.definition(fabric, "    hosts: [g") == (str(fabric), 6, 2)
        model, platform = CATALOG / "hosts" / "dgx-h100.yaml", CATALOG / "switches" / "arista-7060x6-64pe.yaml"
        assert await editor.definition(fabric, "model: d") == (str(model), 0, 0)
        assert await editor.definition(fabric, "leaf: {platform: a") == (str(platform), 0, 0)
        assert await editor.definition(fabric, "technology: r") is None
        own = editor.texts[fabric] + "profiles:\n  mine: {classes: {3: {dscp: [26]}}}\n"
        editor.type(fabric, own.replace("    lossless:\n", "    lossless: {profile: mine}\n    nothing:\n", 1))
        await editor.diagnostics(fabric)
        line = editor.texts[fabric].split("\n").index("  mine: {classes: {3: {dscp: [26]}}}")
        assert await editor.definition(fabric, "lossless: {profile: m") == (str(fabric), line, 2)

    edited(work)


def test_files_of_one_folder_are_one_inventory(edited: Edited, tmp_path: Path) -> None:
    """A name in one file leads to the definition in another, and an edit of one changes the findings of the other."""
    first, second = tmp_path / "a.yaml", tmp_path / "b.yaml"
    text = (ROOT / "inventories" / "quickstart" / "fabric.yaml").read_text()
    hosts = next(line for line in text.split("\n") if line.startswith("  gpu:"))
    first.write_text(text.replace(f"hosts:\n{hosts}\n", "", 1))
    second.write_text(f"hosts:\n{hosts}\n")

    async def work(editor: Editor) -> None:
        editor.open(first)
        editor.open(second)
        assert [one.severity for one in await editor.diagnostics(first)] == []
        assert await editor.definition(first, "    hosts: [g") == (str(second), 1, 2)
        editor.type(second, "hosts:\n" + hosts.replace("gpu:", "cpu:") + "\n")
        await editor.until(first, ["FG107"])

    edited(work)


def test_other_yaml_is_left_alone(edited: Edited, tmp_path: Path, fabric: Path) -> None:
    other = tmp_path / "compose.yaml"
    other.write_text("services: {web: {image: x}}\n")

    async def work(editor: Editor) -> None:
        editor.open(other)
        assert await editor.hover(other, "services") == ""
        assert await editor.complete(other, "services") == []
        editor.open(fabric)
        await editor.diagnostics(fabric)
        assert other.as_uri() not in editor.published

    edited(work)
