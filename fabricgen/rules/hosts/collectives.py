"""What NCCL is told of the network plan, beside devices, addresses and marking."""

from collections.abc import Iterator, Mapping

from fabricgen.bundle.wiring import WiredPlane
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric, number
from fabricgen.rules.view.host_groups import Group, NicPorts, host_groups

# OpenSM engines that avoid credit loops by the service level of each path.
SL_ENGINES = ("torus-2QoS", "dfsssp", "lash", "nue")


@rule("FG910", Severity.ERROR, "NCCL is told something that the network does not have", Basis.AGREEMENT)
def nccl_plan(fabric: Fabric) -> Iterator[Defect]:
    """What: on RoCE, NCCL_IB_SL is the TC of NCCL_IB_TC on the switches; where no switch joins the rails,
    NCCL_CROSS_NIC is 0 and NCCL_PXN_DISABLE is not 1; no GID index is fixed. On InfiniBand there is no NCCL_IB_SL where
    the routing engine gives each path its own, and no NCCL_IB_TC.

    Why: a ring that crosses rails hangs where nothing joins them. A job that picks its service level itself undoes what
    keeps the subnet free of credit loops. The index of a GID moves with every address that a host gets.

    Example: NCCL_CROSS_NIC=2 on a rail-only design.

    Fix: the values as rendered.

    Source: NVIDIA/nccl@5067397 src/transport/net_ib, src/graph (NCCL_CROSS_NIC, NCCL_PXN_DISABLE); OpenSM
    doc/current-routing.txt.
    """
    for group in host_groups(fabric):
        if group.files.nccl_file not in group.files.files:
            continue
        found = group.files.settings(group.files.nccl_file)
        used = {nic.plane for host in group.hosts for nic in host.nics}
        compute = [plane for name, plane in group.planes.items() if name in used and plane.purpose == "compute"]
        if "NCCL_IB_GID_INDEX" in found and "NCCL_IB_ADDR_RANGE" in found:
            message = "a GID index is fixed, which NCCL takes before the address range"
            yield Defect(
                group.place(group.files.nccl_file, "NCCL_IB_GID_INDEX"), message, "remove it", (), Severity.WARNING
            )
        for plane in compute:
            if plane.technology == "infiniband":
                yield from _infiniband(fabric, group, plane, found)
            if plane.design == "rail-only":
                yield from _rail_only(group, plane, found)
            if plane in group.lossless_planes:
                yield from _priority(group, plane, found)


def _infiniband(fabric: Fabric, group: Group, plane: WiredPlane, found: Mapping[str, str]) -> Iterator[Defect]:
    for key in ("NCCL_IB_SL", "NCCL_IB_TC"):
        if key in found and (key == "NCCL_IB_TC" or _chooses_levels(fabric, plane.name)):
            message = f"{key} on plane {plane.name}, whose subnet manager decides that"
            yield Defect(group.place(group.files.nccl_file, key), message, "remove it")


def _rail_only(group: Group, plane: WiredPlane, found: Mapping[str, str]) -> Iterator[Defect]:
    for key in ("NCCL_CROSS_NIC", "NCCL_PXN_DISABLE"):
        if found.get(key) != "0":
            message = f"{key} is {found.get(key, 'missing')}, no switch of plane {plane.name} joins the rails"
            yield Defect(group.place(group.files.nccl_file, key), message, f"{key}=0")


def _priority(group: Group, plane: WiredPlane, found: Mapping[str, str]) -> Iterator[Defect]:
    tos, level = number(found.get("NCCL_IB_TC")), found.get("NCCL_IB_SL")
    if tos is None:
        return  # FG904 tells
    dscp = tos >> 2

    def other(ports: NicPorts) -> tuple[str, Place] | None:
        tc = ports.qos.dscp_to_tc.get(dscp)
        message = f"NCCL_IB_SL is {level or 'missing'}, NCCL's DSCP {dscp} goes to TC {tc} on the switches"
        where = ports.map_place("dscp_to_tc_map", "DSCP_TO_TC_MAP", dscp)
        return (message, where) if tc in ports.qos.pfc and level != str(tc) else None

    yield from group.disagreements(
        plane, group.place(group.files.nccl_file, "NCCL_IB_SL"), other, "the TC of the class"
    )


def _chooses_levels(fabric: Fabric, plane: str) -> bool:
    """Whether the first routing engine of the plane's opensm.conf gives each path a service level."""
    folder = fabric.bundle.root / "infiniband" / plane if fabric.bundle.root else None
    for file in sorted(folder.rglob("opensm.conf")) if folder else ():
        for line in file.read_text("utf-8", "replace").splitlines():
            name, _, text = line.partition(" ")
            if name == "routing_engine" and text.strip().partition(",")[0] in SL_ENGINES:
                return True
    return False
