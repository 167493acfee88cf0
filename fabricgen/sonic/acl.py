"""ACL_TABLE and ACL_RULE as aclorch reads them: which rule drops a packet at a port.

Source: sonic-swss orchagent/aclorch.cpp. The rule with the highest PRIORITY that matches decides. A packet that no rule
matches passes.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.image import rows, text
from fabricgen.sonic.tables import ConfigDb, Row

_ETHER_TYPES = {4: 0x0800, 6: 0x86DD}
_TCP, _BGP_PORT = 6, 179
_IGNORED = frozenset({"PRIORITY", "PACKET_ACTION", "RULE_DESCRIPTION"})
_VERSION_OF_TYPE = {"L3": 4, "L3V6": 6}
_DROPPING = frozenset({"L3", "L3V6", "L3V4V6", "MCLAG", "DROP"})  # types of aclorch; ACL_TABLE_TYPE has others


class Packet(NamedTuple):
    """A packet. A port number, an address or a DSCP that is None is not known."""

    version: int
    protocol: int
    source_port: int | None
    target_port: int | None
    source: Address | None = None
    target: Address | None = None
    dscp: int | None = None


class AclTable(NamedTuple):
    """A table that can drop packets: its name, its stage (ingress or egress), its interfaces, its rules by decreasing
    priority, (key, row), and the IP version that its type has, None for both."""

    name: str
    stage: str
    ports: tuple[str, ...]
    rules: tuple[tuple[str, Row], ...]
    version: int | None = None

    def dropping(self, packet: Packet) -> str | None:
        """The key of the rule that drops a packet; None if it passes. A condition on what is not known matches if the
        rule forwards, so a packet is never reported that can pass."""
        for key, row in self.rules:
            drops = is_drop(row)
            if _matches(row, packet, if_unknown=not drops):
                return key if drops else None
        return None


def acl_tables(config: ConfigDb) -> Iterator[AclTable]:
    """The tables that have rules and a type of which they can drop packets; aclorch makes none of an unknown type."""
    by_table, types = _rules_by_table(config), _DROPPING | {*map(str.upper, rows(config, "ACL_TABLE_TYPE"))}
    for name, row in rows(config, "ACL_TABLE").items():
        if name in by_table and text(row, "type").upper() in types:
            rules = by_table[name]
            stage = text(row, "stage").lower() or "ingress"
            version = _VERSION_OF_TYPE.get(text(row, "type").upper())
            yield AclTable(name, stage, bound_ports(row), rules, version)


def bound_ports(row: Row) -> tuple[str, ...]:
    """The ports of a row of ACL_TABLE."""
    found: object = row.get("ports", row.get("ports@", ""))
    ports = found.split(",") if isinstance(found, str) else found if isinstance(found, list) else []
    return tuple(str(port) for port in ports if port)


class AclUse(NamedTuple):
    """Ingress ACL tables that are bound to ports, and their rules: a rule is one entry of the TCAM, for all ports."""

    tables: int
    rules: int


def acl_use(config: ConfigDb) -> AclUse:
    """What the ACLs of a switch take of its TCAM, mirrors among them. Rules on sources or targets in a range of ports,
    and IPv6 rules, may take several entries; what daemons add by themselves, as the PFC watchdog, is not counted."""
    bound = {
        name
        for name, row in rows(config, "ACL_TABLE").items()
        if (text(row, "stage").lower() or "ingress") == "ingress"
        and not text(row, "type").upper().startswith("CTRLPLANE")
        and (row.get("ports") or row.get("ports@"))
    }
    return AclUse(len(bound), sum(key.partition("|")[0] in bound for key in rows(config, "ACL_RULE")))


def _rules_by_table(config: ConfigDb) -> dict[str, tuple[tuple[str, Row], ...]]:
    """Name of a table -> its rules by decreasing priority; those of equal priority in their order. Large fabrics have
    millions of rules, and neighbors in a file are mostly of one table and priority."""
    found: dict[str, dict[int, list[tuple[str, Row]]]] = {}
    start, alike = "", list[tuple[str, Row]]()
    written: object = None
    for rule in rows(config, "ACL_RULE").items():
        key, row = rule
        if not start or not key.startswith(start) or row.get("PRIORITY") != written:
            name, written = key.partition("|")[0], row.get("PRIORITY")
            start, alike = f"{name}|", found.setdefault(name, {}).setdefault(priority_of(row), [])
        alike.append(rule)
    return {
        name: tuple(chain.from_iterable(own[key] for key in sorted(own, reverse=True))) for name, own in found.items()
    }


def _matches(row: Row, packet: Packet, *, if_unknown: bool) -> bool:
    """Whether every condition of a rule holds."""
    for field in row:
        if field not in _IGNORED:
            holds = _holds(field, text(row, field), packet)
            if not (if_unknown if holds is None else holds):
                return False
    return True


def _holds(field: str, value: str, packet: Packet) -> bool | None:
    """Whether a condition holds; None if this is not known."""
    if field in ("IP_PROTOCOL", "NEXT_HEADER"):
        return _number(value, -1) == packet.protocol
    if field == "ETHER_TYPE":
        return _number(value, -1) == _ETHER_TYPES[packet.version]
    if field == "IP_TYPE":
        wanted = value.upper()
        return wanted in ("ANY", "IP") or wanted.startswith(f"IPV{packet.version}")
    if field in ("L4_SRC_PORT", "L4_DST_PORT"):
        port = packet.source_port if field == "L4_SRC_PORT" else packet.target_port
        return None if port is None else _number(value, -1) == port
    if field in ("L4_SRC_PORT_RANGE", "L4_DST_PORT_RANGE"):
        port = packet.source_port if field == "L4_SRC_PORT_RANGE" else packet.target_port
        first, _, last = value.partition("-")
        return None if port is None else _number(first, 0) <= port <= _number(last, -1)
    if field == "DSCP":  # a value, or value/mask
        dscp, mask = (_number(part, -1) for part in f"{value}/63".split("/")[:2])
        return None if packet.dscp is None else dscp & mask == packet.dscp & mask
    if field in ("SRC_IP", "DST_IP", "SRC_IPV6", "DST_IPV6"):
        return _within(value, packet.source if field.startswith("SRC") else packet.target, packet.version)
    return None


def _within(value: str, address: Address | None, version: int) -> bool | None:
    prefix = parse_address(value)
    if prefix is None or prefix.version != version:
        return False
    if not prefix.length:
        return True
    return None if address is None else prefix.covers(address)


def is_drop(row: Row) -> bool:
    """Whether a rule drops packets. aclorch refuses a rule whose action it does not know, such as DENY: it counts as
    one that forwards."""
    return text(row, "PACKET_ACTION").upper() == "DROP"


def priority_of(row: Row) -> int:
    """The priority of a rule, 0 without one."""
    value = row.get("PRIORITY")
    return _number(value, 0) if type(value) is str else 0


@lru_cache(1 << 12)
def _number(value: str, default: int) -> int:
    try:
        return int(value, 0)
    except ValueError:
        return default


def bgp_packets() -> Iterator[Packet]:
    """Packets of sessions that either end opens: to port 179, and from it."""
    for version in (4, 6):
        yield Packet(version, _TCP, None, _BGP_PORT)
        yield Packet(version, _TCP, _BGP_PORT, None)


def members(config: ConfigDb) -> list[tuple[str, str]]:
    """(port channel or VLAN, port) of each member."""
    keys = [key for name in ("PORTCHANNEL_MEMBER", "VLAN_MEMBER") for key in rows(config, name)]
    return [(group, port) for group, _, port in (key.partition("|") for key in keys)]


def dropped_bgp(config: ConfigDb) -> dict[tuple[str, str, int, bool], str]:
    """(interface, stage, IP version, whether the packet goes to port 179) -> the key of the rule that drops it."""
    found: dict[tuple[str, str, int, bool], str] = {}
    for table in acl_tables(config) if "ACL_RULE" in config else ():
        for packet in bgp_packets():
            if key := table.dropping(packet):
                for port in {*table.ports, *interfaces(table, members(config))}:
                    found.setdefault((port, table.stage, packet.version, packet.target_port is not None), key)
    return found


def interfaces(table: AclTable, joined: Sequence[tuple[str, str]]) -> frozenset[str]:
    """The ports of a table; `joined` are (port channel or VLAN, port)."""
    return frozenset(table.ports) | {port for group, port in joined if group in table.ports}
