"""A fabric of three tiers as routes and ports, without files, to measure the simulation only."""

import numpy as np
from numpy.typing import NDArray

from fabricgen.routing import bits
from fabricgen.routing.network import Network, build_network
from fabricgen.simulate.patterns import Adapter
from fabricgen.simulate.plane.host_network import HostNetwork
from fabricgen.simulate.plane.ports import NO_POOL, Ports
from fabricgen.simulate.plane.switch_hashes import HashRule, SwitchHashes
from fabricgen.sonic.device_types import DEVICE_TYPES
from fabricgen.sonic.hashing import hash_start

PODS, LEAVES, SPINES, CORES_PER_SPINE, HOSTS = 64, 32, 32, 32, 32
GPUS = PODS * LEAVES * HOSTS
_GBPS, _DELAY_NS, _POOL_BYTES = 400, 200.0, 64 << 20


def synthetic_plane(
    pods: int = PODS, leaves: int = LEAVES, spines: int = SPINES, cores: int = CORES_PER_SPINE, hosts: int = HOSTS
) -> HostNetwork:
    """Pods of leaves and spines; spine j of each pod connects to the cores of group j. One adapter per host."""
    low, middle, high = pods * leaves, pods * spines, spines * cores
    network = _wired(pods, leaves, spines, cores)
    adapters = low * hosts
    leaf = np.repeat(np.arange(low), hosts)
    size, links = network.links + 2 * adapters, network.links
    is_nic = np.zeros(size, bool)
    is_nic[links : links + adapters] = True
    switches = low + middle + high
    tier = {u: "leaf" if u < low else "spine" if u < low + middle else "core" for u in range(switches)}
    ports = Ports(
        bytes_per_ns=np.full(size, _GBPS / 8),
        delay_ns=np.full(size, _DELAY_NS),
        pool=np.concatenate([network.target, leaf, np.full(adapters, NO_POOL)]).astype(np.int64),
        is_nic=is_nic,
        alpha=np.ones(size),
        reserve_bytes=np.zeros(size),
        pool_bytes=np.full(switches, float(_POOL_BYTES)),
        name_of=lambda port: ("port", str(port)),
        peer_of=lambda port: ("peer", str(port)),
    )
    return HostNetwork(
        names=tuple(f"{tier[u]}{u}" for u in range(switches)),
        network=network,
        hops=_hops(network, pods, leaves, spines),
        adapters=[Adapter(f"h{number}", "nic0", None) for number in range(adapters)],
        leaf=leaf,
        column=leaf.copy(),
        columns=low,
        ports=ports,
        hashes=SwitchHashes.of(
            [HashRule()] * switches, [hash_start({"type": DEVICE_TYPES[tier[u]]}) for u in range(switches)]
        ),
        tier=tier,
    )


def _wired(pods: int, leaves: int, spines: int, cores: int) -> Network:
    low, middle = pods * leaves, pods * spines
    pod, leaf, spine = (axis.ravel() for axis in np.indices((pods, leaves, spines)))
    below, above = pod * leaves + leaf, low + pod * spines + spine
    pod, spine, core = (axis.ravel() for axis in np.indices((pods, spines, cores)))
    below = np.concatenate([below, low + pod * spines + spine])
    above = np.concatenate([above, low + middle + spine * cores + core])
    return build_network(low + middle + spines * cores, below, above)


def _hops(network: Network, pods: int, leaves: int, spines: int) -> NDArray[np.uint64]:
    """Next hops: upwards all switches of the next tier, downwards the switch above the destination."""
    low, middle = pods * leaves, pods * spines
    everywhere = bits.ones(low)
    own = np.stack([bits.row_of(np.arange(pod * leaves, (pod + 1) * leaves), low) for pod in range(pods)])
    one = np.stack([bits.row_of(np.array([leaf]), low) for leaf in range(low)])
    source, target = network.source, network.target
    hops = np.zeros((network.links, len(everywhere)), np.uint64)
    from_leaf, to_leaf, from_core = source < low, target < low, source >= low + middle
    up = ~from_leaf & ~to_leaf & ~from_core
    hops[from_leaf] = everywhere & ~one[source[from_leaf]]
    hops[to_leaf] = one[target[to_leaf]]
    hops[up] = everywhere & ~own[(source[up] - low) // spines]
    hops[from_core] = own[(target[from_core] - low) // spines]
    return hops
