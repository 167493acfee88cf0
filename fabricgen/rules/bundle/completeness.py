"""manifest.json: what was rendered is there to be judged."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fabricgen.bundle.manifest import NAME, read_manifest
from fabricgen.bundle.read import CONFIG_NAME, OPTIONS_NAME, read_bytes
from fabricgen.findings import Location, Severity
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric


@dataclass(frozen=True)
class _Listed:
    """A switch, subnet or group of hosts as the manifest has it: by its files."""

    name: str
    manifest: Path

    def locate(self, *path: str) -> Location:
        """The line of the manifest that lists a file."""
        before = read_bytes(self.manifest).partition(f'"{path[0]}"'.encode())[0]
        return Location(str(self.manifest), before.count(b"\n") + 1, 1)


@rule("FG220", Severity.ERROR, "A file of the bundle is gone")
def gone(fabric: Fabric) -> Iterator[Defect]:
    """What: every config_db.json and opensm.conf that manifest.json lists is in the bundle, and some file of each
    group of hosts.

    Why: a switch without its file is not judged at all, and would look as sound as the others.

    Example: sonic/leaf7/config_db.json was lost in a merge.

    Fix: restore the file, or render again. A bundle that `render --only` made lists the chosen switches alone.

    Source: the format of the bundle.
    """
    root = fabric.bundle.root
    manifest = read_manifest(root) if root else None
    if root is None or manifest is None:
        return
    hosts: dict[str, list[str]] = defaultdict(list)
    for path in manifest.files:
        kind, owner, *_, name = path.split("/") if path.count("/") > 1 else ("", "", "")
        if kind == "hosts":
            hosts[f"hosts/{owner}"].append(path)
        elif name in (CONFIG_NAME, OPTIONS_NAME) and not (root / path).exists():
            yield _defect(owner, root, path)
    for group, paths in hosts.items():
        if not any((root / path).exists() for path in paths):
            yield _defect(group, root, paths[0])


def _defect(owner: str, root: Path, path: str) -> Defect:
    place = Place(_Listed(owner, root / NAME), path)
    return Defect(place, f"{path} is not there", "restore it, or run `fabricgen render` again")
