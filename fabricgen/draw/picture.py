"""A picture of a bundle in the format of its file name."""

from collections.abc import Callable, Iterable, Mapping

from fabricgen.bundle.cable_changes import CableChanges
from fabricgen.bundle.read import Bundle
from fabricgen.draw.changes import joined, marks_of, with_marks
from fabricgen.draw.dot import scene_dot
from fabricgen.draw.drawio import scene_drawio
from fabricgen.draw.layout import plane_scene
from fabricgen.draw.pods import MOST_DRAWN, overview_scene
from fabricgen.draw.scene import Scene
from fabricgen.draw.svg import scene_svg
from fabricgen.draw.topology import Topology, read_topology
from fabricgen.errors import UsageError

WRITERS: Mapping[str, Callable[[Scene], str]] = {".svg": scene_svg, ".drawio": scene_drawio, ".dot": scene_dot}


def fabric_scenes(bundle: Bundle, plane: str | None = None) -> dict[str, Scene]:
    """Plane -> its scene; a plane of more than 500 switches as pods with counts.

    Raises UsageError for an unknown plane, and for files without switches.
    """
    return _scenes(read_topology(bundle), plane)


def change_scenes(
    new: Bundle, old: Bundle, changed: Iterable[str], cables: CableChanges, plane: str | None = None
) -> dict[str, Scene]:
    """Plane -> its scene with the change from `old` in colour, for the planes with a change. `changed` are switches
    with other rows. Raises UsageError as `fabric_scenes`."""
    after, before = read_topology(new), read_topology(old)
    topology, marks = joined(after, before), marks_of(after, before, changed, cables)
    scenes = _scenes(topology, plane)
    found = {name: with_marks(scene, topology, marks) for name, scene in scenes.items()}
    return {
        name: scene
        for name, scene in found.items()
        if any(box.state for box in scene.boxes) or any(line.state for line in scene.lines)
    }


def _scenes(topology: Topology, plane: str | None) -> dict[str, Scene]:
    if plane is not None and plane not in topology.planes:
        raise UsageError(f"the bundle has no plane {plane!r}; it has {', '.join(topology.planes)}")
    chosen = [plane] if plane is not None else list(topology.planes)
    if not chosen:
        raise UsageError("the files contain no switches")
    return {
        name: (overview_scene if len(topology.planes[name]) > MOST_DRAWN else plane_scene)(topology, name)
        for name in chosen
    }
