"""The rule on the files of NCCL, UCX and NVSHMEM for jobs of tenants that have some NICs of a host."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from fabricgen.bundle.host_settings import nccl_device_selected
from fabricgen.bundle.wiring import Endpoint
from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.hosts.files import HCA_PREFIX, NVSHMEM, in_any_order, prefix_defects, without_ports
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.host_groups import HostFiles, host_groups
from fabricgen.vocabulary import Purpose

_FOLDER = "tenants"


@dataclass(frozen=True, slots=True)
class _DeviceList:
    """A setting with the devices that a library uses: its name, how the devices of a tenant are written, and what its
    reader selects of `known` devices."""

    key: str
    written: Callable[[tuple[str, ...]], str]
    read: Callable[[str, tuple[str, ...]], object]


def _with_ports(devices: tuple[str, ...]) -> str:
    return ",".join(f"{one}:1" for one in devices)


def _of_nccl(text: str, known: tuple[str, ...]) -> object:
    return [name for name in known if nccl_device_selected(text, name)]


_NCCL = _DeviceList("NCCL_IB_HCA", lambda devices: "=" + ",".join(devices), _of_nccl)
_LISTS: Mapping[str, _DeviceList] = {
    "nccl.conf": _NCCL,
    "rccl.conf": _NCCL,
    "ucx.conf": _DeviceList("UCX_NET_DEVICES", _with_ports, lambda text, _: in_any_order(text)),
    NVSHMEM: _DeviceList("NVSHMEM_HCA_LIST", _with_ports, lambda text, _: without_ports(text)),
}


@rule("FG662", Severity.ERROR, "Jobs of a tenant do not use its NICs", Basis.AGREEMENT)
def tenant_devices(fabric: Fabric) -> Iterator[Defect]:
    """What: NCCL_IB_HCA in tenants/TENANT/nccl.conf, or rccl.conf, of a group of hosts selects exactly the compute NICs
    that the tenant has on one of these hosts, and NICs of planes that do not separate tenants. So do UCX_NET_DEVICES in
    ucx.conf and NVSHMEM_HCA_LIST in nvshmem.conf beside it, and NVSHMEM_HCA_PREFIX is part of their names. The other
    settings are those of the file of the group, which other rules judge. A setting that the group does not have is a
    warning.

    Why: Switches drop packets between NICs of different tenants. NCCL connects all NICs that it selects, so a job waits
    for its first connection over another tenant's NIC and ends with a timeout. A NIC that is not selected is idle.

    Example: tenants/odd/nccl.conf lists all eight devices of the hosts, and the tenant has the NIC of rail 1.

    Fix: List the devices of the tenant's NICs, as rendered.

    Source: NVIDIA/nccl@5067397 src/transport/net_ib (ncclIbInitDevices, NCCL_IB_HCA), src/misc/utils.cc;
    openucx/ucx@9466d10 src/ucp/core/ucp_context.c (NET_DEVICES); NVIDIA/nvshmem@2d7d25f
    src/modules/transport/common/env_defs.h.
    """
    wiring = fabric.bundle.wiring
    for group in host_groups(fabric) if wiring and wiring.tenants else ():
        for file in sorted(group.files.files):
            path = PurePosixPath(file)
            if path.parts[0] == _FOLDER and len(path.parts) > 2 and path.name in _LISTS:
                yield from _devices(group, file, wiring.tenant_of if wiring else {})
                yield from _other_settings(group, file)


def _devices(group: HostFiles, file: str, tenant_of: Mapping[Endpoint, str]) -> Iterator[Defect]:
    path = PurePosixPath(file)
    tenant, of_file = path.parts[1], _LISTS[path.name]
    of_parts = dict(_devices_of(group, tenant, tenant_of))
    # A tenant with other NICs on other hosts has a folder for each choice, with the names of its NICs.
    of_folder = of_parts.get(path.parent.name) if len(path.parts) > 3 else None
    of_hosts = [of_folder] if of_folder else list(dict.fromkeys(of_parts.values()))
    if not of_hosts:
        return
    known = tuple(nic.rdma for nic in group.adapters.values() if nic.rdma)
    found = group.files.settings(file).get(of_file.key)
    wanted = [of_file.written(devices) for devices in of_hosts]
    right = [
        devices
        for devices, text in zip(of_hosts, wanted, strict=True)
        if found is not None and of_file.read(found, known) == of_file.read(text, known)
    ]
    if not right:
        lists = " or ".join(wanted)
        message = f"{of_file.key} is {'missing' if found is None else repr(found)}, but tenant {tenant} has {lists}"
        yield Defect(group.place(file, of_file.key), message, f"set {of_file.key} to {lists}")
    elif path.name == NVSHMEM:
        yield from prefix_defects(group, file, right[0])


def _other_settings(group: HostFiles, file: str) -> Iterator[Defect]:
    """The settings that are those of the group's file: what the network needs is the same for all tenants."""
    path = PurePosixPath(file)
    if path.name not in group.files.files:
        return  # FG900 reports it
    own, of_group = group.files.settings(file), group.files.settings(path.name)
    for key in dict.fromkeys((*of_group, *own)):
        if own.get(key) == of_group.get(key) or key in (_LISTS[path.name].key, HCA_PREFIX):
            continue
        place, related = group.place(file, key), (("the group", group.place(path.name, key)),)
        if key in of_group:
            shown = repr(own[key]) if key in own else "missing"
            message = f"{key} is {shown}, but {of_group[key]!r} in {path.name} of the group"
            yield Defect(place, message, f"set {key} to {of_group[key]}", related)
        else:
            message = f"{key} is only in the file of tenant {path.parts[1]}, where no other rule judges it"
            hint = f"write {key} in {path.name} of the group, or remove it"
            yield Defect(place, message, hint, severity=Severity.WARNING)


def _devices_of(
    group: HostFiles, tenant: str, tenant_of: Mapping[Endpoint, str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(the names of its NICs, the devices for its jobs) on each host that a tenant has compute NICs of; nothing where
    the device of one is not known."""
    planes = group.planes
    for host in group.hosts:
        nics = {nic.name for nic in host.nics if tenant_of.get((host.name, nic.name)) == tenant}
        open_nics = {nic.name for nic in host.nics if planes[nic.plane].isolation is None}
        compute = {nic.name for nic in host.nics if planes[nic.plane].purpose == Purpose.COMPUTE}
        own = [name for name in group.adapters if name in nics & compute]
        devices = [one.rdma for name, one in group.adapters.items() if name in (nics | open_nics) & compute]
        if own and all(devices):
            yield "-".join(own), tuple(devices)
