"""Contexts of templates/infiniband. Texts are final: a template only arranges them."""

from typing import NamedTuple

from fabricgen.opensm.guids import NodeGuid, PortGuid
from fabricgen.origin import Value


class SubnetContext(NamedTuple):
    """`subnet`, in every template: PLANE, or PLANE/SUBNET where the plane is several."""

    key: str


class ManagerContext(NamedTuple):
    """`manager` of opensm.conf."""

    role: str  # master | standby 1 …
    guid: Value
    priority: Value


class PartitionContext(NamedTuple):
    """One of `partitions` of partitions.conf. `lines` are its members, separated by commas, short enough for OpenSM."""

    name: str
    pkey: str
    ipoib: bool
    mtu: int
    rate: int
    sl: int
    lines: list[str]


class LevelContext(NamedTuple):
    """One of `levels` of qos-policy.conf. `mtu` and `rate` are codes of OpenSM, None without a limit."""

    name: str
    sl: int
    mtu: int | None
    rate: int | None


class LevelRule(NamedTuple):
    """One of `rules` of qos-policy.conf: the level of a partition."""

    name: str
    pkey: str
    level: str


class NamedGuid(NamedTuple):
    """One of `guids` of a GUID list, or of `nodes` of node-name-map."""

    guid: NodeGuid | PortGuid
    name: str


class SeedLink(NamedTuple):
    """One of `seed.links`: from the seed's switch to the next one (p) or the one before (m) of a dimension."""

    axis: str
    direction: str
    a: NodeGuid
    b: NodeGuid
    name: str


class DatelineContext(NamedTuple):
    """One of `seed.datelines`: where the coordinates begin, counted from the seed's switch."""

    axis: str
    place: int


class SeedContext(NamedTuple):
    """One of `grid.seeds`: a switch, named, with its neighbours."""

    name: str
    links: list[SeedLink]
    datelines: list[DatelineContext]


class GridContext(NamedTuple):
    """`grid` of torus-2QoS.conf. `sizes` are three, 1 for a dimension that is not there; no switch is in two seeds."""

    kind: str  # torus | mesh
    sizes: list[int]
    seeds: list[SeedContext]
    portgroup_max_ports: int


class RouteContext(NamedTuple):
    """One of `routes` of prefix-routes.conf."""

    prefix: str
    guid: str


class NetlistPort(NamedTuple):
    """A port of one of `switches` of topology.ibsim."""

    number: int
    peer_id: str
    peer_port: int
    peer_name: str
    speed: str  # such as 4xHDR


class NetlistSwitch(NamedTuple):
    """One of `switches` of topology.ibsim."""

    guid: NodeGuid
    id: str
    name: str
    radix: int
    ports: list[NetlistPort]


class NetlistAdapter(NamedTuple):
    """One of `adapters` of topology.ibsim. The port GUID of ibsim is the node GUID plus one, so `guid` may differ."""

    guid: str
    port: str  # the port GUID, bare
    id: str
    name: str
    peer_id: str
    peer_port: int
    peer_name: str
    speed: str


class TopoPort(NamedTuple):
    """A port of one of `systems` of topology.topo."""

    name: str
    peer_type: str
    peer_name: str
    peer_port: str


class TopoSystem(NamedTuple):
    """One of `systems` of topology.topo: a switch, or a host with all its ports in the subnet."""

    type: str
    name: str
    ports: list[TopoPort]
