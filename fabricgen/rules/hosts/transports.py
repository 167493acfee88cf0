"""The rule on settings of NCCL, RCCL and UCX with which a job does not use RDMA."""

import re
from collections.abc import Callable, Iterator, Mapping

from fabricgen.bundle.host_settings import nccl_number, nvshmem_boolean, ucx_number
from fabricgen.bundle.wiring import WiredPlane
from fabricgen.findings import Severity
from fabricgen.opensm.pkey_table import DEFAULT_KEY
from fabricgen.rules.defects import Defect
from fabricgen.rules.hosts.files import NVSHMEM
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.addresses import parse_interface
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.host_groups import HostFiles, host_groups
from fabricgen.rules.view.pkey_tables import is_tenant_key, pkey_tables
from fabricgen.rules.view.subnet_managers import managed_subnets
from fabricgen.vocabulary import Purpose, Technology

# Groups: the transport, the setting.
_OF_TRANSPORT = re.compile(
    r"UCX_((?:RC|DC|UD)(?:_MLX5|_VERBS)?)_(TRAFFIC_CLASS|SL|GID_INDEX|PKEY|ROCE_LOCAL_SUBNET|ROCE_REACHABILITY_MODE)"
)
_RDMA_TRANSPORTS = ("all", "ib", "rc", "dc", "ud", "gga")  # or words that begin with them, such as rc_mlx5


def _is_on(text: str) -> bool:
    return (nccl_number(text) or 0) != 0


def _is_off(text: str) -> bool:
    return nccl_number(text) == 0


def _is_socket(text: str) -> bool:
    return text.lower() == "socket"


def _is_outside(least: int, most: int) -> Callable[[str], bool]:
    return lambda text: (found := nccl_number(text)) is not None and not least <= found <= most


# Setting -> whether a value is harmful, and its effect. NCCL uses its default for an empty value.
_HARMFUL: Mapping[str, tuple[Callable[[str], bool], str, Severity]] = {
    "NCCL_IB_DISABLE": (_is_on, "jobs use TCP sockets instead of RDMA", Severity.ERROR),
    "NCCL_NET": (_is_socket, "jobs use TCP sockets instead of RDMA", Severity.ERROR),
    "NCCL_NET_PLUGIN": (_is_socket, "jobs use TCP sockets instead of RDMA", Severity.ERROR),
    "NCCL_NET_GDR_LEVEL": (lambda text: text in ("LOC", "0"), "NICs do not read memory of GPUs", Severity.WARNING),
    "NCCL_P2P_DISABLE": (_is_on, "GPUs of a host do not use NVLink or PCIe", Severity.WARNING),
    "NCCL_P2P_LEVEL": (lambda text: text in ("LOC", "0"), "GPUs of a host do not use NVLink or PCIe", Severity.WARNING),
    "NCCL_IB_TIMEOUT": (_is_outside(1, 31), "a timeout is a number from 1 to 31", Severity.ERROR),
    "NCCL_IB_RETRY_CNT": (_is_outside(1, 7), "one lost packet ends the job", Severity.ERROR),
    "NCCL_IB_QPS_PER_CONNECTION": (_is_outside(1, 128), "a connection has from 1 to 128 queue pairs", Severity.ERROR),
    "NCCL_DMABUF_ENABLE": (_is_off, "without nvidia_peermem, NICs do not read memory of GPUs", Severity.WARNING),
    "NCCL_NET_GDR_READ": (_is_off, "what a GPU sends goes through memory of the host", Severity.WARNING),
    "NCCL_SHM_DISABLE": (
        _is_on,
        "ranks of a host without a path between GPUs use the NICs",
        Severity.WARNING,
    ),
    "NCCL_IB_RETURN_ASYNC_EVENTS": (_is_off, "a job hangs when a NIC fails, and reports no error", Severity.WARNING),
    "NCCL_IGNORE_NET_MISMATCH": (
        _is_on,
        "a host with fewer NICs than the others slows the job down without a message",
        Severity.WARNING,
    ),
}
# The same for NVSHMEM (env_defs.h of transports and host; booleans by their first letter).
_HARMFUL_TO_NVSHMEM: Mapping[str, tuple[Callable[[str], bool], str, Severity]] = {
    "NVSHMEM_REMOTE_TRANSPORT": (lambda text: text.lower() == "none", "NVSHMEM reaches no other host", Severity.ERROR),
    "NVSHMEM_DISABLE_P2P": (nvshmem_boolean, "GPUs of a host do not use NVLink or PCIe", Severity.WARNING),
    "NVSHMEM_IB_DISABLE_DMABUF": (
        nvshmem_boolean,
        "without nvidia_peermem, NICs do not read memory of GPUs",
        Severity.WARNING,
    ),
}
# On racks whose hosts share NVLink.
_HARMFUL_TO_RACKS: Mapping[str, Callable[[str], bool]] = {
    "NCCL_MNNVL_ENABLE": _is_off,
    "NCCL_CUMEM_ENABLE": _is_off,
    "NVSHMEM_DISABLE_MNNVL": nvshmem_boolean,
}
# The prefix length of a port's subnet with two addresses, by IP version: none of them is that of another host.
_PAIR_LENGTHS = {4: 31, 6: 127}


@rule("FG916", Severity.ERROR, "A job does not use RDMA, or not on its partition", Basis.AGREEMENT)
def transports(fabric: Fabric) -> Iterator[Defect]:
    """What: The settings of NCCL do not disable RDMA, GPUDirect or the links between GPUs, and timeouts and counts
    are in their range. Nor do those of NVSHMEM, and on racks with NVLink between hosts both use it. UCX_TLS contains a
    transport over RDMA. UCX_IB_ROCE_REACHABILITY_MODE is not local_subnet, and
    UCX_IB_ROCE_LOCAL_SUBNET is not y, where a port has a separate subnet. NCCL_IB_PKEY is the index of a P_Key that
    every compute port has: 0 on RoCE, and on InfiniBand less than the number of partitions of the port. UCX_IB_PKEY is
    the P_Key itself.

    Why: With NCCL_IB_DISABLE=1 a job runs over TCP on one NIC, many times slower, and reports no error. NCCL_IB_PKEY
    is an index into the table of the port, not the P_Key; queue pairs with an index that the port does not have fail.

    Example: NCCL_IB_PKEY is 0x8001, the P_Key of the tenant.

    Fix: Remove the setting.

    Source: NVIDIA/nccl@5067397 src/transport/net_ib (ncclParamIbDisable, ncclParamIbPkey), src/graph;
    openucx/ucx@9466d10 src/uct/ib/base/ib_iface.c (ROCE_REACHABILITY_MODE, ROCE_LOCAL_SUBNET, PKEY).
    """
    for group in host_groups(fabric):
        compute = _compute(group)
        if not compute:
            continue
        file = group.files.nccl_file
        found = group.files.settings(file)
        shmem = group.files.settings(NVSHMEM)
        for name, settings, table in ((file, found, _HARMFUL), (NVSHMEM, shmem, _HARMFUL_TO_NVSHMEM)):
            for key, (is_harmful, effect, severity) in table.items():
                if key in settings and is_harmful(settings[key]):
                    message = f"{key} is {settings[key] or 'empty'}: {effect}"
                    yield Defect(group.place(name, key), message, f"remove {key}", severity=severity)
        yield from _racks(group, found, shmem)
        yield from _shmem(group, shmem)
        if (text := found.get("NCCL_IB_PKEY")) is not None:
            yield from _key_index(fabric, group, compute, text)
        transports = group.files.settings("ucx.conf").get("UCX_TLS", "all")
        if not _has_rdma(transports):
            message = f"UCX_TLS is {transports}: jobs do not use RDMA"
            yield Defect(group.place("ucx.conf", "UCX_TLS"), message, "remove UCX_TLS, or add rc")
        direct = group.files.settings("ucx.conf").get("UCX_IB_GPU_DIRECT_RDMA", "try")
        if direct.lower() in ("n", "no", "off", "0"):
            message = f"UCX_IB_GPU_DIRECT_RDMA is {direct}: NICs do not read memory of GPUs"
            place = group.place("ucx.conf", "UCX_IB_GPU_DIRECT_RDMA")
            yield Defect(place, message, "remove UCX_IB_GPU_DIRECT_RDMA", severity=Severity.WARNING)
        yield from _reachability(group, compute)
        yield from _ucx_key(fabric, group, compute)


def _has_rdma(transports: str) -> bool:
    """Whether a list of UCX transports has one over RDMA; with ^ it is the list of those that are not used."""
    words = [word.strip() for word in transports.lower().removeprefix("^").split(",")]
    if transports.startswith("^"):
        return "ib" not in words and not {"rc", "dc", "ud"} <= set(words)
    return any(word.startswith(_RDMA_TRANSPORTS) for word in words)


def _racks(group: HostFiles, nccl: Mapping[str, str], shmem: Mapping[str, str]) -> Iterator[Defect]:
    if not any(host.nvlink_domain for host in group.hosts):
        return
    for key, is_harmful in _HARMFUL_TO_RACKS.items():
        file, found = (NVSHMEM, shmem) if key.startswith("NVSHMEM") else (group.files.nccl_file, nccl)
        if key in found and is_harmful(found[key]):
            message = f"{key} is {found[key]}: hosts of a rack do not use the NVLink that they share"
            hint = f"remove {key}, if the hosts have IMEX"
            yield Defect(group.place(file, key), message, hint, severity=Severity.WARNING)


def _shmem(group: HostFiles, found: Mapping[str, str]) -> Iterator[Defect]:
    """Settings of NVSHMEM that depend on others."""
    if "NVSHMEM_HCA_LIST" in found and "NVSHMEM_HCA_PE_MAPPING" in found:
        message = "NVSHMEM ignores NVSHMEM_HCA_PE_MAPPING where NVSHMEM_HCA_LIST is set"
        place = group.place(NVSHMEM, "NVSHMEM_HCA_PE_MAPPING")
        yield Defect(place, message, "remove one of them", severity=Severity.WARNING)
    provider = found.get("NVSHMEM_LIBFABRIC_PROVIDER", "cxi")
    if found.get("NVSHMEM_REMOTE_TRANSPORT", "").lower() == "libfabric" and provider != "verbs":
        message = f"NVSHMEM uses libfabric with the provider {provider}, which has no device on these hosts"
        hint = "remove NVSHMEM_REMOTE_TRANSPORT, or set NVSHMEM_LIBFABRIC_PROVIDER to verbs"
        yield Defect(group.place(NVSHMEM, "NVSHMEM_REMOTE_TRANSPORT"), message, hint)


@rule("FG928", Severity.ERROR, "A setting of one UCX transport differs from that of all", Basis.AGREEMENT)
def ucx_transports(fabric: Fabric) -> Iterator[Defect]:
    """What: UCX_RC_MLX5_TRAFFIC_CLASS and its like, which are for one transport, have the value of
    UCX_IB_TRAFFIC_CLASS. So have those for SL, GID_INDEX, PKEY, ROCE_LOCAL_SUBNET and ROCE_REACHABILITY_MODE.

    Why: UCX prefers the setting of a transport, and rc_mlx5 is the transport that it uses most. The other rules judge
    the setting of all transports.

    Example: UCX_RC_MLX5_TRAFFIC_CLASS is 0, and UCX_IB_TRAFFIC_CLASS is 106.

    Fix: Remove the setting.

    Source: openucx/ucx@9466d10 src/uct/ib/base/ib_iface.c (uct_ib_iface_config_table, which each transport includes),
    src/ucs/config/parser.c; `ucx_info -c` shows the names.
    """
    for group in host_groups(fabric):
        found = group.files.settings("ucx.conf")
        for key, text in found.items():
            match = _OF_TRANSPORT.fullmatch(key)
            if match is None:
                continue
            of_all, own = found.get(f"UCX_IB_{match[2]}", "auto"), text.lower()
            usual = ("auto", "n", "no", of_all.lower())  # n is the default of ROCE_LOCAL_SUBNET
            is_number = ucx_number(own) is not None and ucx_number(own) == ucx_number(of_all)
            if own not in usual and not is_number:
                shown = f"is {of_all}" if f"UCX_IB_{match[2]}" in found else "is missing"
                message = f"{key} is {text}, but UCX_IB_{match[2]} {shown}: UCX uses {text} for {match[1].lower()}"
                yield Defect(group.place("ucx.conf", key), message, f"remove {key}")


def _compute(group: HostFiles) -> list[WiredPlane]:
    used = {nic.plane for host in group.hosts for nic in host.nics}
    return [plane for name, plane in group.planes.items() if name in used and plane.purpose == Purpose.COMPUTE]


def _reachability(group: HostFiles, compute: list[WiredPlane]) -> Iterator[Defect]:
    """UCX reaches peers in the subnet of a port only, where no peer is in it."""
    planes = {plane.name for plane in compute if plane.technology == Technology.ROCE}
    texts = (text for host in group.hosts for nic in host.nics if nic.plane in planes for text in nic.addresses)
    address = next((address for text in texts if (address := parse_interface(text))), None)
    if address is None or address.network.prefixlen < _PAIR_LENGTHS[address.version]:
        return
    found = group.files.settings("ucx.conf")
    for key, is_local in (
        ("UCX_IB_ROCE_REACHABILITY_MODE", lambda text: text.lower() == "local_subnet"),
        ("UCX_IB_ROCE_LOCAL_SUBNET", lambda text: text.lower() in ("y", "yes", "on", "1")),
    ):
        if key in found and is_local(found[key]):
            message = (
                f"{key} is {found[key]}, but the subnet of a port, {address.network}, has no other host: UCX uses TCP"
            )
            yield Defect(group.place("ucx.conf", key), message, f"remove {key}")


def _ucx_key(fabric: Fabric, group: HostFiles, compute: list[WiredPlane]) -> Iterator[Defect]:
    """UCX_IB_PKEY is a P_Key in hexadecimal; auto takes the first full one of the port."""
    text = group.files.settings("ucx.conf").get("UCX_IB_PKEY", "auto")
    if text.lower() == "auto":
        return
    place, hint = group.place("ucx.conf", "UCX_IB_PKEY"), "remove UCX_IB_PKEY: UCX takes the first full P_Key of a port"
    key = int(text, 16) if re.fullmatch(r"0[xX][0-9a-fA-F]{1,4}", text) else None
    if key is None:
        yield Defect(place, f"UCX_IB_PKEY is {text}, expected a P_Key such as 0x8001: UCX does not start", hint)
        return
    for plane in compute:
        tables = _tables(fabric, group, plane.name) if plane.technology == Technology.INFINIBAND else [[DEFAULT_KEY]]
        if any(key & DEFAULT_KEY not in {one & DEFAULT_KEY for one in table} for table in tables):
            yield Defect(place, f"UCX_IB_PKEY is {text}, which a port of plane {plane.name} does not have", hint)


def _key_index(fabric: Fabric, group: HostFiles, compute: list[WiredPlane], text: str) -> Iterator[Defect]:
    place = group.place(group.files.nccl_file, "NCCL_IB_PKEY")
    for plane in compute:
        most = 1
        if plane.technology == Technology.INFINIBAND:
            known = _keys_of_ports(fabric, group, plane.name)
            if known is None:
                continue
            most = known
        index = nccl_number(text) or 0
        if not 0 <= index < most:
            message = f"NCCL_IB_PKEY is {text}, but a port of plane {plane.name} has {most} P_Keys, from index 0"
            yield Defect(place, message, "remove NCCL_IB_PKEY, or use the index of the tenant's P_Key")


def _keys_of_ports(fabric: Fabric, group: HostFiles, plane: str) -> int | None:
    """The least number of P_Keys of a port of the group; None if the partitions are unknown. On a plane with tenants
    the ports of no tenant do not count: jobs do not reach them with any index."""
    tables = _tables(fabric, group, plane)
    of_tenants = [table for table in tables if any(is_tenant_key(key) for key in table)]
    return min(map(len, of_tenants or tables), default=None)


def _tables(fabric: Fabric, group: HostFiles, plane: str) -> list[list[int]]:
    """The P_Key tables of the group's ports on an InfiniBand plane; empty if the partitions are unknown."""
    names = {host.name for host in group.hosts}
    return [
        table
        for subnet in managed_subnets(fabric)
        if subnet.files.plane == plane and subnet.partitions
        for guid, table in pkey_tables(subnet).items()
        if guid in subnet.adapters and subnet.adapters[guid][0].name in names
    ]
