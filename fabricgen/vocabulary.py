"""The closed words of the field that several rooms share. Each prints as its value: files and JSON contain plain text.

A word that belongs to one room alone is defined in that room.
"""

import enum
from contextlib import suppress
from functools import cache
from typing import Any, Self


class Word(enum.StrEnum):
    """A closed word that files on disk contain."""

    @classmethod
    def read(cls, text: object) -> Self:
        """The member with this text. A word that is not known keeps its text and equals no member.

        fabric.json may have been edited, or come from a later version. Raises ValueError for anything but text.
        """
        if not isinstance(text, str):
            raise ValueError(f"{text!r} is not a {cls.__name__}")
        word: Self = _read(cls, text)
        return word

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _read, (type(self), self.value)


@cache
def _read(kind: type[Any], text: str) -> Any:
    with suppress(ValueError):
        return kind(text)
    word = str.__new__(kind, text)
    word._name_ = word._value_ = text
    return word


class Technology(Word):
    """What a plane, a switch or a NIC port runs. Planes are RoCE or InfiniBand; hardware is Ethernet or InfiniBand."""

    ROCE = "roce"
    ETHERNET = "ethernet"
    INFINIBAND = "infiniband"
    ANY = "any"  # a generic platform


class Role(Word):
    """What a device is in its fabric."""

    LEAF = "leaf"
    SPINE = "spine"
    CORE = "core"
    HOST = "host"
    EXTERNAL = "external"
    UNKNOWN = ""  # loose files that do not say


class AccessKind(Word):
    """How the NICs of a host are connected to a switch."""

    ROUTED = "routed"  # each port has a subnet of two addresses
    VLAN = "vlan"  # ports are in one VLAN of their switch, which is the gateway
    BOND = "bond"  # the ports of a host are an LACP bond, which is in the VLAN
    ROUTED_BOND = "routed-bond"  # the ports of a host are an LACP bond, which has a subnet of two addresses

    @property
    def has_vlan(self) -> bool:
        """Whether the ports are in a VLAN of their switch."""
        return self in (AccessKind.VLAN, AccessKind.BOND)

    @property
    def has_bond(self) -> bool:
        """Whether the ports of a host are one bond."""
        return self in (AccessKind.BOND, AccessKind.ROUTED_BOND)


class Purpose(Word):
    """What traffic a plane carries."""

    COMPUTE = "compute"
    STORAGE = "storage"
    IN_BAND = "in-band"
    OUT_OF_BAND = "out-of-band"


class LinkKind(Word):
    """The tiers that a link connects."""

    HOST_LEAF = "host-leaf"
    LEAF_SPINE = "leaf-spine"
    SPINE_CORE = "spine-core"
    PEER = "peer"  # two switches of one tier
    GLOBAL = "global"  # two groups of a dragonfly
    EXTERNAL = "external"  # a router outside the fabric
    UNKNOWN = ""  # loose files that do not say


class Medium(Word):
    """What a cable is made of."""

    DAC = "dac"
    AEC = "aec"
    AOC = "aoc"
    UTP = "utp"
    MMF = "mmf"
    SMF = "smf"


FIXED_PLUGS = (Medium.DAC, Medium.AEC, Medium.AOC)  # cables that include their plugs, each of which fills a cage
FIBRES = (Medium.MMF, Medium.SMF)  # with a transceiver in the cage at each end


class DeviceState(Word):
    """The life cycle of a device."""

    PLANNED = "planned"
    ACTIVE = "active"
    DRAINED = "drained"
    FAILED = "failed"


class LinkState(Word):
    """Whether a link carries traffic."""

    ACTIVE = "active"
    CORDONED = "cordoned"  # taken out of service: both ends are admin down


class HashModel(enum.StrEnum):
    """What switches compute to select a next hop: the hash of their files, linear as in chips, or an ideal one, whose
    results are independent for different seeds or offsets."""

    DEPLOYED = "deployed"
    IDEAL = "ideal"


class NicSettings(Word):
    """What writes the RoCE settings of the NICs of a group of hosts."""

    SCRIPT = "script"  # fabricgen-roce, on each host
    ROCE_OPTIMIZED = "roce-optimized"  # NVIDIA's nic-configuration-operator, with the values of roce/<plane>.conf
    SPECTRUM_X = "spectrum-x"  # the same operator, with NVIDIA's values for Spectrum-X


class RdmaNames(Word):
    """What names the RDMA devices of a group of hosts."""

    DRIVER = "driver"  # the driver, in the order of PCI addresses, as the host model has the names
    NIC = "nic"  # a udev rule, after the NIC at the PCI address


class BalanceMode(Word):
    """How the switches of a plane spread packets over equal paths."""

    ECMP = "ecmp"  # a hash of each packet's addresses and ports: one path for each flow
    FLOWLET = "flowlet"  # another path after each gap in a flow
    ADAPTIVE = "adaptive"  # the path with the shortest queue
    SPRAY = "spray"  # the paths in turn, or at random, for each packet


class BalanceUnit(Word):
    """What keeps its path: a packet, or the packets of a flow between two gaps."""

    PACKET = "packet"
    FLOWLET = "flowlet"


class Recovery(enum.StrEnum):
    """What a receiving NIC does with packets that arrive out of order."""

    GO_BACK_N = "go-back-n"  # it drops them, and the sender repeats from the first one that is missing
    SELECTIVE_REPEAT = "selective-repeat"  # it keeps them, and the sender repeats what is missing
    IN_ORDER_PLACEMENT = "in-order-placement"  # it writes each to its place in memory: nothing is repeated


class Repair(Word):
    """What a switch does when a link of it fails, until routing has converged."""

    NONE = "none"
    LOCAL = "local"  # it sends packets to another neighbor (fast reroute)


class Isolation(Word):
    """How the tenants of a RoCE plane are separated."""

    ACL = "acl"  # ingress ACLs on the ports of hosts
    VRF = "vrf"  # a VRF of each tenant on each leaf, which ends there
    EVPN = "evpn"  # a VRF of each tenant across the plane, by EVPN routes over VXLAN


class BufferModel(enum.StrEnum):
    """Who computes a switch's lossless buffers: the configuration, or buffermgrd on the switch."""

    TRADITIONAL = "traditional"
    DYNAMIC = "dynamic"


class BgpAddressing(enum.StrEnum):
    """Whether BGP sessions of a plane run between addresses or on interfaces."""

    NUMBERED = "numbered"
    UNNUMBERED = "unnumbered"


class WatchdogAction(enum.StrEnum):
    """What the PFC watchdog does with a queue in a storm."""

    DROP = "drop"
    FORWARD = "forward"
    ALERT = "alert"


class Pattern(enum.StrEnum):
    """What the adapters of a plane send."""

    RING_ALL_REDUCE = "ring-all-reduce"
    TREE_ALL_REDUCE = "tree-all-reduce"
    ALL_TO_ALL = "all-to-all"
    REDUCE_SCATTER = "reduce-scatter"
    ALL_GATHER = "all-gather"
    PIPELINE = "pipeline"
    INCAST = "incast"
    STORAGE_READ = "storage-read"
    CHECKPOINT = "checkpoint"
    PERMUTATION = "permutation"


TRACE = "trace:"  # before the name of a file
PATTERNS = (*map(str, Pattern), f"{TRACE}FILE")


ECN_REFERENCE_MBPS = 400_000  # the speed of the port whose thresholds `ecn` of an inventory has; others are scaled


class Goal(enum.StrEnum):
    """What `tune` improves."""

    P99 = "p99"  # the 99th percentile of completion times
    BUSBW = "busbw"  # the bandwidth of the whole pattern
    NO_PAUSE = "no-pause"  # the number of pause frames


class InputForm(enum.StrEnum):
    """The form of an input that is compared with a bundle."""

    BUNDLE = "bundle"
    RUNNING = "running"  # config_db.json files of switches
    LLDP = "lldp"
    IBNETDISCOVER = "ibnetdiscover"

    @property
    def is_cabling(self) -> bool:
        """Whether the input describes the cabling only."""
        return self in (InputForm.LLDP, InputForm.IBNETDISCOVER)
