"""How the switches of a plane spread packets: as fabric.json says, or as an option asks; in words for verdicts."""

from collections import Counter
from dataclasses import replace

from fabricgen.bundle.wiring import WiredBalance
from fabricgen.platforms.catalog import reordering
from fabricgen.results import Spreading
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.units import counted
from fabricgen.vocabulary import BalanceMode, BalanceUnit, Recovery

_GAP_NS = 256_000  # SONiC HLD doc/ARS: flowlet_idle_time
_EVEN = "load spreads {how} over equal paths; queues of single packets and the starts of messages are not modelled"
_LISTS = (
    "load spreads evenly over the lists of each pair ({} from leaves to NICs); how NICs choose among them, and "
    "queues of single packets, are not modelled"
)
_WORDS = {
    BalanceMode.FLOWLET: "the first path of each flow, by its hash; gaps in a flow are not modelled",
    BalanceMode.ADAPTIVE: "each flow takes the next hops with the least load at its start; changes are not modelled",
}


def asked_balance(plane: HostNetwork, mode: BalanceMode | None) -> HostNetwork:
    """The plane with another mode; None: that of fabric.json. Adaptive keeps the unit of the plane, else it is per
    packet."""
    if mode is None or (plane.balance and plane.balance.mode == mode):
        return plane
    if mode == BalanceMode.ECMP:
        return replace(plane, balance=None)
    unit = BalanceUnit.FLOWLET if mode == BalanceMode.FLOWLET else BalanceUnit.PACKET
    gap_ns = _GAP_NS if unit == BalanceUnit.FLOWLET else None
    return replace(plane, balance=WiredBalance(mode, unit, gap_ns))


def spreading(plane: HostNetwork) -> Spreading | None:
    """How packets spread in models that follow no packets; None for ECMP."""
    if plane.lists:
        return Spreading("uSIDs", _LISTS.format(counted(plane.lists, "list")), by_hosts=True)
    if plane.balance is None:
        return None
    how = "evenly" if plane.announces is None else "by weights"
    model = _EVEN.format(how=how) if plane.is_sprayed else _WORDS[plane.balance.mode]
    mode = plane.balance.mode
    return Spreading(f"{mode}{'' if mode == BalanceMode.FLOWLET else f' per {plane.balance.per}'}", model)


def repeating_nics(plane: HostNetwork) -> str:
    """The NICs that take packets out of order for losses, where packets overtake each other; "" without any."""
    if not plane.is_sprayed or plane.lists:  # a NIC can keep one list for each flow
        return ""
    models = Counter(one.nic_model for one in plane.adapters)
    found = {name: reordering(name) for name in models}
    bad = {name: one for name, one in found.items() if one.recovery != Recovery.IN_ORDER_PLACEMENT}
    shown = ", ".join(
        f"{name or 'unknown'}: {one.recovery}{', assumed' if one.is_assumed else ''}" for name, one in bad.items()
    )
    return f"{counted(sum(models[name] for name in bad), 'NIC')} ({shown})" if bad else ""
