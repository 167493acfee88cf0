"""The tenants of hosts, by NIC: those of fabric.json on RoCE planes, and partitions of InfiniBand subnets.

Kubernetes and Slurm place the jobs of a tenant on its hosts. The network does not depend on it: a job on the host of
another tenant is in that tenant.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fabricgen.errors import UsageError
from fabricgen.handoff.manifests_infiniband import Tenant
from fabricgen.opensm import mlnx_sm
from fabricgen.opensm.partitions_conf import guid_of, key_of, read_partitions
from fabricgen.vocabulary import Purpose

if TYPE_CHECKING:
    from fabricgen.bundle.read import Bundle
    from fabricgen.bundle.wiring import Endpoint, WiredHost

_DEFAULT_KEY = 0x7FFF
_LABEL = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")  # the value of a label in Kubernetes


@dataclass(frozen=True)
class HostTenants:
    """The tenant of each (host, NIC) that has one; empty for a fabric without tenants."""

    by_nic: Mapping["Endpoint", str]

    @property
    def names(self) -> list[str]:
        """All tenants with NICs, in the order of fabric.json."""
        return list(dict.fromkeys(self.by_nic.values()))

    @property
    def are_mixed(self) -> bool:
        """Whether the NICs of a host have several tenants."""
        of_host: dict[str, str] = {}
        return any(of_host.setdefault(host, name) != name for (host, _), name in self.by_nic.items())

    def of_host(self, host: "WiredHost") -> list[str]:
        """The tenants of the NICs of a host."""
        names = (self.by_nic.get((host.name, nic.name), "") for nic in host.nics)
        return list(dict.fromkeys(filter(None, names)))

    def nics_of(self, host: "WiredHost", tenant: str) -> list[str]:
        """The NICs of a host that are those of a tenant."""
        return [nic.name for nic in host.nics if self.by_nic.get((host.name, nic.name)) == tenant]


def host_tenants(bundle: "Bundle") -> HostTenants:
    """The tenants of all hosts on compute planes; those on other planes if no compute plane has tenants. Raises
    UsageError for a name that a label of Kubernetes, or Slurm, cannot have."""
    wiring = bundle.wiring
    if wiring is None:
        return HostTenants({})
    found = dict(wiring.tenant_of)
    guids = {guid: one.name for plane in wiring.infiniband_planes for guid, one in tenants_of(bundle, plane).items()}
    for host in wiring.hosts if guids else ():
        for nic in host.nics:
            if name := guids.get(int(nic.port_guid or "0", 16)):
                found[host.name, nic.name] = name
    compute = {plane.name for plane in wiring.planes if plane.purpose == Purpose.COMPUTE}
    of_jobs = {(host.name, nic.name) for host in wiring.hosts for nic in host.nics if nic.plane in compute}
    found = {nic: name for nic, name in found.items() if nic in of_jobs} or found
    for name in dict.fromkeys(found.values()):
        if not _LABEL.fullmatch(name) or name.lower() == "default":
            raise UsageError(
                f"tenant {name}: Kubernetes and Slurm need another name, with at most 63 letters, digits, . _ - and "
                "a letter or digit at its end"
            )
    return HostTenants(found)


def tenants_of(bundle: "Bundle", plane: str) -> Mapping[int, Tenant]:
    """Port GUID -> the smallest partition of an InfiniBand plane in which the port is a full member; without
    Default."""
    found: dict[int, tuple[int, int, str]] = {}
    for folder in _folders(bundle, plane):
        for partition in read_partitions((folder / "partitions.conf").read_text("utf-8")).partitions:
            key = key_of(partition)
            for member in partition.members if key and key != _DEFAULT_KEY else ():
                guid = guid_of(member)
                if guid and key and member.value and member.value.text in ("full", "both"):
                    mine = len(partition.members), key, partition.name.text
                    found[guid] = min(mine, found.get(guid, mine))
    return {guid: Tenant(name, key) for guid, (_, key, name) in found.items()}


def has_ufm(bundle: "Bundle", plane: str) -> bool:
    """Whether the bundle has files of a plane for UFM."""
    return any((folder / mlnx_sm.DIALECT).is_dir() for folder in _folders(bundle, plane))


def _folders(bundle: "Bundle", plane: str) -> Iterator[Path]:
    """The folders of the subnets of a plane."""
    top = bundle.root / "infiniband" / plane if bundle.root else None
    for file in sorted(top.rglob("partitions.conf")) if top else ():
        if file.parent.name != mlnx_sm.DIALECT:
            yield file.parent
