"""Rules on the routing tables and ARP settings of hosts with several NICs."""

import re
from collections.abc import Iterator, Mapping, Sequence
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any

from fabricgen.bundle.host_settings import kernel_number, kernel_setting
from fabricgen.engine.derived import derived
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import rule
from fabricgen.rules.view.addresses import IpInterface, texts_of
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.host_groups import HostFiles, host_groups
from fabricgen.rules.view.host_interfaces import Interface, interfaces, netplan_file
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.image import rows as rows_of
from fabricgen.sonic.srv6 import LOCATORS, block_of
from fabricgen.vocabulary import Technology

Rows = Sequence[Mapping[str, Any]]
IpNetwork = IPv4Network | IPv6Network
MAIN_RULE = 32766  # the kernel's priority of the main table
_UPPERS = {"vrfs": "VRF", "bonds": "bond", "bridges": "bridge"}
_DEFAULT_ROUTE = "the main table gets a default route over this NIC"
# netplan reference: keys of an interface -> what they do to a NIC of the fabric.
_STRAY = {
    "dhcp4": "no DHCP server is on the link, and an answer brings a default route",
    "dhcp6": "no DHCP server is on the link, and an answer brings a default route",
    "gateway4": _DEFAULT_ROUTE,
    "gateway6": _DEFAULT_ROUTE,
    "match": "the settings belong to the interface that matches, whatever its slot",
    "set-name": "the file in links/ gives the NIC its name",
    "openvswitch": "Open vSwitch takes the NIC",
}
_DOWN = ("manual", "off")  # activation-mode
_CONDITIONS = ("to", "mark", "type-of-service")  # of a rule, beside its source
_REFUSING = ("blackhole", "unreachable", "prohibit", "throw")
_OF_KERNEL = {253: "default", 254: "main", 255: "local"}  # iproute2 etc/iproute2/rt_tables
_FOREIGN = ("ManageForeignRoutingPolicyRules", "ManageForeignRoutes")
_FALSE = ("no", "false", "off", "0", "n", "f")  # systemd src/basic/parse-util.c, parse_boolean
NETWORKD = "networkd.conf"
_SYSCTL_FILE = "sysctl.conf"
_SYSCTLS = {"arp_ignore": ("2", "1"), "arp_announce": ("2",), "rp_filter": ("0", "2")}
_FORWARDING = re.compile(r"net/ipv[46]/conf/[^/]+/(mc_)?forwarding")
_RENDER = "run `fabricgen render`"


@rule("FG909", Severity.ERROR, "The routing tables of a host do not separate its NICs")
def host_routes(fabric: Fabric) -> Iterator[Defect]:
    """What: Each NIC has a separate routing table with the subnet of its port and a route to every host pool of the
    plane. A routing rule before the main table selects this table for the source addresses of the NIC. A NIC without a
    rail also has these routes in the main table, each with a unique metric; the interface of a tagged VLAN does not.
    networkd sets the NICs up, and no VRF, bond or bridge takes one of them.

    Why: Without the rule, packets of all rails leave through one NIC. Its leaf drops them or sends them over the
    spines. The same happens to one of two NICs that share a table. netplan writes no routing rules for NetworkManager,
    and gives no error. A NIC in a VRF has the table of the VRF, and its rule is not asked.

    Example: The rule of rail1 selects table 100, which is the table of rail0.

    Fix: Render the file again.

    Source: ip-rule(8); netplan reference, routes and routing-policy; canonical/netplan src/nm.c, which has no
    routing-policy (netplan 0.106: `netplan generate` drops the rules); linux Documentation/networking/vrf.rst.
    """
    owners: dict[tuple[str, str, object], Interface] = {}
    host = ("", "")
    for one in interfaces(fabric):
        if host != (host := (one.group.files.name, one.host)):
            owners.clear()
            yield from _uppers(one.group, one.host)
        yield from _renderer(one)
        yield from _other_addresses(one)
        routes, policies = one.rows("routes"), one.rows("routing-policy")
        table, addresses = _table(routes), one.addresses
        yield from _rules(one, addresses, policies, table)
        yield from _routes(one, addresses, routes, table)
        marks = {("routes", name, row[name]) for row in routes for name in ("table", "metric") if name in row}
        marks |= {("routing-policy", "priority", row.get("priority")) for row in policies}
        taken = [mark for mark in marks if owners.setdefault(mark, one) is not one]
        for where, what, value in sorted(taken, key=str):
            other = owners[where, what, value]
            message, hint = f"{other.nic} uses the same {what} {value}", f"use a different {what} for each NIC"
            yield Defect(one.place(where), message, hint, ((other.nic, other.place(where)),))


def _uppers(group: HostFiles, host: str) -> Iterator[Defect]:
    """A renderer for all interfaces, and VRFs, bonds and bridges over NICs of the fabric."""
    network, file = group.files.network(host), netplan_file(host)
    nics = group.files.interfaces(host)
    planned = group.bonds_on.get(host, ())  # FG293 judges them
    if (renderer := network.get("renderer", "networkd")) != "networkd":
        message = f"the renderer of all interfaces is {renderer}, for which netplan writes no routing rules"
        hint = "remove the line, and set `renderer: networkd` for each NIC"
        yield Defect(group.place(file, "renderer"), message, hint)
    for kind in _UPPERS:
        found = network.get(kind)
        for name, content in found.items() if isinstance(found, Mapping) else ():
            if kind == "bonds" and name in planned:
                continue
            members = content.get("interfaces") if isinstance(content, Mapping) else None
            taken = [one for one in members if one in nics] if isinstance(members, list) else []
            if taken:
                what = _UPPERS[kind]
                message = f"{what} {name} takes {', '.join(taken)}: their packets do not use the tables of the NICs"
                yield Defect(group.place(file, f"{kind}.{name}"), message, f"remove the NICs from {what} {name}")


def _renderer(one: Interface) -> Iterator[Defect]:
    if (renderer := one.raw.get("renderer", "networkd")) != "networkd":
        message = f"the renderer is {renderer}, for which netplan writes no routing rules"
        yield Defect(one.place("renderer"), message, "set renderer to networkd")


def _other_addresses(one: Interface) -> Iterator[Defect]:
    """Keys that give the NIC a default route in the main table, or its settings to another interface, or keep it
    down."""
    for key in [key for key in one.raw if key in _STRAY]:
        found = one.raw[key]
        if found not in (None, False) and found != {"name": one.nic}:
            yield Defect(one.place(key), f"{key} is {found}: {_STRAY[key]}", f"remove {key}")
    if (mode := one.raw.get("activation-mode")) in _DOWN:
        message = f"activation-mode is {mode}: the NIC stays down until it is set up by hand"
        yield Defect(one.place("activation-mode"), message, "remove activation-mode")


def _table(routes: Rows) -> object:
    """The table with most of a NIC's routes, or None."""
    tables = [row["table"] for row in routes if "table" in row]
    return max(tables, key=tables.count, default=None)


def _rules(one: Interface, addresses: Sequence[IpInterface], policies: Rows, table: object) -> Iterator[Defect]:
    sources = {str(row.get("from")).partition("/")[0]: row for row in policies}
    for address in addresses:
        ip = texts_of(address)[0]
        row = sources.pop(ip, None)
        if row is None:
            yield Defect(one.place("routing-policy"), f"the rule for packets from {ip} is missing", _RENDER)
            continue
        length, priority = str(row["from"]).partition("/")[2], row.get("priority")
        if length not in ("", str(address.max_prefixlen)):
            yield Defect(
                one.place("routing-policy"),
                f"the rule is for {row['from']}, expected only the address of the NIC",
                _RENDER,
            )
        if others := [f"{key} {row[key]}" for key in _CONDITIONS if key in row]:
            message = f"the rule for packets from {ip} is only for {', '.join(others)}"
            yield Defect(
                one.place("routing-policy"), message, f"remove {', '.join(key for key in _CONDITIONS if key in row)}"
            )
        if row.get("table") != table:
            message = f"the rule selects table {row.get('table')}, but the routes are in table {table}"
            yield Defect(one.place("routing-policy"), message, f"set table to {table}")
        if not isinstance(priority, int) or not 0 < priority < MAIN_RULE:
            message = f"the rule has priority {priority}, but the main table has {MAIN_RULE}"
            yield Defect(one.place("routing-policy"), message, f"use a priority from 1 to {MAIN_RULE - 1}")
    if sources:
        message = f"a rule is for {', '.join(sources)}, which is not an address of the NIC"
        yield Defect(one.place("routing-policy"), message, "remove the rule")


def _beyond(one: Interface) -> Iterator[str]:
    """The prefixes behind the gateway: those of hosts, those that hosts announce, and the blocks of uSIDs, to which a
    host sends outer headers."""
    yield from one.plane.host_prefixes
    yield from one.group.announced.get(one.plane.name, ())
    yield from _blocks(one.end.switch)


@derived
def _blocks(switch: Switch) -> frozenset[str]:
    """The blocks of the uSIDs of a switch."""
    locators = rows_of(switch.device.config, LOCATORS).values()
    return frozenset(str(block) for row in locators if (block := block_of(row)))


def _routes(one: Interface, addresses: Sequence[IpInterface], rows: Rows, table: object) -> Iterator[Defect]:
    versions = {address.version for address in addresses}
    pools = {prefix for prefix in _beyond(one) if (6 if ":" in prefix else 4) in versions}
    near = {texts_of(address)[1] for address in addresses}
    own = {str(row.get("to")) for row in rows if row.get("table") == table}
    main = {str(row.get("to")) for row in rows if "table" not in row}
    expected = (
        (f"table {table}", own, pools | near),
        ("the main table", main, pools if one.end.link.rail is None and not one.vlan else set()),
    )
    if table in _OF_KERNEL:
        message = f"table {table} is {_OF_KERNEL[table]} of the kernel, which all NICs share"
        yield Defect(one.place("routes"), message, "use a separate table for each NIC")
    for name, found, wanted in expected:
        wider = [outer for text in found if text not in wanted and (outer := _network(text))]
        for prefix in sorted(wanted - found):
            if name == "the main table" or not any(_is_in(prefix, outer) for outer in wider):
                yield Defect(one.place("routes"), f"{name} has no route to {prefix}", _RENDER)
        for prefix in sorted(found - wanted):
            if name == "the main table" or not any(_is_in(inner, _network(prefix)) for inner in wanted):
                yield Defect(one.place("routes"), f"{name} has an unexpected route to {prefix}", "remove the route")
    for row in rows:
        to = str(row.get("to"))
        if row.get("table", table) != table:
            message = f"the route to {to} is in table {row['table']}, but other routes are in table {table}"
            yield Defect(one.place("routes"), message, f"set table to {table}")
        if (kind := row.get("type")) in _REFUSING:
            yield Defect(one.place("routes"), f"the route to {to} is {kind}: the kernel sends no packet", "remove type")
            continue
        if to in near and row.get("scope") != "link":
            yield Defect(
                one.place("routes"), f"{to} is directly connected, but its route has no scope link", "set scope to link"
            )
        elif to not in near and "via" not in row:
            yield Defect(
                one.place("routes"), f"the route to {to} has no gateway", "set via to the address of the switch port"
            )


def _network(text: str) -> IpNetwork | None:
    """The prefix of a route in a table of a NIC; `default` is that of IPv4."""
    try:
        return ip_network("0.0.0.0/0" if text == "default" else text)
    except ValueError:
        return None


def _is_in(text: str, wider: IpNetwork | None) -> bool:
    inner = _network(text)
    return bool(inner and wider and inner.version == wider.version and inner.subnet_of(wider))  # type: ignore[arg-type]


@rule("FG911", Severity.ERROR, "A host answers ARP on one NIC for the addresses of another")
def host_neighbors(fabric: Fabric) -> Iterator[Defect]:
    """What: On a host with several RoCE ports, sysctl.conf sets arp_ignore to 1 or 2, arp_announce to 2 and rp_filter
    to 0 or 2 for each of them. NICs accept no addresses from router advertisements, and IPv6 is not disabled where they
    have IPv6 addresses.

    Why: By default Linux answers ARP for all of its addresses on every interface, and traffic of a rail arrives on
    another NIC. A strict rp_filter drops packets that return over another rail. An additional address changes the GID
    indices.

    Example: net/ipv4/conf/rail0/rp_filter is 1.

    Fix: Use the rendered values.

    Source: torvalds/linux Documentation/networking/ip-sysctl.rst.
    """
    for one in interfaces(fabric):
        if one.raw.get("accept-ra") is not False:
            message = "the NIC accepts addresses from router advertisements"
            yield Defect(one.place("accept-ra"), message, "set accept-ra to false")
    for group in host_groups(fabric):
        nics = [nic for nic in group.nics(lambda plane: plane.technology == Technology.ROCE) if group.is_set_up(nic)]
        with_addresses = [*group.with_addresses(nics), *group.tagged_vlans]
        for nic in with_addresses if len(nics) > 1 or group.tagged_vlans else ():
            for name, allowed in _SYSCTLS.items():
                key, of_all = f"net/ipv4/conf/{nic}/{name}", f"net/ipv4/conf/all/{name}"
                text = _kernel_text(group, key)
                own, larger = kernel_number(text), kernel_number(_kernel_text(group, of_all)) or 0
                if own is None or str(own) not in allowed:
                    message = f"{name} is {'missing' if text is None else text}, expected {' or '.join(allowed)}"
                    yield Defect(_kernel_place(group, key), message, f"set {key} to {allowed[-1]}")
                elif larger > own and str(larger) not in allowed:
                    message = f"{name} of all interfaces is {larger}, expected {' or '.join(allowed)}"
                    yield Defect(_kernel_place(group, of_all), message, f"remove {of_all}")
        yield from _disabled_family(group, nics)


def _disabled_family(group: HostFiles, nics: Sequence[str]) -> Iterator[Defect]:
    """IPv6 that sysctl turns off on NICs with addresses of this family."""
    with_ipv6 = {nic.name for host in group.hosts for nic in host.nics for text in nic.addresses if ":" in text}
    used = [nic for nic in nics if nic in with_ipv6]
    for name in ("all", *used) if used else ():
        path = f"net/ipv6/conf/{name}/disable_ipv6"
        text = _kernel_text(group, path)
        if kernel_number(text):
            message = f"{path} is {text}, but {', '.join(used[:3])} have IPv6 addresses"
            yield Defect(_kernel_place(group, path), message, f"remove {path}")


def _kernel_text(group: HostFiles, path: str) -> str | None:
    """The value that sysctl.conf gives to a path below /proc/sys."""
    found = kernel_setting(group.files.read(_SYSCTL_FILE), path)
    return found[1] if found else None


def _kernel_place(group: HostFiles, path: str) -> Place:
    """The line that sets a path, by name or with a pattern."""
    settings = group.files.read(_SYSCTL_FILE)
    found = kernel_setting(settings, path)
    line = settings.line(found[0] if found else path)
    return group.line(_SYSCTL_FILE, line, path) if line else group.place(_SYSCTL_FILE, path)


@rule("FG915", Severity.WARNING, "A host forwards packets between its NICs")
def host_forwarding(fabric: Fabric) -> Iterator[Defect]:
    """What: sysctl.conf of the hosts does not turn on forwarding of IPv4 or IPv6.

    Why: A host that forwards connects networks that the switches separate: rails, planes and tenants. Forwarded RoCE is
    lossy, and ICMP redirects and asymmetric paths follow. With IPv6, a host that forwards also ignores router
    advertisements.

    Example: net/ipv4/ip_forward is 1.

    Fix: Remove the line. Software that needs forwarding, such as the network of Kubernetes, sets it in its own file.

    Source: torvalds/linux Documentation/networking/ip-sysctl.rst (ip_forward, forwarding).
    """
    for group in host_groups(fabric):
        for key, text in group.files.settings(_SYSCTL_FILE).items():
            if kernel_number(text) and (key == "net/ipv4/ip_forward" or _FORWARDING.fullmatch(key)):
                message = f"{key} is {text}: the host forwards packets between its networks"
                yield Defect(_kernel_place(group, key), message, f"remove {key}, or set it to 0")


@rule("FG919", Severity.WARNING, "networkd deletes the rules and routes of other software")
def foreign_rules(fabric: Fabric) -> Iterator[Defect]:
    """What: networkd.conf of hosts with NICs that are set up has ManageForeignRoutingPolicyRules=no and
    ManageForeignRoutes=no.

    Why: The rendered netplan files make networkd active. At each start, and so at each `netplan apply`, it deletes all
    rules and routes that no .network file has: those of Cilium, Calico, FRR and VPNs. Pods lose their network.

    Example: networkd.conf is missing.

    Fix: Render the file again, and install it in /etc/systemd/networkd.conf.d.

    Source: networkd.conf(5), ManageForeignRoutingPolicyRules=; Cilium documentation, System Requirements (systemd).
    """
    for group in host_groups(fabric):
        if not any(group.is_set_up(nic) for nic in group.nics(lambda plane: plane.technology == Technology.ROCE)):
            continue
        if NETWORKD not in group.files.files:
            message = "the file is missing: networkd deletes the rules and routes of other software"
            yield Defect(group.place(NETWORKD), message, _RENDER)
            continue
        found = group.files.settings(NETWORKD)
        for key in _FOREIGN:
            if found.get(key, "yes").lower() not in _FALSE:
                what = "rules" if key == _FOREIGN[0] else "routes"
                message = f"{key} is {found.get(key, 'missing')}: networkd deletes the {what} of other software"
                yield Defect(group.place(NETWORKD, key), message, f"set {key} to no")
