"""The options of opensm.conf that a subnet needs, each with the reason for its value.

All other options keep the defaults of OpenSM. They are the same for all subnet managers of a subnet, so that a failover
changes neither keys nor routes. `managers.py` has the port and priority of each manager.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fabricgen.allocation.allocate import Allocation
from fabricgen.control_plane.opensm import SubnetPlan
from fabricgen.control_plane.partitions import Partition, allows_both
from fabricgen.control_plane.qos_levels import lanes_of, weights
from fabricgen.design.registry import graph_of
from fabricgen.design.subnets import SubnetDesign
from fabricgen.inventory.infiniband import InfinibandSpec, RoutingEngine
from fabricgen.inventory.nodes import SecretReference
from fabricgen.opensm.options import VERSION, VL_CODES, option_facts
from fabricgen.origin import Value, value
from fabricgen.sonic.secrets import PLACEHOLDER

SITE_LOCAL = 0xFEC0 << 48  # with a 16-bit subnet number at its end (InfiniBand Architecture Specification, 4.1.1)
_READS_ROOTS = (RoutingEngine.UPDN, RoutingEngine.DNUP, RoutingEngine.FTREE)
_READS_NODES = (RoutingEngine.FTREE, RoutingEngine.DFSSSP)
_READS_ORDER = (RoutingEngine.MINHOP, RoutingEngine.UPDN, RoutingEngine.DNUP)
_SLS = 16
_WEIGHT = 64  # of 255, the same for every VL
_SPREADS_OVER_SLS = (RoutingEngine.DFSSSP, RoutingEngine.LASH, RoutingEngine.NUE)


@dataclass(frozen=True)
class PlaneManagers:
    """Options by their names in opensm.conf; None omits an option. `Manager` has those of a single manager."""

    subnet_prefix: Value
    lmc: Value
    routing_engine: Value
    nue_max_num_vls: Value | None
    root_guid_file: Value | None
    cn_guid_file: Value | None
    io_guid_file: Value | None
    guid_routing_order_file: Value | None
    torus_config: Value | None
    use_ucast_cache: Value | None
    partition_config_file: Value
    part_enforce: Value
    allow_both_pkeys: Value
    qos: Value
    qos_policy_file: Value | None
    max_op_vls: Value
    qos_high_limit: Value | None
    qos_vlarb_high: Value | None
    qos_vlarb_low: Value | None
    qos_ca_vlarb: Value | None
    qos_sl2vl: Value | None
    packet_life_time: Value
    head_of_queue_lifetime: Value
    leaf_head_of_queue_lifetime: Value
    vl_stall_count: Value
    leaf_vl_stall_count: Value
    subnet_timeout: Value
    sminfo_polling_timeout: Value
    polling_retry_number: Value
    honor_guid2lid_file: Value
    reassign_lids: Value
    m_key: Value | None
    m_key_lease_period: Value | None
    m_key_protection_level: Value | None
    m_key_lookup: Value | None
    node_name_map_name: Value
    prefix_routes_file: Value | None


def plan_options(
    subnet: SubnetDesign, choice: SubnetPlan, allocation: Allocation, partitions: list[Partition], files: list[str]
) -> PlaneManagers:
    """The options of a subnet, the same for every manager. `files` are the file names of the subnet's folder."""
    spec, graph = subnet.plane.plane.infiniband, graph_of(subnet.plane)
    folder = f"{spec.config_dir}/{subnet.name}" if subnet.name else spec.config_dir  # a host may manage all subnets

    def place(name: str, why: str) -> Value | None:
        return value(f"{folder}/{name}", why, inventory=spec.source("config_dir")) if name in files else None

    def given(name: str, why: str) -> Value:
        found = place(name, why)
        assert found is not None
        return found

    engine = choice.engine
    torus = engine is RoutingEngine.TORUS_2QOS
    reads_nodes, reads_order = _first(choice, _READS_NODES), _first(choice, _READS_ORDER)
    tree = graph.is_tree
    qos, key = choice.qos, spec.m_key is not None
    everywhere = "the same for every manager of the subnet"
    return PlaneManagers(
        subnet_prefix=_prefix(subnet, allocation, spec),
        lmc=value(spec.lmc, f"each endpoint has 2^{spec.lmc} LIDs", inventory=spec.source("lmc")),
        routing_engine=value(
            ",".join([*choice.engines, "no_fallback"]), choice.reason,
            "without no_fallback OpenSM takes minhop where the engine fails",
            inventory=spec.source("engine"),
        ),
        nue_max_num_vls=value(choice.nue_vls, "nue takes one VL unless it is told", inventory=spec.source("vls"))
        if RoutingEngine.NUE in choice.engines else None,
        root_guid_file=place("root_guids", "the roots as they were designed: found by OpenSM itself, a missing cable "
                             "makes another tree") if _first(choice, _READS_ROOTS) and tree else None,
        cn_guid_file=place("cn_guids", f"{reads_nodes} balances the paths to compute nodes first")
        if reads_nodes else None,
        io_guid_file=place("io_guids", f"{reads_nodes} balances the paths to storage apart from those to compute nodes")
        if reads_nodes else None,
        guid_routing_order_file=place("guid_routing_order", f"{reads_order} routes in this order: rail by rail, so "
                                      "that the paths of a rail spread over its uplinks") if reads_order else None,
        torus_config=place("torus-2QoS.conf", "the size and a seed: torus-2QoS cannot tell a torus without"),
        use_ucast_cache=value("TRUE", "a host or leaf that reboots does not have all routes worked out again")
        if tree and not spec.lmc else None,
        partition_config_file=given("partitions.conf", "the tenants"),
        part_enforce=_default("part_enforce", "switches drop packets of other partitions at both ends of a path"),
        allow_both_pkeys=_boolean(allows_both(partitions), "a member with `both` would be full only without it",
                                  inventory=subnet.plane.plane.source("partitions")),
        qos=_qos(spec, choice),
        qos_policy_file=place("qos-policy.conf", "with qos TRUE OpenSM reads a policy and wants a DEFAULT level"),
        max_op_vls=value(VL_CODES[spec.vls], f"the code of {spec.vls} data VLs", inventory=spec.source("vls")),
        qos_high_limit=_high_limit(spec) if qos else None,
        qos_vlarb_high=_arbitration(spec, choice, high=True) if qos else None,
        qos_vlarb_low=_arbitration(spec, choice, high=False) if qos else None,
        qos_ca_vlarb=_all_alike(2, engine) if torus else None,
        qos_sl2vl=_sl2vl(spec, choice) if qos else None,
        packet_life_time=_default("packet_life_time", "4.096 us x 2^18 = 1.07 s in a switch; 0x14 is for ever, and "
                                  "a credit loop would never drain"),
        head_of_queue_lifetime=_default("head_of_queue_lifetime", "4.096 us x 2^18 = 1.07 s at the head of a queue"),
        leaf_head_of_queue_lifetime=_default("leaf_head_of_queue_lifetime", "4.096 us x 2^16 = 0.27 s to a host: a "
                                             "host that hangs is given up before it holds up the fabric"),
        vl_stall_count=_default("vl_stall_count", "packets dropped in a row until a VL is stalled; 0 is undefined"),
        leaf_vl_stall_count=_default("leaf_vl_stall_count", "the same towards a host"),
        subnet_timeout=_default("subnet_timeout", "4.096 us x 2^18 = 1.07 s for answers of the subnet"),
        sminfo_polling_timeout=value(1000, "ms: a standby asks every second whether the master lives", everywhere),
        polling_retry_number=value(3, "questions without an answer: the standby takes over at the next one, after 4 s; "
                                   "the default is 10 s x 5", everywhere),
        honor_guid2lid_file=value("TRUE", "a standby that takes over keeps the LIDs it has in its copy of guid2lid",
                                  everywhere),
        reassign_lids=_default("reassign_lids", "TRUE would renumber a running fabric"),
        m_key=_m_key(spec),
        m_key_lease_period=value(60, "s until a port whose manager is gone takes another") if key else None,
        m_key_protection_level=value(1, "a port answers nobody without the key with its M_Key") if key else None,
        m_key_lookup=_default("m_key_lookup", "keys of ports are kept in guid2mkey, for a restart") if key else None,
        node_name_map_name=given("node-name-map", "names instead of GUIDs in logs"),
        prefix_routes_file=place("prefix-routes.conf", "routers to other subnets"),
    )  # fmt: skip


def _first(choice: SubnetPlan, engines: Sequence[RoutingEngine]) -> RoutingEngine | None:
    """The first engine of the subnet that is one of `engines`."""
    return next((engine for engine in choice.engines if engine in engines), None)


def _prefix(subnet: SubnetDesign, allocation: Allocation, spec: InfinibandSpec) -> Value:
    number = allocation.subnets[subnet.key]
    if spec.subnet_prefix is None:
        why = f"site-local, with this subnet's number {number} of the lock file"
        return value(f"0x{SITE_LOCAL + number:016x}", why, "hosts on several subnets tell them apart by the prefix")
    siblings = sorted(number for key, number in allocation.subnets.items() if _plane_of(key) == _plane_of(subnet.key))
    why = "as given" if len(siblings) == 1 else "as given for the first subnet of the plane, one more for each other"
    return value(f"0x{spec.subnet_prefix + siblings.index(number):016x}", why, inventory=spec.source("subnet_prefix"))


def _plane_of(key: str) -> str:
    return key.partition("/")[0]


def _m_key(spec: InfinibandSpec) -> Value | None:
    if not isinstance(spec.m_key, SecretReference):
        return None
    why = "ports take management packets with this key only; deployment fills it in"
    return value(f"{PLACEHOLDER}{spec.m_key}}}", why, inventory=spec.source("m_key"))


def _qos(spec: InfinibandSpec, choice: SubnetPlan) -> Value:
    if spec.qos.levels:
        why = f"{len(spec.qos.levels)} QoS levels: without it neither SL2VL nor arbitration is programmed"
        return _boolean(True, why, inventory=spec.source("qos"))
    why = "without it SL2VL is never programmed" if choice.qos else "one VL needs no SL2VL"
    return _boolean(choice.qos, f"{choice.engine} on {choice.vls} VLs: {why}", inventory=spec.source("vls"))


def _sl2vl(spec: InfinibandSpec, choice: SubnetPlan) -> Value | None:
    if spec.qos.levels:
        why = "16 entries, SL to VL: each QoS level has a separate lane, all other SLs are on lane 0"
        return value(",".join(map(str, lanes_of(spec))), why, inventory=spec.source("qos", "levels"))
    if choice.engine not in _SPREADS_OVER_SLS:
        return None
    why = (
        f"16 entries, SL to VL over {choice.vls} VLs: OpenSM's default folds them onto a port's own, "
        "a short list would fold the rest onto VL 0"
    )
    return value(",".join(str(sl % choice.vls) for sl in range(_SLS)), why, inventory=spec.source("vls"))


def _high_limit(spec: InfinibandSpec) -> Value:
    if not spec.qos.high_limit:
        return value(0, "one packet of the high table, then the low one has its turn")
    why = f"{spec.qos.high_limit} x 4,096 bytes of the high table, then the low one has its turn"
    return value(spec.qos.high_limit, why, inventory=spec.source("qos", "high_limit"))


def _arbitration(spec: InfinibandSpec, choice: SubnetPlan, *, high: bool) -> Value:
    if not spec.qos.levels:
        return _all_alike(spec.vls if choice.engine is RoutingEngine.TORUS_2QOS else choice.vls, choice.engine)
    table = weights(spec)[0 if high else 1]
    why = "the weights of the QoS levels, in units of 64 bytes; lane 0 has the packets without a level"
    return value(",".join(f"{vl}:{of}" for vl, of in table.items()), why, inventory=spec.source("qos", "levels"))


def _all_alike(vls: int, engine: RoutingEngine) -> Value:
    why = f"all {vls} VLs alike: with OpenSM's default VL 0 goes before all others, and {engine} uses every one"
    return value(",".join(f"{vl}:{_WEIGHT}" for vl in range(vls)), why)


def _boolean(yes: bool, why: str, inventory: str) -> Value:
    return value("TRUE" if yes else "FALSE", why, inventory=inventory)


def _default(name: str, why: str) -> Value:
    """The default of OpenSM, written explicitly because a later version may change it."""
    return value(option_facts()[name].default, why, platform=f"opensm {VERSION}: its default")
