"""Layouts of large planes: pods with counts, and each pod as matrices without lines."""

from collections import Counter
from collections.abc import Mapping, Sequence

from fabricgen.draw.layout import LEFT, place_tier
from fabricgen.draw.matrix import is_matrix, matrix_scene
from fabricgen.draw.scene import WIDTH, Box, BoxKind, Label, Line, Scene
from fabricgen.draw.topology import RANK, Topology
from fabricgen.units import counted
from fabricgen.vocabulary import Role

MOST_DRAWN = 500  # switches of a plane with a line for each pair; a larger plane is drawn as pods
_ACROSS = 8
_CARD = 128
_GAP = 8
_WORDS: Mapping[str, tuple[str, str]] = {Role.LEAF: ("leaf", "leaves"), Role.SPINE: ("spine", "spines")}


def pods_of(topology: Topology, plane: str) -> dict[int | None, tuple[int, ...]]:
    """Pod -> its leaves and spines. A plane without pods is one, None. Cores belong to no pod."""
    found: dict[int | None, list[int]] = {}
    for index in topology.planes[plane]:
        if topology.switches[index].role != Role.CORE:
            found.setdefault(topology.pods[index], []).append(index)
    return {pod: tuple(found[pod]) for pod in sorted(found, key=lambda pod: (pod is None, pod or 0))}


def overview_scene(topology: Topology, plane: str) -> Scene:
    """The pods of a plane as cards with counts; lines to the cores carry the number of links."""
    pods = pods_of(topology, plane)
    cores = [index for index in topology.planes[plane] if topology.switches[index].role == Role.CORE]
    of_pod = {index: pod for pod, members in pods.items() for index in members}
    inside, upward = _link_counts(topology, of_pod)
    boxes: list[Box] = []
    lines: list[Line] = []
    top = 34.0
    if cores:
        text = f"{counted(len(cores), 'core switch', 'core switches')}"
        boxes.append(Box("core", BoxKind.POD, LEFT, top, WIDTH - LEFT - 24, 32, text))
        top += 112
    across = min(len(pods), _ACROSS)
    step = (WIDTH - LEFT - 24) / across
    for number, (pod, members) in enumerate(pods.items()):
        x, y = LEFT + number % across * step + _GAP / 2, top + number // across * (_CARD + 24)
        name = "all switches" if pod is None else f"pod {pod}"
        note = _card_text(topology, members, inside[pod])
        boxes.append(Box(name, BoxKind.POD, x, y, step - _GAP, _CARD, name, note))
        if upward[pod] and number < across:
            middle = x + (step - _GAP) / 2
            lines.append(Line(0, len(boxes) - 1, upward[pod], middle, 66, middle, y, text=f"{upward[pod]:,} links"))
    height = top + (len(pods) + across - 1) // across * (_CARD + 24)
    caption = f"{counted(len(topology.planes[plane]), 'switch', 'switches')} in {counted(len(pods), 'pod')}"
    labels = (Label(16, 54, "core"),) if cores else ()
    return Scene(plane, caption, height, tuple(boxes), tuple(lines), (*labels, Label(16, top + 20, "pods")))


def pod_scene(topology: Topology, plane: str, pod: int | None) -> Scene:
    """One pod, and the cores, as matrices: a row is a rail where there are rails. Lines are drawn on selection; the
    links of neighboring tiers are counted between them."""
    pods = pods_of(topology, plane)
    members = pods[pod]
    cores = [index for index in topology.planes[plane] if topology.switches[index].role == Role.CORE]
    name = plane if len(pods) == 1 else f"{plane} pod {pod}"
    if is_matrix(topology, members):
        return matrix_scene(topology, name, (*cores, *members))
    roles = {topology.switches[index].role for index in members}
    boxes: list[Box] = []
    labels: list[Label] = []
    y = 34.0
    tiers = [
        cores,
        *(
            [i for i in members if topology.switches[i].role == role]
            for role in sorted(roles, key=lambda role: -RANK.get(role, 0))
        ),
    ]
    above: Sequence[int] = ()
    for tier in filter(None, tiers):
        if links := _between(topology, above, tier):
            labels.append(Label(LEFT, y - 26, f"{links:,} {'link' if links == 1 else 'links'}"))
        above, placed = tier, list(place_tier(topology, tier, y, named=True))
        labels += [Label(16, y + 11, topology.switches[tier[0]].role), Label(16, y + 25, f"{len(tier):,}")]
        boxes += placed
        y = max(box.y + box.height for box in placed) + 62
    hosts, _ = topology.hosts_of(members)
    outside = len(topology.outside_of(members))
    parts = [counted(len(members), "switch", "switches"), counted(len(cores), "core"), counted(hosts, "host")]
    parts.append(f"{counted(outside, 'device')} outside the fabric")
    caption = f"{name}: {', '.join(part for part in parts if not part.startswith('0 '))}"
    return Scene(name, caption, y - 40, tuple(boxes), (), tuple(labels))


def _between(topology: Topology, above: Sequence[int], below: Sequence[int]) -> int:
    """The links from one tier to the other."""
    upper, lower = set(above), set(below)
    return sum(
        len(links)
        for (a, b), links in topology.pairs.items()
        if (a in upper and b in lower) or (b in upper and a in lower)
    )


def _link_counts(
    topology: Topology, of_pod: Mapping[int, int | None]
) -> tuple[Counter[int | None], Counter[int | None]]:
    """The links inside each pod, and those from it to the cores."""
    inside: Counter[int | None] = Counter()
    upward: Counter[int | None] = Counter()
    for (a, b), links in topology.pairs.items():
        if a in of_pod and b in of_pod:
            inside[of_pod[a]] += len(links)
        elif a in of_pod or b in of_pod:
            upward[of_pod[a] if a in of_pod else of_pod[b]] += len(links)
    return inside, upward


def _card_text(topology: Topology, members: Sequence[int], inside: int) -> str:
    """Lines of a card: switches of each tier, links between them, hosts."""
    roles = Counter(topology.switches[index].role for index in members)
    hosts, links = topology.hosts_of(tuple(members))
    parts = [
        f"{roles[role]:,} {_WORDS.get(role, (role, role))[roles[role] != 1]}"
        for role in sorted(roles, key=lambda role: -RANK.get(role, 0))
    ]
    return "\n".join([*parts, f"{inside:,} links", f"{hosts:,} hosts", f"{links:,} NICs"])
