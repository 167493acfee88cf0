"""Control-plane ACLs as caclmgrd translates them into iptables: who can still reach the services of a switch.

A table of type CTRLPLANE has the family of the first rule with an address, in the order of the row keys; rules of the
other family are ignored. Two rules of one PRIORITY are one: the last counts, and priorities are compared as texts. The
rules of an EXTERNAL_CLIENT table all have the destination port of its last rule; without one, that of the table before.
As soon as one rule exists, both families drop all other packets. Before that, caclmgrd accepts answers to the switch's
own packets (conntrack: so those of NTP and DNS servers), ping, neighbor discovery, DHCP, and BGP (since 202505 not on
eth0).

Source: sonic-host-services scripts/caclmgrd (get_acl_rules_and_translate_to_iptables_commands) of 202311 to 202605 and
master c2a4cdfe; sonic-swss-common common/configdb.cpp (get_table: a map in the order of the keys).
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.image import rows, text
from fabricgen.sonic.tables import ConfigDb, Row, Table
from fabricgen.units import whole_number

CONTROL_PLANE = "CTRLPLANE"
EXTERNAL = "EXTERNAL_CLIENT"
# service -> its protocols and destination ports; "0" is each port.
SERVICES = {
    "NTP": (("udp",), ("123",)),
    "SNMP": (("tcp", "udp"), ("161",)),
    "SSH": (("tcp",), ("22",)),
    EXTERNAL: (("tcp",), ()),
    "ANY": (("any",), ("0",)),
}
_EVERY_PORT = "0"
_TARGETS_SINCE = 202505  # DST_IP, DST_IPV6 and IN_PORTS of a rule; before, caclmgrd ignores them
_ADDRESSES = {4: frozenset({"SRC_IP", "DST_IP"}), 6: frozenset({"SRC_IPV6", "DST_IPV6"})}
_OTHER = {4: 6, 6: 4}


class ControlFilter(NamedTuple):
    """One line of iptables, in its order. `source` and `target` are as written, "" if the line has none.

    `is_partial`: it has a condition that this module does not compare (TCP flags, interfaces)."""

    family: int
    protocol: str
    port: str
    source: str
    target: str
    action: str
    key: str
    is_partial: bool = False

    @property
    def command(self) -> str:
        """The line as caclmgrd gives it to the shell, without conditions of `is_partial`."""
        words = ["ip6tables" if self.family == 6 else "iptables", "-A INPUT"]
        words += [f"-p {self.protocol}"] if self.protocol != "any" else []
        words += [f"-s {self.source}"] if self.source else []
        words += [f"-d {self.target}"] if self.target else []
        words += [f"--dport {self.port}"] if self.port != _EVERY_PORT else []
        return " ".join([*words, f"-j {self.action}"])

    def matches(self, protocol: str, port: str) -> bool:
        """Whether packets to a port can match."""
        return self.protocol in ("any", protocol) and self.port in (_EVERY_PORT, port)


class Ignored(NamedTuple):
    """A row that caclmgrd does not apply as it is written: its table, key and field, and the reason."""

    table: str
    key: str
    field: str
    reason: str
    hint: str


@dataclass
class ControlAcl:
    """The translation of one file. Without filters, caclmgrd drops only packets to addresses of the front ports."""

    filters: list[ControlFilter] = field(default_factory=list)
    ignored: list[Ignored] = field(default_factory=list)

    def sources(self, family: int, protocol: str, port: str) -> list[str]:
        """The prefixes from which new packets to a port are accepted; a rule without a source is 0.0.0.0/0 or ::/0.

        A rule that drops counts if it has no other condition, and hides what its prefix covers."""
        everyone = "::/0" if family == 6 else "0.0.0.0/0"
        if not self.filters:
            return [everyone]
        accepted: list[str] = []
        dropped: list[Address] = []
        for one in self.filters:
            if one.family != family or not one.matches(protocol, port):
                continue
            source = parse_address(one.source or everyone)
            if source is None or any(other.covers(source) for other in dropped):
                continue
            if one.action == "ACCEPT":
                accepted.append(str(source.network))
            elif not one.is_partial and not one.target:
                dropped.append(source.network)
        return accepted


def translate(config: ConfigDb, release: int | None = None) -> ControlAcl:
    """The control-plane ACLs of a file, for a release; None is the latest."""
    found = ControlAcl()
    tables, rules = rows(config, "ACL_TABLE"), rows(config, "ACL_RULE")
    external_ports: tuple[str, ...] = ()  # caclmgrd keeps them from table to table
    for name in sorted(tables):
        row = tables[name]
        if text(row, "type") != CONTROL_PLANE:
            continue
        services = row.get("services", row.get("services@", []))
        names = services if isinstance(services, list) else [one for one in str(services).split(",") if one]
        if not names:
            found.ignored.append(Ignored("ACL_TABLE", name, "services", "the table has no service", "add services"))
        own = _own_rules(name, rules, found)
        family = next((6 if 6 in families else 4 for row in own.values() if (families := _families(row))), None)
        for service in map(str, names):
            if service not in SERVICES:
                reason, hint = f"caclmgrd does not know the service {service}", f"use one of {', '.join(SERVICES)}"
                found.ignored.append(Ignored("ACL_TABLE", name, "services", reason, hint))
                continue
            protocols, ports = SERVICES[service]
            if service == EXTERNAL:
                ports = external_ports = _external_ports(name, own, external_ports, found)
            if not own or not family or not ports:
                if own and not family:
                    reason, hint = "no rule of the table has an address, so caclmgrd skips it", "add SRC_IP or SRC_IPV6"
                    found.ignored.append(Ignored("ACL_TABLE", name, "", reason, hint))
                continue
            for key, props in _by_priority(own, family, found):
                found.filters += _filters(key, props, family, protocols, ports, release)
    return ControlAcl(found.filters, list(dict.fromkeys(found.ignored)))


def _own_rules(name: str, rules: Table, found: ControlAcl) -> dict[str, Row]:
    """The rules of a table that caclmgrd reads, by their keys in its order, with names of fields in capitals."""
    own: dict[str, Row] = {}
    for key in sorted(rules):
        if key.partition("|")[0] == name and rules[key]:
            own[key] = {field.upper(): value for field, value in rules[key].items()}
            if not text(own[key], "PRIORITY"):
                reason = "caclmgrd ignores a rule without PRIORITY"
                found.ignored.append(Ignored("ACL_RULE", key, "PRIORITY", reason, "set PRIORITY"))
                del own[key]
    return own


def _families(row: Row) -> frozenset[int]:
    """The families of the addresses of a rule."""
    fields = {name for name in row if row[name]}
    return frozenset(version for version, names in _ADDRESSES.items() if fields & names)


def _external_ports(name: str, own: dict[str, Row], before: tuple[str, ...], found: ControlAcl) -> tuple[str, ...]:
    """The destination ports of an EXTERNAL_CLIENT table: those of its last rule that has some."""
    ports: tuple[str, ...] = ()
    last = ""
    for key, row in own.items():
        single, span = text(row, "L4_DST_PORT"), text(row, "L4_DST_PORT_RANGE")
        first, _, end = span.partition("-")
        low, high = whole_number(first), whole_number(end)
        mine = (single,) if single else tuple(map(str, range(low or 0, high + 1))) if span and high is not None else ()
        if mine and ports and mine != ports:
            reason = f"all rules of {name} get the port of the last one, {key.partition('|')[2]}"
            found.ignored.append(Ignored("ACL_RULE", last, "L4_DST_PORT", reason, "give each port a separate table"))
        ports, last = (mine, key) if mine else (ports, last)
    if not ports:
        reason = "no rule has L4_DST_PORT, so " + ("the port of an earlier table counts" if before else "it is skipped")
        found.ignored.append(Ignored("ACL_TABLE", name, "", reason, "add L4_DST_PORT to the rules"))
    return ports or before


def _by_priority(own: dict[str, Row], family: int, found: ControlAcl) -> Iterator[tuple[str, Row]]:
    """The rules that caclmgrd keeps, in its order."""
    kept: dict[str, tuple[str, Row]] = {}
    for key, row in own.items():
        priority = text(row, "PRIORITY")
        if priority in kept:
            reason = f"{key.partition('|')[2]} has the same PRIORITY {priority} and replaces it"
            hint = "give each rule of a table its own PRIORITY"
            found.ignored.append(Ignored("ACL_RULE", kept[priority][0], "PRIORITY", reason, hint))
        kept[priority] = key, row
        if _OTHER[family] in _families(row):
            reason = f"caclmgrd reads the table as IPv{family} by its first rule, and ignores this rule"
            hint = "give each family a separate table"
            place = next(name for name in ("SRC_IPV6", "SRC_IP", "DST_IPV6", "DST_IP") if name in row)
            found.ignored.append(Ignored("ACL_RULE", key, place, reason, hint))
            del kept[priority]
    for priority in sorted(kept, reverse=True):
        key, props = kept[priority]
        action = text(props, "PACKET_ACTION")
        if action not in ("ACCEPT", "DROP"):
            reason = f"PACKET_ACTION is {action or 'missing'}: iptables refuses the rule"
            found.ignored.append(
                Ignored("ACL_RULE", key, "PACKET_ACTION", reason, "set PACKET_ACTION to ACCEPT or DROP")
            )
            continue
        yield key, props


def _filters(
    key: str, props: Row, family: int, protocols: tuple[str, ...], ports: tuple[str, ...], release: int | None
) -> Iterator[ControlFilter]:
    has_targets = release is None or release >= _TARGETS_SINCE
    source = text(props, "SRC_IPV6") or text(props, "SRC_IP")
    target = (text(props, "DST_IPV6") or text(props, "DST_IP")) if has_targets else ""
    for protocol in protocols:
        is_partial = bool(protocol == "tcp" and props.get("TCP_FLAGS")) or bool(has_targets and props.get("IN_PORTS"))
        for port in ports:
            yield ControlFilter(family, protocol, port, source, target, text(props, "PACKET_ACTION"), key, is_partial)
