"""The InfiniBand subnet and the partitions of a plane, typed and immutable."""

import enum
from dataclasses import dataclass

from fabricgen.inventory.part import Part


class Engine(enum.StrEnum):
    """The routing engines of OpenSM."""

    MINHOP = "minhop"
    UPDN = "updn"
    DNUP = "dnup"
    FTREE = "ftree"
    DFSSSP = "dfsssp"
    SSSP = "sssp"
    LASH = "lash"
    NUE = "nue"
    DOR = "dor"
    TORUS_2QOS = "torus-2QoS"


class Membership(enum.StrEnum):
    """How a port belongs to a partition: limited members reach only full members; `both` has a P_Key of each kind."""

    FULL = "full"
    LIMITED = "limited"
    BOTH = "both"


@dataclass(frozen=True)
class MemberSpec(Part):
    """A member of a partition: ALL, a group, hosts, a NIC, a rail or a port GUID."""

    name: str
    membership: Membership


@dataclass(frozen=True)
class PartitionSpec(Part):
    """A tenant of a subnet. `pkey` and `membership` are None if the inventory does not set them."""

    name: str
    pkey: int | None
    members: tuple[MemberSpec, ...]
    membership: Membership | None
    ipoib: bool | None
    mtu_bytes: int | None
    rate_mbps: int | None
    qos_level: str | None = None


@dataclass(frozen=True)
class QosLevel(Part):
    """A service level on its own virtual lane. `weight` is in units of 64 bytes; `is_high` puts the lane into the
    high-priority table. `mtu_bytes` and `rate_mbps` limit the path records of the level."""

    name: str
    sl: int
    weight: int
    is_high: bool
    mtu_bytes: int | None
    rate_mbps: int | None


@dataclass(frozen=True)
class PrefixRoute(Part):
    """The router to a subnet prefix. None stands for any."""

    prefix: int | None
    guid: int | None


@dataclass(frozen=True)
class MlnxSmSpec(Part):
    """The second set of files, for NVIDIA's subnet manager in UFM."""

    adaptive_routing: bool
    shield: bool
    sharp: bool
    config_dir: str


@dataclass(frozen=True)
class InfinibandSpec(Part):
    """The subnet managers of a plane and their settings.

    `vls` is the number of data VLs, `engines` the routing engines in the order in which OpenSM tries them (empty:
    chosen for the design), `lmc` the number of LID bits of an endpoint. `config_dir` is the folder of the subnet
    managers. `managers` are their hosts, the master first.
    """

    vls: int
    engines: tuple[Engine, ...]
    lmc: int
    config_dir: str
    subnet_prefix: int | None
    managers: tuple[str, ...]
    m_key: str | None  # reference to a secret
    default_partition: PartitionSpec
    prefix_routes: tuple[PrefixRoute, ...]
    mlnx_sm: MlnxSmSpec | None = None
    qos_levels: tuple[QosLevel, ...] = ()
    qos_high_limit: int = 0  # in units of 4,096 bytes
    discovered: tuple[str, ...] = ()  # files with readings of the cabled subnet
