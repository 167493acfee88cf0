"""How near hosts are to each other on the compute planes: the groups of hosts that each tier of switches joins.

The hosts of the lowest groups share switches. A scalable unit is one such group although each rail has its own leaf,
since NVLink joins the rails in each host. Each higher tier joins groups, up to one group if all hosts reach each other.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from fabricgen.bundle.wiring import WiredDevice, Wiring
from fabricgen.joined import joined
from fabricgen.sonic.canonical import natural_key
from fabricgen.vocabulary import LinkKind, Purpose

# A tier is joined by the links of its kinds and of all kinds before them.
_TIERS = (
    {LinkKind.HOST_LEAF},
    {LinkKind.PEER},
    {LinkKind.LEAF_SPINE},
    {LinkKind.SPINE_CORE},
    {LinkKind.GLOBAL, LinkKind.UNKNOWN},
)


@dataclass(frozen=True, slots=True)
class Locality:
    """A group of hosts: those of its `parts`, or those at its switches without parts. `hosts` are in natural order,
    and no two groups of a fabric have the same name."""

    name: str
    hosts: tuple[str, ...]
    parts: tuple["Locality", ...] = ()

    def within(self) -> Iterator["Locality"]:
        """The group and all groups inside, the narrow ones first."""
        for part in self.parts:
            yield from part.within()
        yield self


@dataclass(frozen=True, slots=True)
class _Members:
    """The hosts and switches of a group."""

    hosts: tuple[str, ...]
    switches: tuple[WiredDevice, ...]


def localities(wiring: Wiring) -> tuple[Locality, ...]:
    """The widest groups of hosts with GPUs on the compute planes, in the natural order of their hosts.

    Several groups are islands: no link joins them.
    """
    found: list[Locality] = []
    taken: set[str] = set()
    tiers = _tiers(wiring)
    for tier in tiers:
        names = _names(tier, taken, lowest=not found, widest=wiring.fabric if tier is tiers[-1] else "")
        taken.update(names)
        part_of = {part.hosts[0]: part for part in found}
        found = []
        for name, members in zip(names, tier, strict=True):
            parts = tuple(part_of[host] for host in members.hosts if host in part_of)
            found.append(parts[0] if len(parts) == 1 else Locality(name, members.hosts, parts))
    return tuple(found)


def _tiers(wiring: Wiring) -> list[list[_Members]]:
    """The groups of each tier that joins any, from the lowest to the widest."""
    planes = {plane.name for plane in wiring.planes if plane.purpose == Purpose.COMPUTE}
    switches = {device.name: device for device in wiring.devices if device.plane in planes}
    out_of_service = set(wiring.cordoned)  # a host keeps its place while one of its NICs is out of service
    links = [
        link
        for link in wiring.links
        if link.plane in planes and (link.kind == LinkKind.HOST_LEAF or link.id not in out_of_service)
    ]
    without_gpus = {model.name for model in wiring.host_models if not model.gpus}
    compute = {host.name for host in wiring.hosts if host.model not in without_gpus}
    ends = {link.a[0] for link in links if link.kind == LinkKind.HOST_LEAF}
    hosts = sorted(ends & compute, key=natural_key)
    is_host = set(hosts)
    kinds: set[LinkKind] = set()
    tiers: list[list[_Members]] = []
    for added in _TIERS:
        kinds |= added
        groups = joined([*hosts, *switches], [(link.a[0], link.b[0]) for link in links if link.kind in kinds])
        tier = [
            _Members(
                tuple(name for name in group if name in is_host),
                tuple(switches[name] for name in group if name in switches),
            )
            for group in groups
            if group[0] in is_host
        ]
        if tier and (not tiers or len(tier) < len(tiers[-1])):
            tiers.append(tier)
    return tiers


def _names(tier: Sequence[_Members], taken: Collection[str], *, lowest: bool, widest: str) -> list[str]:
    """Names for the groups of a tier that no group below has. `widest` is the name of the fabric in the last tier."""
    for names in _proposals(tier, lowest, widest):
        if all(names) and len({*names, *taken}) == len(names) + len(taken):
            return names
    word = "unit" if lowest else "group"
    return [f"{word}{number}" for number in range(len(tier))]


def _proposals(tier: Sequence[_Members], lowest: bool, widest: str) -> Iterator[list[str]]:
    """Lists of names, the best one first; "" for a group that has no such name."""
    if widest and not lowest:
        yield [widest] if len(tier) == 1 else [f"island{number}" for number in range(len(tier))]
    units, pods = ([_common(group, key) for group in tier] for key in ("su", "pod"))
    if lowest:
        yield [f"su{su}" if su else "" for su in units]
        yield [f"pod{pod}-su{su}" if su and pod else "" for su, pod in zip(units, pods, strict=True)]
        yield [group.switches[0].name if len(group.switches) == 1 else "" for group in tier]
    else:
        yield [f"pod{pod}" if pod else "" for pod in pods]
        yield [f"group{su}" if su else "" for su in units]


def _common(group: _Members, key: str) -> str:
    """The number of the unit or pod of all switches of a group that have one; "" if they differ or have none."""
    numbers = {number for switch in group.switches if (number := getattr(switch, key)) is not None}
    return str(numbers.pop()) if len(numbers) == 1 else ""
