"""A planned Clos as switches and links.

Host n of a unit takes its leaf's ports from n x ports per host; uplinks take a leaf's last ports; a spine or core gives
each switch below the ports of its place in the planned layout, so no link moves when units are added. Parallel links
use adjacent ports, so the two links of a split cage share a cable.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabricgen.design.clos import ClosPlan
from fabricgen.design.model import Block, Host, Identity, Link, Switch
from fabricgen.design.parts import TierParts, make_switch, plane_nics
from fabricgen.design.sockets import Sockets
from fabricgen.design.units import Seating
from fabricgen.inventory.plane import Plane
from fabricgen.platforms.model import HostNic
from fabricgen.vocabulary import LinkKind, Role

Pod = tuple[int, int | None]  # number, and the column if a pod is the leaves of one column


@dataclass
class ClosWiring:
    """Switches and links of one subplane, in the order of their identities."""

    plane: Plane
    plan: ClosPlan
    tiers: Mapping[Role, TierParts]
    sockets: Sockets
    seating: Seating
    subplane: int

    def __post_init__(self) -> None:
        self._columns = self.sockets.columns
        self._copy = None if self.sockets.subplanes == 1 else self.subplane
        self.leaves = {
            (unit, column): self._leaf(unit, column)
            for unit in self.seating.used
            for column in range(len(self._columns))
        }
        self.spines = {
            (pod, number): self._spine(pod, number)
            for pod in self._pods()
            for number in range(self.plan.spines_per_pod)
        }
        self.cores = [self._core(number) for number in range(self.plan.spines_per_pod * self.plan.cores_per_group)]

    @property
    def switches(self) -> tuple[Switch, ...]:
        """All switches, tier by tier."""
        return (*self.leaves.values(), *self.spines.values(), *self.cores)

    def _leaf(self, unit: int, column: int) -> Switch:
        rail, side = self._columns[column]
        number, copy = column if rail is None else 0, self._copy if side is None else side
        identity = Identity(self.plane.name, Role.LEAF, number, su=unit, rail=rail, subplane=copy)
        return make_switch(identity, self.tiers[Role.LEAF].of_unit(unit))

    def _spine(self, pod: Pod, number: int) -> Switch:
        index, column = pod
        rail = None if column is None else self._columns[column].rail
        three = self.plan.tiers == 3
        identity = Identity(
            self.plane.name, Role.SPINE, number, pod=index if three else None, rail=rail, subplane=self._copy
        )
        return make_switch(
            identity, self.tiers[Role.SPINE].of_unit(index * self.plan.units_per_pod), _shared_asn(identity)
        )

    def _core(self, number: int) -> Switch:
        identity = Identity(self.plane.name, Role.CORE, number, subplane=self._copy)
        return make_switch(identity, self.tiers[Role.CORE], _shared_asn(identity))

    def _pods(self) -> list[Pod]:
        """Pods with leaves; growth only appends to this order."""
        if self.plan.tiers == 1:
            return []
        built = self.seating.used[-1] // self.plan.units_per_pod + 1
        columns: Sequence[int | None] = range(len(self._columns)) if self.plan.pods_by_column else [None]
        return [(pod, column) for pod in range(built) for column in columns]

    def host_links(self) -> Iterator[Link]:
        """A link for each NIC port of this subplane."""
        plane, cable = self.plane, self.plane.cables[LinkKind.HOST_LEAF]
        assert plane.unit and plane.speed_mbps
        width = self.sockets.ports_per_host
        blocks = {
            place: Block(f"{leaf.key}/hosts", plane.name, "hosts", plane.unit.hosts * width, leaf.key)
            for place, leaf in self.leaves.items()
        }
        plugs: dict[str, list[tuple[HostNic, int, int]]] = {}
        for host, (unit, place) in self.seating.places.items():
            if host.model.name not in plugs:
                plugs[host.model.name] = list(self._plugs(host))
            for nic, column, ordinal in plugs[host.model.name]:
                leaf, slot = self.leaves[unit, column], place * width + ordinal
                port = leaf.layout.ports_at(plane.speed_mbps)[slot].name
                yield Link(
                    f"{plane.name}/{host.key}/{nic.name}", plane.name, LinkKind.HOST_LEAF, host, nic.name, leaf, port,
                    nic.speed_mbps, cable, blocks[unit, column], slot, nic.rail, nic,
                )  # fmt: skip

    def _plugs(self, host: Host) -> Iterator[tuple[HostNic, int, int]]:
        """(NIC, column, number among the host's ports on that leaf) of a host's NICs in this subplane."""
        sockets = self.sockets.by_nic[host.model.name]
        for nic in plane_nics(host.model, self.plane):
            if nic.name in sockets and sockets[nic.name].subplane == self.subplane:
                yield nic, sockets[nic.name].column, sockets[nic.name].ordinal

    def leaf_links(self) -> Iterator[Link]:
        """The links from every leaf to all spines of its pod."""
        plan, width = self.plan, len(self._columns)
        for (unit, column), leaf in self.leaves.items() if self.spines else ():
            pod, place = divmod(unit, plan.units_per_pod)
            if plan.pods_by_column:
                own: Pod = (pod, column)
                ordinal = place
            else:
                own = (pod, None)
                ordinal = place * width + column
            above = [self.spines[own, number] for number in range(plan.spines_per_pod)]
            yield from self._uplinks(LinkKind.LEAF_SPINE, leaf, above, plan.leaf_spine_parallel, ordinal)

    def spine_links(self) -> Iterator[Link]:
        """The links from spine i of every pod to all cores of group i."""
        plan = self.plan
        pods = {pod: ordinal for ordinal, pod in enumerate(self._pods())}
        for (pod, number), spine in self.spines.items() if self.cores else ():
            first = number * plan.cores_per_group
            above = self.cores[first : first + plan.cores_per_group]
            yield from self._uplinks(LinkKind.SPINE_CORE, spine, above, plan.spine_core_parallel, pods[pod])

    def _uplinks(self, kind: LinkKind, low: Switch, above: list[Switch], parallel: int, ordinal: int) -> Iterator[Link]:
        """All uplinks of one switch: `parallel` to each switch above, on its ports from ordinal * parallel."""
        count, speed_mbps = len(above) * parallel, self.plane.uplink_mbps
        block = Block(f"{low.key}/uplinks", self.plane.name, "links", count, low.key)
        ports = low.layout.ports_at(speed_mbps)[-count:]
        far = slice(ordinal * parallel, (ordinal + 1) * parallel)
        for index, high in enumerate(above):
            for offset, high_port in enumerate(high.layout.ports_at(speed_mbps)[far]):
                slot = index * parallel + offset
                yield Link(
                    f"{low.key}/up{slot}", self.plane.name, kind, low, ports[slot].name, high, high_port.name,
                    speed_mbps, self.plane.cables[kind], block, slot, low.identity.rail,
                )  # fmt: skip


def _shared_asn(identity: Identity) -> str:
    """The owner of the ASN that a tier of a pod shares (RFC 7938)."""
    return f"{str(identity).rpartition('/')[0]}/{identity.role}"
