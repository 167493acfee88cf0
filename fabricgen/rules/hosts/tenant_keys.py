"""The rule on the P_Key that NCCL uses on hosts of InfiniBand tenants."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabricgen.findings import Severity
from fabricgen.opensm.pkey_table import DEFAULT_KEY, EMPTY, FULL_BIT
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric, number
from fabricgen.rules.view.host_groups import Group, host_groups
from fabricgen.rules.view.pkey_tables import pkey_tables
from fabricgen.rules.view.subnet_managers import ManagedSubnet, managed_subnets
from fabricgen.units import counted
from fabricgen.vocabulary import Purpose

_SETTING = "NCCL_IB_PKEY"


@dataclass(frozen=True, slots=True)
class _Port:
    """A port on a compute plane: the key at the index that its NCCL uses, and its tenant's key, 0 without a tenant."""

    group: Group
    name: str
    index: int
    used: int
    tenant: int
    tenant_index: int


@rule("FG845", Severity.ERROR, "Hosts of a tenant do not share the P_Key that NCCL uses", Basis.AGREEMENT)
def tenant_keys(fabric: Fabric) -> Iterator[Defect]:
    """What: on compute planes with tenants, the P_Key table of each port has the full key of its tenant at the index
    NCCL_IB_PKEY of its hosts (without the setting, index 0). The tenant of a port is the smallest partition in which it
    is a full member. Every pair of hosts of a tenant then shares a full key.

    Why: NCCL selects the key by its index. OpenSM writes Default to index 0, where hosts of tenants are limited
    members. Two limited members do not reach each other, so the queue pairs of a job do not connect.

    Example: nccl.conf without NCCL_IB_PKEY on hosts with the keys 0x7fff and 0x8001.

    Fix: use the rendered value. If it is missing because the indexes of a group differ, use a group of hosts for each
    tenant, or give shared partitions a P_Key whose low byte is greater than those of the tenants.

    Source: NVIDIA/nccl@5067397 src/transport/net_ib (ncclParamIbPkey); opensm 3.3.23, osm_pkey_mgr.c; measured with
    opensm 3.3.23: a table of 0x7fff, then 0x8001.
    """
    compute = {name for name, plane in fabric.planes.items() if plane.purpose == Purpose.COMPUTE}
    groups = {host.name: group for group in host_groups(fabric) for host in group.hosts}
    for subnet in managed_subnets(fabric):
        if subnet.files.plane in compute and any(_key_of_tenants(subnet)):
            wrong: dict[str, list[_Port]] = {}
            for port in _ports(subnet, groups):
                if not port.used & FULL_BIT or (port.tenant and port.used != port.tenant):
                    wrong.setdefault(port.group.files.group, []).append(port)
            for ports in wrong.values():
                yield _defect(subnet, ports)


def _key_of_tenants(subnet: ManagedSubnet) -> Iterator[int]:
    return (key for table in pkey_tables(subnet).values() for key in table if key & DEFAULT_KEY not in (0, DEFAULT_KEY))


def _ports(subnet: ManagedSubnet, groups: Mapping[str, Group]) -> Iterator[_Port]:
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
        index = number(group.files.settings(group.files.nccl_file).get(_SETTING, "0"))
        if index is None or index >= len(table):
            continue  # FG916 reports it
        full = [key for key in table if key & FULL_BIT and key & DEFAULT_KEY != DEFAULT_KEY]
        tenant = min(full, key=lambda key: (size[key & DEFAULT_KEY], key), default=EMPTY)
        yield _Port(group, f"{host.name} {nic.name}", index, table[index], tenant, table.index(tenant) if tenant else 0)


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
    indexes = sorted({one.tenant_index for one in ports if one.tenant})
    if not indexes:
        hint = "add the ports to a partition as full members"
    elif len(indexes) == 1:
        hint = f"set {_SETTING} to {indexes[0]}"
    else:
        words = ", ".join(map(str, indexes))
        hint = f"the keys of the tenants are at indexes {words}: use a group of hosts for each tenant"
    return Defect(port.group.place(port.group.files.nccl_file, _SETTING), message, hint)
