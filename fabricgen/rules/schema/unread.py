"""The rule on tables that no other rule reads: what a verdict does not cover.

Which tables rules read is not a list. The rules judge copies of some switches that note each table that is read by its
name. The rules of the schema and those that compare peers go through all tables, so they do not count.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fabricgen.bundle.read import Bundle
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import RULES_BY_CODE, Basis, rule
from fabricgen.rules.view.fabric import End, Fabric
from fabricgen.sonic.traffic_tables import TRAFFIC_TABLES

_CODE = "FG415"
_NEIGHBORS = 2
_OF_ALL_TABLES = (Basis.SCHEMA, Basis.PEERS, Basis.FORM)


@rule(_CODE, Severity.NOTE, "A table that can stop traffic is not judged")
def unread_tables(fabric: Fabric) -> Iterator[Defect]:
    """What: Each table with rows that can drop, redirect or hold back packets is read by a rule, apart from those that
    check its form and compare switches.

    Why: A pass says nothing about such a table. The first line of the report lists it: "not judged: NAT_POOL".

    Example: NAT_POOL has rows.

    Fix: Test what the rows do, and suppress the finding with the result. Remove rows without a use.

    Source: The daemons that read the tables are those in fabricgen/sonic/traffic_tables.py.
    """
    having: dict[str, list[str]] = {}
    for name, switch in fabric.switches.items():
        for table in switch.device.config:
            if table in TRAFFIC_TABLES and switch.device.table(table):
                having.setdefault(table, []).append(name)
    read = _read_by_rules(fabric, having) if having else set()
    for table in (one for one in having if one not in read):
        for name in having[table]:
            message = f"no rule judges what {TRAFFIC_TABLES[table]} does with its rows"
            yield Defect(fabric.switches[name].place(table), message, "test what the rows do")


class _Noting(dict[str, Any]):
    """The tables of a switch; `read` has the names of those that were read by name."""

    def __init__(self, tables: Any, read: set[str]) -> None:
        super().__init__(tables)
        self._read = read

    def __getitem__(self, name: str) -> Any:
        self._read.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self._read.add(name)
        return super().get(name, default)

    def __contains__(self, name: object) -> bool:
        self._read.add(str(name))
        return super().__contains__(name)


def _read_by_rules(fabric: Fabric, having: Mapping[str, list[str]]) -> set[str]:
    """The tables that rules read by name, apart from the rules of all tables, until all that switches have are read.

    `having`: table -> the switches that have it. The rules judge the first of them.
    """
    read: set[str] = set()
    names = [those[0] for those in having.values()]
    links = {end.link.id: end.link for name in names for end in _cabled(fabric, name)}
    chosen = {*names, *(end[0] for link in links.values() for end in (link.a, link.b) if end[0] in fabric.switches)}
    devices = {name: one.device for name, one in fabric.switches.items() if name in chosen}
    copies = {name: device.reshaped({**device.config}) for name, device in devices.items()}
    probe = Fabric(Bundle(copies, tuple(links.values())))
    for switch in probe.switches.values():
        switch.device = switch.device.reshaped(_Noting(switch.device.config, read))
    for one in RULES_BY_CODE.values():
        if one.code != _CODE and one.basis not in _OF_ALL_TABLES:
            list(one.check(probe))
            if having.keys() <= read:
                break
    return read


def _cabled(fabric: Fabric, name: str) -> list[End]:
    """Ends of some links to other switches, for rules that judge links."""
    return [end for end in fabric.ends_of[name].values() if end.far][:_NEIGHBORS]
