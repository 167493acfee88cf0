"""One plane with its hosts: routed switches, the adapters on them, and all ports with their buffers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from fabricgen.bundle.wiring import WiredBalance
from fabricgen.physics import DEFAULT_ROCE_MTU_BYTES
from fabricgen.routing.bits import Words
from fabricgen.routing.network import Network
from fabricgen.simulate.plane.adapters import Adapter
from fabricgen.simulate.plane.filters import Filters
from fabricgen.simulate.plane.linear_hash import Bytes
from fabricgen.simulate.plane.ports import Flags, Floats, Ints, Ports
from fabricgen.simulate.plane.queue_pairs import ports_by_driver
from fabricgen.simulate.plane.switch_hashes import SwitchHashes
from fabricgen.simulate.plane.weights import Counts, hop_weights
from fabricgen.sonic.addresses import parse_address
from fabricgen.vocabulary import BalanceMode, BalanceUnit

NO_COLUMN = -1


@dataclass(frozen=True)
class HostNetwork:
    """A plane. `leaf[a]` and `column[a]` are the switch of adapter a and the destination that its address belongs to.
    `hops` (links x words) are next hops by destination, `hashes` select among them.

    Ports: link l is port l; adapter a sends by port links + a and receives by port links + adapters + a.
    """

    names: tuple[str, ...]
    network: Network
    hops: Words
    adapters: Sequence[Adapter]
    leaf: Ints
    column: Ints
    columns: int
    ports: Ports
    hashes: SwitchHashes
    payload_bytes: int = DEFAULT_ROCE_MTU_BYTES
    queue_pairs: int = 1  # of a connection, by the files of its hosts
    name: str = ""
    adaptive: bool = False  # InfiniBand: switches choose among `hops` by load, not by a hash
    balance: WiredBalance | None = None  # how switches spread packets; None: by a hash
    lists: int = 0  # of uSIDs, over which hosts spread the packets: `hops` are those of the lists
    unjudged: str = ""  # why the paths that hosts choose are not known
    announces: Flags | None = None  # switches that announce the number of their paths (weighted ECMP); None: no switch
    filters: Filters | None = None  # VRFs and ACLs; None: nothing is filtered
    tier: Mapping[int, str] = field(default_factory=dict)  # switch -> leaf | spine | core, where known
    rail: Mapping[int, int] = field(default_factory=dict)  # leaf -> rail, where known

    @property
    def is_sprayed(self) -> bool:
        """Whether switches select a next hop for each packet."""
        return self.balance is not None and self.balance.per == BalanceUnit.PACKET

    @property
    def is_loaded(self) -> bool:
        """Whether switches select the next hops of a flow by their load when it starts."""
        return self.adaptive or (self.balance is not None and self.balance.mode == BalanceMode.ADAPTIVE)

    @cached_property
    def weights(self) -> Counts | None:
        """The weight of each link for each destination (links x columns); None: next hops have equal weights."""
        if self.announces is None:
            return None
        return hop_weights(self.network, self.hops, self.columns, self.announces)

    def has_path(self, source: Ints, target: Ints) -> Flags:
        """Whether packets from each of some adapters to another can leave the leaf, or stay below it, and no VRF or ACL
        blocks them."""
        column = self.column[target]
        stays: Flags = self.leaf[source] == self.leaf[target]
        if not self.columns:  # all hosts are in VRFs that end at their leaf
            return stays & ~self.blocked(source, target)
        found: Flags = stays | ((column != NO_COLUMN) & self._reaches[self.leaf[source], np.maximum(column, 0)])
        return found & ~self.blocked(source, target)

    def blocked(self, source: Ints, target: Ints) -> Flags:
        """Whether VRFs or ACLs block packets from each of some adapters to another, or their answers."""
        if self.filters is None:
            return np.zeros(len(source), bool)
        return self.filters.blocked(source, target) | self.filters.blocked(target, source)

    @cached_property
    def _reaches(self) -> Flags:
        """Whether a switch has a next hop to a destination (switches x columns)."""
        bits = np.zeros((self.network.switches, self.hops.shape[1]), np.uint64)
        np.bitwise_or.at(bits, self.network.source, self.hops)
        return np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")[:, : self.columns].astype(bool)

    def nic_port(self, adapter: Ints) -> Ints:
        """The ports by which adapters send."""
        return self.network.links + adapter

    def host_port(self, adapter: Ints) -> Ints:
        """The ports of leaves towards adapters."""
        return self.network.links + len(self.adapters) + adapter

    @cached_property
    def other_end(self) -> Ints:
        """Of each port, the port of the opposite direction of its cable."""
        adapters = np.arange(len(self.adapters))
        return np.concatenate([self.network.reverse, self.host_port(adapters), self.nic_port(adapters)])

    @cached_property
    def address_bytes(self) -> Bytes:
        """The address of each adapter, of 4 bytes if all are IPv4, else 16. Without an address it is the number of the
        adapter."""
        known = [parse_address(one.address) if one.address else None for one in self.adapters]
        width = 16 if any(one and one.version == 6 for one in known) else 4
        return np.frombuffer(
            b"".join((one.number if one else index).to_bytes(width) for index, one in enumerate(known)), np.uint8
        ).reshape(-1, width)

    @cached_property
    def ports_by_driver(self) -> Flags:
        """Whether the source ports of each adapter follow from its queue pair numbers."""
        return np.array([ports_by_driver(one.nic_model) for one in self.adapters], bool)

    @property
    def line_rate(self) -> Floats:
        """Bytes per ns of every adapter."""
        first = self.network.links
        return self.ports.bytes_per_ns[first : first + len(self.adapters)]

    @property
    def link_rate(self) -> Floats:
        """Bytes per ns of every link between switches."""
        return self.ports.bytes_per_ns[: self.network.links]

    @property
    def wire_share(self) -> float:
        """Bytes on the wire for each byte of payload."""
        return self.ports.packet_bytes / self.payload_bytes
