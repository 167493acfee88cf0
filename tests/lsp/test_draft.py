"""A draft: unsaved texts are read in place of files, and each value that it shows has its cause in the inventory."""

import shutil
import sys
from pathlib import Path

import pytest

from fabricgen.api.draft import judge_draft
from fabricgen.errors import UnreadableInputError
from fabricgen.inputs import read_text, unsaved
from fabricgen.lsp.session import inventory_of
from tests.conftest import Cli

ROOT = Path(__file__).parents[2]


@pytest.fixture
def fabric(tmp_path: Path) -> Path:
    return shutil.copytree(ROOT / "inventories" / "quickstart", tmp_path / "fabric")


def test_unsaved_texts_are_read_instead_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "one.yaml"
    file.write_text("saved")
    monkeypatch.chdir(tmp_path)
    with unsaved({file.resolve(): "a\r\nb"}):
        assert read_text(file) == read_text(Path("one.yaml")) == "a\nb"
        with pytest.raises(UnreadableInputError, match="limit"):
            read_text(file, 3)
    assert read_text(file) == "saved"


def test_values_are_the_inverse_of_causes(fabric: Path) -> None:
    """Each value that a place of the inventory gives has this place, or one below it, among its causes."""
    draft = judge_draft(fabric, {})
    sources, samples = draft._samples
    assert sources and {sample.name for sample in samples} == {"compute-spine-00", "compute-su00-r0-leaf"}
    for key in ("cables.leaf-spine", "cables.host-leaf", "lossless.classes", "mtu", "lossless.cnp"):
        place = f"fabric.yaml#planes.compute.{key}"
        found = list(draft.values(place))
        assert found, key
        for one in found:
            *row, field = one.path.split("|")
            causes = sources.causes(one.device, row[0], "|".join(row[1:]), field)
            assert any(cause == place or cause.startswith((f"{place}.", f"{place}[")) for cause in causes), one
            (sample,) = [each for each in samples if each.name == one.device]
            assert sample.tables[row[0]]["|".join(row[1:])][field] == one.value


def test_the_findings_are_those_of_check(fabric: Path, cli: Cli) -> None:
    file = fabric / "fabric.yaml"
    for old, new in (("40m", "2km"), ("count: 32", "count: 3200"), ("[34]", "[26]"), ("cnp:", "cpn:")):
        text = file.read_text().replace(old, new, 1)
        draft = judge_draft(fabric, {file.resolve(): text})
        other = fabric.parent / f"other-{new.strip(':')}"
        shutil.copytree(fabric, other)
        (other / "fabric.yaml").write_text(text)
        printed = cli("-q", "check", str(other), "--format", "concise").out
        assert draft.findings and all(one.code in printed and one.message in printed for one in draft.findings)


def test_a_problem_has_its_place(fabric: Path) -> None:
    file = fabric / "fabric.yaml"
    draft = judge_draft(fabric, {file.resolve(): "fabricgen: 1\nplanes: {"})
    assert draft.problem and draft.problem.location and draft.problem.location.file == str(file)
    assert list(draft.values("fabric.yaml#planes")) == [] and draft.capacity == {} and draft.tree is None


def test_which_files_are_an_inventory(tmp_path: Path) -> None:
    first, second, other = (tmp_path / name for name in ("a.yaml", "b.yaml", "notes.txt"))
    first.write_text("fabricgen: 1\nfabric: a\n")
    second.write_text("hosts: {}\n")
    other.write_text("fabricgen: 1\n")
    assert inventory_of(first, {}) == inventory_of(second, {}) == inventory_of(tmp_path / "devices.csv", {}) == tmp_path
    assert inventory_of(other, {}) is None and inventory_of(tmp_path / "none" / "a.yaml", {}) is None
    unsaved_text = {second: "fabricgen: 1\nfabric: b\n"}
    assert inventory_of(first, unsaved_text) == first and inventory_of(second, unsaved_text) == second


def test_without_pygls_the_message_says_what_to_install(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith(("pygls", "fabricgen.lsp.server"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pygls", None)
    monkeypatch.setitem(sys.modules, "pygls.lsp", None)
    monkeypatch.setitem(sys.modules, "pygls.lsp.server", None)
    done = cli("lsp")
    assert done.code == 2 and "pip install 'fabricgen[lsp]'" in done.err
