"""The subnets of an InfiniBand plane: switches that links connect. Subplanes, and rails without links between them, are
separate subnets."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from string import ascii_lowercase

from fabricgen.design.model import ROLES, Host, Link, PlaneDesign, Switch
from fabricgen.joined import joined


@dataclass(frozen=True, eq=False)
class SubnetDesign:
    """A subnet of a plane, with its own subnet manager. `name` is "" if the plane is one subnet."""

    plane: PlaneDesign
    name: str
    switches: tuple[Switch, ...]
    links: tuple[Link, ...]

    @property
    def key(self) -> str:
        """The plane's name, and the subnet's name if the plane has several."""
        return f"{self.plane.plane.name}/{self.name}" if self.name else self.plane.plane.name

    @cached_property
    def host_links(self) -> tuple[Link, ...]:
        """The links of the endpoints: each is a port of an adapter."""
        return tuple(link for link in self.links if isinstance(link.a, Host))

    @cached_property
    def top(self) -> tuple[Switch, ...]:
        """The switches of the highest tier."""
        highest = max(ROLES.index(switch.role) for switch in self.switches)
        return tuple(switch for switch in self.switches if switch.role == ROLES[highest])

    @property
    def lids(self) -> int:
        """Local identifiers of the subnet: 2^lmc for each endpoint, one for each switch, and with SHARP one for the
        aggregation node in each switch."""
        spec = self.plane.plane.infiniband
        nodes = len(self.switches) * (2 if spec.mlnx_sm and spec.mlnx_sm.sharp else 1)
        return (len(self.host_links) << spec.lmc) + nodes


def split_subnets(design: PlaneDesign) -> list[SubnetDesign]:
    """The subnets of a plane, in the order of their first switches."""
    pairs = ((link.a.key, link.b.key) for link in design.links if isinstance(link.a, Switch))
    groups = joined((switch.key for switch in design.switches), pairs)
    subnet_of = {key: number for number, keys in enumerate(groups) for key in keys}
    switches: list[list[Switch]] = [[] for _ in groups]
    for switch in design.switches:
        switches[subnet_of[switch.key]].append(switch)
    links: list[list[Link]] = [[] for _ in groups]
    for link in design.links:
        links[subnet_of[link.b.key]].append(link)
    return [
        SubnetDesign(design, name, tuple(own), tuple(its_links))
        for name, own, its_links in zip(_names(switches), switches, links, strict=True)
    ]


def largest_subnet(design: PlaneDesign) -> SubnetDesign:
    """The subnet with the most LIDs."""
    return max(split_subnets(design), key=lambda subnet: subnet.lids)


def _names(subnets: Sequence[Sequence[Switch]]) -> list[str]:
    """Names by what differs between the subnets: subplane letter, pod, unit, rail; numbers if nothing differs."""
    if len(subnets) == 1:
        return [""]
    fields = [field for field in ("subplane", "pod", "su", "rail") if len({_common(one, field) for one in subnets}) > 1]
    names = ["-".join(_text(field, _common(one, field)) for field in fields) for one in subnets]
    usable = all(names) and len(set(names)) == len(names)
    return names if usable else [str(number) for number in range(len(subnets))]


def _common(switches: Sequence[Switch], field: str) -> int | None:
    """The value that all switches have; None if they differ."""
    found: set[int | None] = {getattr(switch.identity, field) for switch in switches}
    return found.pop() if len(found) == 1 else None


def _text(field: str, number: int | None) -> str:
    if number is None:
        return ""
    return ascii_lowercase[number] if field == "subplane" else f"{field}{number}"
