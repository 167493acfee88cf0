"""The rules on NCCL settings for service levels, rails, GIDs and adaptive routing."""

from collections.abc import Iterator, Mapping, Sequence

from fabricgen.bundle.host_settings import nccl_number, ucx_number
from fabricgen.bundle.sources import MLNX_FOLDER
from fabricgen.bundle.wiring import WiredPlane
from fabricgen.findings import Severity
from fabricgen.opensm.sharp import CONFIG_NAME
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.hosts.files import NVSHMEM
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.host_groups import HostFiles, NicPorts, host_groups
from fabricgen.rules.view.subnet_managers import managed_subnets
from fabricgen.vocabulary import Purpose, Technology

SHARP = f"{MLNX_FOLDER}/{CONFIG_NAME}"
_ADAPTIVE = "NCCL_IB_ADAPTIVE_ROUTING"


@rule("FG910", Severity.ERROR, "NCCL settings do not match the network", Basis.AGREEMENT)
def nccl_plan(fabric: Fabric) -> Iterator[Defect]:
    """What: On RoCE, NCCL_IB_SL, NVSHMEM_IB_SL, and UCX_IB_SL if it is set, is the TC to which the switches map
    NCCL_IB_TC.
    NCCL_IB_ROCE_VERSION_NUM is 2, and NCCL_IB_ADDR_FAMILY is that of the hosts' pools. NCCL_IB_GID_INDEX and
    UCX_IB_GID_INDEX are not set. On rail-only designs NCCL_CROSS_NIC and NCCL_PXN_DISABLE are 0. On InfiniBand,
    NCCL_IB_TC and UCX_IB_TRAFFIC_CLASS are not set, UCX_IB_SL and NVSHMEM_IB_SL are no other SL than NCCL_IB_SL, and
    NCCL_COLLNET_ENABLE is set only where switches aggregate (SHARP). `simulate deadlock` judges NCCL_IB_SL there.

    Why: A ring that crosses rails hangs if no switch connects the rails. NCCL uses a traffic class as the SL if
    NCCL_IB_SL is not set. The index of a GID changes when the host gets another address. RoCE version 1 has no IP
    header, so that no switch routes it.

    Example: NCCL_CROSS_NIC is 2 on a rail-only design.

    Fix: Use the rendered values.

    Source: NVIDIA/nccl@5067397 src/transport/net_ib/connect.cc (ncclIbGetGidIndex, envIbAddrFamily), src/graph
    (NCCL_CROSS_NIC, NCCL_PXN_DISABLE); openucx/ucx@9466d10 src/uct/ib/base/ib_iface.c; OpenSM doc/current-routing.txt.
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
        if (nccl_number(found.get("NCCL_COLLNET_ENABLE")) or 0) != 0 and not aggregating & {
            plane.name for plane in compute
        }:
            message = "NCCL_COLLNET_ENABLE is set, but no subnet of the hosts has SHARP: NCCL goes on without it"
            place = group.place(group.files.nccl_file, "NCCL_COLLNET_ENABLE")
            yield Defect(place, message, "remove NCCL_COLLNET_ENABLE", (), Severity.WARNING)
        yield from _gid(group, compute, found)
        for plane in compute:
            if plane.technology == Technology.INFINIBAND:
                yield from _infiniband(group, plane, found)
            if plane.design == "rail-only":
                yield from _rail_only(group, plane, found)
            if plane in group.lossless_planes:
                yield from _priority(group, plane, found)


def _gid(group: HostFiles, compute: Sequence[WiredPlane], found: Mapping[str, str]) -> Iterator[Defect]:
    """The settings by which NCCL and UCX select a GID on RoCE."""
    file = group.files.nccl_file
    pools = [prefix for plane in compute if plane.technology == Technology.ROCE for prefix in plane.host_prefixes]
    if not pools:
        return
    family = group.files.settings(NVSHMEM).get("NVSHMEM_IB_ADDR_FAMILY", "AF_INET")
    if NVSHMEM in group.files.files and family not in {"AF_INET6" if ":" in prefix else "AF_INET" for prefix in pools}:
        message = f"NVSHMEM looks for {family}, but the hosts' pool is {pools[0]}"
        yield Defect(group.place(NVSHMEM, "NVSHMEM_IB_ADDR_FAMILY"), message, "correct NVSHMEM_IB_ADDR_FAMILY")
    shmem = group.files.settings(NVSHMEM)
    for where, settings, key in (
        (file, found, "NCCL_IB_ROCE_VERSION_NUM"),
        (NVSHMEM, shmem, "NVSHMEM_IB_ROCE_VERSION_NUM"),
    ):
        version = nccl_number(settings.get(key))
        if version not in (None, 2):
            message = f"{key} is {settings[key]}: RoCE version {version} has no IP header, and no switch routes it"
            yield Defect(group.place(where, key), message, f"remove {key}")
    if (nccl_number(shmem.get("NVSHMEM_IB_GID_INDEX")) or 0) >= 0 and "NVSHMEM_IB_GID_INDEX" in shmem:
        text = shmem["NVSHMEM_IB_GID_INDEX"]
        message = f"NVSHMEM_IB_GID_INDEX is {text}: the index changes when the host gets another address"
        place = group.place(NVSHMEM, "NVSHMEM_IB_GID_INDEX")
        yield Defect(place, message, "remove NVSHMEM_IB_GID_INDEX", (), Severity.WARNING)
    # NCCL takes every other word for AF_INET.
    family = "AF_INET6" if found.get("NCCL_IB_ADDR_FAMILY") == "AF_INET6" else "AF_INET"
    known = {"AF_INET6" if ":" in prefix else "AF_INET" for prefix in pools}
    if family not in known:
        shown = repr(found["NCCL_IB_ADDR_FAMILY"]) if "NCCL_IB_ADDR_FAMILY" in found else "missing"
        message = f"NCCL_IB_ADDR_FAMILY is {shown}, so NCCL looks for {family}, "
        message += f"but the hosts' pool is {pools[0]}"
        hint = f"set NCCL_IB_ADDR_FAMILY to {min(known)}"
        yield Defect(group.place(file, "NCCL_IB_ADDR_FAMILY"), message, hint)
    index = group.files.settings("ucx.conf").get("UCX_IB_GID_INDEX", "auto")
    if index.lower() != "auto" and "AF_INET" in known:  # without IPv4, UCX up to 1.20 needs it
        message = f"UCX_IB_GID_INDEX is {index}: the index changes when the host gets another address"
        yield Defect(
            group.place("ucx.conf", "UCX_IB_GID_INDEX"), message, "remove UCX_IB_GID_INDEX", (), Severity.WARNING
        )


def _infiniband(group: HostFiles, plane: WiredPlane, found: Mapping[str, str]) -> Iterator[Defect]:
    ucx = group.files.settings("ucx.conf")
    for file, key, text in (
        (group.files.nccl_file, "NCCL_IB_TC", found.get("NCCL_IB_TC")),
        ("ucx.conf", "UCX_IB_TRAFFIC_CLASS", ucx.get("UCX_IB_TRAFFIC_CLASS")),
    ):
        if text is not None and text.lower() != "auto":
            message = f"{key} is set, but it is a setting for RoCE, and plane {plane.name} is InfiniBand"
            yield Defect(group.place(file, key), message, f"remove {key}")
    own, level = nccl_number(found.get("NCCL_IB_SL")) or 0, ucx_number(ucx.get("UCX_IB_SL"))
    shmem = group.files.settings(NVSHMEM).get("NVSHMEM_IB_SL")
    if NVSHMEM in group.files.files and (nccl_number(shmem) or 0) != own:
        message = f"NVSHMEM_IB_SL is {shmem or 'missing'}, but NCCL_IB_SL is {own}, for which the routes are proved"
        yield Defect(group.place(NVSHMEM, "NVSHMEM_IB_SL"), message, f"set NVSHMEM_IB_SL to {own}")
    if level is not None and level != own:
        message = f"UCX_IB_SL is {ucx['UCX_IB_SL']}, but NCCL_IB_SL is {own}, for which the routes are proved"
        yield Defect(group.place("ucx.conf", "UCX_IB_SL"), message, f"set UCX_IB_SL to {own}, or remove it")


def _rail_only(group: HostFiles, plane: WiredPlane, found: Mapping[str, str]) -> Iterator[Defect]:
    for key in ("NCCL_CROSS_NIC", "NCCL_PXN_DISABLE"):
        if nccl_number(found.get(key)) != 0:
            message = f"{key} is {found.get(key, 'missing')}, but no switch of plane {plane.name} connects the rails"
            yield Defect(group.place(group.files.nccl_file, key), message, f"set {key} to 0")


def _priority(group: HostFiles, plane: WiredPlane, found: Mapping[str, str]) -> Iterator[Defect]:
    tos = nccl_number(found.get("NCCL_IB_TC"))
    if tos is None:
        return  # FG904 reports it
    dscp, ucx = tos >> 2, group.files.settings("ucx.conf").get("UCX_IB_SL")
    settings = [(group.files.nccl_file, "NCCL_IB_SL", found.get("NCCL_IB_SL"), nccl_number(found.get("NCCL_IB_SL")))]
    if (own := ucx_number(ucx)) is not None:
        settings.append(("ucx.conf", "UCX_IB_SL", ucx, own))
    if NVSHMEM in group.files.files:
        text = group.files.settings(NVSHMEM).get("NVSHMEM_IB_SL")
        settings.append((NVSHMEM, "NVSHMEM_IB_SL", text, nccl_number(text)))
    for file, key, text, level in settings:

        def wrong_level(
            ports: NicPorts, key: str = key, text: str | None = text, level: int | None = level
        ) -> tuple[str, Place] | None:
            tc = ports.qos.dscp_to_tc.get(dscp)
            message = f"{key} is {text or 'missing'}, but the switches map DSCP {dscp} of NCCL to TC {tc}"
            where = ports.map_place("dscp_to_tc_map", "DSCP_TO_TC_MAP", dscp)
            return (message, where) if tc in ports.qos.pfc and level != tc else None

        yield from group.disagreements(plane, group.place(file, key), wrong_level, f"set {key} to the TC of the class")


@rule("FG917", Severity.WARNING, "NCCL and the fabric disagree on adaptive routing", Basis.AGREEMENT)
def adaptive_routing(fabric: Fabric) -> Iterator[Defect]:
    """What: Where all compute planes of the hosts are RoCE, NCCL_IB_ADAPTIVE_ROUTING is 1 if the switches of one select
    a path for each packet (load_balancing in fabric.json), and else is not 1.

    Why: With 1, NCCL sends each large message as two, a write and an empty write with immediate data, so that data may
    arrive out of order. Without it the last write completes the message, although others may still be on their way.
    Over a hash nothing arrives out of order, and the second message costs time.

    Example: NCCL_IB_ADAPTIVE_ROUTING=1 on hosts of a RoCE plane with ECMP.

    Fix: Render the file again. NCCL uses 0 on RoCE and 1 on InfiniBand where the setting is missing.

    Source: NVIDIA/nccl src/transport/net_ib (ADAPTIVE_ROUTING, AR_THRESHOLD); SONiC HLD doc/ARS.
    """
    for group in host_groups(fabric):
        file = group.files.nccl_file
        used = {nic.plane for host in group.hosts for nic in host.nics}
        compute = [plane for name, plane in group.planes.items() if name in used and plane.purpose == Purpose.COMPUTE]
        if file not in group.files.files or any(plane.technology != Technology.ROCE for plane in compute):
            continue
        found = group.files.settings(file).get(_ADAPTIVE)
        is_on = nccl_number(found) == 1
        spreading = [plane for plane in compute if plane.is_spread_by_packet]
        if compute and is_on and not spreading:
            message = f"{_ADAPTIVE} is 1, but the switches of plane {compute[0].name} keep packets of a flow in order"
            yield Defect(group.place(file, _ADAPTIVE), message, f"remove {_ADAPTIVE}")
        if spreading and not is_on:
            message = f"{_ADAPTIVE} is {found or 'missing'}, but the switches of plane {spreading[0].name} select a "
            yield Defect(group.place(file, _ADAPTIVE), f"{message}path for each packet", f"set {_ADAPTIVE} to 1")
