"""The rules on NCCL settings for service levels, rails, GIDs and adaptive routing."""

from collections.abc import Iterator, Mapping

from fabricgen.bundle.sources import MLNX_FOLDER
from fabricgen.bundle.wiring import WiredPlane
from fabricgen.findings import Severity
from fabricgen.opensm.sharp import CONFIG_NAME
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.host_groups import Group, NicPorts, host_groups
from fabricgen.rules.view.subnet_managers import managed_subnets
from fabricgen.rules.view.switch import number
from fabricgen.vocabulary import Purpose, Technology

SHARP = f"{MLNX_FOLDER}/{CONFIG_NAME}"
_ADAPTIVE = "NCCL_IB_ADAPTIVE_ROUTING"


@rule("FG910", Severity.ERROR, "NCCL settings do not match the network", Basis.AGREEMENT)
def nccl_plan(fabric: Fabric) -> Iterator[Defect]:
    """What: on RoCE, NCCL_IB_SL is the TC to which the switches map NCCL_IB_TC. On rail-only designs NCCL_CROSS_NIC and
    NCCL_PXN_DISABLE are 0. NCCL_IB_GID_INDEX is not set. On InfiniBand, NCCL_IB_TC is not set, and NCCL_COLLNET_ENABLE
    is set only where switches aggregate (SHARP). `simulate deadlock` judges NCCL_IB_SL there.

    Why: a ring that crosses rails hangs if no switch connects the rails. NCCL uses a traffic class as the SL if
    NCCL_IB_SL is not set. The index of a GID changes when the host gets another address.

    Example: NCCL_CROSS_NIC is 2 on a rail-only design.

    Fix: use the rendered values.

    Source: NVIDIA/nccl@5067397 src/transport/net_ib, src/graph (NCCL_CROSS_NIC, NCCL_PXN_DISABLE); OpenSM
    doc/current-routing.txt.
    """
    aggregating = {one.name.partition("/")[0] for one in managed_subnets(fabric) if one.text(SHARP) is not None}
    for group in host_groups(fabric):
        if group.files.nccl_file not in group.files.files:
            continue
        found = group.files.settings(group.files.nccl_file)
        used = {nic.plane for host in group.hosts for nic in host.nics}
        compute = [plane for name, plane in group.planes.items() if name in used and plane.purpose == Purpose.COMPUTE]
        if "NCCL_IB_GID_INDEX" in found and "NCCL_IB_ADDR_RANGE" in found:
            message, hint = "NCCL_IB_GID_INDEX overrides NCCL_IB_ADDR_RANGE", "remove NCCL_IB_GID_INDEX"
            place = group.place(group.files.nccl_file, "NCCL_IB_GID_INDEX")
            yield Defect(place, message, hint, (), Severity.WARNING)
        if found.get("NCCL_COLLNET_ENABLE", "0") != "0" and not aggregating & {plane.name for plane in compute}:
            message = "NCCL_COLLNET_ENABLE is set, but no subnet of the hosts has SHARP: NCCL goes on without it"
            place = group.place(group.files.nccl_file, "NCCL_COLLNET_ENABLE")
            yield Defect(place, message, "remove NCCL_COLLNET_ENABLE", (), Severity.WARNING)
        for plane in compute:
            if plane.technology == Technology.INFINIBAND:
                yield from _infiniband(group, plane, found)
            if plane.design == "rail-only":
                yield from _rail_only(group, plane, found)
            if plane in group.lossless_planes:
                yield from _priority(group, plane, found)


def _infiniband(group: Group, plane: WiredPlane, found: Mapping[str, str]) -> Iterator[Defect]:
    if "NCCL_IB_TC" in found:
        message = f"NCCL_IB_TC is set, but it is a setting for RoCE, and plane {plane.name} is InfiniBand"
        yield Defect(group.place(group.files.nccl_file, "NCCL_IB_TC"), message, "remove NCCL_IB_TC")


def _rail_only(group: Group, plane: WiredPlane, found: Mapping[str, str]) -> Iterator[Defect]:
    for key in ("NCCL_CROSS_NIC", "NCCL_PXN_DISABLE"):
        if found.get(key) != "0":
            message = f"{key} is {found.get(key, 'missing')}, but no switch of plane {plane.name} connects the rails"
            yield Defect(group.place(group.files.nccl_file, key), message, f"set {key} to 0")


def _priority(group: Group, plane: WiredPlane, found: Mapping[str, str]) -> Iterator[Defect]:
    tos, level = number(found.get("NCCL_IB_TC")), found.get("NCCL_IB_SL")
    if tos is None:
        return  # FG904 reports it
    dscp = tos >> 2

    def wrong_level(ports: NicPorts) -> tuple[str, Place] | None:
        tc = ports.qos.dscp_to_tc.get(dscp)
        message = f"NCCL_IB_SL is {level or 'missing'}, but the switches map DSCP {dscp} of NCCL to TC {tc}"
        where = ports.map_place("dscp_to_tc_map", "DSCP_TO_TC_MAP", dscp)
        return (message, where) if tc in ports.qos.pfc and level != str(tc) else None

    place = group.place(group.files.nccl_file, "NCCL_IB_SL")
    yield from group.disagreements(plane, place, wrong_level, "set NCCL_IB_SL to the TC of the class")


@rule("FG917", Severity.WARNING, "NCCL and the fabric disagree on adaptive routing", Basis.AGREEMENT)
def adaptive_routing(fabric: Fabric) -> Iterator[Defect]:
    """What: where all compute planes of the hosts are RoCE, NCCL_IB_ADAPTIVE_ROUTING is 1 if the switches of one select
    a path for each packet (load_balancing in fabric.json), and else is not 1.

    Why: with 1, NCCL sends each large message as two, a write and an empty write with immediate data, so that data may
    arrive out of order. Without it the last write completes the message, although others may still be on their way.
    Over a hash nothing arrives out of order, and the second message costs time.

    Example: NCCL_IB_ADAPTIVE_ROUTING=1 on hosts of a RoCE plane with ECMP.

    Fix: render the file again. NCCL uses 0 on RoCE and 1 on InfiniBand where the setting is missing.

    Source: NVIDIA/nccl src/transport/net_ib (ADAPTIVE_ROUTING, AR_THRESHOLD); SONiC HLD doc/ARS.
    """
    for group in host_groups(fabric):
        file = group.files.nccl_file
        used = {nic.plane for host in group.hosts for nic in host.nics}
        compute = [plane for name, plane in group.planes.items() if name in used and plane.purpose == Purpose.COMPUTE]
        if file not in group.files.files or any(plane.technology != Technology.ROCE for plane in compute):
            continue
        found = group.files.settings(file).get(_ADAPTIVE)
        spreading = [plane for plane in compute if plane.is_spread_by_packet]
        if compute and found == "1" and not spreading:
            message = f"{_ADAPTIVE} is 1, but the switches of plane {compute[0].name} keep packets of a flow in order"
            yield Defect(group.place(file, _ADAPTIVE), message, f"remove {_ADAPTIVE}")
        if spreading and found != "1":
            message = f"{_ADAPTIVE} is {found or 'missing'}, but the switches of plane {spreading[0].name} select a "
            yield Defect(group.place(file, _ADAPTIVE), f"{message}path for each packet", f"set {_ADAPTIVE} to 1")
