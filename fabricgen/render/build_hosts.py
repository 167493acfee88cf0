"""Contexts of what hosts read: their interfaces, addresses and routes, and the settings of collectives."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from ipaddress import ip_network

from fabricgen.bundle.host_settings import NCCL_LEAVES_OUT, NCCL_MOST_NAMES
from fabricgen.control_plane.tenant_settings import TenantSettings
from fabricgen.design.access import interface_of_vlan
from fabricgen.design.model import HostAccess
from fabricgen.inventory.access import MOST_TAGGED
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.tenants import TenantSpec
from fabricgen.lossless.hosts import NicPlan
from fabricgen.origin import Origin, Value, joined, value
from fabricgen.platforms.catalog import nic_model
from fabricgen.platforms.model import HostModel, HostNic
from fabricgen.platforms.rdma_names import NVSHMEM_PREFIX, common_part, rdma_device
from fabricgen.render.contexts_hosts import CollectiveContext, HostAddress, InterfaceContext, RdmaContext
from fabricgen.render.forms import Slot
from fabricgen.vocabulary import BalanceUnit, Isolation, Purpose, RdmaNames, Technology

FIRST_TABLE = 100
FIRST_TABLE_OF_VLANS = 10000  # of the first NIC: 10000 and the VLAN; of the next 20000 and the VLAN
FIRST_RULE = 1000  # Cilium moves the rule of the local table to 100 (RulePriorityLocalLookup), and adds others near it
FIRST_RULE_OF_VLANS = 2000
_LOCK = Origin(steps=("allocations.lock.yaml",))
_HOST_LENGTH = {4: 32, 6: 128}
_RAIL = re.compile(r"rail\d")


def fact(model: HostModel, nic: HostNic, text: str) -> Value:
    """A text of a host model with its source."""
    return value(text, platform=model.sources.get(nic.plane, ""))


def rdma_context(model: HostModel, nic: HostNic) -> RdmaContext:
    """A NIC with the name that a udev rule gives its RDMA device."""
    return RdmaContext(fact(model, nic, nic.pci), _rdma(model, RdmaNames.NIC, nic))


def _rdma(model: HostModel, names: RdmaNames, nic: HostNic) -> Value:
    card = nic_model(nic.model)
    return fact(model, nic, rdma_device(names, nic.name, nic.rdma, card.driver if card else ""))


def _mtu_step(plane: Plane) -> str:
    outer = plane.mtu_bytes - plane.host_mtu_bytes
    name = "VXLAN" if plane.isolation == Isolation.EVPN else "SRv6"
    return f"PORT mtu of the switches - {outer} bytes of {name}" if outer else "as PORT mtu of the switches"


def interface_context(
    model: HostModel,
    nic: HostNic,
    index: int,
    plane: Plane,
    families: Sequence[tuple[int, int]],
    access: HostAccess | None = None,
) -> InterfaceContext:
    """One NIC; `families` are (IP version, prefix length) of its addresses, `index` its place in the model. A NIC in a
    bond has none: see `bond_context`."""
    bond = access and access.bond
    pools = plane.addressing.hosts if plane.addressing else None
    prefixes = [value(prefix, inventory=pools.source()) for prefix in pools.prefixes] if pools else []
    announced = plane.announced_by_hosts
    prefixes += [value(prefix, "hosts announce it", inventory=plane.source("access")) for prefix in announced]
    if plane.srv6:  # outer headers go to the gateway, too
        prefixes.append(value(plane.srv6.block, inventory=plane.srv6.source("block")))
    routes = {version: tuple(one for one in prefixes if ip_network(one).version == version) for version, _ in families}
    return InterfaceContext(
        name=fact(model, nic, nic.name),
        plane=plane.name,
        pci=fact(model, nic, nic.pci),
        mtu=value(plane.host_mtu_bytes, _mtu_step(plane), inventory=plane.source("mtu")),
        table=value(FIRST_TABLE + index, f"{FIRST_TABLE} + the place of the NIC in its model"),
        priority=value(FIRST_RULE + index, f"{FIRST_RULE} + the place of the NIC in its model"),
        metric=value(FIRST_TABLE + index, "as its table: the first NIC goes first") if nic.rail is None else None,
        addresses=_addresses(
            f"nic{index}", families, routes, has_subnet=access is not None and access.vlan is not None
        ),
        ipv6=any(version == 6 for version, _ in families),
        bond=value(bond, inventory=access.spec.source("bond")) if access and bond else None,
        ports=(),
    )


def _addresses(
    blank: str, families: Sequence[tuple[int, int]], prefixes: Mapping[int, tuple[Value, ...]], *, has_subnet: bool
) -> tuple[HostAddress, ...]:
    """The addresses of an interface, whose blanks begin with `blank`. `prefixes` are the routes by IP version."""
    return tuple(
        HostAddress(
            local=Slot(f"{blank}.{place}.local", _LOCK),
            length=value(length),
            host_length=value(_HOST_LENGTH[version]),
            gateway=Slot(f"{blank}.{place}.gateway", _LOCK),
            subnet=Slot(f"{blank}.{place}.subnet", _LOCK) if has_subnet else None,
            prefixes=prefixes.get(version, ()),
        )
        for place, (version, length) in enumerate(families)
    )


def bond_context(ports: Sequence[InterfaceContext]) -> InterfaceContext:
    """The bond of these NICs, with the addresses of the first."""
    first = ports[0]
    assert first.bond is not None
    return replace(first, name=first.bond, pci=value(""), bond=None, ports=tuple(port.name for port in ports))


def tagged_context(
    parent: InterfaceContext,
    index: int,
    place: int,
    number: int,
    access: HostAccess,
    families: Sequence[tuple[int, int]],
) -> InterfaceContext:
    """The interface of a tagged VLAN above a NIC or bond, the number `place` of its tagged VLANs. `index` is that of
    the NIC in the model, `families` as those of `interface_context`. Its routes are only in its table: what leaves from
    other addresses goes by the native VLAN."""
    source = access.spec.source("tagged")
    prefixes: dict[int, tuple[Value, ...]] = {
        ip_network(one.prefixes[0]).version: one.prefixes for one in parent.addresses if one.prefixes
    }
    return replace(
        parent,
        name=value(interface_of_vlan(str(parent.name), number), inventory=source),
        pci=value(""),
        table=value(FIRST_TABLE_OF_VLANS * (index + 1) + number, "10000, 20000 by the place of the NIC, and the VLAN"),
        priority=value(FIRST_RULE_OF_VLANS + MOST_TAGGED * index + place, "2000 by the places of the NIC and the VLAN"),
        metric=None,
        addresses=_addresses(f"nic{index}.vlan{number}", families, prefixes, has_subnet=True),
        ipv6=any(version == 6 for version, _ in families),
        bond=None,
        ports=(),
        parent=parent.name,
        vlan=value(number, inventory=source),
    )


def collective_context(
    model: HostModel,
    names: RdmaNames,
    nics: Iterable[tuple[HostNic, Plane]],
    interfaces: Mapping[str, InterfaceContext],
    plans: Mapping[str, NicPlan],
    tenant: TenantSettings | None,
) -> CollectiveContext:
    """The settings of NCCL, UCX and NVSHMEM for a host's NICs; `plans` are the plans of planes with PFC, by name.
    `interfaces` are the NICs that are set up. `tenant` has the settings of its InfiniBand tenant."""
    nics = tuple(nics)
    compute = [(nic, plane) for nic, plane in nics if plane.purpose == Purpose.COMPUTE]
    planes = list({plane.name: plane for _, plane in compute}.values())
    devices = [_rdma(model, names, nic) for nic, _ in compute]
    plan = next((plans[plane.name] for plane in planes if plane.name in plans), None)
    pools = [plane.addressing.hosts for plane in planes if plane.technology == Technology.ROCE and plane.addressing]
    ranges = [value(prefix, inventory=pool.source()) for pool in pools for prefix in pool.prefixes]
    ranges.sort(key=lambda prefix: ip_network(prefix).version)
    rail_only = next((plane for plane in planes if plane.design == "rail-only"), None)
    several = next((plane for plane in planes if plane.queue_pairs is not None), None)
    adaptive = _adaptive(planes)
    return CollectiveContext(
        nccl_devices=_listed(devices),
        ucx_devices=_listed(devices, ":1"),
        tos=plan.tos if plan else None,
        priority=plan.priority if plan else None,
        service_level=_service_level(planes, tenant) if plan is None else None,
        adaptive=adaptive,
        pkey_index=tenant.pkey_index if tenant else None,
        collnet=_collnet(model, planes),
        # NCCL takes one range; with a second compute plane it selects by the family alone.
        address_range=ranges[0] if len(pools) == 1 and ranges else None,
        ipv6=bool(ranges) and ip_network(ranges[0]).version == 6,
        rail_only=value(0, "no switch joins the rails", inventory=rail_only.source("design")) if rail_only else None,
        queue_pairs=value(several.queue_pairs, inventory=several.source("queue_pairs"))
        if several and several.queue_pairs
        else None,
        split=value(1, "with a path for each packet; measured: up to 70 % more bus bandwidth with 4 queue pairs")
        if adaptive and several and (several.queue_pairs or 1) > 1
        else None,
        sockets=_sockets(model, nics, interfaces),
        hca_prefix=_hca_prefix(devices),
        amd=model.vendor == "amd",
        tenant=None,
    )


def of_tenant(
    context: CollectiveContext,
    tenant: TenantSpec,
    model: HostModel,
    names: RdmaNames,
    nics: Iterable[tuple[HostNic, Plane]],
) -> CollectiveContext:
    """The settings of jobs of a tenant that has only these NICs of a host: switches drop what others send to them."""
    devices = [_rdma(model, names, nic) for nic, plane in nics if plane.purpose == Purpose.COMPUTE]
    return replace(
        context,
        nccl_devices=_listed(devices),
        ucx_devices=_listed(devices, ":1"),
        hca_prefix=_hca_prefix(devices),
        tenant=value(tenant.name, inventory=tenant.source("hosts")),
    )


def _collnet(model: HostModel, planes: Iterable[Plane]) -> Value | None:
    """Whether NCCL asks the switches of a plane to aggregate; RCCL has no plug-in for that."""
    for plane in planes:
        if (spec := plane.infiniband.mlnx_sm) and spec.sharp and model.vendor != "amd":
            return value(1, "NCCL asks for aggregation in switches only with this", inventory=spec.source("sharp"))
    return None


def _adaptive(planes: Iterable[Plane]) -> Value | None:
    """Whether NCCL lets the data of a message arrive out of order on RoCE; on InfiniBand that is its default."""
    spread = next((plane for plane in planes if plane.balance.unit == BalanceUnit.PACKET), None)
    why = "packets overtake each other"
    return value(1, why, inventory=spread.source("load_balancing")) if spread else None


def _service_level(planes: Iterable[Plane], tenant: TenantSettings | None) -> Value | None:
    """The SL on InfiniBand, written explicitly."""
    if tenant and tenant.service_level is not None:
        return tenant.service_level
    subnet = next((plane for plane in planes if plane.technology == Technology.INFINIBAND), None)
    why = "the default of NCCL, which requests no path records; the routing engine needs no other SL"
    return value(0, why, inventory=subnet.source("technology")) if subnet else None


def _sockets(
    model: HostModel, nics: Sequence[tuple[HostNic, Plane]], interfaces: Mapping[str, InterfaceContext]
) -> Value | None:
    """NCCL_SOCKET_IFNAME: exactly the in-band NICs, or their bonds; without any, all but the rails and what NCCL
    leaves out itself."""
    bonds = {name: one.bond for name, one in interfaces.items() if one.bond is not None}
    in_band = [
        bonds.get(nic.name) or fact(model, nic, nic.name) for nic, plane in nics if plane.purpose == Purpose.IN_BAND
    ]
    in_band = list({str(name): name for name in in_band}.values())
    if in_band:
        found = _listed(in_band)
        return found and joined([f"={found}"], found.origin)
    rails = [nic.name for nic, plane in nics if plane.purpose == Purpose.COMPUTE and nic.name in interfaces]
    parts = list(dict.fromkeys("rail" if _RAIL.match(name) else name for name in rails))
    if not parts or len(parts) + len(NCCL_LEAVES_OUT) > NCCL_MOST_NAMES:
        return None
    return value("^" + ",".join((*parts, *NCCL_LEAVES_OUT)), "not the rails, and not what NCCL leaves out by itself")


def _hca_prefix(devices: Sequence[Value]) -> Value | None:
    names = [str(device) for device in devices]
    if not all(names) or all(NVSHMEM_PREFIX in name for name in names) or not (part := common_part(names)):
        return None
    return value(part, "NVSHMEM takes only devices with this in their name")


def _listed(names: Sequence[Value], suffix: str = "") -> Value | None:
    """The names as one list; None if the list is empty or a name is unknown."""
    return joined([f"{name}{suffix}" for name in names], names[0].origin) if names and all(names) else None
