"""The rules on the P_Key and the SL that NCCL uses on hosts of tenants."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabricgen.findings import Severity
from fabricgen.opensm.partitions_conf import key_of
from fabricgen.opensm.pkey_table import DEFAULT_KEY, EMPTY, FULL_BIT
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.host_groups import HostFiles, host_groups
from fabricgen.rules.view.pkey_tables import is_tenant_key, pkey_tables
from fabricgen.rules.view.subnet_managers import ManagedSubnet, managed_subnets
from fabricgen.rules.view.switch import number
from fabricgen.units import counted
from fabricgen.vocabulary import Purpose

_SETTING, _LEVEL_SETTING = "NCCL_IB_PKEY", "NCCL_IB_SL"


@dataclass(frozen=True, slots=True)
class _Port:
    """A port on a compute plane: the key at the index that its NCCL uses, and its tenant's key, 0 without a tenant."""

    group: HostFiles
    host: str
    nic: str
    index: int
    used: int
    tenant: int
    tenant_index: int

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.host} {self.nic}"


@rule("FG845", Severity.ERROR, "Hosts of a tenant do not share the P_Key that NCCL uses", Basis.AGREEMENT)
def tenant_keys(fabric: Fabric) -> Iterator[Defect]:
    """What: On compute planes with tenants, the P_Key table of each port has the full key of its tenant at the index
    NCCL_IB_PKEY of its hosts (without the setting, index 0). The tenant of a port is the smallest partition in which it
    is a full member. Every pair of hosts of a tenant then shares a full key. Ports in no tenant are a warning on hosts
    with another port in a tenant, else a note.

    Why: NCCL selects the key by its index. OpenSM writes Default to index 0, where hosts of tenants are limited
    members. Two limited members do not reach each other, so the queue pairs of a job do not connect.

    Example: nccl.conf without NCCL_IB_PKEY on hosts with the keys 0x7fff and 0x8001.

    Fix: Use the rendered value. If it is missing because the indexes of a group differ, use a group of hosts for each
    tenant, or give shared partitions a P_Key whose low byte is greater than those of the tenants.

    Source: NVIDIA/nccl@5067397 src/transport/net_ib (ncclParamIbPkey); opensm 3.3.23, osm_pkey_mgr.c; measured with
    opensm 3.3.23: a table of 0x7fff, then 0x8001.
    """
    compute = {name for name, plane in fabric.planes.items() if plane.purpose == Purpose.COMPUTE}
    groups = {host.name: group for group in host_groups(fabric) for host in group.hosts}
    for subnet in managed_subnets(fabric):
        if subnet.files.plane in compute and any(_key_of_tenants(subnet)):
            ports = list(_ports(subnet, groups))
            members = {port.host for port in ports if port.tenant}
            wrong: dict[str, list[_Port]] = {}
            for port in ports:
                if port.tenant and port.used != port.tenant:
                    wrong.setdefault(port.group.files.group, []).append(port)
            for those in wrong.values():
                yield _defect(subnet, those)
            for is_in_part, severity in ((True, Severity.WARNING), (False, Severity.NOTE)):
                outside: dict[str, list[_Port]] = {}
                for port in ports:
                    if not port.tenant and not port.used & FULL_BIT and (port.host in members) is is_in_part:
                        outside.setdefault(port.group.files.group, []).append(port)
                for those in outside.values():
                    yield _outside(subnet, those, severity)


@rule("FG862", Severity.WARNING, "NCCL does not use the SL of its tenant", Basis.AGREEMENT)
def tenant_levels(fabric: Fabric) -> Iterator[Defect]:
    """What: On compute planes, NCCL_IB_SL of hosts (without the setting, SL 0) is the SL of their tenant in
    partitions.conf. The tenant of a port is the smallest partition in which it is a full member.

    Why: NCCL requests no path record, so neither partitions.conf nor the QoS policy changes the SL of its packets. With
    another SL its traffic is on the lane of another level.

    Example: nccl.conf with NCCL_IB_SL=0 on hosts of blue=0x8001, sl=1.

    Fix: Set NCCL_IB_SL to the SL of the tenant. If the tenants of a group have different SLs, use a group of hosts for
    each tenant.

    Source: NVIDIA/nccl@5067397 src/transport/net_ib (ncclParamIbSl); opensm 3.3.23, doc/partition-config.txt.
    """
    compute = {name for name, plane in fabric.planes.items() if plane.purpose == Purpose.COMPUTE}
    groups = {host.name: group for group in host_groups(fabric) for host in group.hosts}
    for subnet in managed_subnets(fabric):
        levels = _levels(subnet) if subnet.files.plane in compute else {}
        wrong: dict[str, list[tuple[_Port, int]]] = {}
        for port in _ports(subnet, groups) if any(levels.values()) else ():
            own = levels.get(port.tenant & DEFAULT_KEY, 0)
            if port.tenant and (port.group.files.nccl_number(_LEVEL_SETTING) or 0) != own:
                wrong.setdefault(port.group.files.group, []).append((port, own))
        for ports in wrong.values():
            yield _level_defect(subnet, ports)


def _levels(subnet: ManagedSubnet) -> Mapping[int, int]:
    """Low 15 bits of a P_Key -> the SL of the partition."""
    found = {}
    for partition in subnet.partitions:
        flag, key = partition.flag("sl"), key_of(partition)
        level = number(flag.value.text) if flag and flag.value else 0
        if key and level is not None:
            found[key] = level
    return found


def _level_defect(subnet: ManagedSubnet, ports: list[tuple[_Port, int]]) -> Defect:
    port, own = ports[0]
    files = port.group.files
    used = files.settings(files.nccl_file).get(_LEVEL_SETTING, "0")
    message = f"{port.name} of plane {subnet.files.plane} sends with SL {used}, but the SL of its tenant is {own}"
    message += f" ({counted(len(ports), 'port')})" if len(ports) > 1 else ""
    levels = sorted({level for _, level in ports})
    hint = f"set {_LEVEL_SETTING} to {own}"
    if len(levels) > 1:
        hint = f"the tenants have SLs {', '.join(map(str, levels))}: use a group of hosts for each tenant"
    return Defect(port.group.place(files.nccl_file, _LEVEL_SETTING), message, hint)


def _key_of_tenants(subnet: ManagedSubnet) -> Iterator[int]:
    return (key for table in pkey_tables(subnet).values() for key in table if key & DEFAULT_KEY not in (0, DEFAULT_KEY))


def _ports(subnet: ManagedSubnet, groups: Mapping[str, HostFiles]) -> Iterator[_Port]:
    """The ports of hosts with a file of NCCL."""
    tables = pkey_tables(subnet)
    size: dict[int, int] = {}
    for table in tables.values():
        for key in {key & DEFAULT_KEY for key in table}:
            size[key] = size.get(key, 0) + 1
    for guid, (host, nic) in subnet.adapters.items():
        group = groups.get(host.name)
        if group is None or group.files.nccl_file not in group.files.files or guid not in tables:
            continue
        table = tables[guid]
        index = group.files.nccl_number(_SETTING) or 0
        full = [key for key in table if is_tenant_key(key)]
        tenant = min(full, key=lambda key: (size[key & DEFAULT_KEY], key), default=EMPTY)
        if index < 0 or (tenant and index >= len(table)):
            continue  # FG916 reports it
        used = table[index] if index < len(table) else EMPTY
        yield _Port(group, host.name, nic.name, index, used, tenant, table.index(tenant) if tenant else 0)


def _outside(subnet: ManagedSubnet, ports: list[_Port], severity: Severity) -> Defect:
    port = ports[0]
    others = f" and {counted(len(ports) - 1, 'other port')}" if len(ports) > 1 else ""
    be = "are" if others else "is"
    message = f"{port.name}{others} of plane {subnet.files.plane} {be} in no tenant: jobs do not connect there"
    hint = "make all compute ports of a host full members of its tenant"
    return Defect(port.group.place(port.group.files.nccl_file, _SETTING), message, hint, severity=severity)


def _defect(subnet: ManagedSubnet, ports: list[_Port]) -> Defect:
    port = ports[0]
    if port.used & FULL_BIT:
        key = f"the full key 0x{port.used:04x}, which is not that of its tenant"
    elif port.used == EMPTY:
        key = "no key"
    else:
        key = f"the limited key 0x{port.used:04x}, with which it reaches full members only"
    others = f" ({counted(len(ports), 'port')})" if len(ports) > 1 else ""
    message = f"{port.name} of plane {subnet.files.plane} has at index {port.index} of its P_Key table {key}{others}"
    indexes = sorted({one.tenant_index for one in ports})
    if len(indexes) == 1:
        hint = f"set {_SETTING} to {indexes[0]}"
    else:
        words = ", ".join(map(str, indexes))
        hint = f"the keys of the tenants are at indexes {words}: use a group of hosts for each tenant"
    return Defect(port.group.place(port.group.files.nccl_file, _SETTING), message, hint)
