"""The NICs of a host with their RDMA devices, and those of a plane by model."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from fabricgen.bundle.wiring import Endpoint, WiredAdapter, WiredModel, Wiring
from fabricgen.platforms.catalog import nic_model, reordering
from fabricgen.platforms.model import Reordering
from fabricgen.platforms.rdma_names import rdma_device
from fabricgen.vocabulary import RdmaNames, Recovery


@dataclass(frozen=True, slots=True)
class NicKind:
    """NICs of one model on a plane: their number, and the first one (host, NIC)."""

    model: str  # "" where fabric.json does not name it
    count: int
    first: Endpoint
    reordering: Reordering

    @property
    def shown(self) -> str:
        """For messages: the model, and what is assumed of it."""
        assumed = ", assumed" if self.reordering.is_assumed else ""
        return f"{self.model or 'unknown NICs'} ({self.reordering.recovery}{assumed})"


def adapters_of(model: WiredModel | None, names: RdmaNames) -> Mapping[str, WiredAdapter]:
    """The NICs of a model by name, with the RDMA devices of a group of hosts; empty without the model."""
    found = {}
    for nic in model.nics if model else ():
        known = nic_model(nic.model)
        found[nic.name] = replace(nic, rdma=rdma_device(names, nic.name, nic.rdma, known.driver if known else ""))
    return found


def nic_kinds(wiring: Wiring, plane: str) -> tuple[NicKind, ...]:
    """The models of a plane's NICs, in the order of the hosts."""
    models = {(model.name, nic.name): nic.model for model in wiring.host_models for nic in model.nics}
    found: dict[str, NicKind] = {}
    for host in wiring.hosts:
        for nic in host.nics:
            if nic.plane == plane:
                name = models.get((host.model, nic.name), "")
                known = found.get(name) or NicKind(name, 0, (host.name, nic.name), reordering(name))
                found[name] = replace(known, count=known.count + 1)
    return tuple(found.values())


def resending(wiring: Wiring, plane: str) -> tuple[NicKind, ...]:
    """The NICs for which packets out of order are lost packets: all but those that place them in memory."""
    kinds = nic_kinds(wiring, plane)
    return tuple(kind for kind in kinds if kind.reordering.recovery != Recovery.IN_ORDER_PLACEMENT)
