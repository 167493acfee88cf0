"""The result of a run: completion times, pause frames, drops, use of buffers, and the origins of pauses."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from fabricgen.results import GroupUse, LinkLoss, PacketFlow, PacketsResult, PauseKind, PauseRoot, QueueUse
from fabricgen.simulate.packets.network import PacketNetwork
from fabricgen.simulate.packets.queues import ALPHA_ONE, UNMARKED
from fabricgen.simulate.packets.records import NONE
from fabricgen.simulate.packets.simulation import Finished

FEW_PACKETS = 8
PAUSED_LONG = 0.05  # share of the run: a link with a smaller share does not count as paused


def outcome(finished: Finished, seed: int) -> PacketsResult:
    """The result, without the comparison with ideal rates."""
    network, run = finished.network, finished.network.run
    clock, watch = run.clock[0], finished.freeze
    freeze = replace(watch.found, over_ns=watch.over_ns) if watch.found else None
    return PacketsResult(
        name=network.scenario.name,
        flows=_flows(network),
        pfc_frames=_frames(network),
        drops=int(clock["drops"]),
        retransmissions=int(clock["repeats"]),
        wire_transmissions=int(clock["transmissions"]),
        events=int(clock["events"]),
        max_queue_bytes=int(run.queues["most"].max(initial=0)),
        simulated_ns=network.ns(network.now),
        seed=seed,
        compat=network.scenario.compat,
        freeze=freeze,
        storms=tuple(finished.storms),
        groups=_groups(network),
        queues=_queues(network),
        roots=_roots(network),
        lost=_lost(network),
        discarded=int(run.holds["discarded"].sum()),
        credit_waits=int(run.holds["frames"].sum()) if run.settings.credits else None,
        marked=int(run.holds["marked"].sum()),
        ecn=run.settings.ecn,
        trimmed=int(run.holds["trimmed"].sum()),
        balance=network.scenario.balance.mode,
    )


def _flows(network: PacketNetwork) -> tuple[PacketFlow, ...]:
    completions = network.run.flows["completion"].tolist()
    return tuple(
        PacketFlow(
            flow.src,
            flow.dst,
            flow.bytes,
            flow.start_ns,
            network.ns(ticks) if ticks >= 0 else None,
            priority=flow.priority,
        )
        for flow, ticks in zip(network.scenario.flows, completions, strict=True)
    )


def _frames(network: PacketNetwork) -> tuple[tuple[int, str, int], ...]:
    frames = network.run.frames[: int(network.run.clock["frames"][0])]
    times = (frames["time"] // network.ticks_per_ns).tolist()
    nodes = [network.ports[port][0] for port in frames["port"].tolist()]
    return tuple(zip(times, nodes, frames["pause"].tolist(), strict=True))


def _groups(network: PacketNetwork) -> tuple[GroupUse, ...]:
    """The groups of switches that paused, dropped, or used headroom."""
    run = network.run
    pauses = run.holds["frames"][run.ports["peer"]]
    touched = (run.holds["headroom_most"] > 0) | (run.holds["drops"] > 0) | (pauses > 0)
    touched &= run.nodes["is_switch"][run.ports["node"]].astype(bool)[:, None]
    return tuple(
        GroupUse(
            port=network.ports[port],
            priority=network.classes[lane],
            alpha=int(run.groups["alpha"][port, lane]) / ALPHA_ONE,
            headroom_bytes=int(run.profiles["headroom_limit"][port, lane]),
            headroom_most_bytes=int(run.holds["headroom_most"][port, lane]),
            pauses=int(pauses[port, lane]),
            early_pauses=int(run.holds["early"][port, lane]),
            drops=int(run.holds["drops"][port, lane]),
            lossless=network.scenario.traffic_class(network.classes[lane]).lossless,
        )
        for port, lane in zip(*touched.nonzero(), strict=True)
    )


def _queues(network: PacketNetwork) -> tuple[QueueUse, ...]:
    """The queues of switches that held more than a few packets or dropped any, fullest first."""
    run = network.run
    full = run.queues["most"] > FEW_PACKETS * (run.settings.payload + run.settings.header)
    full |= run.holds["limited"] > 0
    full &= run.nodes["is_switch"][run.ports["node"]].astype(bool)[:, None]
    speeds = [link.speed_gbps for link in network.scenario.links for _ in (link.a, link.b)]
    found = [
        QueueUse(
            port=network.ports[port],
            priority=network.classes[lane],
            most_bytes=int(queue["most"]),
            most_ns=round(int(queue["most"]) * 8 / speeds[port]),
            kmin_bytes=int(queue["kmin"]) if queue["kmin"] < UNMARKED else None,
            marked=int(run.holds["marked"][port, lane]),
            drops=int(run.holds["limited"][port, lane]),
            lossless=network.scenario.traffic_class(network.classes[lane]).lossless,
        )
        for port, lane in zip(*full.nonzero(), strict=True)
        for queue in (run.queues[port, lane],)
    ]
    return tuple(sorted(found, key=lambda queue: (-queue.most_bytes, queue.port)))


def _lost(network: PacketNetwork) -> tuple[LinkLoss, ...]:
    """The losses of links that went down."""
    dead = network.run.holds["dead"]
    return tuple(
        LinkLoss(network.ports[port], network.classes[lane], int(dead[port, lane]))
        for port, lane in zip(*dead.nonzero(), strict=True)
    )


def paused_share(network: PacketNetwork) -> NDArray[np.float64]:
    """[port]: the share of the run so far for which each port was paused, in its worst class."""
    run, now = network.run, max(network.now, 1)
    still = (run.ports["paused"][:, None] >> np.arange(run.settings.classes) & 1).astype(bool)
    ticks = run.holds["total"] + np.where(still, now - run.holds["since"], 0)
    return np.asarray(ticks.max(axis=1) / now)


def _roots(network: PacketNetwork) -> tuple[PauseRoot, ...]:
    """The origins of pauses. A paused port leads to the next ports of its flows at the far switch, and so on, until a
    port is not paused itself, or is paused by a host."""
    run, share = network.run, paused_share(network)
    paused = share > PAUSED_LONG
    onward = _onward(network)
    is_host = ~run.nodes["is_switch"].astype(bool)
    to_host = is_host[run.ports["node"][run.ports["peer"]]]
    found: dict[int, set[int]] = {}
    for port in np.flatnonzero(paused).tolist():
        for root in _ends(port, paused, onward, to_host):
            found.setdefault(root, set()).add(port)
    roots = [
        PauseRoot(
            port=network.ports[root],
            kind=PauseKind.SLOW_RECEIVER if paused[root] and to_host[root] else PauseKind.INCAST,
            paused_links=len(links),
            paused_share=round(float(max(share[link] for link in links)), 4),
        )
        for root, links in found.items()
    ]
    return tuple(sorted(roots, key=lambda root: (-root.paused_links, root.port)))


def _onward(network: PacketNetwork) -> dict[int, set[int]]:
    """port -> the next ports of its flows that ever had a queue."""
    after: dict[int, set[int]] = {}
    most = network.run.queues["most"].max(axis=1)
    packet = network.run.settings.payload + network.run.settings.header
    for port, following in _crossed(network):
        if most[following] > 2 * packet:
            after.setdefault(port, set()).add(following)
    return after


def _crossed(network: PacketNetwork) -> Iterator[tuple[int, int]]:
    """The pairs of ports that data crosses, or may cross, one after the other."""
    if network.hops is None:
        yield from chain.from_iterable(map(pairwise, flow_paths(network)))
        return
    for src, dst in dict.fromkeys((flow.src, flow.dst) for flow in network.scenario.flows):
        yield from network.hops.edges(src, dst)


def _ends(port: int, paused: NDArray[np.bool_], onward: dict[int, set[int]], to_host: NDArray[np.bool_]) -> set[int]:
    if to_host[port]:
        return {port}
    ends, seen, todo = set(), {port}, [port]
    while todo:
        for following in onward.get(todo.pop(), ()):
            if not paused[following] or to_host[following]:
                ends.add(following)
            elif following not in seen:
                seen.add(following)
                todo.append(following)
    return ends


def flow_paths(network: PacketNetwork) -> Sequence[list[int]]:
    """The ports that the data of each flow crosses, its NIC first."""
    run = network.run
    ports, following = run.steps["port"].tolist(), run.steps["next"].tolist()
    paths = []
    for nic, step in zip(run.flows["port"].tolist(), network.first_steps.tolist(), strict=True):
        path = [nic]
        while step != NONE:
            path.append(ports[step])
            step = following[step]
        paths.append(path)
    return paths
