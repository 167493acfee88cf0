"""Rules on manifest.json: every rendered file exists with its rendered content, and no other file is in the bundle."""

import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from fabricgen.bundle.manifest import NAME, load_manifest
from fabricgen.bundle.read import CONFIG_NAME, OPTIONS_NAME, Bundle
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Finding, Location, Related, Severity
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.rendered_files import compare, place_of, rendered_files
from fabricgen.vocabulary import Technology

_RENDER = "restore the file, or run `fabricgen render` again"
# Rules read the values of these files. fabric.json is not among them: rules compare the other files with it.
_READ = re.compile(
    rf"cabling\.csv|sonic/[^/]+/{CONFIG_NAME}"
    r"|hosts/[^/]+/(roce/[^/]+\.conf|(nccl|rccl|ucx|sysctl)\.conf|netplan/[^/]+\.yaml|links/[^/]+\.link)"
    r"|infiniband/.+/(opensm\.conf|partitions\.conf|\w+_guids|(ib-)?node-name-map|qos-policy\.conf"
    r"|torus-2QoS\.conf|sharp_am\.cfg|topology\.(ibsim|topo))"
)
_SHOWN = 5


@rule("FG220", Severity.ERROR, "A file of the bundle is missing", Basis.FORM)
def missing_files(fabric: Fabric) -> Iterator[Defect]:
    """What: The bundle contains every file that manifest.json lists. A group of hosts without any file is one finding.
    Without manifest.json, it contains a config_db.json for every SONiC switch of fabric.json.

    Why: A switch without a file is not checked, so it would appear correct. A host or a subnet manager without a file
    keeps its defaults.

    Example: sonic/leaf7/config_db.json was lost in a merge.

    Fix: Restore the file, or render again. A bundle of `render --only` lists only the chosen switches.

    Source: The format of the bundle.
    """
    root, found = fabric.bundle.root, rendered_files(fabric)
    if root is None:
        return
    if found is None:
        for name in _without_file(fabric.bundle):
            path = f"sonic/{name}/{CONFIG_NAME}"
            message = f"{path} is missing: the switch is not judged"
            yield Defect(place_of(root, path), message, "restore the file, or remove the switch from fabric.json")
        return
    groups: dict[str, list[str]] = defaultdict(list)
    for path in found.manifest.files:
        if path.startswith("hosts/"):
            groups[path.split("/")[1]].append(path)
    gone = {group for group, paths in groups.items() if not any((root / path).is_file() for path in paths)}
    for path in found.missing:
        group = path.split("/")[1] if path.startswith("hosts/") else ""
        if group not in gone:
            yield Defect(place_of(root, path), f"{path} is missing", _RENDER)
        elif path == groups[group][0]:
            yield Defect(place_of(root, path), f"{path} and all other files of the group are missing", _RENDER)


def _without_file(bundle: Bundle) -> Iterator[str]:
    """The SONiC switches of fabric.json that have no config_db.json."""
    for device in bundle.wiring.devices if bundle.wiring else ():
        if device.technology == Technology.ROCE and device.name not in bundle.devices:
            yield device.name


@rule("FG255", Severity.WARNING, "A file differs from the rendered one", Basis.FORM)
def changed_files(fabric: Fabric) -> Iterator[Defect]:
    """What: The sha256 of every file is that in manifest.json. It is a note for a file whose values other rules check.
    `validate --deploy` refuses the bundle.

    Why: No other rule finds a fault in a program or a unit that was cut, and every rule relies on fabric.json.

    Example: hosts/gpu/fabricgen-roce was edited on a host and copied back.

    Fix: Make the change in the inventory or in a template, and render again.

    Source: The format of the bundle.
    """
    root, found = fabric.bundle.root, rendered_files(fabric)
    for path in found.changed if root and found else ():
        assert root
        severity = Severity.NOTE if _READ.fullmatch(path) else Severity.WARNING
        message = "the file differs from the rendered one: another sha256 than in manifest.json"
        hint = "change the inventory or a template instead, and run `fabricgen render`"
        yield Defect(place_of(root, path), message, hint, severity=severity)


@rule("FG256", Severity.WARNING, "A folder of the bundle has a file that fabricgen did not write", Basis.FORM)
def unlisted_files(fabric: Fabric) -> Iterator[Defect]:
    """What: sonic/, hosts/ and infiniband/ contain only files that manifest.json lists. A file that is neither copied
    to a host nor read by a switch or a subnet manager is a note, for example README.md.

    Why: Handoffs and people deploy whole folders. A switch of another fabric gets a configuration, or each host of a
    group gets an unknown unit. `render` never removes such a file.

    Example: sonic/leaf99/config_db.json is left from another fabric.

    Fix: Remove the file, or add the device to the inventory and render.

    Source: The format of the bundle.
    """
    root, found = fabric.bundle.root, rendered_files(fabric)
    for path in found.unlisted if root and found else ():
        assert root
        severity = Severity.WARNING if _is_deployed(path) else Severity.NOTE
        hint = "remove the file, or add what it configures to the inventory"
        yield Defect(place_of(root, path), "manifest.json does not list the file", hint, severity=severity)


def _is_deployed(path: str) -> bool:
    """Whether a switch, a host or a subnet manager gets the file if its folder is copied."""
    folder, file = path.split("/")[0], PurePosixPath(path)
    if file.name.startswith((".", "README")) or file.suffix == ".md":
        return False
    return folder == "hosts" or file.name in (CONFIG_NAME, OPTIONS_NAME) or bool(_READ.fullmatch(path))


@rule("FG257", Severity.ERROR, "The manifest of the bundle cannot be read")
def readable_manifest(fabric: Fabric) -> Iterator[Defect]:
    """What: manifest.json lists each rendered file with its sha256. Only `validate --deploy` refuses a bundle
    without this file.

    Why: Without the list, a file that is missing, changed or added is not found.

    Example: A merge left conflict markers in manifest.json.

    Fix: Render again. Never merge manifest.json by hand.

    Source: The format of the bundle.
    """
    root = fabric.bundle.root
    if root is None or fabric.bundle.wiring is None or not (root / NAME).exists():
        return
    try:
        load_manifest(root)
    except (UnreadableInputError, ValueError) as error:
        place = Place(_File("", root / NAME), NAME)
        yield Defect(place, f"not a manifest: {error}", "run `fabricgen render` again")


class _File:
    """A file of the bundle as a whole."""

    def __init__(self, name: str, path: Path) -> None:
        self.name, self._path = name, path

    def locate(self, *_: str) -> Location:
        """The file."""
        return Location(str(self._path))


def not_as_rendered(bundle: Bundle) -> Iterator[Finding]:
    """The error about a bundle that is not as it was rendered, which `validate --deploy` refuses."""
    if bundle.root is None or bundle.wiring is None:
        return
    found = compare(bundle)
    if found is None:
        message = "the bundle has no readable manifest.json: nothing shows that its files are the rendered ones"
        yield _refused(message, [Location(str(bundle.root / NAME))], 1)
        return
    extra = [path for path in found.unlisted if _is_deployed(path)]
    files = [*found.changed, *found.missing, *extra]
    if files:
        parts = ((found.changed, "changed"), (found.missing, "missing"), (extra, "added"))
        counts = ", ".join(f"{len(paths)} {word}" for paths, word in parts if paths)
        message = f"the files are not the rendered ones ({counts}), for example {files[0]}"
        yield _refused(message, [Location(str(bundle.root / path)) for path in files[:_SHOWN]], len(files))


def _refused(message: str, places: list[Location], count: int) -> Finding:
    related = tuple(Related("another file", place) for place in places[1:])
    hint = "run `fabricgen render`, and deploy the result"
    return Finding("FG259", Severity.ERROR, message, location=places[0], related=related, hint=hint, count=count)
