"""The NICs of a plane by model, with what they do with packets that arrive out of order."""

from dataclasses import dataclass, replace

from fabricgen.bundle.wiring import Endpoint, Wiring
from fabricgen.platforms.catalog import reordering
from fabricgen.platforms.model import Reordering
from fabricgen.vocabulary import Recovery


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
