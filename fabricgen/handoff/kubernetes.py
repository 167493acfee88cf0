"""Kubernetes manifests: one SR-IOV resource, network and address pool for each NIC of a group of hosts."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabricgen.errors import UsageError
from fabricgen.handoff import ONLY_HOSTS, Handoff
from fabricgen.handoff.chosen import fits, refuse_node_names
from fabricgen.handoff.manifests import (
    GROUP_LABEL,
    TENANT_LABEL,
    Manifest,
    Rail,
    cluster_policy,
    compute_domain,
    dump,
    has_rack_nvlink,
    network,
    node_policy,
    pod,
    pool,
    settings_map,
    sriov_operator_values,
)
from fabricgen.handoff.manifests_infiniband import InfinibandRail, gpu_operator_values, ib_manifests, ib_services
from fabricgen.handoff.tenants import has_ufm, tenants_of
from fabricgen.vocabulary import Purpose, Technology

if TYPE_CHECKING:
    from fabricgen.bundle.hosts import ObservedHosts
    from fabricgen.bundle.read import Bundle
    from fabricgen.bundle.wiring import WiredAdapter, WiredHost, WiredNic, WiredPlane, Wiring

GPU_OPERATOR = "gpu-operator.values"  # for `helm --values`; kubectl applies the files that end with .yaml
SRIOV_OPERATOR = "sriov-operator.values"
LABELS = "label-nodes.sh"


def kubernetes_files(bundle: "Bundle", only: str | None = None) -> Iterator[tuple[str, bytes]]:
    """(relative path, bytes) of the manifests, in the same order for the same bundle.

    They cover each group with NICs on a plane that is not for management. `only` are shell patterns for names of
    hosts, separated by commas. Raises UsageError if there is nothing to write, and for names that Kubernetes does not
    allow; UnreadableInputError for a file of hosts that cannot be parsed.
    """
    wiring = bundle.wiring
    if wiring is None or not bundle.hosts:
        raise UsageError("the bundle has no folder hosts: render it with this version of fabricgen")
    groups = [(name, rails) for name in bundle.hosts if (rails := list(_rails(bundle, wiring, name, only)))]
    if not groups:
        if only:
            raise UsageError(f"--only {only}: no name of a host with a NIC on a RoCE or InfiniBand plane matches")
        raise UsageError("no host of the bundle has a NIC on a RoCE or InfiniBand plane with a driver that is known")
    on_infiniband = [rail for _, rails in groups for rail in rails if isinstance(rail, InfinibandRail)]
    yield "nic-cluster-policy.yaml", dump([cluster_policy(ib_services(on_infiniband))])
    if any(model.vendor == "nvidia" and model.gpus for model in wiring.host_models):
        storage = any(rail.plane.purpose == Purpose.STORAGE for _, rails in groups for rail in rails)
        yield GPU_OPERATOR, dump([gpu_operator_values(storage=storage)])
    if values := sriov_operator_values([rail for _, rails in groups for rail in rails]):
        yield SRIOV_OPERATOR, dump([values])
    yield LABELS, _labels(bundle, wiring, groups, only)
    for name, rails in groups:
        for rail in rails:
            made = ib_manifests(rail) if isinstance(rail, InfinibandRail) else _on_ethernet(rail)
            yield f"{name}/{rail.nic.name}.yaml", dump(list(made))
        if any(rail.plane.purpose == Purpose.COMPUTE for rail in rails):
            settings = bundle.hosts[name].settings(bundle.hosts[name].nccl_file)
            tenants = [rail.tenants[0].name for rail in rails if isinstance(rail, InfinibandRail) and rail.tenants]
            domain = [compute_domain(name)] if has_rack_nvlink(wiring, name) else []
            of_pods = [*domain, settings_map(name, settings), pod(wiring, name, rails, tenants[0] if tenants else "")]
            yield f"{name}/pod.yaml", dump(of_pods)


def _labels(bundle: "Bundle", wiring: "Wiring", groups: list[tuple[str, list[Rail]]], only: str | None) -> bytes:
    """Commands that label the nodes with their group, and with their tenant on InfiniBand."""
    names = {name for name, _ in groups}
    tenants: dict[int, str] = {}
    for plane in wiring.infiniband_planes:
        tenants |= {guid: tenant.name for guid, tenant in tenants_of(bundle, plane).items()}
    lines = ["#!/bin/sh", "set -eu"]
    for host in wiring.hosts:
        if host.group in names and fits(host.name, only):
            own = [tenants[guid] for nic in host.nics if (guid := int(nic.port_guid or "0", 16)) in tenants]
            label = f" {TENANT_LABEL}={own[0]}" if own else f" {TENANT_LABEL}-" if tenants else ""
            lines.append(f"kubectl label --overwrite node {host.name} {GROUP_LABEL}={host.group}{label}")
    return ("\n".join(lines) + "\n").encode()


def _on_ethernet(rail: Rail) -> Iterator[Manifest]:
    yield from (node_policy(rail), pool(rail), network(rail))


def _rails(bundle: "Bundle", wiring: "Wiring", group: str, only: str | None) -> Iterator[Rail]:
    from fabricgen.platforms.catalog import nic_model  # a tenth of the time of a completion

    hosts = [host for host in wiring.hosts if host.group == group and fits(host.name, only)]
    models = {model.name: model for model in wiring.host_models}
    planes = {plane.name: plane for plane in wiring.planes if not plane.is_management}
    if not hosts or hosts[0].model not in models:
        return
    refuse_node_names(host.name for host in hosts)
    files = bundle.hosts[group]
    for adapter in models[hosts[0].model].nics:
        of_hosts = [(host, nic) for host in hosts for nic in host.nics if nic.name == adapter.name]
        first = next((nic for _, nic in of_hosts if nic.plane in planes and (nic.addresses or nic.port_guid)), None)
        card = nic_model(adapter.model)
        if first is None or not (card and card.driver):
            continue
        if planes[first.plane].technology == Technology.INFINIBAND:
            yield _infiniband_rail(bundle, group, adapter, planes[first.plane], [nic for _, nic in of_hosts])
            continue
        mtu = next((mtu for host, _ in of_hosts if (mtu := _mtu(files, host, adapter.name))), 0)
        pairs = tuple(_pair(host, nic, first) for host, nic in of_hosts if nic.addresses)
        yield Rail(group, first, adapter, planes[first.plane], mtu, pairs)


def _infiniband_rail(
    bundle: "Bundle", group: str, adapter: "WiredAdapter", plane: "WiredPlane", nics: list["WiredNic"]
) -> InfinibandRail:
    of_port = tenants_of(bundle, plane.name)
    own = dict.fromkeys(of_port[guid] for nic in nics if (guid := int(nic.port_guid or "0", 16)) in of_port)
    # In Default hosts of tenants are limited members, which do not reach each other.
    ipoib = not of_port and nics[0].name == _first_rail(bundle, plane.name, group)
    return InfinibandRail(group, nics[0], adapter, plane, 0, (), tuple(own), has_ufm(bundle, plane.name), ipoib)


def _first_rail(bundle: "Bundle", plane: str, group: str) -> str:
    """The first NIC of a group on a plane: pods need one IPoIB network of a plane."""
    hosts = bundle.wiring.hosts if bundle.wiring else ()
    return next(nic.name for host in hosts if host.group == group for nic in host.nics if nic.plane == plane)


def _mtu(files: "ObservedHosts", host: "WiredHost", nic: str) -> int:
    mtu = files.interfaces(host.name).get(nic, {}).get("mtu", 0)
    return mtu if isinstance(mtu, int) else 0


def _pair(host: "WiredHost", nic: "WiredNic", first: "WiredNic") -> tuple[str, str, str]:
    """(host, its address, address of the switch). A pool has one address family: the first one of the plane."""
    from fabricgen.sonic.addresses import read_address  # it imports sockets

    known = [address for text in (first.addresses[0], *nic.addresses) if (address := read_address(text))]
    own = next(address for address in known[1:] if address.version == known[0].version)
    network = own.network
    gateway = network.host if network.number != own.number else network.host._replace(number=own.number + 1)
    return host.name, str(own), gateway.ip


HANDOFF = Handoff(
    "kubernetes",
    "Write Kubernetes manifests: an SR-IOV policy, network and address pool for each NIC, and a pod that uses them.",
    kubernetes_files,
    (ONLY_HOSTS,),
    f"sh {{output}}/{LABELS}; kubectl apply -R -f {{output}}",
    examples=("", "--only 'gpu-*'"),
)
