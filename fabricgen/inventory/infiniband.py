"""The InfiniBand subnet and the partitions of a plane, typed and immutable."""

import enum
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fabricgen.inventory.nodes import Node
from fabricgen.inventory.part import Part, key, list_of, notation_of, part_notation
from fabricgen.inventory.values import Folder, Hex64, HexOrAny, IbMtu, PKey, Secret, Speed, one_of, one_or_more
from fabricgen.opensm import mlnx_sm

DEFAULT_WEIGHT = 64  # of a virtual lane in arbitration, of at most 255
_LEVEL_NAME = "^[A-Za-z][A-Za-z0-9_-]{0,31}$"


class RoutingEngine(enum.StrEnum):
    """The routing engines of OpenSM."""

    MINHOP = "minhop"
    UPDN = "updn"
    DNUP = "dnup"
    FTREE = "ftree"
    LASH = "lash"
    DOR = "dor"
    TORUS_2QOS = "torus-2QoS"
    NUE = "nue"
    DFSSSP = "dfsssp"
    SSSP = "sssp"


class Membership(enum.StrEnum):
    """How a port belongs to a partition: limited members reach only full members; `both` has a P_Key of each kind."""

    FULL = "full"
    LIMITED = "limited"
    BOTH = "both"


_MEMBERSHIP = (
    notation_of(Membership)
    .but(description="Limited members reach only full members. both: a key of each kind.")
    .named("membership")
)


@dataclass(frozen=True, kw_only=True)
class MemberSpec(Part, short="member"):
    """A member of a partition: ALL, a group, hosts, a NIC, a rail or a port GUID."""

    name: Annotated[str, key(name="member", required=True)]
    membership: Annotated[Membership, key(notation=_MEMBERSHIP)] = Membership.FULL


_MEMBERS = list_of(
    part_notation(MemberSpec).but(
        description="ALL, GROUP, GROUP/NUMBER or GROUP/FIRST-LAST, each optionally with /NIC; the name of a host, "
        "rail0, or a port GUID."
    )
)


@dataclass(frozen=True, kw_only=True)
class PartitionSpec(Part, definition="partition"):
    """A tenant of a subnet. `pkey` and `membership` are None if the inventory does not set them."""

    name: Annotated[
        str,
        key(
            "A letter, then letters, digits, - _ . , at most 32.",
            required=True,
            pattern="^[A-Za-z][A-Za-z0-9_.-]{0,31}$",
        ),
    ]
    pkey: Annotated[PKey | None, key("For example 0x8001. Only the low 15 bits identify the tenant.", required=True)]
    members: Annotated[tuple[MemberSpec, ...], key(required=True, minItems=1, notation=_MEMBERS)]
    membership: Annotated[Membership | None, key(notation=_MEMBERSHIP)]
    ipoib: Annotated[bool | None, key("Whether the partition has an IPoIB network.", default=False)]
    qos_level: Annotated[
        str | None, key("The level of `infiniband.qos` for all packets of the tenant. By default SL 0.")
    ]
    mtu_bytes: Annotated[IbMtu | None, key(name="mtu")]
    rate_mbps: Annotated[Speed | None, key(name="rate")]

    @classmethod
    def values(cls, node: Node, path: str) -> dict[str, Any]:
        """A member without a membership has that of the partition."""
        found = super().values(node, path)
        if usual := found["membership"]:
            found["members"] = tuple(
                one if "membership" in one.node.mapping else replace(one, membership=usual)
                for one in found.get("members", ())
            )
        return found


@dataclass(frozen=True, kw_only=True)
class DefaultPartition(
    PartitionSpec,
    definition="default_partition",
    meaning="P_Key 0x7fff, which every port has. With tenants, the default membership is `limited`.",
):
    """The partition that each port has."""

    name: str = "Default"
    pkey: int | None = None
    members: tuple[MemberSpec, ...] = ()
    membership: Annotated[Membership | None, key(enum=[Membership.FULL.value, Membership.LIMITED.value])]
    ipoib: Annotated[bool | None, key(default=True)]
    qos_level: str | None = None


@dataclass(frozen=True, kw_only=True)
class QosLevel(Part):
    """A service level on its own virtual lane. `weight` is in units of 64 bytes; `is_high` puts the lane into the
    high-priority table. `mtu_bytes` and `rate_mbps` limit the path records of the level."""

    name: Annotated[str, key("A letter, then letters, digits, - _ , at most 32.", required=True, pattern=_LEVEL_NAME)]
    sl: Annotated[
        int,
        key("Service level in the packets. SL 0 is everything else.", required=True, minimum=1, maximum=15),
    ]
    weight: Annotated[int, key("Units of 64 bytes in each turn. The lane of SL 0 has 64.", minimum=1, maximum=255)] = (
        DEFAULT_WEIGHT
    )
    is_high: Annotated[bool, key("Serve the lane from the high-priority table.", "high")] = False
    mtu_bytes: Annotated[IbMtu | None, key(name="mtu")]
    rate_mbps: Annotated[Speed | None, key(name="rate")]


@dataclass(frozen=True, kw_only=True)
class QosSpec(Part):
    """The service levels of a subnet."""

    high_limit: Annotated[
        int,
        key(
            "Units of 4,096 bytes that high-priority lanes send before the others have a turn; 0 is one packet.",
            minimum=0,
            maximum=254,
        ),
    ] = 0
    levels: Annotated[tuple[QosLevel, ...], key(required=True, minItems=1, maxItems=14)]


@dataclass(frozen=True, kw_only=True)
class PrefixRoute(Part):
    """The router to a subnet prefix. None stands for any."""

    prefix: Annotated[HexOrAny, key("A subnet prefix, or *.", required=True)]
    guid: Annotated[HexOrAny, key("GUID of a router port, or *.", required=True)]


@dataclass(frozen=True, kw_only=True)
class MlnxSmSpec(Part):
    """The second set of files, for NVIDIA's subnet manager in UFM."""

    adaptive_routing: Annotated[bool, key("Switches select paths by load.")] = True
    shield: Annotated[bool, key("Switches reroute around a failed link without the subnet manager.")] = True
    sharp: Annotated[bool, key("Switches add up the data of collectives (SHARP).")] = False
    config_dir: Annotated[Folder, key("Folder of UFM's subnet manager files.")] = mlnx_sm.CONFIG_DIR


@dataclass(frozen=True, kw_only=True)
class InfinibandSpec(Part):
    """The subnet managers of a plane and their settings. `engines` is empty if they are chosen for the design."""

    vls: Annotated[int, key("Number of data VLs of switches and adapters.", notation=one_of(1, 2, 4, 8, 15))] = 8
    engines: Annotated[
        tuple[RoutingEngine, ...],
        key(
            "Routing engine of OpenSM, or several in the order in which OpenSM tries them. "
            "By default they are chosen for the design.",
            "engine",
            notation=one_or_more(notation_of(RoutingEngine).named("routing_engine"), minItems=1, uniqueItems=True),
        ),
    ]
    lmc: Annotated[int, key("Each endpoint has 2^lmc LIDs.", minimum=0, maximum=3)] = 0
    config_dir: Annotated[
        Folder, key("Folder of the subnet managers' files. opensm.conf has their absolute paths.")
    ] = "/etc/opensm"
    subnet_prefix: Annotated[Hex64 | None, key()]
    managers: Annotated[
        tuple[str, ...],
        key(
            "Hosts of the plane that run a subnet manager, the master first: names, or GROUP/NUMBER.",
            minItems=1,
            maxItems=8,
        ),
    ]
    m_key: Annotated[Secret | None, key("A !secret reference. Ports accept only management packets with this key.")]
    default_partition: Annotated[DefaultPartition, key()]
    qos: Annotated[QosSpec, key("Quality of service: service levels for partitions, each on its own virtual lane.")]
    discovered: Annotated[
        tuple[str, ...],  # files with readings of the cabled subnet
        key(
            "Readings of the cabled subnet, for its GUIDs: ibnetdiscover output or UFM's ports, "
            "relative to the inventory.",
            minItems=1,
        ),
    ]
    mlnx_sm: Annotated[
        MlnxSmSpec | None, key("Also write mlnx-sm-5/ for NVIDIA's subnet manager in UFM. May be empty.")
    ]
    prefix_routes: Annotated[tuple[PrefixRoute, ...], key("Routers to other subnets.")]
