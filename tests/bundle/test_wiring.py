"""fabric.json read back: its words are enums, and a word that is not known does not stop a verdict."""

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from fabricgen.bundle.fabric_file import dump_wiring, load_wiring
from fabricgen.vocabulary import DeviceState, LinkKind, Medium, Purpose, Role, Technology
from tests.conftest import Cli
from tests.inventories import explicit, write


@pytest.fixture
def bundle(cli: Cli, tmp_path: Path) -> Path:
    assert cli("render", write(tmp_path / "inventory", explicit()), "-o", tmp_path / "b", "-q").code == 0
    return tmp_path / "b"


def edit(bundle: Path, members: str, **words: object) -> None:
    """Change members of the first item of a list of fabric.json."""
    file = bundle / "fabric.json"
    content = json.loads(file.read_text())
    content[members][0] |= words
    file.write_text(json.dumps(content))


def test_words_are_enums(bundle: Path) -> None:
    text = (bundle / "fabric.json").read_bytes()
    wiring = load_wiring(text)
    assert {device.role for device in wiring.devices} == {Role.LEAF, Role.SPINE}
    assert all(type(device.role) is Role and device.state is DeviceState.ACTIVE for device in wiring.devices)
    assert all(type(link.kind) is LinkKind for link in wiring.links)
    assert all(type(cable.medium) is Medium for cable in wiring.cables)
    assert [(plane.technology, plane.purpose) for plane in wiring.planes] == [(Technology.ROCE, Purpose.COMPUTE)]
    assert dump_wiring(wiring) == text


def test_an_unknown_word_keeps_its_text(bundle: Path, cli: Cli) -> None:
    edit(bundle, "devices", role="rack-leaf", state="lent")
    edit(bundle, "links", kind="back-to-back")
    edit(bundle, "cables", medium="string")
    wiring = load_wiring((bundle / "fabric.json").read_bytes())
    role = wiring.devices[0].role
    assert type(role) is Role and role == "rack-leaf" and role not in list(Role)
    assert pickle.loads(pickle.dumps(role)) is role
    assert b'"rack-leaf"' in dump_wiring(wiring) and b'"string"' in dump_wiring(wiring)
    assert cli("validate", bundle).code in (0, 1)
    assert cli("simulate", "deadlock", bundle).code == 0


def test_a_word_that_is_not_text_is_refused(bundle: Path, cli: Cli) -> None:
    edit(bundle, "devices", role=5)
    outcome = cli("validate", bundle)
    assert outcome.code == 2 and "not a fabric.json that this version reads: devices[0]: 5 is not a Role" in outcome.err


def test_a_cable_of_an_unknown_link_is_refused(bundle: Path, cli: Cli) -> None:
    edit(bundle, "cables", links=["compute/nowhere"])
    for command in (("validate", bundle), ("handoff", "cabling", bundle, "-o", "out")):
        outcome = cli(*command)
        assert outcome.code == 2 and "'compute/nowhere' is not a link of the fabric" in outcome.err


def test_cordoned_links_come_back(bundle: Path) -> None:
    wiring = load_wiring((bundle / "fabric.json").read_bytes())
    cordoned = replace(wiring, cordoned=(wiring.links[0].id,))
    assert load_wiring(dump_wiring(cordoned)) == cordoned
