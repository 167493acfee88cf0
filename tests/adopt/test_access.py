"""VLANs and port channels of imported files stay: the inventory renders the same rows."""

import json
from pathlib import Path

from tests.conftest import Cli
from tests.render.hosts.rendered import files_of
from tests.rules.access import BONDED

TABLES = ("VLAN", "VLAN_INTERFACE", "VLAN_MEMBER", "PORTCHANNEL", "PORTCHANNEL_MEMBER", "INTERFACE")


def test_imported_vlans_and_port_channels_are_rendered_again(cli: Cli, tmp_path: Path) -> None:
    files = {Path(path).parent.name: text for path, text in files_of(BONDED).items() if path.endswith("config_db.json")}
    for name, text in files.items():
        (tmp_path / "running" / name).mkdir(parents=True)
        (tmp_path / "running" / name / "config_db.json").write_bytes(text)
    outcome = cli("import", "config-db", tmp_path / "running", "--output", tmp_path / "taken")
    assert outcome.code == 0 and "rows that differ: 0" in outcome.out + outcome.err
    assert cli("render", tmp_path / "taken", "--output", tmp_path / "out", "-q").code == 0
    for name, text in files.items():
        again = json.loads((tmp_path / "out" / "sonic" / name / "config_db.json").read_text())
        assert {table: again.get(table) for table in TABLES} == {table: json.loads(text).get(table) for table in TABLES}
