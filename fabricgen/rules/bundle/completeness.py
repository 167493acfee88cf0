"""Rules on manifest.json: every rendered file exists."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fabricgen.bundle.manifest import NAME, read_manifest
from fabricgen.bundle.read import CONFIG_NAME, OPTIONS_NAME
from fabricgen.findings import Location, Severity
from fabricgen.inputs import read_bytes
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric


@dataclass(frozen=True)
class _Listed:
    """A switch, subnet or group of hosts of which only the file names in the manifest are known."""

    name: str
    manifest: Path

    def locate(self, *path: str) -> Location:
        """The line of the manifest that lists a file."""
        before = read_bytes(self.manifest).partition(f'"{path[0]}"'.encode())[0]
        return Location(str(self.manifest), before.count(b"\n") + 1, 1)


@rule("FG220", Severity.ERROR, "A file of the bundle is missing")
def missing_files(fabric: Fabric) -> Iterator[Defect]:
    """What: the bundle contains every config_db.json and opensm.conf that manifest.json lists, and at least one file of
    each group of hosts.

    Why: a switch without a file is not checked, so it would appear correct.

    Example: sonic/leaf7/config_db.json was lost in a merge.

    Fix: restore the file, or render again. A bundle of `render --only` lists only the chosen switches.

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
    return Defect(place, f"{path} is missing", "restore the file, or run `fabricgen render` again")
