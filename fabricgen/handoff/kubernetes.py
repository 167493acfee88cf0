"""Kubernetes manifests: a resource, network and address pool for each NIC of a group, by SR-IOV or Spectrum-X."""

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from fabricgen.errors import UsageError
from fabricgen.handoff import ONLY_HOSTS, Handoff, Option, WrittenFiles
from fabricgen.handoff.chosen import fits, object_name, refuse_node_names
from fabricgen.handoff.host_tenants import HostTenants, has_ufm, host_tenants, tenants_of
from fabricgen.handoff.manifests import (
    GROUP_LABEL,
    LATEST,
    OPERATORS,
    TENANT_LABEL,
    Manifest,
    Operator,
    Rail,
    cluster_policy,
    compute_domain,
    dump,
    has_rack_nvlink,
    model_of,
    network,
    node_policy,
    pod,
    pool,
    resources_of,
    settings_map,
    sriov_operator_values,
)
from fabricgen.handoff.manifests_infiniband import (
    InfinibandRail,
    gpu_operator_values,
    ib_manifests,
    ib_services,
)
from fabricgen.handoff.manifests_nics import nic_operator, roce_templates
from fabricgen.handoff.manifests_spectrum_x import (
    SpectrumX,
    claim_name,
    claims,
    interface_names,
    rail_pool_config,
    spectrum_x_operator,
    spectrum_x_settings,
    spectrum_x_values,
)
from fabricgen.handoff.node_tiers import MOST_CHARACTERS, label_value
from fabricgen.units import whole_number
from fabricgen.vocabulary import Isolation, NicSettings, Purpose, Technology

if TYPE_CHECKING:
    from fabricgen.bundle.hosts import ObservedHosts
    from fabricgen.bundle.read import Bundle
    from fabricgen.bundle.wiring import WiredAdapter, WiredHost, WiredNic, WiredPlane, Wiring


GPU_OPERATOR = "gpu-operator.values"  # for `helm --values`; kubectl applies the files that end with .yaml
SRIOV_OPERATOR = "sriov-operator.values"
LABELS = "label-nodes.sh"
_UNNAMED = "# Nodes of "
INTERFACE_NAMES = "interface-names.yaml"


def kubernetes_files(bundle: "Bundle", only: str | None = None, operator: str = LATEST) -> Iterator[tuple[str, bytes]]:
    """(relative path, bytes) of the manifests, in the same order for the same bundle.

    They cover each group with NICs on a plane that is not for management. `only` are shell patterns for names of
    hosts, separated by commas; `operator` is a release of NVIDIA's Network Operator. Raises UsageError if there is
    nothing to write, for names that Kubernetes does not allow, and for a release without what the groups need;
    UnreadableInputError for a file of hosts that cannot be parsed.
    """
    wiring, release = bundle.wiring, OPERATORS[operator]
    if wiring is None or not bundle.hosts:
        raise UsageError("the bundle has no folder hosts: render it with this version of fabricgen")
    groups = [(name, rails) for name in bundle.hosts if (rails := list(_rails(bundle, wiring, name, only)))]
    if not groups:
        if only:
            raise UsageError(f"--only {only}: no name of a host with a NIC on a RoCE or InfiniBand plane matches")
        raise UsageError(
            "no host of the bundle has a NIC on a RoCE or InfiniBand plane with a driver that is known; NICs in bonds, "
            "or in a subnet with other hosts, have no manifests"
        )
    every = [rail for _, rails in groups for rail in rails]
    _refuse_names(every)
    settings = {host.group: host.nic_settings for host in wiring.hosts}
    with_spectrum_x = [name for name, _ in groups if settings[name] == NicSettings.SPECTRUM_X]
    _refuse_spectrum_x(with_spectrum_x, operator)
    services = ib_services([rail for rail in every if isinstance(rail, InfinibandRail)], release)
    if any(settings[name] != NicSettings.SCRIPT for name, _ in groups):
        services |= nic_operator(release)
    services |= spectrum_x_operator(release) if with_spectrum_x else {}
    yield "nic-cluster-policy.yaml", dump([cluster_policy(services, release)])
    if any(model.vendor == "nvidia" and model.gpus for model in wiring.host_models):
        storage = any(rail.plane.purpose == Purpose.STORAGE for rail in every)
        yield GPU_OPERATOR, dump([gpu_operator_values(storage=storage)])
    if values := sriov_operator_values(every) | (spectrum_x_values() if with_spectrum_x else {}):
        yield SRIOV_OPERATOR, dump([values])
    tenants = host_tenants(bundle)
    yield LABELS, _labels(wiring, tenants, groups, only)
    for name, rails in groups:
        owned = [rail for rail in rails if settings[name] == NicSettings.SPECTRUM_X and _is_of_spectrum_x(rail)]
        others = [rail for rail in rails if rail not in owned]
        if settings[name] != NicSettings.SCRIPT:
            templates = list(roce_templates(others, bundle.hosts[name], release))
            yield from [(f"{name}/nic-settings.yaml", dump(templates))] if templates else []
        for rail in others:
            made = ib_manifests(rail) if isinstance(rail, InfinibandRail) else _on_ethernet(rail)
            yield f"{name}/{rail.nic.name}.yaml", dump(list(made))
        if owned:
            placement = _placement(wiring, tenants, owned)
            yield from _spectrum_x(bundle, wiring, _by_rail(wiring, name, owned), release, placement)
        elif any(rail.plane.purpose == Purpose.COMPUTE for rail in rails):
            compute = [rail for rail in rails if rail.plane.purpose == Purpose.COMPUTE]
            placement = _placement(wiring, tenants, compute)
            own = [rail for rail in compute if rail.nic.name in placement.nics]
            resources = resources_of(model_of(wiring, name), own, is_part=len(own) < len(compute))
            networks = [rail.network for rail in own]
            example = pod(wiring, name, networks, resources, placement.labels)
            yield f"{name}/pod.yaml", dump([*_of_pods(bundle, wiring, name), example])


def _refuse_names(rails: list[Rail]) -> None:
    """Raises UsageError for a group that cannot be a label, a resource whose name is too long, and NICs whose objects
    have the same name.

    Source: kubernetes apimachinery pkg/util/validation (IsValidLabelValue, IsQualifiedName: at most 63 characters
    after the prefix).
    """
    owners: dict[str, Rail] = {}
    for rail in rails:
        label_value(rail.group)
        if len(rail.resource) > MOST_CHARACTERS:
            raise UsageError(
                f"{rail.resource}: Kubernetes reads names of resources of at most {MOST_CHARACTERS} characters; "
                f"rename group {rail.group}"
            )
        if (other := owners.setdefault(rail.name, rail)) is not rail:
            raise UsageError(
                f"{other.nic.name} of group {other.group} and {rail.nic.name} of group {rail.group} have the same name "
                f"in Kubernetes, {rail.name}; rename one of them"
            )


def _of_pods(bundle: "Bundle", wiring: "Wiring", group: str) -> list[Manifest]:
    """What pods of a group need beside their NICs."""
    domain = [compute_domain(group)] if has_rack_nvlink(wiring, group) else []
    return [*domain, settings_map(group, bundle.hosts[group].settings(bundle.hosts[group].nccl_file))]


def _refuse_spectrum_x(groups: list[str], operator: str) -> None:
    if groups and not OPERATORS[operator].architecture:
        raise UsageError(
            f"--operator {operator}: SpectrumXRailPoolConfig v1alpha2, which group {groups[0]} needs, comes with 26.4"
        )
    if len(groups) > 1:
        raise UsageError(
            f"groups {' and '.join(groups)} have Spectrum-X, whose operator names networks by rail: write each to its "
            "cluster with --only"
        )


def _is_of_spectrum_x(rail: Rail) -> bool:
    return rail.nic.rail is not None and rail.plane.purpose == Purpose.COMPUTE


def _by_rail(wiring: "Wiring", group: str, owned: list[Rail]) -> SpectrumX:
    by_rail: dict[int, list[Rail]] = {}
    for rail in owned:
        by_rail.setdefault(rail.nic.rail or 0, []).append(rail)
    rails = tuple(tuple(by_rail[number]) for number in sorted(by_rail))
    return SpectrumX(group, model_of(wiring, group).name, rails, not has_rack_nvlink(wiring, group))


def _spectrum_x(
    bundle: "Bundle", wiring: "Wiring", group: SpectrumX, release: Operator, placement: "_Placement"
) -> Iterator[tuple[str, bytes]]:
    """The files of a group whose NICs NVIDIA's operator for Spectrum-X owns."""
    yield f"{group.group}/spectrum-x.yaml", dump([spectrum_x_settings(group, release), rail_pool_config(group)])
    if names := interface_names(group):
        yield f"{group.group}/{INTERFACE_NAMES}", dump([names])
    for rail, plane, port in group.ports:
        yield f"{group.group}/{port.nic.name}.yaml", dump([pool(port, group.pool_name(rail, plane))])
    templates = claims(group)
    yield f"{group.group}/claims.yaml", dump(list(templates.values()))
    own = [(rail, plane, port) for rail, plane, port in group.ports if port.nic.name in placement.nics]
    networks = [group.name(rail, plane) for rail, plane, _ in own]
    used = {claim_name(rail, port) for rail, _, port in own}
    of_names = {name: one["metadata"]["name"] for name, one in templates.items() if name in used}
    example = pod(wiring, group.group, networks, {}, placement.labels, claims=of_names)
    yield f"{group.group}/pod.yaml", dump([*_of_pods(bundle, wiring, group.group), example])


def _notes(files: WrittenFiles) -> Iterator[str]:
    comments = [line for line in files[LABELS].decode().splitlines() if line.startswith(_UNNAMED)]
    yield from (f"group {line.removeprefix(_UNNAMED)}" for line in comments)
    groups = [name.rpartition("/")[0] for name in files if name.endswith("/spectrum-x.yaml")]
    for group in groups:
        yield (
            f"group {group}: Spectrum-X needs NVIDIA's profile, which is not public: apply it as the ConfigMap that "
            "`version` in spectrum-x.yaml names (operators from 26.7)"
        )
        if f"{group}/{INTERFACE_NAMES}" not in files:
            yield (
                f"group {group}: the host model has no PCI addresses, so {INTERFACE_NAMES} is missing: give `pci` in "
                "host_models, or name the interfaces eth_p0_r0 … yourself"
            )


class _Placement(NamedTuple):
    """The labels of the nodes of a pod in addition to its group, and the NICs that it can use there."""

    labels: Mapping[str, str]
    nics: Collection[str]


def _placement(wiring: "Wiring", tenants: HostTenants, rails: list[Rail]) -> _Placement:
    """Where an example runs: on the hosts of the first tenant of these NICs, all of them or only its own."""
    names = [rail.nic.name for rail in rails]
    for host in (host for host in wiring.hosts if host.group == rails[0].group):
        for tenant in tenants.of_host(host):
            nics = [nic for nic in names if nic in tenants.nics_of(host, tenant)]
            if nics and len(tenants.of_host(host)) == 1:
                return _Placement({TENANT_LABEL: tenant}, names)
            if nics:
                return _Placement({_nic_label(nic): tenant for nic in nics}, nics)
    return _Placement({}, names)


def _nic_label(nic: str) -> str:
    """The label for the tenant of one NIC, of hosts whose NICs have several."""
    return f"{TENANT_LABEL}-{object_name(nic)}"


def _tenant_labels(host: "WiredHost", tenants: HostTenants) -> Iterator[str]:
    """The tenant of a host, or those of its NICs. A label of another time is removed."""
    own = tenants.of_host(host)
    yield f"{TENANT_LABEL}={own[0]}" if len(own) == 1 else f"{TENANT_LABEL}-"
    for nic in host.nics if tenants.are_mixed else ():
        tenant = tenants.by_nic.get((host.name, nic.name))
        yield f"{_nic_label(nic.name)}={tenant}" if tenant and len(own) > 1 else f"{_nic_label(nic.name)}-"


def _labels(wiring: "Wiring", tenants: HostTenants, groups: list[tuple[str, list[Rail]]], only: str | None) -> bytes:
    """Commands that label the nodes with their group and their tenant. A comment names interfaces that policies select
    by name and no file of hosts names."""
    names = {name for name, _ in groups}
    lines = ["#!/bin/sh", "set -eu"]
    for host in wiring.hosts:
        if host.group in names and fits(host.name, only):
            words = [f"{GROUP_LABEL}={host.group}", *(_tenant_labels(host, tenants) if tenants.by_nic else ())]
            lines.append(f"kubectl label --overwrite node {host.name} {' '.join(words)}")
    lines[1:1] = [
        f"{_UNNAMED}{group}: {', '.join(shared)} share a subnet with other hosts, or are in a bond: they have no "
        "manifests, and pods use them through the host"
        for group, _ in groups
        if (shared := _shared_nics(wiring, group))
    ]
    lines[1:1] = [
        f"{_UNNAMED}{group}: host model {model_of(wiring, group).name} has no PCI addresses, so nothing names the "
        f"interfaces {', '.join(bare)}: name them on the hosts, or give `pci` in host_models"
        for group, rails in groups
        if (bare := [rail.nic.name for rail in rails if not rail.adapter.pci])
    ]
    return ("\n".join(lines) + "\n").encode()


def _shared_nics(wiring: "Wiring", group: str) -> list[str]:
    used = {plane.name for plane in wiring.planes if not plane.is_management}
    host = next(host for host in wiring.hosts if host.group == group)
    return [nic.name for nic in host.nics if nic.plane in used and _is_shared(host, nic)]


def _on_ethernet(rail: Rail) -> Iterator[Manifest]:
    yield from (node_policy(rail), pool(rail, rail.name), network(rail))


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
        if first is None or not (card and card.driver) or _is_shared(hosts[0], first):
            continue
        if planes[first.plane].technology == Technology.INFINIBAND:
            yield _infiniband_rail(bundle, group, adapter, planes[first.plane], [nic for _, nic in of_hosts])
            continue
        plane = planes[first.plane]
        mtu = next((mtu for host, _ in of_hosts if (mtu := _mtu(bundle, files, host, adapter.name, plane))), 0)
        pairs = tuple(_pair(host, nic, first) for host, nic in of_hosts if nic.addresses)
        yield Rail(group, first, adapter, plane, mtu, pairs)


def _is_shared(host: "WiredHost", nic: "WiredNic") -> bool:
    """Whether a NIC is in a bond or in a subnet with other hosts. nv-ipam gives each node a separate subnet and refuses
    a pool with one prefix twice (nvidia-k8s-ipam@07ef8820 api/v1alpha1/cidrpool_validate.go), and a virtual function
    does not follow LACP."""
    from fabricgen.sonic.addresses import read_address  # it imports sockets

    known = [address for text in nic.addresses if (address := read_address(text))]
    return any(nic.name in bond.nics for bond in host.bonds) or any(
        address.length < (31 if address.version == 4 else 127) for address in known
    )


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


def _mtu(bundle: "Bundle", files: "ObservedHosts", host: "WiredHost", nic: str, plane: "WiredPlane") -> int:
    """The MTU of a NIC: that of its netplan file, else that of its switch port, less what a VTEP adds."""
    from fabricgen.sonic.evpn import WIRE_BYTES

    mtu = files.interfaces(host.name).get(nic, {}).get("mtu", 0)
    if not mtu and (link := bundle.link_at.get((host.name, nic))) and link.b[0] in bundle.devices:
        row = bundle.devices[link.b[0]].table("PORT").get(link.b[1], {})
        mtu = whole_number(str(row.get("mtu", ""))) or 0
        mtu -= WIRE_BYTES if mtu and plane.isolation == Isolation.EVPN else 0
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
    (
        ONLY_HOSTS,
        Option("operator", "Release of NVIDIA's Network Operator.", LATEST, tuple(OPERATORS)),
    ),
    f"sh {{output}}/{LABELS}; kubectl apply -R -f {{output}}",
    _notes,
    examples=("", "--only 'gpu-*'", "--operator 26.4"),
)
