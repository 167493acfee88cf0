"""Pairs of NICs that test cables and switches: at one leaf, and across spines."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabricgen.bundle.wiring import Endpoint, WiredLink, Wiring
from fabricgen.joined import joined
from fabricgen.sonic.canonical import natural_key
from fabricgen.vocabulary import DeviceState, LinkKind, Purpose


@dataclass(frozen=True, slots=True)
class Attached:
    """A NIC on a compute plane at its leaf, by its link."""

    link: WiredLink
    group: int  # NICs of one group reach each other

    @property
    def end(self) -> Endpoint:
        """(host, NIC)."""
        return self.link.a

    @property
    def leaf(self) -> str:
        """The switch of the NIC."""
        return self.link.b[0]


Pair = tuple[Attached, Attached, int]  # the writer, the reader, the round


def rails_of(wiring: Wiring) -> Mapping[tuple[str, str, int], Mapping[str, Sequence[Attached]]]:
    """(plane, NIC name, group) -> leaf -> its NICs, for the hosts with GPUs, in natural order.

    NICs of the same name are one rail. Switches and links that are planned or failed are left out.
    """
    planes = {plane.name for plane in wiring.planes if plane.purpose == Purpose.COMPUTE}
    switches = [device for device in wiring.devices if device.plane in planes and device.state == DeviceState.ACTIVE]
    active = {device.name for device in switches}
    links = [link for link in wiring.links if link.plane in planes and link.b[0] in active]
    cables = [(link.a[0], link.b[0]) for link in links if link.a[0] in active]
    group_of = {name: number for number, names in enumerate(joined(sorted(active), cables)) for name in names}
    without_gpus = {model.name for model in wiring.host_models if not model.gpus}
    compute = {host.name for host in wiring.hosts if host.model not in without_gpus}
    found: dict[tuple[str, str, int], dict[str, list[Attached]]] = {}
    host_links = [link for link in links if link.kind == LinkKind.HOST_LEAF and link.a[0] in compute]
    for link in sorted(host_links, key=lambda link: [natural_key(text) for text in (*link.a, *link.b)]):
        group = group_of[link.b[0]]
        at_leaf = found.setdefault((link.plane, link.a[1], group), {}).setdefault(link.b[0], [])
        at_leaf.append(Attached(link, group))
    return found


def near_pairs(leaves: Mapping[str, Sequence[Attached]]) -> Iterator[Pair]:
    """Each NIC with another one of its leaf. The last of an odd number has a second round with the first."""
    for nics in leaves.values():
        for first in range(0, len(nics) - 1, 2):
            yield nics[first], nics[first + 1], 0
        if len(nics) % 2 and len(nics) > 1:
            yield nics[-1], nics[0], 1


def far_pairs(leaves: Mapping[str, Sequence[Attached]]) -> Iterator[Pair]:
    """Each NIC with one of another leaf; a leaf has one pair in each round, so no two share a cable of the leaf."""
    names = list(leaves)
    first = list(zip(names[::2], names[1::2], strict=False))
    last = [(names[-1], names[0])] if len(names) % 2 and len(names) > 1 else []
    for pairs, start in ((first, 0), (last, max(map(len, leaves.values())))):
        for one, other in pairs:
            for number in range(max(len(leaves[one]), len(leaves[other]))):
                writers, readers = leaves[one], leaves[other]
                yield writers[number % len(writers)], readers[number % len(readers)], start + number


def together(pairs: Sequence[Pair]) -> Iterator[Pair]:
    """The pairs at the same time, each NIC once: a round in the other direction, and one in this direction."""
    busy: set[Endpoint] = set()
    for one, other, _ in pairs:
        if busy.isdisjoint((one.end, other.end)):
            busy |= {one.end, other.end}
            yield other, one, 0
            yield one, other, 1
