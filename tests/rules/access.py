"""A small bundle whose hosts have bonds in a VLAN with a DHCP relay, and changes of its switches' rows."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fabricgen.sonic.dump import dump
from tests.rules.case import HostFiles

BONDED = """\
fabricgen: 1
fabric: small
hosts: {gpu: {model: dgx-b200, count: 2}}
planes:
  in-band:
    design: fat-tree
    hosts: [gpu]
    scalable_unit: {hosts: 1, planned: 2}
    leaf: {platform: arista-7060x6-64pe}
    spine: {platform: arista-7060x6-64pe, count: 2}
    speed: 400G
    access: {kind: bond, vlan: 110, dhcp: 10.90.0.5}
    addressing: {loopbacks: 10.1.0.0/16, links: 10.192.0.0/11, hosts: 10.224.0.0/12}
    static:
      - {prefix: 10.90.0.0/24, name: dhcp, switch: in-band-su00-leaf-00, port: Ethernet384, address: 192.0.2.0/31}
"""
BONDS = HostFiles(BONDED)
WITHOUT_DHCP = HostFiles(BONDED.replace(", dhcp: 10.90.0.5", ""))
IN_VLAN = HostFiles(BONDED.replace("kind: bond", "kind: vlan"))
ONE_LEAF = HostFiles(BONDED.replace("{hosts: 1, planned: 2}", "{hosts: 2}"))
TRUNK = HostFiles(BONDED.replace("vlan: 110", "bond: bond0, vlan: 110, tagged: [120, 130]"))
SPEAKING = (
    BONDED.replace("vlan: 110, dhcp: 10.90.0.5", "vlan: 110, bgp: {asn: 64600, prefixes: 10.100.0.0/16}")
    .replace("    speed", "    bgp: unnumbered\n    speed")
    .replace("links: 10.192.0.0/11, ", "")
)
SPEAKERS = HostFiles(SPEAKING)
ROUTED_SPEAKERS = HostFiles(SPEAKING.replace("kind: bond, vlan: 110", "kind: routed"))
UNFILTERED = HostFiles(BONDED.replace("dhcp: 10.90.0.5", "bgp: {asn: 64600, prefixes: 10.100.0.0/16, filtered: false}"))
LEAF0, LEAF1 = "in-band-su00-leaf-00", "in-band-su01-leaf-00"
PAIRED = (
    BONDED.replace("{hosts: 1, planned: 2}", "{hosts: 2, planned: 2}\n    leaves_per_unit: 2")
    .replace("dhcp: 10.90.0.5", "mclag: {}")
    .replace("count: 2}}", "count: 3}}")
    .partition("    static:")[0]
)
PAIRS = HostFiles(PAIRED)
FIRST, SECOND = "in-band-su00-leaf-00", "in-band-su00-leaf-01"  # of a pair; PortChannel496 connects them


@dataclass(frozen=True)
class Row:
    """Sets a row of a switch, or one field; None removes it."""

    device: str
    table: str
    key: str
    content: object
    field: str = ""

    def __call__(self, folder: Path) -> None:
        file = folder.parents[1] / "sonic" / self.device / "config_db.json"
        config = json.loads(file.read_text())
        rows = config.setdefault(self.table, {})
        rows, key = (rows.setdefault(self.key, {}), self.field) if self.field else (rows, self.key)
        rows[key] = self.content
        if self.content is None:
            del rows[key]
        file.write_bytes(dump({table: rows for table, rows in config.items() if rows}))

    def __str__(self) -> str:
        place = f"{self.device} {self.table}|{self.key}" + (f"|{self.field}" if self.field else "")
        return f"{place} is {'missing' if self.content is None else json.dumps(self.content)}"


def both_rows(*rows: Row) -> Callable[[Path], None]:
    """Several rows."""

    def change(folder: Path) -> None:
        for row in rows:
            row(folder)

    change.__doc__ = "\n".join(map(str, rows))
    return change


def second_leaf(folder: Path) -> None:
    """inband1 of gpu-000 is connected to Ethernet8 of in-band-su01-leaf-00"""
    file = folder.parents[1] / "fabric.json"
    text = file.read_text()
    there, here = f'"b":["{LEAF1}","Ethernet8"]', f'["gpu-000","inband1"],"b":["{LEAF0}","Ethernet4"]'
    assert here in text
    file.write_text(text.replace(here, f'["gpu-000","inband1"],{there}'))


def no_bond(folder: Path) -> None:
    """fabric.json has no bond of gpu-000"""
    file = folder.parents[1] / "fabric.json"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(re.sub(r',"bonds":\[.*?\]}\]', "", line) if "gpu-000" in line else line for line in lines))


def other_host(folder: Path) -> None:
    """inband1 of gpu-000 and inband1 of gpu-001 have each other's ports"""
    file = folder.parents[1] / "fabric.json"
    ends = [f'["gpu-00{number}","inband1"],"b":["{SECOND}","Ethernet{port}"]' for number, port in ((0, 0), (1, 4))]
    crossed = [f'["gpu-00{number}","inband1"],"b":["{SECOND}","Ethernet{port}"]' for number, port in ((0, 4), (1, 0))]
    text = file.read_text()
    for old, new in zip(ends, crossed, strict=True):
        assert old in text
        text = text.replace(old, new)
    file.write_text(text)
