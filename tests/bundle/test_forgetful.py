"""Tables of a file that are forgotten and read again."""

import json
from pathlib import Path

import pytest

from fabricgen.bundle.device import ObservedDevice
from fabricgen.bundle.forgetful import ForgetfulContent, forget_tables, forgetful
from fabricgen.bundle.read import open_bundle
from fabricgen.sonic.dump import dump

TABLES = {
    "DEVICE_METADATA": {"localhost": {"hostname": "leaf1"}},
    "PORT": {"Ethernet0": {"lanes": "1", "index": "1"}, "Ethernet4": {"lanes": "2", "index": "1"}},
    "VLAN": {"Vlan10": {"vlanid": "10"}},
}
LAYOUTS = {"config save": dump(TABLES), "one line": json.dumps(TABLES).encode()}


def device_of(text: bytes, folder: Path) -> ObservedDevice:
    file = folder / "sonic" / "leaf1" / "config_db.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(text)
    (folder / "links.json").write_text("[]")
    bundle = open_bundle([folder], folder / "links.json")
    return forgetful(bundle).devices["leaf1"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_forgotten_table_is_read_again(layout: str, tmp_path: Path) -> None:
    device = device_of(LAYOUTS[layout], tmp_path)
    before = device.config["PORT"]
    forget_tables(device, ["PORT", "NO_SUCH_TABLE"])
    assert list(device.config) == list(TABLES)
    assert "PORT" in device.config and "NO_SUCH_TABLE" not in device.config
    device.file.write_bytes(LAYOUTS[layout].replace(b'"index"', b'"alias"'))
    assert device.config["VLAN"] == TABLES["VLAN"]
    again = device.config["PORT"]
    assert again is not before and again["Ethernet4"] == {"lanes": "2", "alias": "1"}
    assert device.config["PORT"] is again


def test_a_peek_does_not_keep_the_tables(tmp_path: Path) -> None:
    content = device_of(LAYOUTS["config save"], tmp_path).content
    assert isinstance(content, ForgetfulContent)
    assert content.peek() == TABLES and content.peek() is not content.peek()
    assert content.config["PORT"] is content.peek()["PORT"]
