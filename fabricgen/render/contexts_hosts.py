"""Contexts of templates/hosts. `roce` is the `NicPlan` of a plane, in roce.conf.j2."""

from dataclasses import dataclass

from fabricgen.origin import Value
from fabricgen.render.context import Context
from fabricgen.render.forms import Slot


@dataclass(frozen=True, eq=False)
class GroupContext(Context):
    """`group`, in every template: equal hosts. `drivers` are the drivers of its NICs with RoCE."""

    name: str
    model: str
    drivers: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class HostAddress(Context):
    """One of `nic.addresses`, one of each family. `gateway` is the address of the switch: on a routed link the even one
    of the pair, which is also the subnet. `prefixes` are the pools of the plane's hosts."""

    local: Slot
    length: Value
    host_length: Value
    gateway: Slot
    subnet: Slot | None  # of a VLAN
    prefixes: tuple[Value, ...]


@dataclass(frozen=True, eq=False)
class InterfaceContext(Context):
    """`nic`, one of `nics`: an Ethernet port of every host of the group. `bond`, one of `bonds`: a bond of some of
    them, which has their addresses. `vlan`, one of `vlans`: a tagged VLAN of one of these, its `parent`."""

    name: Value
    plane: str
    pci: Value
    mtu: Value
    table: Value  # the routing table for what leaves from its addresses
    priority: Value  # of the rules that select it
    metric: Value | None  # of its routes in the main table; None for a NIC on a rail, which is in its own table alone
    addresses: tuple[HostAddress, ...]
    ipv6: bool  # whether one of them is
    bond: Value | None  # the bond that a port belongs to
    ports: tuple[Value, ...]  # those of a bond
    parent: Value | None = None  # of a tagged VLAN
    vlan: Value | None = None  # the number of a tagged VLAN


@dataclass(frozen=True, eq=False)
class RdmaContext(Context):
    """One of `devices` of rdma.rules.j2: a NIC with the name of its RDMA device."""

    pci: Value
    name: Value


@dataclass(frozen=True, eq=False)
class CollectiveContext(Context):
    """`collective` of nccl.conf and ucx.conf; None where the file omits a variable."""

    nccl_devices: Value | None  # RDMA devices of the compute planes, in the order of the rails
    ucx_devices: Value | None  # the same with their port
    tos: Value | None
    priority: Value | None
    service_level: Value | None  # on InfiniBand
    adaptive: Value | None  # on RoCE with a path for each packet
    pkey_index: Value | None  # on InfiniBand with tenants
    collnet: Value | None  # on InfiniBand with SHARP
    address_range: Value | None
    ipv6: bool
    rail_only: Value | None
    queue_pairs: Value | None  # of a connection
    split: Value | None  # whether a message goes over all of them
    sockets: Value | None  # interfaces of the in-band network, or what NCCL must not use, in its own notation
    hca_prefix: Value | None  # for NVSHMEM, where its own is not part of all names
    amd: bool
    tenant: Value | None  # whose jobs the file is for, where a tenant has some NICs of a host
