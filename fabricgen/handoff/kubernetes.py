"""Kubernetes manifests: one SR-IOV resource, network and address pool for each NIC of a group of hosts."""

import re
from collections.abc import Iterator
from ipaddress import ip_interface
from typing import TYPE_CHECKING

from fabricgen.errors import UsageError
from fabricgen.handoff import ONLY_HOSTS, Handoff
from fabricgen.handoff.chosen import fits
from fabricgen.handoff.manifests import (
    GROUP_LABEL,
    Rail,
    cluster_policy,
    dump,
    network,
    node_policy,
    pod,
    pool,
    settings_map,
)
from fabricgen.platforms.catalog import nic_model
from fabricgen.vocabulary import Purpose, Technology

if TYPE_CHECKING:
    from fabricgen.bundle.hosts import ObservedHosts
    from fabricgen.bundle.read import Bundle
    from fabricgen.bundle.wiring import WiredHost, WiredNic, Wiring

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


def kubernetes_files(bundle: "Bundle", only: str | None = None) -> Iterator[tuple[str, bytes]]:
    """(relative path, bytes) of the manifests, in the same order for the same bundle.

    They cover each group with NICs on a RoCE plane that is not for management. `only` are shell patterns for names of
    hosts, separated by commas. Raises UsageError if there is nothing to write, and for names that Kubernetes does not
    allow; UnreadableInputError for a file of hosts that cannot be parsed.
    """
    wiring = bundle.wiring
    if wiring is None or not bundle.hosts:
        raise UsageError("the bundle has no folder hosts: render it with this version of fabricgen")
    groups = [(name, rails) for name in bundle.hosts if (rails := list(_rails(bundle, wiring, name, only)))]
    if not groups:
        if only:
            raise UsageError(f"--only {only}: no name of a host with a NIC on a RoCE plane matches")
        raise UsageError("no host of the bundle has a NIC on a RoCE plane")
    yield "nic-cluster-policy.yaml", dump([cluster_policy()])
    for name, rails in groups:
        for rail in rails:
            yield f"{name}/{rail.nic.name}.yaml", dump([node_policy(rail), pool(rail), network(rail)])
        if any(rail.plane.purpose == Purpose.COMPUTE for rail in rails):
            settings = bundle.hosts[name].settings(bundle.hosts[name].nccl_file)
            yield f"{name}/pod.yaml", dump([settings_map(name, settings), pod(wiring, name, rails)])


def _rails(bundle: "Bundle", wiring: "Wiring", group: str, only: str | None) -> Iterator[Rail]:
    hosts = [host for host in wiring.hosts if host.group == group and fits(host.name, only)]
    models = {model.name: model for model in wiring.host_models}
    planes = {
        plane.name: plane for plane in wiring.planes if plane.technology == Technology.ROCE and not plane.is_management
    }
    if not hosts or hosts[0].model not in models:
        return
    for host in hosts:
        if not _NAME.fullmatch(host.name):
            raise UsageError(
                f"{host.name!r} is not a valid name of a Kubernetes node: use lower-case letters, digits and -"
            )
    files = bundle.hosts[group]
    for adapter in models[hosts[0].model].nics:
        of_hosts = [(host, nic) for host in hosts for nic in host.nics if nic.name == adapter.name]
        first = next((nic for _, nic in of_hosts if nic.plane in planes and nic.addresses), None)
        card = nic_model(adapter.model)
        if first is None or not (card and card.driver):
            continue
        mtu = next((mtu for host, _ in of_hosts if (mtu := _mtu(files, host, adapter.name))), 0)
        pairs = tuple(_pair(host, nic, first) for host, nic in of_hosts if nic.addresses)
        yield Rail(group, first, adapter, planes[first.plane], mtu, pairs)


def _mtu(files: "ObservedHosts", host: "WiredHost", nic: str) -> int:
    mtu = files.interfaces(host.name).get(nic, {}).get("mtu", 0)
    return mtu if isinstance(mtu, int) else 0


def _pair(host: "WiredHost", nic: "WiredNic", first: "WiredNic") -> tuple[str, str, str]:
    """(host, its address, address of the switch). A pool has one address family: the first one of the plane."""
    version = ip_interface(first.addresses[0]).version
    own = next(address for text in nic.addresses if (address := ip_interface(text)).version == version)
    gateway = next(address for address in own.network if address != own.ip)
    return host.name, str(own), str(gateway)


HANDOFF = Handoff(
    "kubernetes",
    "Write Kubernetes manifests: an SR-IOV policy, network and address pool for each NIC, and a pod that uses them.",
    kubernetes_files,
    (ONLY_HOSTS,),
    f"kubectl label node NODE {GROUP_LABEL}=GROUP; kubectl apply -R -f {{output}}",
    examples=("", "--only 'gpu-*'"),
)
