"""How the switches of a scenario select among equal next hops."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fabricgen.vocabulary import BalanceMode, BalanceUnit

FLOWLET_GAP_NS = 256_000  # flowlet_idle_time of ARS_OBJECT, by default (SONiC HLD doc/ARS)
MAX_FLOWS = 512  # max_flows of ARS_OBJECT, by default
# 5, 10 and 20 % of a queue of 100 packets of 4 KiB, the limits of the classes in which csg-htsim compares queues
# (fat_tree_switch.cpp).
BANDS_BYTES = (20_480, 40_960, 81_920)


class SprayOrder(enum.StrEnum):
    """The next hops of successive packets."""

    RANDOM = "random"
    ROUND_ROBIN = "round-robin"


@dataclass(frozen=True, slots=True)
class TrimSettings:
    """What switches do with a packet that a queue with `trims` would drop: they cut it to `bytes`, and queue it in the
    class `priority`."""

    bytes: int
    priority: int


def in_rounds(weights: Mapping[int, int], ranks: Sequence[int]) -> tuple[int, ...]:
    """Each port once for each unit of its weight: all ports in the order of `ranks`, then again those of a weight above
    1, and so on. A single port is there once."""
    ordered = sorted(weights, key=ranks.__getitem__)
    turns = max(weights.values()) if len(ordered) > 1 else 1
    return tuple(port for turn in range(turns) for port in ordered if weights[port] > turn)


@dataclass(frozen=True, slots=True)
class Balance:
    """A way to spread traffic. `per` is for adaptive routing, `order` for spraying, `flowlet_gap_ns` and `max_flows`,
    the flows that a group of next hops remembers, for flowlets. Adaptive routing compares queues by the number of
    `bands_bytes` that they have reached."""

    mode: BalanceMode = BalanceMode.ECMP
    per: BalanceUnit = BalanceUnit.PACKET
    order: SprayOrder = SprayOrder.RANDOM
    flowlet_gap_ns: int = FLOWLET_GAP_NS
    bands_bytes: tuple[int, ...] = BANDS_BYTES
    max_flows: int = MAX_FLOWS

    @property
    def by_flowlet(self) -> bool:
        """Whether switches remember the next hop of a flow."""
        adaptive = self.mode is BalanceMode.ADAPTIVE and self.per is BalanceUnit.FLOWLET
        return adaptive or self.mode is BalanceMode.FLOWLET
