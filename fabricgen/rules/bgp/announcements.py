"""Hosts on routed ports are reachable only where their leaf announces a prefix that holds them."""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.addresses import parse_interface
from fabricgen.rules.view.fabric import Fabric, Switch
from fabricgen.rules.view.subnets import end_addresses
from fabricgen.sonic.tables import Row

Network = IPv4Network | IPv6Network


def _static_routes(switch: Switch) -> list[tuple[str, Row, Network]]:
    """STATIC_ROUTE rows of the default VRF: key, row, prefix."""
    found = []
    for key, row in switch.device.table("STATIC_ROUTE").items():
        vrf, _, prefix = key.rpartition("|")
        if vrf in ("", "default") and (held := parse_interface(prefix)):
            found.append((key, row, held.network))
    return found


def _is_installed(row: Row) -> bool:
    """Whether staticd installs the route at once: a discard route, or one with a next hop."""
    return row.get("blackhole") == "true" or bool(row.get("nexthop")) or bool(row.get("ifname"))


def _announced(switch: Switch) -> list[tuple[str, Network]]:
    """The prefixes that the switch's static routes announce."""
    return [
        (key, network)
        for key, row, network in _static_routes(switch)
        if _is_installed(row) and row.get("advertise") != "false"
    ]


def _host_networks(fabric: Fabric, switch: Switch) -> list[tuple[str, Network]]:
    """(INTERFACE key, subnet) of each routed host port."""
    return [
        (held.key, held.value.network)
        for end in fabric.ends_of[switch.name].values()
        if end.far_role == "host"
        for held in end_addresses(end)
    ]


def _holds(wide: Network, narrow: Network) -> bool:
    return wide.version == narrow.version and narrow.subnet_of(wide)  # type: ignore[arg-type]


@rule("FG341", Severity.ERROR, "Host addresses are announced to nobody")
def unannounced_hosts(fabric: Fabric) -> Iterator[Defect]:
    """What: the subnet of every routed host port lies in a prefix that the switch announces.

    Why: SONiC announces Loopback0, VLAN subnets and static routes, never the subnets of routed ports. A host behind
    one is unreachable from every other leaf although its link and all sessions are up.

    Example: leaf1 has 32 host ports of 10.64.0.0/26 in INTERFACE and no STATIC_ROUTE.

    Fix: STATIC_ROUTE|default|10.64.0.0/26 with blackhole "true" and without advertise "false"; the connected /31s are
    more specific and carry the traffic.

    Source: sonic-buildimage bgpd.main.conf.j2 (redistribute static route-map STATIC_ROUTE_FILTER), staticroutebgp.
    """
    for switch in fabric.switches.values():
        if switch.device.metadata.get("frr_mgmt_framework_config") == "true" or not switch.asn:
            continue
        announced = [network for _, network in _announced(switch)]
        lost = [one for one in _host_networks(fabric, switch) if not any(_holds(wide, one[1]) for wide in announced)]
        if not lost:
            continue
        key, network = lost[0]
        related = (("a host port", switch.place("INTERFACE", key)),)
        silent = next(((k, row) for k, row, wide in _static_routes(switch) if _holds(wide, network)), None)
        message = f"{len(lost)} host subnets, {network} first, are in no announced prefix"
        if silent is None:
            hint = "add STATIC_ROUTE|default|<host prefix> with blackhole true"
            yield Defect(switch.place("STATIC_ROUTE"), message, hint, related)
        else:
            field = "advertise" if silent[1].get("advertise") == "false" else "blackhole"
            why = "is not announced" if field == "advertise" else "is never installed"
            hint = "remove advertise" if field == "advertise" else 'set blackhole to "true"'
            message = f"{message}: the route that holds them {why}"
            yield Defect(switch.place("STATIC_ROUTE", silent[0], field), message, hint, related)


@rule("FG342", Severity.ERROR, "Two switches announce overlapping host prefixes")
def overlapping_announcements(fabric: Fabric) -> Iterator[Defect]:
    """What: the prefixes that different switches announce do not overlap. A route that leads on to a next hop, as a
    default route does, may hold longer ones, and several switches may lead to one prefix.

    Why: traffic for the common part goes to whichever announces the longer prefix, or to both, and is discarded at
    the wrong one by its own blackhole route.

    Example: leaf1 announces 10.64.0.0/24 and leaf2 announces 10.64.0.128/25.

    Fix: one prefix per leaf, aligned to its own host ports.

    Source: derived from longest-prefix match.
    """
    found = [
        _Announced(switch.name, key, network, bool(switch.device.row("STATIC_ROUTE", key).get("nexthop")))
        for switch in fabric.switches.values()
        for key, network in _announced(switch)
    ]
    around: list[_Announced] = []  # the prefixes that the next one may lie in, widest first
    told: set[_Announced] = set()  # a prefix that is too wide is told of once, with the first that lies in it
    for inner in sorted(found, key=_Announced.order):
        around = [wide for wide in around if _holds(wide.network, inner.network)]
        clash = next((wide for wide in reversed(around) if _clash(wide, inner)), None)
        around.append(inner)
        if clash in told:
            continue
        for mine, theirs in ((clash, inner), (inner, clash)):
            if mine is None or theirs is None:
                continue
            if _is_own(fabric, mine.switch, mine.network) and not _is_own(fabric, theirs.switch, theirs.network):
                continue  # only the other one announces what it does not have
            told.add(mine)
            place = fabric.switches[theirs.switch].place("STATIC_ROUTE", theirs.key)
            message = f"{mine.network} overlaps {theirs.network}, which {theirs.switch} announces"
            related = ((f"announced by {theirs.switch}", place),)
            yield Defect(fabric.switches[mine.switch].place("STATIC_ROUTE", mine.key), message, "", related)


@dataclass(frozen=True, slots=True)
class _Announced:
    """A static route that a switch announces. `leads_on` tells that it has a next hop."""

    switch: str
    key: str
    network: Network
    leads_on: bool

    def order(self) -> tuple[int, int, int, str]:
        """Prefixes follow those that they lie in."""
        return self.network.version, int(self.network.network_address), self.network.prefixlen, self.switch


def _clash(wide: _Announced, inner: _Announced) -> bool:
    harmless = wide.leads_on and (inner.leads_on or wide.network != inner.network)
    return wide.switch != inner.switch and not harmless


def _is_own(fabric: Fabric, name: str, network: Network) -> bool:
    """Whether all of the switch's host ports lie in the prefix that it announces."""
    subnets = [one for _, one in _host_networks(fabric, fabric.switches[name]) if one.version == network.version]
    return bool(subnets) and all(_holds(network, one) for one in subnets)


@rule("FG343", Severity.WARNING, "A prefix is announced that holds no host")
def empty_announcement(fabric: Fabric) -> Iterator[Defect]:
    """What: an announced blackhole route of a leaf holds at least one of its host ports.

    Why: the route draws traffic that the switch can only discard. Usually its prefix was mistyped, and the right one
    is missing.

    Example: leaf1's hosts are in 10.64.0.0/26, its route is for 10.46.0.0/26.

    Fix: correct the prefix, or remove the route.

    Source: derived from longest-prefix match; hosts from fabric.json or DEVICE_NEIGHBOR.
    """
    for switch in fabric.switches.values():
        subnets = [network for _, network in _host_networks(fabric, switch)]
        for key, row, network in _static_routes(switch):
            is_drain = row.get("blackhole") == "true" and row.get("advertise") != "false"
            if subnets and is_drain and not any(_holds(network, subnet) for subnet in subnets):
                message = f"{network} is announced and discarded, no host port of the switch is in it"
                yield Defect(switch.place("STATIC_ROUTE", key), message, "correct the prefix")


@rule("FG344", Severity.WARNING, "A static route's prefix has host bits")
def host_bits(fabric: Fabric) -> Iterator[Defect]:
    """What: the prefix of a STATIC_ROUTE key is a network: all bits behind its length are zero.

    Why: staticd masks it and installs another prefix than the file says, so that no running route matches the file,
    and the row is easily taken for another one.

    Example: STATIC_ROUTE|default|10.64.0.164/27 stands for 10.64.0.160/27.

    Fix: write the network's own address.

    Source: FRR staticd (apply_mask); sonic-buildimage src/sonic-bgpcfgd managers_static_rt.py.
    """
    for switch in fabric.switches.values():
        for key, _, network in _static_routes(switch):
            if key.rpartition("|")[2].partition("/")[0] != str(network.network_address):
                message = f"the prefix has host bits, the route is for {network}"
                yield Defect(switch.place("STATIC_ROUTE", key), message, f"write {network}")
