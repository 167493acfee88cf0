"""The rules on what keeps BGP from running, and on ACLs that drop its packets or those of RoCE."""

from collections.abc import Iterator, Mapping

from fabricgen.bundle.outside import announced_prefixes
from fabricgen.engine.derived import derived
from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.acl import AclTable, Packet, acl_tables, bgp_packets, interfaces, members
from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.device_types import OUTSIDE_ROLE
from fabricgen.sonic.image import ROUTING_MODE, daemon_obstacle
from fabricgen.units import counted
from fabricgen.vocabulary import DeviceState

_UDP, _ROCE_PORT = 17, 4791
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
    source and a destination address, which separate tenants, are not reported. On a plane with tenants, the proof of
    their separation judges packets between hosts (FG647, FG648).

    Why: Routes and sessions look correct, and the packets of RDMA are lost: a queue pair ends with an error after its
    retries. Without TCP port 179 sessions do not start, or only if the other end opens them.

    Example: ACL_RULE|DATA|DROP_UDP has IP_PROTOCOL 17, L4_DST_PORT 4791 and PACKET_ACTION DROP, and ACL_TABLE|DATA is
    bound to the ports of the hosts.

    Fix: Remove the rule, or add a rule with a higher PRIORITY that forwards these packets.

    Source: sonic-swss orchagent/aclorch.cpp; RFC 4271 section 8; InfiniBand Architecture, annex A17 (RoCEv2).
    """
    for switch in fabric.switches.values():
        tables = list(acl_tables(switch.device.config))
        if not tables:
            continue
        for table in tables:
            ports = interfaces(table, members(switch.device.config))
            inner, lossless = _ports(fabric, switch)
            for word, affected, packets in (
                ("RoCE (UDP port 4791)", ports & lossless, _marked(fabric, switch, _roce(fabric, switch, table))),
                ("BGP (TCP port 179)", ports & inner, bgp_packets()),
            ):
                dropping = [key for packet in packets if (key := table.dropping(packet))] if affected else []
                for key in dict.fromkeys(dropping):
                    row = switch.device.row("ACL_RULE", key)
                    if {field[:3] for field in row if "_IP" in field and field != "IP_TYPE"} >= {"SRC", "DST"}:
                        continue
                    message = f"the rule drops packets of {word} on {counted(len(affected), 'port')}"
                    related = (("the ports", switch.place("ACL_TABLE", table.name)),)
                    hint = "remove the rule, or forward these packets with a higher PRIORITY"
                    yield Defect(switch.place("ACL_RULE", key), message, hint, related)


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
