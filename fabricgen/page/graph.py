"""The topology of the report: switches, pairs of switches, ports, and the scenes that the page draws."""

from collections.abc import Iterator, Sequence
from typing import Any

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import WiredLink
from fabricgen.draw.equipment import layer_2
from fabricgen.draw.layout import plane_scene
from fabricgen.draw.matrix import is_matrix, matrix_scene
from fabricgen.draw.pods import MOST_DRAWN, overview_scene, pod_scene, pods_of
from fabricgen.draw.scene import BoxKind, Scene
from fabricgen.draw.topology import Topology

COLUMNS = (
    "name", "plane", "role", "subplane", "pod", "su", "rail", "platform", "hwsku", "loopback", "management", "rack",
    "unit", "state", "hosts", "host_links", "configuration",
)  # fmt: skip
MOST_PORTS = 20_000  # links whose ports the page lists; of larger fabrics it counts them

Cable = tuple[float | None, str]  # its length in m, its medium


def graph_object(bundle: Bundle, topology: Topology, configuration: Sequence[int | None]) -> dict[str, Any]:
    """`switches` as rows of `columns`. `pairs` are [switch, switch, links, speed, cable length, medium, ports]. Large
    fabrics have `pair_runs` instead: [switch, links, speed, length, medium, runs], where a run [first, count, step]
    names several switches. `hosts` lists the links to hosts by switch, as `_host_links` has them. Indices are those of
    `switches`."""
    with_ports = len(topology.switches) <= MOST_DRAWN and _links(topology) <= MOST_PORTS
    cables = _cables(bundle)
    found: dict[str, Any] = {
        "columns": COLUMNS,
        "switches": [_switch(topology, index, configuration[index]) for index in range(len(topology.switches))],
        "scenes": {plane: list(_scenes(topology, plane)) for plane in topology.planes},
    }
    if with_ports:
        found["pairs"] = [_pair(topology, pair, cables) for pair in topology.pairs]
        found["hosts"] = {index: list(_host_links(bundle, topology, index, cables)) for index in topology.hosts}
        found["outside"] = {
            index: [[link.a[0], link.b[1], link.speed_mbps] for link in links]
            for index, links in topology.outside.items()
        }
    else:
        found["pair_runs"] = list(_runs(topology, cables))
    return found


def _host_links(bundle: Bundle, topology: Topology, index: int, cables: dict[str, Cable]) -> Iterator[list[Any]]:
    """[host, NIC, port, speed, cable length, medium, port channel and VLANs of the port] of each link of a switch."""
    links, device = topology.hosts[index], bundle.devices.get(topology.switches[index].name)
    access = layer_2(device.content.peek(), [link.b[1] for link in links]) if device else {}
    for link in links:
        text = access.get(link.b[1], "").removeprefix(", ")
        yield [*link.a, link.b[1], link.speed_mbps, *cables.get(link.id, (None, "")), text]


def _links(topology: Topology) -> int:
    return sum(map(len, (*topology.pairs.values(), *topology.hosts.values())))


def _switch(topology: Topology, index: int, configuration: int | None) -> list[Any]:
    switch = topology.switches[index]
    hosts, links = topology.hosts_of((index,))
    return [
        switch.name, switch.plane, switch.role, switch.subplane, topology.pods[index], switch.su, switch.rail,
        switch.platform, switch.hwsku, " ".join(switch.loopbacks), " ".join(switch.management), switch.rack,
        switch.unit, switch.state, hosts, links, configuration,
    ]  # fmt: skip


def _cables(bundle: Bundle) -> dict[str, Cable]:
    """Link -> its cable."""
    cables = bundle.wiring.cables if bundle.wiring else ()
    return {link: (cable.length_m, cable.medium) for cable in cables for link in cable.links}


def _kind(links: Sequence[WiredLink], cables: dict[str, Cable]) -> tuple[Any, ...]:
    """Links, speed, cable length and medium; None or "" where the links differ."""
    speeds = {link.speed_mbps for link in links}
    found = {cables.get(link.id, (None, "")) for link in links}
    cable = found.pop() if len(found) == 1 else (None, "")
    return len(links), speeds.pop() if len(speeds) == 1 else None, *cable


def _pair(topology: Topology, pair: tuple[int, int], cables: dict[str, Cable]) -> list[Any]:
    links = topology.pairs[pair]
    near = topology.switches[pair[0]].name
    ports = [[link.a[1], link.b[1]] if link.a[0] == near else [link.b[1], link.a[1]] for link in links]
    return [*pair, *_kind(links, cables), ports]


def _runs(topology: Topology, cables: dict[str, Cable]) -> Iterator[list[Any]]:
    found: dict[tuple[Any, ...], list[int]] = {}
    for (a, b), links in topology.pairs.items():
        found.setdefault((a, *_kind(links, cables)), []).append(b)
    yield from ([*key, list(runs(sorted(others)))] for key, others in found.items())


def runs(numbers: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Increasing numbers as (first, count, step)."""
    start = 0
    while start < len(numbers):
        step = numbers[start + 1] - numbers[start] if start + 1 < len(numbers) else 1
        end = start + 1
        while end < len(numbers) and numbers[end] - numbers[end - 1] == step:
            end += 1
        yield numbers[start], end - start, step
        start = end


def _scenes(topology: Topology, plane: str) -> Iterator[dict[str, Any]]:
    """One scene of a small plane; of a large one its overview and its pods."""
    if len(topology.planes[plane]) <= MOST_DRAWN:
        members = topology.planes[plane]
        is_large = is_matrix(topology, members)
        yield scene_object(
            topology, matrix_scene(topology, plane, members) if is_large else plane_scene(topology, plane)
        )
        return
    pods = pods_of(topology, plane)
    if len(pods) > 1:
        yield scene_object(topology, overview_scene(topology, plane))
    for pod in pods:
        yield scene_object(topology, pod_scene(topology, plane, pod))


def scene_object(topology: Topology, scene: Scene) -> dict[str, Any]:
    """A scene as lists. A box starts with the index of its switch, or with the kind of anything else."""
    return {
        "name": scene.name,
        "caption": scene.caption,
        "width": scene.width,
        "height": round(scene.height),
        "boxes": [
            [
                topology.index[box.name] if box.kind is BoxKind.SWITCH else box.kind,
                *(round(number, 1) for number in (box.x, box.y, box.width, box.height)),
                box.text,
                box.note.split("\n") if box.note else [],
            ]
            for box in scene.boxes
        ],
        "lines": [
            [
                line.a,
                line.b,
                line.links,
                *(round(n, 1) for n in (line.x1, line.y1, line.x2, line.y2)),
                line.bow,
                line.text,
            ]
            for line in scene.lines
        ],
        "labels": [[label.x, label.y, label.text, label.anchor] for label in scene.labels],
    }
