"""The rules on what keeps BGP from running, and on ACLs that drop its packets or those of RoCE."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fabricgen.bundle.outside import announced_prefixes
from fabricgen.engine.derived import derived
from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.acl import AclTable, Packet, acl_tables, acl_use, bgp_packets, interfaces, members
from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.device_types import OUTSIDE_ROLE
from fabricgen.sonic.image import ROUTING_MODE, daemon_obstacle
from fabricgen.units import counted
from fabricgen.vocabulary import DeviceState

_UDP, _ROCE_PORT = 17, 4791
_ROCE = "RoCE (UDP port 4791)"
_MOST_PREFIXES = 64


@rule("FG362", Severity.ERROR, "SONiC ignores the BGP tables of the file", breaks=Breaks.SESSION)
def ignored_tables(fabric: Fabric) -> Iterator[Defect]:
    """What: A switch with BGP_NEIGHBOR rows has FEATURE|bgp enabled, and its docker_routing_config_mode is neither
    split nor split-unified.

    Why: Without the container no session starts. In the split modes the container does not render the configuration of
    FRR from CONFIG_DB: FRR reads files on the switch, which are not judged. For files without fabric.json, split is a
    warning, because the files on such a switch can be right.

    Example: FEATURE|bgp has state disabled.

    Fix: Set the state to enabled. If FRR's files on the switch have the sessions, remove the BGP tables, which nothing
    reads; otherwise set docker_routing_config_mode to separated or unified.

    Source: sonic-buildimage dockers/docker-fpm-frr/docker_init.sh; src/sonic-host-services (featured).
    """
    for switch in fabric.switches.values():
        wired, found = switch.device.wired, daemon_obstacle(switch.device.config)
        if found is None or not switch.device.table("BGP_NEIGHBOR") or (wired and wired.state != DeviceState.ACTIVE):
            continue
        is_mode = found.place[-1] == ROUTING_MODE
        hint = f"set {ROUTING_MODE} to unified, or remove the tables if FRR's own files have the sessions"
        hint = hint if is_mode else "set state to enabled"
        severity = Severity.WARNING if is_mode and wired is None else None
        yield Defect(switch.place(*found.place), found.reason, hint, severity=severity)


@rule("FG363", Severity.ERROR, "An ACL drops packets of RoCE or of BGP", breaks=Breaks.ROUTES)
def dropping_acl(fabric: Fabric) -> Iterator[Defect]:
    """What: No rule of an ACL that is bound to a port with PFC drops packets to UDP port 4791 that have a DSCP of RoCE.
    No rule of an ACL that is bound to a port between switches drops packets from or to TCP port 179. Rules with both a
    source and a destination address, which separate hosts, are those of FG677. On a plane with tenants, the proof of
    their separation judges packets between hosts (FG647, FG648).

    Why: Routes and sessions look correct, and the packets of RDMA are lost: a queue pair ends with an error after its
    retries. Without TCP port 179 sessions do not start, or only if the other end opens them.

    Example: ACL_RULE|DATA|DROP_UDP has IP_PROTOCOL 17, L4_DST_PORT 4791 and PACKET_ACTION DROP, and ACL_TABLE|DATA is
    bound to the ports of the hosts.

    Fix: Remove the rule, or add a rule with a higher PRIORITY that forwards these packets.

    Source: sonic-swss orchagent/aclorch.cpp; RFC 4271 section 8; InfiniBand Architecture, annex A17 (RoCEv2).
    """
    for one in _dropping(fabric):
        if not one.separates:
            message = f"the rule drops packets of {one.of} on {counted(one.ports, 'port')}"
            yield one.defect(message, "remove the rule, or forward these packets with a higher PRIORITY")


@rule("FG677", Severity.ERROR, "An ACL separates hosts, and no tenants are stated", breaks=Breaks.ROUTES)
def separating_acl(fabric: Fabric) -> Iterator[Defect]:
    """What: On a plane without `isolation`, no rule of an ACL at a port with PFC drops RoCE packets from one prefix of
    hosts to another. For files without fabric.json this is a warning, because nothing says whose the hosts are.

    Why: All hosts of such a plane are expected to reach each other. Jobs on both sides of the rule stop, and where the
    rule is meant to separate tenants, nothing proves that it separates all of them.

    Example: ACL_RULE|DATA|DROP has SRC_IP 10.64.0.0/16, DST_IP 10.65.0.0/16 and PACKET_ACTION DROP.

    Fix: State `tenants` and `isolation: acl` in the inventory, which renders such rules and proves the separation, or
    remove the rule.

    Source: sonic-swss orchagent/aclorch.cpp; docs/tenants.md.
    """
    for one in _dropping(fabric):
        if one.separates and one.of == _ROCE:
            severity = None if one.switch.device.wired else Severity.WARNING
            message = f"the rule drops RoCE between hosts on {counted(one.ports, 'port')}, and no tenants are stated"
            hint = "state the tenants with `isolation: acl` in the inventory, or remove the rule"
            yield one.defect(message, hint, severity)


@rule("FG674", Severity.ERROR, "ACLs do not fit the TCAM of the platform")
def acls_fit(fabric: Fabric) -> Iterator[Defect]:
    """What: The ingress ACL tables at ports, and their rules, are at most as many as the platform has. A platform
    whose file does not have acl_tables or acl_rules is not judged: no public source has them for the shipped ones, and
    the verdict on tenants says so.

    Why: orchagent installs tables and rules until the TCAM is full. What is left out does not separate its ports: a
    table without room lets all packets pass.

    Example: acl_tables of the platform is 6, and the switch has a table for each of 8 tenants.

    Fix: Give each tenant `addresses`, so it has two rules, put fewer tenants below one leaf, or use
    `isolation: vrf` or `evpn`.

    Source: sonic-swss orchagent/crmorch.cpp (SAI_SWITCH_ATTR_AVAILABLE_ACL_TABLE,
    SAI_ACL_TABLE_ATTR_AVAILABLE_ACL_ENTRY); sonic-buildimage issue 6323 and sonic-swss pull request 4475 (Broadcom
    chips have few ingress tables); `crm show resources acl group` and `acl table` show what a switch has left.
    """
    for switch in fabric.switches.values():
        platform = switch.platform
        if platform is None or (platform.acl_tables is None and platform.acl_rules is None):
            continue
        use = acl_use(switch.device.config)
        for number, most, noun, table in (
            (use.tables, platform.acl_tables, "ACL table", "ACL_TABLE"),
            (use.rules, platform.acl_rules, "ACL rule", "ACL_RULE"),
        ):
            if most is not None and number > most:
                message = f"{counted(number, noun)} at ingress, and {platform.name} has room for {most}"
                yield Defect(switch.place(table), message, "bind fewer ACLs to the ports of this switch")


class _Dropping(NamedTuple):
    """A rule that drops packets of a kind, the number of ports where it does, and whether it has both addresses."""

    switch: Switch
    table: AclTable
    key: str
    of: str
    ports: int
    separates: bool

    def defect(self, message: str, hint: str, severity: Severity | None = None) -> Defect:
        related = (("the ports", self.switch.place("ACL_TABLE", self.table.name)),)
        return Defect(self.switch.place("ACL_RULE", self.key), message, hint, related, severity=severity)


@derived
def _dropping(fabric: Fabric) -> list[_Dropping]:
    """The rules that drop packets of RoCE or BGP."""
    found = []
    for switch in fabric.switches.values():
        for table in acl_tables(switch.device.config):
            ports = interfaces(table, members(switch.device.config))
            inner, lossless = _ports(fabric, switch)
            for word, affected, packets in (
                (_ROCE, ports & lossless, _marked(fabric, switch, _roce(fabric, switch, table))),
                ("BGP (TCP port 179)", ports & inner, bgp_packets()),
            ):
                dropping = [key for packet in packets if (key := table.dropping(packet))] if affected else []
                for key in dict.fromkeys(dropping):
                    row = switch.device.row("ACL_RULE", key)
                    fields = {field[:3] for field in row if "_IP" in field and field != "IP_TYPE"}
                    found.append(_Dropping(switch, table, key, word, len(affected), fields >= {"SRC", "DST"}))
    return found


def _ports(fabric: Fabric, switch: Switch) -> tuple[frozenset[str], frozenset[str]]:
    """The ports between switches, and the ports with PFC; ports to external routers are neither."""
    ends = fabric.ends_of[switch.name]
    inner = frozenset(port for port, end in ends.items() if end.far or end.far_role in ("leaf", "spine", "core"))
    outside = {port for port, end in ends.items() if end.far_role == OUTSIDE_ROLE}
    rows = switch.device.table("PORT_QOS_MAP").items()
    return inner, frozenset(port for port, row in rows if row.get("pfc_enable") and port not in outside)


def _marked(fabric: Fabric, switch: Switch, packets: Iterator[Packet]) -> Iterator[Packet]:
    """The packets with each DSCP of RoCE; without fabric.json it is not known."""
    plane = fabric.planes.get(switch.plane)
    dscps = sorted({dscp for values in ((plane and plane.roce_dscp) or {}).values() for dscp in values})
    for packet in packets:
        yield from (packet._replace(dscp=dscp) for dscp in dscps or (None,))


def _roce(fabric: Fabric, switch: Switch, table: AclTable) -> Iterator[Packet]:
    """Packets between unknown hosts, and between hosts of prefixes that a rule names."""
    for version in (4, 6):
        yield Packet(version, _UDP, None, _ROCE_PORT)
    plane = fabric.planes.get(switch.plane)
    if plane and plane.isolation is not None:
        return
    named = [prefix for _, row in table.rules for field in row if "_IP" in field if (prefix := _prefix(row[field]))]
    if not named:
        return
    owned = _prefixes(fabric)
    own = owned.get(switch.name, ())
    others = [one for name, prefixes in owned.items() if name != switch.name for one in prefixes]
    close = [one for one in others if any(one.covers(prefix) or prefix.covers(one) for prefix in named)]
    for far in (*others[:1], *close[:_MOST_PREFIXES]):
        for near in [one for one in (own or others[-1:]) if one.version == far.version][:2]:
            yield Packet(far.version, _UDP, None, _ROCE_PORT, near.widened(near.length), far)
            yield Packet(far.version, _UDP, None, _ROCE_PORT, far, near.widened(near.length))


def _prefix(value: object) -> Address | None:
    return parse_address(value) if isinstance(value, str) else None


@derived
def _prefixes(fabric: Fabric) -> Mapping[str, tuple[Address, ...]]:
    """Switch -> the host prefixes that it announces."""
    found = {}
    for name, switch in fabric.switches.items():
        announced = [parse_address(one.prefix) for one in announced_prefixes(switch.device.config) if not one.loopback]
        found[name] = tuple(one for one in announced if one and one.length)
    return found
