"""How the switches of a plane spread packets, and how its adapters recover from losses, by the files of a bundle."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from fabricgen.platforms.catalog import reordering
from fabricgen.simulate.plane.adapters import Adapter
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.scenario import Balance
from fabricgen.simulate.scenario.balance import FLOWLET_GAP_NS
from fabricgen.vocabulary import BalanceMode, BalanceUnit, Recovery


def balance_of(plane: HostNetwork) -> Balance:
    """That of the plane, for the packets of a scenario."""
    own = plane.balance
    if own is None:
        return Balance()
    gap_ns = FLOWLET_GAP_NS if own.flowlet_gap_ns is None else own.flowlet_gap_ns
    return Balance(own.mode, own.per, flowlet_gap_ns=gap_ns)


def in_words(balance: Balance) -> str:
    """A way to spread, for the verdict."""
    if balance.mode is BalanceMode.ECMP:
        return "load balancing by ecmp"
    unit = BalanceUnit.FLOWLET if balance.by_flowlet else BalanceUnit.PACKET
    gap = f", gap {balance.flowlet_gap_ns / 1000:g} us" if balance.by_flowlet else ""
    return f"load balancing {balance.mode}, per {unit}{gap}"


@dataclass
class Recoveries:
    """What the adapters of a plane do with packets out of order, by their models."""

    adapters: Sequence[Adapter]
    _of: dict[str, Recovery] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for model in dict.fromkeys(adapter.nic_model for adapter in self.adapters):
            self._of[model] = reordering(model).recovery

    def of(self, adapter: Adapter) -> Recovery:
        """That of an adapter."""
        return self._of[adapter.nic_model]

    def in_words(self) -> str:
        """All of them, for the verdict: what is assumed, and what a host must set at each boot."""
        found = []
        for model, recovery in sorted(self._of.items()):
            known = reordering(model)
            more = ", assumed" if known.is_assumed else ", if set at each boot" if known.needs else ""
            found.append(f"{model or 'unknown NICs'} {recovery}{more}")
        return "recovery: " + "; ".join(found)
