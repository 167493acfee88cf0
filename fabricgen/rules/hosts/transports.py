"""The rule on settings of NCCL, RCCL and UCX with which a job does not use RDMA."""

import re
from collections.abc import Callable, Iterator, Mapping

from fabricgen.bundle.host_settings import nccl_number
from fabricgen.bundle.wiring import WiredPlane
from fabricgen.findings import Severity
from fabricgen.opensm.pkey_table import DEFAULT_KEY
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.addresses import parse_interface
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.host_groups import HostFiles, host_groups
from fabricgen.rules.view.pkey_tables import is_tenant_key, pkey_tables
from fabricgen.rules.view.subnet_managers import managed_subnets
from fabricgen.vocabulary import Purpose, Technology

_RDMA_TRANSPORTS = ("all", "ib", "rc", "dc", "ud", "gga")  # or words that begin with them, such as rc_mlx5


def _is_on(text: str) -> bool:
    return (nccl_number(text) or 0) != 0


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
    "NCCL_IGNORE_NET_MISMATCH": (
        _is_on,
        "a host with fewer NICs than the others slows the job down without a message",
        Severity.WARNING,
    ),
}
# The prefix length of a port's subnet with two addresses, by IP version: none of them is that of another host.
_PAIR_LENGTHS = {4: 31, 6: 127}


@rule("FG916", Severity.ERROR, "A job does not use RDMA, or not on its partition", Basis.AGREEMENT)
def transports(fabric: Fabric) -> Iterator[Defect]:
    """What: The settings of NCCL do not disable RDMA, GPUDirect or the links between GPUs, and timeouts and counts
    are in their range. UCX_TLS contains a transport over RDMA. UCX_IB_ROCE_REACHABILITY_MODE is not local_subnet, and
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
        for key, (is_harmful, effect, severity) in _HARMFUL.items():
            if key in found and is_harmful(found[key]):
                message = f"{key} is {found[key] or 'empty'}: {effect}"
                yield Defect(group.place(file, key), message, f"remove {key}", severity=severity)
        if (text := found.get("NCCL_IB_PKEY")) is not None:
            yield from _key_index(fabric, group, compute, text)
        remote = group.files.settings("nvshmem.conf").get("NVSHMEM_REMOTE_TRANSPORT", "ibrc")
        if remote.lower() == "none":
            message = f"NVSHMEM_REMOTE_TRANSPORT={remote}: NVSHMEM reaches no other host"
            place = group.place("nvshmem.conf", "NVSHMEM_REMOTE_TRANSPORT")
            yield Defect(place, message, "remove NVSHMEM_REMOTE_TRANSPORT")
        transports = group.files.settings("ucx.conf").get("UCX_TLS", "all")
        words = transports.lower().split(",")
        if words[0][:1] != "^" and not any(word.strip().startswith(_RDMA_TRANSPORTS) for word in words):
            message = f"UCX_TLS is {transports}: jobs do not use RDMA"
            yield Defect(group.place("ucx.conf", "UCX_TLS"), message, "remove UCX_TLS, or add rc")
        yield from _reachability(group, compute)
        yield from _ucx_key(fabric, group, compute)


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
