"""The keys of a dragonfly group: a dragonfly counts switches of one kind, a dragonfly+ leaves and spines."""

from collections.abc import Iterator, Sequence

from fabricgen.findings import Finding
from fabricgen.inventory.mistakes import error
from fabricgen.inventory.plane import Plane

_COUNTS = ("switches", "leaves", "spines")


def check_groups(plane: Plane, counts: Sequence[str]) -> Iterator[Finding]:
    """Findings for keys of `dragonfly:` that are missing, and for counts that groups of this kind do not have."""
    group = plane.node.mapping.get("dragonfly")
    if group is None:
        return
    for key in (*counts, "global_links"):
        if key not in group.mapping and key not in group.cut:
            hint = f"add `{key}:` to {plane.path}.dragonfly"
            yield error("FG106", f"the {plane.design} design needs {key!r}", plane, "dragonfly", hint=hint)
    for key in _COUNTS:
        if key in group.mapping and key not in counts:
            hint = f"its groups have {' and '.join(counts)}"
            yield error("FG105", f"a group of a {plane.design} has no {key!r}", plane, "dragonfly", key, hint=hint)
