"""The options of opensm.conf for NVIDIA's subnet manager in UFM, dialect mlnx-sm-5.

UFM itself decides the port of the manager, the master and the content of partitions.conf, so these options are missing
here. The options come from the design and from public sources. They have not been tested on a real manager, which needs
a license.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from fabricgen.control_plane.opensm_options import PlaneManagers
from fabricgen.design.graph import Graph
from fabricgen.design.model import PlaneDesign
from fabricgen.design.registry import graph_of
from fabricgen.findings import Finding
from fabricgen.inventory.infiniband import MlnxSmSpec
from fabricgen.inventory.mistakes import error
from fabricgen.opensm import sharp
from fabricgen.opensm.mlnx_sm import DIALECT, NODE_NAME_MAP, option_facts
from fabricgen.origin import Value, value

_UP_DOWN = (Graph.SINGLE_SWITCHES, Graph.REGULAR_TREE, Graph.TREE_OF_ONE_LEAF, Graph.TREE)
_ADAPTIVE = {**dict.fromkeys(_UP_DOWN, "ar_updn"), Graph.DRAGONFLY_PLUS: "dfp2"}
_STATIC = dict.fromkeys(_UP_DOWN, "updn")
_PLANARIZED_MBPS = 800_000  # XDR: ConnectX-8 Firmware Release Notes 40.44.0208, Planarized Topology Network

_WHY = {
    "ar_updn": "its default since 5.10: up/down paths, and switches choose among those by load",
    "dfp2": "its engine for dragonfly+; that it keeps one free of credit loops is the maker's word",
    "updn": "up/down paths without adaptive routing",
}
_STATED = {
    "ufm-properties": "UFM Enterprise User Manual v6.24.1, Subnet Manager Default Properties: its default",
    "ufm-sdn-properties": "UFM-SDN Appliance User Manual v4.18.4, Subnet Manager Default Properties: its default",
}


@dataclass(frozen=True)
class MlnxOptions:
    """Options by their names in opensm.conf; None omits an option."""

    subnet_prefix: Value
    lmc: Value
    routing_engine: Value
    root_guid_file: Value | None
    use_ucast_cache: Value | None
    shield_mode: Value | None
    sharp_enabled: Value | None
    planarized_routing_enabled: Value | None
    adaptive_timeout_sl_mask: Value
    allow_both_pkeys: Value
    max_op_vls: Value
    qos: Value | None
    packet_life_time: Value
    vl_stall_count: Value
    leaf_vl_stall_count: Value
    virt_enabled: Value
    honor_guid2lid_file: Value
    m_key: Value | None
    m_key_lease_period: Value | None
    m_key_lookup: Value | None
    node_name_map_name: Value
    prefix_routes_file: Value | None


def check_dialect(design: PlaneDesign) -> Iterator[Finding]:
    """The finding about a design that no known engine of this manager routes."""
    spec, graph = design.plane.infiniband.mlnx_sm, graph_of(design)
    if spec is None or _engine(spec, graph):
        return
    if graph in _ADAPTIVE:
        message = f"{DIALECT}: {_ADAPTIVE[graph]} routes a {graph} only with adaptive routing"
        yield error("FG890", message, spec, "adaptive_routing", hint="remove it, or remove `mlnx_sm`")
    else:
        message = f"{DIALECT}: no public source states which of its engines keeps a {graph} free of credit loops"
        hint = f"remove `mlnx_sm`; supported: {', '.join(_ADAPTIVE)}"
        yield error("FG890", message, design.plane.infiniband, "mlnx_sm", hint=hint)


def plan_mlnx_options(design: PlaneDesign, spec: MlnxSmSpec, same: PlaneManagers, files: list[str]) -> MlnxOptions:
    """The options of a subnet. `same` are those of the other dialect, which shares some; `files` are the file names of
    the folder."""
    plane, engine = design.plane, _engine(spec, graph_of(design))
    assert engine, "check_dialect reports designs without an engine"
    up_down = engine != "dfp2"

    def place(name: str, why: str) -> Value | None:
        return value(f"{spec.config_dir}/{name}", why, inventory=spec.source("config_dir")) if name in files else None

    names = place(NODE_NAME_MAP, "names instead of GUIDs in logs, in UFM's own file")
    assert names is not None
    return MlnxOptions(
        subnet_prefix=same.subnet_prefix,
        lmc=same.lmc,
        routing_engine=value(engine, _WHY[engine], inventory=spec.source("adaptive_routing")),
        root_guid_file=place("root_guids", f"{engine} is told the roots as they were designed: found in a fabric with "
                             "a missing cable, they make another tree") if up_down else None,
        use_ucast_cache=value("TRUE", "a host or leaf that reboots does not have all routes worked out again")
        if up_down and not plane.infiniband.lmc else None,
        shield_mode=None if spec.shield else value(
            0, "0 switches off that switches reroute around a failed link by themselves, which they do by default",
            inventory=spec.source("shield"), platform="InfiniBand Cluster Bring-up Procedure, SHIELD",
        ),
        sharp_enabled=value(
            sharp.ENABLED, "2 switches SHARP on in all switches that have it", inventory=spec.source("sharp"),
            platform="Mellanox/nccl-rdma-sharp-plugins .ci/configure_sharp.sh",
        ) if spec.sharp else None,
        planarized_routing_enabled=_stated("planarized_routing_enabled", "XDR adapters are on several planes")
        if plane.uplink_mbps >= _PLANARIZED_MBPS else None,
        adaptive_timeout_sl_mask=_stated("adaptive_timeout_sl_mask", "all SLs adapt their timeouts"),
        allow_both_pkeys=same.allow_both_pkeys,
        max_op_vls=same.max_op_vls,
        qos=value("FALSE", f"{engine} takes one VL, which needs no SL2VL") if up_down else None,
        packet_life_time=_stated("packet_life_time", "4.096 us x 2^18 = 1.07 s in a switch; 0x14 is for ever"),
        vl_stall_count=_stated("vl_stall_count", "packets dropped in a row until a VL is stalled; 0 is undefined"),
        leaf_vl_stall_count=_stated("leaf_vl_stall_count", "the same towards a host"),
        virt_enabled=value(2, "ports of virtual functions get LIDs, for pods and virtual machines"),
        honor_guid2lid_file=value("TRUE", "after a failover of UFM, LIDs are those of its copy of guid2lid"),
        m_key=same.m_key,
        m_key_lease_period=_stated("m_key_lease_period", "s until a port whose manager is gone takes another")
        if same.m_key else None,
        m_key_lookup=_stated("m_key_lookup", "keys of unknown ports are looked up") if same.m_key else None,
        node_name_map_name=names,
        prefix_routes_file=place("prefix-routes.conf", "routers to other subnets"),
    )  # fmt: skip


def _engine(spec: MlnxSmSpec, graph: Graph) -> str | None:
    return (_ADAPTIVE if spec.adaptive_routing else _STATIC).get(graph)


def _stated(name: str, why: str) -> Value:
    """A default that a source states, written explicitly because a later version may change it."""
    fact = option_facts()[name]
    source = _STATED.get(fact.source) or f"MLNXSM Utility Release Notes v{fact.source}: its default"
    return value(fact.default, why, platform=source)
