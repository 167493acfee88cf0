"""The tenants of InfiniBand ports, and how their subnets are managed, as the files of subnet managers say."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from fabricgen.handoff.manifests_infiniband import Tenant
from fabricgen.opensm import mlnx_sm
from fabricgen.opensm.partitions_conf import guid_of, key_of, read_partitions

if TYPE_CHECKING:
    from pathlib import Path

    from fabricgen.bundle.read import Bundle

_DEFAULT_KEY = 0x7FFF


def tenants_of(bundle: "Bundle", plane: str) -> Mapping[int, Tenant]:
    """Port GUID -> the smallest partition in which the port is a full member; without Default."""
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
    """Whether the bundle has files for UFM."""
    return any((folder / mlnx_sm.DIALECT).is_dir() for folder in _folders(bundle, plane))


def _folders(bundle: "Bundle", plane: str) -> Iterator["Path"]:
    """The folders of the subnets of a plane."""
    top = bundle.root / "infiniband" / plane if bundle.root else None
    for file in sorted(top.rglob("partitions.conf")) if top else ():
        if file.parent.name != mlnx_sm.DIALECT:
            yield file.parent
