"""From the files of one plane to its `HostNetwork`."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from fabricgen.bundle.read import Bundle, ObservedDevice
from fabricgen.bundle.wiring import WiredBalance, WiredLink
from fabricgen.physics import DEFAULT_ROCE_MTU_BYTES, ROCE_V2_WIRE_BYTES
from fabricgen.routing.bgp import solve
from fabricgen.routing.endpoints import is_active
from fabricgen.routing.fabric import RoutedFabric
from fabricgen.routing.fallback import forwarding
from fabricgen.routing.routes import Destination
from fabricgen.simulate.plane.adapters import Adapter
from fabricgen.simulate.plane.balance import asked_balance
from fabricgen.simulate.plane.filters import filters_of
from fabricgen.simulate.plane.host_network import NO_COLUMN, HostNetwork
from fabricgen.simulate.plane.hosts import host_traffic
from fabricgen.simulate.plane.lossless import lossless_links
from fabricgen.simulate.plane.names import wired_plane
from fabricgen.simulate.plane.port_arrays import port_arrays
from fabricgen.simulate.plane.ports import Flags
from fabricgen.simulate.plane.priority import judged_priority, roce_dscp
from fabricgen.simulate.plane.queue_pairs import stated_queue_pairs
from fabricgen.simulate.plane.steering import Steering, listed_hops, steering, why_not_judged
from fabricgen.simulate.plane.switch import RoceClass
from fabricgen.simulate.plane.switch_hashes import deployed_hashes
from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.image import uses_frr_framework
from fabricgen.sonic.mclag import mclag_domain, mclag_peers
from fabricgen.vocabulary import BalanceMode, BalanceUnit, HashModel


def read_plane(
    bundle: Bundle, fabric: RoutedFabric, plane: str, priority: int | None, model: HashModel = HashModel.DEPLOYED
) -> HostNetwork:
    """The plane's network for one lossless priority; None is traffic without PFC."""
    links = _host_links(bundle, fabric, plane)
    traffic = host_traffic(bundle, fabric)
    destinations = tuple(_by_leaf(bundle, fabric, [fabric.destinations[column] for column in traffic.columns]))
    hops = forwarding(fabric.network, solve(fabric.network, fabric.policy, destinations), fabric.discards)
    number = {name: index for index, name in enumerate(fabric.names)}
    leaf = np.array([number[link.b[0]] for link in links], np.int64)
    columns = _Columns(fabric, destinations)
    column = np.array([columns.of(link.b, int(at)) for link, at in zip(links, leaf, strict=True)], np.int64)
    wired = wired_plane(bundle, plane)
    payload = (wired.roce_mtu if wired else None) or DEFAULT_ROCE_MTU_BYTES
    dscp = None if priority is None else roce_dscp(bundle, plane, priority)
    roce = RoceClass(priority or 0, payload + ROCE_V2_WIRE_BYTES, dscp)
    devices = [bundle.devices[name] for name in fabric.names]
    known = {index: device.wired for index, device in enumerate(devices) if device.wired}
    adapters = _adapters(bundle, links)
    return HostNetwork(
        names=fabric.names,
        network=fabric.network,
        hops=hops,
        adapters=adapters,
        filters=filters_of(bundle, fabric, links, [one.address for one in adapters], dscp),
        leaf=leaf,
        column=column,
        columns=len(destinations),
        ports=port_arrays(bundle, fabric, links, roce, lossless=priority is not None),
        hashes=deployed_hashes(devices, model),
        payload_bytes=payload,
        queue_pairs=stated_queue_pairs(bundle),
        name=plane,
        tier={index: one.role for index, one in known.items()},
        rail={index: one.rail for index, one in known.items() if one.rail is not None},
        balance=wired.load_balancing if wired else None,
        announces=_announcing(devices),
    )


def _by_leaf(bundle: Bundle, fabric: RoutedFabric, destinations: Sequence[Destination]) -> Iterator[Destination]:
    """The destinations, with one for each leaf where two share a subnet (MCLAG). Packets to a bond go to either leaf.
    Here those to each of its ports go to the leaf of the port, which is the same load of all flows to a bond. Only
    packets between hosts of one pair take a spine here, which the leaf would deliver itself."""
    domains = {name: mclag_domain(bundle.devices[name].config) for name in fabric.names}
    peers = mclag_peers({name: one for name, one in domains.items() if one})
    for one in destinations:
        names = [fabric.names[switch] for switch in one.origins]
        if len(names) == 2 and peers.get(names[0]) == names[1]:
            yield from (replace(one, origins=(switch,)) for switch in one.origins)
        else:
            yield one


def network_of(
    bundle: Bundle,
    fabric: RoutedFabric,
    name: str,
    model: HashModel = HashModel.DEPLOYED,
    queue_pairs: int | None = None,
    balance: BalanceMode | None = None,
) -> HostNetwork:
    """A plane with its hosts, for the lossless priority of RDMA. `queue_pairs`, `balance`: None: as the files say, and
    with uSIDs as the hosts choose; a `balance` is that of the paths of BGP."""
    priority = judged_priority(bundle, fabric, lossless_links(fabric).priorities)
    network = asked_balance(read_plane(bundle, fabric, name, priority, model), balance)
    if balance is None and (found := steering(bundle, fabric)):
        network = _steered(network, fabric, found)
    return network if queue_pairs is None else replace(network, queue_pairs=queue_pairs)


def _steered(plane: HostNetwork, fabric: RoutedFabric, found: Steering) -> HostNetwork:
    """The plane whose hosts spread packets over their lists; the same with the reason if these are not known."""
    if reason := why_not_judged(found):
        return replace(plane, unjudged=reason)
    leaf_of: list[int | None] = [None] * plane.columns
    for column, leaf in zip(plane.column.tolist(), plane.leaf.tolist(), strict=True):
        if column != NO_COLUMN:
            leaf_of[column] = leaf
    spray = WiredBalance(BalanceMode.SPRAY, BalanceUnit.PACKET)
    hops = listed_hops(fabric, found, leaf_of)
    return replace(plane, hops=hops, balance=spray, announces=None, lists=found.lists)


def _announcing(devices: Sequence[ObservedDevice]) -> Flags | None:
    """The switches whose bgpcfgd announces the number of their paths; None if none does."""
    found = [
        one.text_of("BGP_DEVICE_GLOBAL", "STATE", "wcmp_enabled") == "true" and not uses_frr_framework(one.config)
        for one in devices
    ]
    return np.array(found, bool) if any(found) else None


def _host_links(bundle: Bundle, fabric: RoutedFabric, plane: str) -> list[WiredLink]:
    """The links of the plane's NICs that are in service, and so are their switches."""
    inside, cordoned = {name for name in fabric.names if is_active(bundle, name)}, bundle.cordoned
    found = (link for link in bundle.host_links if link.b[0] in inside and link.plane in (plane, ""))
    return [link for link in found if link.b not in cordoned]


def _adapters(bundle: Bundle, links: list[WiredLink]) -> list[Adapter]:
    """The adapter at the host's end of each link."""
    hosts = bundle.wiring.hosts if bundle.wiring else ()
    nics = {(host.name, nic.name): (nic, host) for host in hosts for nic in host.nics}
    known = bundle.wiring.host_models if bundle.wiring else ()
    models = {(model.name, nic.name): nic.model for model in known for nic in model.nics}
    plane = {one.name: one for one in bundle.wiring.planes} if bundle.wiring else {}
    owner = bundle.wiring.tenant_of if bundle.wiring else {}
    found = []
    for link in links:
        nic, host = nics.get(link.a, (None, None))
        rail = nic.rail if nic else link.rail
        model, address = host.model if host else "", nic.addresses[0] if nic and nic.addresses else ""
        its_model = models.get((model, link.a[1]), "")
        is_divided = link.plane in plane and plane[link.plane].isolation is not None
        tenant = owner.get(link.a, "") if is_divided else None
        found.append(Adapter(*link.a, rail, host.group if host else "", model, its_model, address, tenant))
    return found


class _Columns:
    """The destination of packets to an adapter: the longest prefix around its address that its leaf announces. VXLAN
    packets go to the address of a VTEP."""

    def __init__(self, fabric: RoutedFabric, destinations: tuple[Destination, ...]) -> None:
        self._fabric, self._speakers = fabric, fabric.spoken.speakers
        self._addresses: dict[str, dict[str, Address]] = {}  # leaf -> interface -> its last address
        self.announced: dict[int, list[tuple[Address, int]]] = {}
        for column, destination in enumerate(destinations):
            prefixes = [prefix for prefix in map(parse_address, destination.prefixes) if prefix and prefix.length]
            for switch in destination.origins:
                self.announced.setdefault(switch, []).extend((prefix, column) for prefix in prefixes)
        for found in self.announced.values():
            found.sort(key=lambda entry: -entry[0].length)

    def of(self, port: tuple[str, str], leaf: int) -> int:
        """The column of the adapter behind a leaf's port; NO_COLUMN if the leaf announces no prefix around it."""
        name, interface = port
        if name not in self._addresses:
            own = self._speakers[name].addresses
            self._addresses[name] = {entry.interface: entry.host for entry in own if not entry.vrf}
        address = self._fabric.vtep(name, interface) or self._addresses[name].get(interface)
        announced = self.announced.get(leaf, ())
        if address is None:  # a VLAN member, or a file without addresses: any prefix of the leaf
            return announced[0][1] if announced else NO_COLUMN
        return next((column for prefix, column in announced if prefix.covers(address)), NO_COLUMN)
