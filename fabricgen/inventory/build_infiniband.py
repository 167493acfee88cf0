"""The InfiniBand settings of a valid tree, as the typed model."""

from fabricgen.inventory.infiniband import (
    Engine,
    InfinibandSpec,
    Membership,
    MemberSpec,
    MlnxSmSpec,
    PartitionSpec,
    PrefixRoute,
    QosLevel,
)
from fabricgen.inventory.nodes import Node
from fabricgen.opensm import mlnx_sm
from fabricgen.units import parse_speed_mbps

DEFAULT_VLS = 8  # data VLs of current switches and adapters
DEFAULT_WEIGHT = 64  # of a virtual lane in arbitration, of at most 255
DEFAULT_CONFIG_DIR = "/etc/opensm"


def build_infiniband(node: Node, path: str) -> InfinibandSpec:
    default = node.part("default_partition")
    return InfinibandSpec(
        node=node,
        path=path,
        vls=node.scalar("vls", DEFAULT_VLS),
        engines=tuple(map(Engine, node.texts("engine") or filter(None, [node.scalar("engine")]))),
        lmc=node.scalar("lmc", 0),
        config_dir=str(node.scalar("config_dir", DEFAULT_CONFIG_DIR)).rstrip("/"),
        subnet_prefix=_hex(node.scalar("subnet_prefix")),
        managers=node.texts("managers"),
        m_key=node.scalar("m_key"),
        default_partition=_partition(default, f"{path}.default_partition"),
        prefix_routes=tuple(
            PrefixRoute(
                node=item, path=f"{path}.prefix_routes[{index}]", prefix=_any(item, "prefix"), guid=_any(item, "guid")
            )
            for index, item in enumerate(node.list_of("prefix_routes"))
        ),
        mlnx_sm=_mlnx_sm(node.mapping["mlnx_sm"], f"{path}.mlnx_sm") if "mlnx_sm" in node.mapping else None,
        qos_levels=tuple(
            _level(item, f"{path}.qos.levels[{index}]") for index, item in enumerate(node.part("qos").list_of("levels"))
        ),
        qos_high_limit=node.part("qos").scalar("high_limit", 0),
        discovered=node.texts("discovered"),
    )


def _level(node: Node, path: str) -> QosLevel:
    rate = node.scalar("rate")
    return QosLevel(
        node=node,
        path=path,
        name=node.scalar("name"),
        sl=node.scalar("sl"),
        weight=node.scalar("weight", DEFAULT_WEIGHT),
        is_high=node.scalar("high", False),
        mtu_bytes=node.scalar("mtu"),
        rate_mbps=parse_speed_mbps(rate) if rate else None,
    )


def _mlnx_sm(node: Node, path: str) -> MlnxSmSpec:
    return MlnxSmSpec(
        node=node,
        path=path,
        adaptive_routing=node.scalar("adaptive_routing", True),
        shield=node.scalar("shield", True),
        sharp=node.scalar("sharp", False),
        config_dir=str(node.scalar("config_dir", mlnx_sm.CONFIG_DIR)).rstrip("/"),
    )


def build_partitions(node: Node, path: str) -> tuple[PartitionSpec, ...]:
    return tuple(
        _partition(item, f"{path}.partitions[{index}]") for index, item in enumerate(node.list_of("partitions"))
    )


def _partition(node: Node, path: str) -> PartitionSpec:
    given, rate = node.scalar("membership"), node.scalar("rate")
    membership = Membership(given) if given else None
    return PartitionSpec(
        node=node,
        path=path,
        name=node.scalar("name", "Default"),
        pkey=_hex(node.scalar("pkey")),
        membership=membership,
        members=tuple(
            _member(item, f"{path}.members[{index}]", membership or Membership.FULL)
            for index, item in enumerate(node.list_of("members"))
        ),
        ipoib=node.scalar("ipoib"),
        mtu_bytes=node.scalar("mtu"),
        rate_mbps=parse_speed_mbps(rate) if rate else None,
        qos_level=node.scalar("qos_level"),
    )


def _member(node: Node, path: str, membership: Membership) -> MemberSpec:
    """A name, or a mapping of a name and its membership."""
    name = node.scalar("member") if node.mapping else node.value
    return MemberSpec(
        node=node, path=path, name=str(name), membership=Membership(node.scalar("membership", membership))
    )


def _hex(given: object) -> int | None:
    """A number, as YAML reads 0x…, or a hexadecimal text in quotes."""
    return int(given, 16) if isinstance(given, str) else given if isinstance(given, int) else None


def _any(node: Node, key: str) -> int | None:
    """The number, or None for '*'."""
    given = node.scalar(key)
    return None if given == "*" else _hex(given)
