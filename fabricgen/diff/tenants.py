"""The hosts that a change moves from one tenant to another, and in which order that is safe."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from fabricgen.bundle.fabric_file import load_wiring
from fabricgen.bundle.wiring import Wiring
from fabricgen.diff.difference import Difference
from fabricgen.inputs import read_bytes
from fabricgen.vocabulary import Isolation

_FILE = "fabric.json"
_TABLES = frozenset({
    "ACL_RULE", "ACL_TABLE", "BGP_GLOBALS", "BGP_GLOBALS_AF", "INTERFACE", "ROUTE_REDISTRIBUTE", "STATIC_ROUTE", "VLAN",
    "VLAN_INTERFACE", "VRF", "VXLAN_TUNNEL_MAP",
})  # fmt: skip
_ORDERS: Mapping[Isolation, str] = {
    Isolation.ACL: "in two changes, or leaves with old and new rules let packets of both tenants through: first "
    "without a tenant on all leaves, then with the new one",
    Isolation.VRF: "in one change: a port leaves the VRF of the old tenant as it enters that of the new one",
    Isolation.EVPN: "in one change: a port leaves the VRF of the old tenant as it enters that of the new one; copy "
    "frr.conf to each leaf, too",
}


@dataclass(frozen=True)
class TenantMove:
    """NICs, (host, NIC), of a plane that go from one tenant to another; "" stands for none. `order` says how that is
    safe."""

    plane: str
    old: str
    new: str
    nics: tuple[tuple[str, str], ...]
    order: str


def tenant_moves(difference: Difference) -> list[TenantMove]:
    """The moves between the two bundles of a comparison, in the order of fabric.json. Raises UnreadableInputError."""
    wirings = wirings_of(difference)
    if wirings is None:
        return []
    old, new = wirings
    before, after = old.tenant_of, new.tenant_of
    levels = {plane.name: plane.isolation for plane in new.planes if plane.isolation}
    found: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    known = {(host.name, nic.name) for host in old.hosts for nic in host.nics}
    for host in new.hosts:
        for nic in host.nics:
            end = host.name, nic.name
            if nic.plane in levels and end in known and before.get(end, "") != after.get(end, ""):
                found.setdefault((nic.plane, before.get(end, ""), after.get(end, "")), []).append(end)
    return [
        TenantMove(plane, one, other, tuple(nics), _ORDERS[levels[plane]] if one and other else "")
        for (plane, one, other), nics in found.items()
    ]


def move_cost(difference: Difference) -> tuple[int, dict[str, int]]:
    """What moves cost: the switches that change tables of tenants, and the rows of these tables in all of them."""
    rows = [
        {(change.table, change.key) for change in device.changes if change.table in _TABLES}
        for device in difference.changed
    ]
    counts = Counter(table for own in rows for table, _ in own)
    return sum(map(bool, rows)), dict(sorted(counts.items()))


def wirings_of(difference: Difference) -> tuple[Wiring, Wiring] | None:
    """The wiring of both bundles with tenants; None if it is equal, or one side does not have it. Raises
    UnreadableInputError."""
    files = [side.path / _FILE for side in (difference.old, difference.new)]
    if not all(file.is_file() for file in files):
        return None
    texts = [read_bytes(file) for file in files]
    if texts[0] == texts[1] or any(b'"isolation"' not in text for text in texts):  # large fabrics have large files
        return None
    return load_wiring(texts[0]), load_wiring(texts[1])
