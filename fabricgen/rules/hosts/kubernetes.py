"""Rules on the objects of Kubernetes in a bundle: they agree with hosts and switches, and one program sets each NIC."""

from collections.abc import Iterator, Mapping
from typing import Any

from fabricgen.bundle.manifests import Manifest, ObservedManifests
from fabricgen.bundle.wiring import WiredNic
from fabricgen.findings import Severity
from fabricgen.platforms.catalog import nic_model
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.hosts.kubernetes_pools import is_of_hosts, missing_hosts, refusals
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.host_groups import HostFiles, host_groups
from fabricgen.rules.view.manifests import RENDER_AGAIN, TEMPLATE, group_name, place_of, selected_nics
from fabricgen.sonic.addresses import Address, read_address
from fabricgen.units import whole_number

IPV4, IPV6 = 4, 6


@rule("FG921", Severity.ERROR, "An object of Kubernetes does not agree with the fabric", Basis.AGREEMENT)
def kubernetes_objects(fabric: Fabric) -> Iterator[Defect]:
    """What: In the objects of kubernetes/ in the bundle (`fabricgen handoff kubernetes build --output
    build/kubernetes`), pools have the addresses that the switches expect from each host, policies and rails an MTU
    that the switch port takes, and templates the values of roce/<plane>.conf. The variables of pods are those of
    nccl.conf. nv-ipam accepts each pool, which has all hosts that other pools have, and policies select the NIC model.

    Why: Operators write these values to the NICs and the pods. A pod with another address does not reach its leaf, and
    a NIC with other priorities sends RoCE into a lossy class.

    Example: qos.pfc of roceOptimized is 0,0,0,0,1,0,0,0, but PFC of roce/compute.conf is 0,0,0,1,0,0,0,0.

    Fix: Write the objects again, or correct the value.

    Source: Mellanox/nic-configuration-operator@8bfbeb34, Mellanox/spectrum-x-operator@246268d5,
    Mellanox/nvidia-k8s-ipam@3ce4a34 and k8snetworkplumbingwg/sriov-network-operator@249e2001: their definitions and
    controllers.
    """
    if (manifests := fabric.bundle.kubernetes) is None:
        return
    groups = {group.files.group: group for group in host_groups(fabric)}
    nics = {
        (host.name, str(address.network)): (nic, address)
        for group in groups.values()
        for host in group.hosts
        for nic in host.nics
        for text in nic.addresses
        if (address := read_address(text))
    }
    for one in manifests.objects:
        group = groups.get(group_name(one))
        if one.kind == TEMPLATE and group:
            yield from _template(manifests, one, group)
        elif one.kind == "CIDRPool":
            yield from _pool(fabric, manifests, one, nics)
        elif one.kind == "SriovNetworkNodePolicy" and group:
            yield from _policy(manifests, one, group)
        elif one.kind == "SpectrumXRailPoolConfig" and group:
            yield from _rails(manifests, one, group)
        elif one.kind == "ConfigMap" and one.name.startswith("nccl-"):
            yield from _settings(manifests, one, groups)


def _template(manifests: ObservedManifests, one: Manifest, group: HostFiles) -> Iterator[Defect]:
    template = ("spec", "template")
    if one.get(*template, "linkType") not in (None, "Ethernet"):
        yield Defect(place_of(manifests, one, *template, "linkType"), "the ports of RoCE are Ethernet", RENDER_AGAIN)
    names = selected_nics(one, group)
    if not names:
        yield Defect(
            place_of(manifests, one, "spec", "nicSelector"), "it selects no NIC of the host model", RENDER_AGAIN
        )
    if one.get(*template, "spectrumXOptimized", "enabled") is True:
        planes = max((sum(nic.rail == 0 for nic in host.nics if nic.name in names) for host in group.hosts), default=0)
        found = one.get(*template, "spectrumXOptimized", "numberOfPlanes")
        if planes and (found or 1) != planes:
            place = place_of(manifests, one, *template, "spectrumXOptimized", "numberOfPlanes")
            yield Defect(place, f"numberOfPlanes is {found}, but each rail has a port on {planes}", RENDER_AGAIN)
    if one.get(*template, "roceOptimized", "enabled") is not True:
        return
    for plane in group.lossless_planes:
        if set(group.nics(lambda each, plane=plane: each is plane)) & set(names):  # type: ignore[misc]
            yield from _qos(manifests, one, group, f"roce/{plane.name}.conf")


def _qos(manifests: ObservedManifests, one: Manifest, group: HostFiles, file: str) -> Iterator[Defect]:
    qos = ("spec", "template", "roceOptimized", "qos")
    settings = group.files.settings(file)
    wanted: dict[tuple[str, ...], tuple[str, Any]] = {
        ("pfc",): ("PFC", settings.get("PFC")),
        ("trust",): ("TRUST", settings.get("TRUST")),
        ("tos",): ("TOS", whole_number(settings.get("TOS"))),
    }
    if one.get(*qos, "cableLen") is not None:
        wanted["cableLen",] = "CABLE_M", whole_number(settings.get("CABLE_M"))
    for path, (key, value) in wanted.items():
        found = one.get(*qos, *path)
        if value is not None and found != value:
            message = f"{path[0]} is {found}, but {key} of {file} is {value}"
            related = ((f"the settings of group {group.files.group}", group.place(file, key)),)
            yield Defect(place_of(manifests, one, *qos, *path), message, f"set {path[0]} to {value}", related)
    for path, bad, message in (
        (("ecn", "enabled"), False, "ECN is off: NICs do not slow down"),
        (("pauseFrames", "enabled"), True, "global pause stops all priorities"),
    ):
        if one.get(*qos, *path) is bad:
            yield Defect(place_of(manifests, one, *qos, *path), message, f"set it to {str(not bad).lower()}")
    if one.get("spec", "template", "roceOptimized", "roceMode") == 1:
        place = place_of(manifests, one, "spec", "template", "roceOptimized", "roceMode")
        yield Defect(place, "RoCE version 1 has no IP header, and no leaf routes it", "remove roceMode")
    raw = {
        str(row.get("name")): (at, str(row.get("value")))
        for at, row in enumerate(one.rows("spec", "template", "rawNvConfig"))
    }
    for parameter, key, default in (("CNP_DSCP_P1", "CNP_DSCP", "4"), ("CNP_802P_PRIO_P1", "CNP_PRIORITY", "6")):
        at, found = raw.get(parameter, ("", default))
        if key in settings and found != settings[key]:
            steps = ("rawNvConfig", at, "value") if parameter in raw else ("rawNvConfig",)
            message = f"{parameter} is {found}, but {key} of {file} is {settings[key]}"
            yield Defect(place_of(manifests, one, "spec", "template", *steps), message, f"set it to {settings[key]}")


def _pool(
    fabric: Fabric,
    manifests: ObservedManifests,
    one: Manifest,
    nics: Mapping[tuple[str, str], tuple[WiredNic, Address]],
) -> Iterator[Defect]:
    """A pool has the subnets of one NIC of the hosts, in one address family."""
    used: dict[str, WiredNic] = {}
    nodes: dict[str, str] = {}  # those that agree with the fabric
    version = IPV6 if ":" in str(one.get("spec", "cidr")) else IPV4
    for at, row in enumerate(one.rows("spec", "staticAllocations")):
        node, prefix, gateway = (str(row.get(key, "")) for key in ("nodeName", "prefix", "gateway"))
        path = ("spec", "staticAllocations", at)
        known = nics.get((node, prefix))
        if known is None:
            step, what = "prefix", "which no NIC of the host has"
            if node not in fabric.hosts:
                step, what = "nodeName", "but the fabric has no such host"
            yield Defect(place_of(manifests, one, *path, step), f"{node} gets {prefix}, {what}", RENDER_AGAIN)
            continue
        nic, own = known
        used[nic.name], nodes[node] = nic, prefix
        first = own.network.host
        leaf = (first if own.number != first.number else first._replace(number=own.number + 1)).ip
        if gateway and gateway != leaf:
            message = f"the gateway of {node} is {gateway}, but its leaf has {leaf}"
            yield Defect(place_of(manifests, one, *path, "gateway"), message, f"set it to {leaf}")
    for key, message in refusals(one, nodes):
        yield Defect(place_of(manifests, one, "spec", key), f"{message}: nv-ipam refuses the pool", RENDER_AGAIN)
    if not one.rows("spec", "staticAllocations") and is_of_hosts(fabric, one):
        message = "no host has an allocation: nv-ipam gives addresses that the switches do not expect"
        yield Defect(place_of(manifests, one, "spec", "staticAllocations"), message, RENDER_AGAIN)
    if len(used) > 1:
        message = f"it mixes the NICs {', '.join(sorted(used))}"
        yield Defect(place_of(manifests, one, "spec", "staticAllocations"), message, RENDER_AGAIN)
    elif used:
        is_right = len(nodes) == len(one.rows("spec", "staticAllocations"))  # else the wrong rows are reported
        if is_right and (absent := missing_hosts(fabric, manifests, next(iter(used.values())), nodes)):
            names = ", ".join(absent[:3]) + (", …" if len(absent) > 3 else "")
            message = f"no allocation of {names}, which other pools have: nv-ipam selects any prefix"
            yield Defect(place_of(manifests, one, "spec", "staticAllocations"), message, RENDER_AGAIN)
        plane = fabric.planes[next(iter(used.values())).plane]
        pools = [prefix for prefix in plane.host_prefixes if (IPV6 if ":" in prefix else IPV4) == version]
        routed = {str(row.get("dst")) for row in one.rows("spec", "routes")}
        if missing := [prefix for prefix in pools if prefix not in routed]:
            message = f"pods have no route to {', '.join(missing)}, the hosts of plane {plane.name}"
            yield Defect(place_of(manifests, one, "spec", "routes"), message, "add the pools of the plane")


def _port_mtu(group: HostFiles, nics: list[str]) -> tuple[int, Place] | None:
    """The least MTU of the switch ports of some NICs."""
    found = []
    for (_, nic), end in group.ends.items():
        mtu = whole_number(end.switch.device.text_of("PORT", end.port, "mtu")) if nic in nics else None
        if mtu is not None:
            found.append((mtu, end.place("PORT", "mtu")))
    return min(found, key=lambda one: one[0], default=None)


def _too_large(
    manifests: ObservedManifests, one: Manifest, group: HostFiles, nics: list[str], *path: str | int
) -> Iterator[Defect]:
    mtu, port = one.get(*path), _port_mtu(group, nics)
    if isinstance(mtu, int) and port and mtu > port[0]:
        message = f"mtu is {mtu}, but the port of the switch takes {port[0]}"
        related = (("the switch port", port[1]),)
        yield Defect(place_of(manifests, one, *path), message, f"set it to {port[0]}", related)


def _policy(manifests: ObservedManifests, one: Manifest, group: HostFiles) -> Iterator[Defect]:
    names = [str(name).partition("#")[0] for name in one.get("spec", "nicSelector", "pfNames") or []]
    addresses = {adapter.pci: name for name, adapter in group.adapters.items() if adapter.pci}
    selector = ("spec", "nicSelector")
    for name in names:
        if name not in group.adapters:
            yield Defect(
                place_of(manifests, one, *selector, "pfNames"), f"the host model has no NIC {name}", RENDER_AGAIN
            )
    for address in one.get(*selector, "rootDevices") or []:
        slot = addresses.get(str(address), "no NIC")
        if set(names) & set(addresses.values()) and slot not in names:
            message = f"{address} is the slot of {slot}, but pfNames is {', '.join(names)}"
            yield Defect(place_of(manifests, one, *selector, "rootDevices"), message, RENDER_AGAIN)
    cards = {
        card.pci_id for name in names if (adapter := group.adapters.get(name)) and (card := nic_model(adapter.model))
    }
    for key, place in (("vendor", 0), ("deviceID", 1)):
        known = {card.split(":")[place] for card in cards if card}
        found = one.get(*selector, key)
        if found is not None and known and str(found) not in known:
            message = f"{key} is {found}, but {', '.join(names)} has {', '.join(sorted(known))}: no NIC is selected"
            yield Defect(place_of(manifests, one, *selector, key), message, f"set {key} to {min(known)}")
    if one.get("spec", "isRdma") is not True:
        yield Defect(place_of(manifests, one, "spec", "isRdma"), "pods get no RDMA device", "set isRdma to true")
    if not one.get("spec", "numVfs"):
        yield Defect(place_of(manifests, one, "spec", "numVfs"), "pods get no function of the NIC", "set numVfs to 1")
    yield from _too_large(manifests, one, group, names, "spec", "mtu")


def _rails(manifests: ObservedManifests, one: Manifest, group: HostFiles) -> Iterator[Defect]:
    rails = one.rows("spec", "railTopology")
    names = [str(row.get("name")) for row in rails]
    of_spectrum_x = sorted(group.of_spectrum_x)
    if of_spectrum_x and len(rails) != len(of_spectrum_x):
        message = f"{len(rails)} rails, but the hosts have {len(of_spectrum_x)} ports of rails"
        yield Defect(place_of(manifests, one, "spec", "railTopology"), message, RENDER_AGAIN)
    for at, name in enumerate(names):
        if name in names[:at]:
            yield Defect(
                place_of(manifests, one, "spec", "railTopology", at, "name"), f"{name} occurs twice", RENDER_AGAIN
            )
        yield from _too_large(manifests, one, group, of_spectrum_x, "spec", "railTopology", at, "mtu")


def _settings(manifests: ObservedManifests, one: Manifest, groups: Mapping[str, HostFiles]) -> Iterator[Defect]:
    """The variables of pods that the file of the group has, too."""
    group = next(
        (
            group
            for name, group in groups.items()
            if f"nccl-{name}".lower().replace("_", "-").replace(".", "-") == one.name
        ),
        None,
    )
    data = one.get("data")
    if group is None or not isinstance(data, Mapping):
        return
    own = group.files.settings(group.files.nccl_file)
    for key, value in own.items():
        if key in ("NCCL_IB_HCA", "NCCL_SOCKET_IFNAME") or str(data.get(key)) == value:
            continue
        message = f"{key} is {data.get(key, 'missing')}, but {value} in {group.files.nccl_file}"
        related = (("the file of the hosts", group.place(group.files.nccl_file, key)),)
        yield Defect(place_of(manifests, one, "data", key), message, f"set {key} to {value}", related)
