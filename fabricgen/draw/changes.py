"""The picture of a change: both wirings in one topology, with new, changed and removed parts in colour."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fabricgen.bundle.cable_changes import CableChanges
from fabricgen.bundle.wiring import WiredLink
from fabricgen.draw.scene import Box, BoxKind, ChangeState, Line, Scene
from fabricgen.draw.topology import Topology

_WORDS: Mapping[ChangeState, str] = {
    ChangeState.ADDED: "new",
    ChangeState.CHANGED: "changed, or with a moved cable",
    ChangeState.REMOVED: "removed",
}


@dataclass(frozen=True)
class ChangeMarks:
    """The state of each switch that changes, and of each two devices whose cables change. `cables` has the ends of each
    of these cables."""

    switches: Mapping[str, ChangeState]
    pairs: Mapping[frozenset[str], ChangeState]
    cables: Mapping[ChangeState, Sequence[frozenset[str]]]


def marks_of(new: Topology, old: Topology, changed: Iterable[str], cables: CableChanges) -> ChangeMarks:
    """The marks of the switches that only one topology has, of `changed` ones, and of cables. Of several changes of two
    devices, a new cable counts most, a removed one least."""
    changes = {
        ChangeState.REMOVED: cables.removed,
        ChangeState.CHANGED: [one.new for one in cables.moved],
        ChangeState.ADDED: cables.new,
    }
    pairs = {frozenset((a[0], b[0])): state for state, every in changes.items() for links in every for a, b in links}
    ends = {state: [frozenset((a[0], b[0])) for (a, b), *_ in every] for state, every in changes.items()}
    switches = dict.fromkeys(changed, ChangeState.CHANGED)
    switches |= dict.fromkeys(new.index.keys() - old.index.keys(), ChangeState.ADDED)
    switches |= dict.fromkeys(old.index.keys() - new.index.keys(), ChangeState.REMOVED)
    return ChangeMarks(switches, pairs, ends)


def joined(new: Topology, old: Topology) -> Topology:
    """The new topology, with the switches and the pairs of switches that only the old one has."""
    switches = [*new.switches, *(one for one in old.switches if one.name not in new.index)]
    index = {switch.name: number for number, switch in enumerate(switches)}
    pairs: dict[tuple[int, int], tuple[WiredLink, ...]] = dict(new.pairs)
    for (a, b), links in old.pairs.items():
        one, other = (index[old.switches[each].name] for each in (a, b))
        if (one, other) not in pairs and (other, one) not in pairs:
            pairs[one, other] = links
    return Topology(tuple(switches), pairs, new.hosts, new.outside)


def with_marks(scene: Scene, topology: Topology, marks: ChangeMarks) -> Scene:
    """The scene in the colours of its marks. A pod counts its own."""
    boxes = tuple(_box(box, topology, scene.name, marks) for box in scene.boxes)
    of_hosts = _of_hosts(topology, marks)
    lines = tuple(_line(line, scene.boxes, marks, of_hosts) for line in scene.lines)
    members = {topology.switches[index].name for index in topology.planes[scene.name]}
    counts = Counter(state for name, state in marks.switches.items() if name in members)
    cables = {state: sum(not members.isdisjoint(ends) for ends in every) for state, every in marks.cables.items()}
    caption = "; ".join([scene.caption, *_counts("switches", counts, "changed"), *_counts("cables", cables, "moved")])
    return replace(scene, boxes=boxes, lines=lines, caption=caption, legend=tuple(_WORDS.items()))


def _counts(what: str, counts: Mapping[ChangeState, int], changed: str) -> Iterator[str]:
    words = {ChangeState.ADDED: "new", ChangeState.CHANGED: changed, ChangeState.REMOVED: "removed"}
    found = [f"{counts[state]:,} {word}" for state, word in words.items() if counts.get(state)]
    if found:
        yield f"{what}: {', '.join(found)}"


def _box(box: Box, topology: Topology, plane: str, marks: ChangeMarks) -> Box:
    if box.kind is BoxKind.SWITCH:
        return replace(box, state=marks.switches.get(box.name, ChangeState.SAME))
    if box.kind is not BoxKind.POD:
        return box
    inside = [
        marks.switches.get(topology.switches[index].name, ChangeState.SAME)
        for index in topology.planes[plane]
        if box.name == _pod_name(topology, index)
    ]
    counts = Counter(filter(None, inside))
    if not counts:
        return box
    state = next(iter(counts)) if len(counts) == 1 and counts.total() == len(inside) else ChangeState.CHANGED
    return replace(box, state=state, note="\n".join(filter(None, [box.note, *_counts("switches", counts, "changed")])))


def _pod_name(topology: Topology, index: int) -> str:
    """The box of `overview_scene` that has a switch."""
    if topology.switches[index].role == "core":
        return "core"
    pod = topology.pods[index]
    return "all switches" if pod is None else f"pod {pod}"


def _line(line: Line, boxes: Sequence[Box], marks: ChangeMarks, of_hosts: Mapping[str, ChangeState]) -> Line:
    a, b = boxes[line.a], boxes[line.b]
    if a.kind is not BoxKind.SWITCH:
        return line
    if b.kind is BoxKind.SWITCH:
        return replace(line, state=marks.pairs.get(frozenset((a.name, b.name)), ChangeState.SAME))
    return replace(line, state=of_hosts.get(a.name, ChangeState.SAME))


def _of_hosts(topology: Topology, marks: ChangeMarks) -> dict[str, ChangeState]:
    """Switch -> what happens to its cables to hosts, which share a box. New cables count most, removed ones least."""
    found: dict[str, ChangeState] = {}
    for state in (ChangeState.REMOVED, ChangeState.CHANGED, ChangeState.ADDED):
        for pair in (pair for pair, mark in marks.pairs.items() if mark is state):
            switches = [name for name in pair if name in topology.index]
            if len(switches) == 1:
                found[switches[0]] = state
    return found
