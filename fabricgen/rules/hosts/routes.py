"""How a host keeps its NICs apart: a routing table for each, and no answer for the addresses of another."""

from collections import Counter
from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.host_groups import host_groups
from fabricgen.rules.view.host_interfaces import Interface, interfaces

MAIN_RULE = 32766  # the priority at which the kernel looks into the main table
_SYSCTLS = {"arp_ignore": ("2", "1"), "arp_announce": ("2",), "rp_filter": ("0", "2")}
_RENDER = "run `fabricgen render`"


@rule("FG909", Severity.ERROR, "A host's routing tables do not keep its NICs apart")
def host_routes(fabric: Fabric) -> Iterator[Defect]:
    """What: each NIC has a routing table of its own, with the subnet of its port and a route to every pool of the
    plane's hosts; a rule sends what leaves from its addresses there, before the main table; a NIC without a rail has
    these routes in the main table as well, each with a metric of its own.

    Why: without the rule packets of all rails leave by one NIC, whose leaf drops them or sends them over the spines. A
    table that two NICs share does the same to one of them.

    Example: the rule of rail1 names table 100, which is that of rail0.

    Fix: render the file again.

    Source: ip-rule(8); netplan reference, routes and routing-policy.
    """
    owners: dict[tuple[str, str, str, str, object], Interface] = {}
    for one in interfaces(fabric):
        table = _table(one)
        yield from _rules(one, table)
        yield from _routes(one, table)
        marks = {
            ("routes", name, row[name]) for row in one.rows("routes") for name in ("table", "metric") if name in row
        }
        marks |= {("routing-policy", "priority", row.get("priority")) for row in one.rows("routing-policy")}
        for where, what, number in sorted(marks, key=str):
            other = owners.setdefault((one.group.files.name, one.host, where, what, number), one)
            if other is not one:
                message = f"{what} {number} is that of {other.nic}, too"
                yield Defect(one.place(where), message, "one of its own", ((other.nic, other.place(where)),))


def _table(one: Interface) -> object:
    """The table that most of the routes are in."""
    tables = Counter(row["table"] for row in one.rows("routes") if "table" in row)
    return tables.most_common(1)[0][0] if tables else None


def _rules(one: Interface, table: object) -> Iterator[Defect]:
    place, rules = one.place("routing-policy"), one.rows("routing-policy")
    sources = {str(row.get("from")).partition("/")[0]: row for row in rules}
    for address in one.addresses:
        row = sources.pop(str(address.ip), None)
        if row is None:
            yield Defect(place, f"no rule sends what leaves from {address.ip} to a table", _RENDER)
            continue
        length, priority = str(row["from"]).partition("/")[2], row.get("priority")
        if length not in ("", str(address.max_prefixlen)):
            yield Defect(place, f"the rule is for {row['from']}, more than the NIC's address", _RENDER)
        if row.get("table") != table:
            yield Defect(
                place, f"the rule names table {row.get('table')}, the routes are in {table}", f"table: {table}"
            )
        if not isinstance(priority, int) or not 0 < priority < MAIN_RULE:
            yield Defect(place, f"the rule has priority {priority}, the main table {MAIN_RULE}", "a lower number")
    if sources:
        yield Defect(place, f"a rule is for {', '.join(sources)}, no address of the NIC", "remove it")


def _routes(one: Interface, table: object) -> Iterator[Defect]:
    place, rows = one.place("routes"), one.rows("routes")
    versions = {address.version for address in one.addresses}
    pools = {prefix for prefix in one.plane.host_prefixes if (6 if ":" in prefix else 4) in versions}
    near = {str(address.network) for address in one.addresses}
    own = {str(row.get("to")) for row in rows if row.get("table") == table}
    main = {str(row.get("to")) for row in rows if "table" not in row}
    expected = (
        (f"table {table}", own, pools | near),
        ("the main table", main, pools if one.end.link.rail is None else set()),
    )
    for name, found, wanted in expected:
        for prefix in sorted(wanted - found):
            yield Defect(place, f"{name} has no route to {prefix}", _RENDER)
        for prefix in sorted(found - wanted):
            yield Defect(place, f"{name} has a route to {prefix}, which it is not to have", "remove it")
    for row in rows:
        to = str(row.get("to"))
        if row.get("table", table) != table:
            yield Defect(
                place, f"the route to {to} is in table {row['table']}, the others in {table}", f"table: {table}"
            )
        if to in near and row.get("scope") != "link":
            yield Defect(place, f"{to} is next door, its route has no scope link", "scope: link")
        elif to not in near and "via" not in row:
            yield Defect(place, f"the route to {to} has no gateway", "via: the switch's address")


@rule("FG911", Severity.ERROR, "A host answers on one NIC for the addresses of another")
def host_neighbours(fabric: Fabric) -> Iterator[Defect]:
    """What: each Ethernet port of a host with several has arp_ignore 1 or 2, arp_announce 2 and rp_filter 0 or 2 in
    sysctl.conf, and takes no addresses from router advertisements.

    Why: by default Linux answers ARP for any of its addresses on any interface, so that a rail's traffic comes in by
    another NIC; a strict rp_filter drops what comes back by another rail. A further address moves the GID indices.

    Example: net/ipv4/conf/rail0/rp_filter = 1.

    Fix: the values as rendered.

    Source: torvalds/linux Documentation/networking/ip-sysctl.rst.
    """
    for one in interfaces(fabric):
        if one.raw.get("accept-ra") is not False:
            message = "the NIC takes addresses from router advertisements"
            yield Defect(one.place("accept-ra"), message, "accept-ra: false")
    for group in host_groups(fabric):
        found = group.files.settings("sysctl.conf")
        nics = [nic for nic in group.nics(lambda plane: plane.technology == "roce") if group.is_set_up(nic)]
        for nic in nics if len(nics) > 1 else ():
            for name, allowed in _SYSCTLS.items():
                key = f"net/ipv4/conf/{nic}/{name}"
                if found.get(key) not in allowed:
                    message = f"{name} is {found.get(key, 'missing')}, {' or '.join(allowed)} is wanted"
                    yield Defect(group.place("sysctl.conf", key), message, f"{key} = {allowed[-1]}")
