"""A design: how the switches and links of a plane are laid out, and what the inventory says for it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from fabricgen.design.first_layout import Demand, FirstLayout
from fabricgen.design.graph import Graph, listed_graph
from fabricgen.design.model import PlaneDesign
from fabricgen.design.parts import PartsList
from fabricgen.findings import Finding
from fabricgen.inventory.plane import Plane


@dataclass(frozen=True)
class Design:
    """One value of a plane's `design:`. A module of this room defines it as DESIGN; a package adds one by an entry
    point of the group fabricgen.designs.

    `needs` are the keys of the plane that must be set, `takes` the further ones that the design uses, of those that not
    every design uses; `tier_takes` likewise for the keys of a tier. A key that a design does not use is an error.
    """

    name: str
    summary: str  # one sentence for lists of designs
    expand: Callable[[Plane, PartsList], PlaneDesign | None]  # None, with findings, where the plane cannot be laid out
    needs: tuple[str, ...]
    takes: tuple[str, ...] = ()
    tier_takes: tuple[str, ...] = ()
    check: Callable[[Plane], Iterable[Finding]] = lambda _: ()  # what else its keys must satisfy
    first_layout: Callable[[Demand], FirstLayout] | None = None  # None: not for `init`
    graph: Callable[[PlaneDesign], Graph] = listed_graph  # what routing engines of InfiniBand can rely on
    nic_ports: int = 1  # ports that each NIC needs
    cyclic: bool = False  # shortest paths close cycles in a lossless class, so it is not for RoCE

    def uses(self, key: str) -> bool:
        """Whether a key of the plane means anything to the design."""
        return key in self.needs or key in self.takes
