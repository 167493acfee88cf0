"""Tenants while hosts go from one to another: which tenants a state of the fabric joins.

Two hosts may reach each other if their tenants before the change or those after it allow it. A host that moves joins
its old and its new tenant as long as packets pass between it and hosts of both, in either direction: the old tenant has
to be closed before the new one opens.
"""

from dataclasses import dataclass, replace
from itertools import product

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint, WiredNic, WiredTenant, Wiring
from fabricgen.isolation.verdict import passing_classes, tenants_that_share

MOST = 100_000  # addresses that are judged again, in all states: each takes about a third of a millisecond

_Ends = tuple[str, str]  # the tenants of a NIC before and after the change, "" without one
_APART = "\0"  # no name of a tenant has it


@dataclass(frozen=True)
class MovingTenants:
    """`wiring` has a tenant for each pair of old and new tenant; `before` and `after` are the tenants that share."""

    wiring: Wiring
    planes: tuple[str, ...]
    before: frozenset[tuple[str, str]]
    after: frozenset[tuple[str, str]]

    @staticmethod
    def of(old: Wiring, new: Wiring) -> "MovingTenants | None":
        """The tenants of a change; None if no host goes from one to another."""
        owners, later = old.tenant_of, new.tenant_of
        ends = {end: (owners.get(end, ""), later.get(end, "")) for end in (*owners, *later)}
        if all(one == other or not one or not other for one, other in ends.values()):
            return None
        nics: dict[_Ends, list[Endpoint]] = {}
        for end, names in ends.items():
            nics.setdefault(names, []).append(end)
        tenants = tuple(WiredTenant(_APART.join(names), tuple(own)) for names, own in nics.items())
        planes = tuple(plane.name for plane in new.planes if plane.isolation is not None)
        shared = (frozenset(tenants_that_share(one)) for one in (old, new))
        known = {(host.name, nic.name): nic.addresses for host in new.hosts for nic in host.nics}
        hosts = tuple(
            replace(host, nics=tuple(_with(nic, known.get((host.name, nic.name), ())) for nic in host.nics))
            for host in old.hosts
        )
        return MovingTenants(replace(old, hosts=hosts, tenants=tenants), planes, *shared)

    @property
    def addresses(self) -> int:
        """The number of NICs that a state has to be judged for."""
        return sum(nic.plane in self.planes for host in self.wiring.hosts for nic in host.nics)

    def joined(self, bundle: Bundle) -> tuple[str, ...]:
        """'blue and red' for the tenants that the switches of a bundle join. Raises UnreadableInputError."""
        found: set[tuple[str, str]] = set()
        for plane in self.planes:
            sides: dict[tuple[_Ends, Endpoint], set[bool]] = {}  # a NIC that moves -> whether it meets old, new
            for source, target in passing_classes(bundle, self.wiring, plane):
                one, other = _ends(source.tenant), _ends(target.tenant)
                was, will = (self._allowed(one[time], other[time], time) for time in (0, 1))
                if not was and not will:
                    found |= {_sorted(a, b) for a, b in product(set(one), set(other)) if a != b and a and b}
                elif was != will:
                    for names, members in ((one, source), (other, target)):
                        if names[0] != names[1] and all(names):
                            for each in members.members:
                                sides.setdefault((names, (each.end.host, each.end.nic)), set()).add(was)
            found |= {_sorted(*names) for (names, _), seen in sides.items() if len(seen) > 1}
        return tuple(f"{one} and {other}" for one, other in sorted(found))

    def _allowed(self, one: str, other: str, time: int) -> bool:
        return bool(one) and (one == other or (one, other) in (self.before, self.after)[time])


def _with(nic: WiredNic, later: tuple[str, ...]) -> WiredNic:
    """The NIC with its addresses before and after the change."""
    return replace(nic, addresses=tuple(dict.fromkeys((*nic.addresses, *later))))


def _sorted(one: str, other: str) -> tuple[str, str]:
    return (one, other) if one < other else (other, one)


def _ends(tenant: str) -> _Ends:
    one, _, other = tenant.partition(_APART)
    return one, other
