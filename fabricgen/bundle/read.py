"""A bundle, or any config_db.json files, read back for judging: devices, tables, links, hosts, sources.

A bundle with fabric.json has the planned links. Links of other files are derived from what the files say
(`link_sources`), or given in a links file.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from fabricgen.atomic.journal import refuse_incomplete
from fabricgen.bundle import infer
from fabricgen.bundle.cables import Cabling
from fabricgen.bundle.config_files import ConfigFiles, by_device
from fabricgen.bundle.device import FileContent, ObservedDevice, parse_object
from fabricgen.bundle.fabric_file import load_wiring
from fabricgen.bundle.frr_files import frr_beside
from fabricgen.bundle.hosts import ObservedHosts, read_hosts
from fabricgen.bundle.link_sources import Contradiction, find_links
from fabricgen.bundle.listing import line_of
from fabricgen.bundle.manifest import NAME as MANIFEST_NAME
from fabricgen.bundle.manifest import read_manifest
from fabricgen.bundle.manifests import FOLDER as KUBERNETES
from fabricgen.bundle.manifests import ObservedManifests
from fabricgen.bundle.names import CONFIG_NAME
from fabricgen.bundle.sources import NAME as SOURCES_NAME
from fabricgen.bundle.sources import Sources, read_sources
from fabricgen.bundle.wiring import Endpoint, WiredLink, Wiring
from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.inputs import read_bytes
from fabricgen.sonic.canonical import natural_key
from fabricgen.vocabulary import LinkKind

__all__ = ["CONFIG_NAME", "OPTIONS_NAME", "PLATFORMS", "Bundle", "ObservedDevice", "open_bundle", "parse_object"]

OPTIONS_NAME = "opensm.conf"
PLATFORMS = "platforms"  # the folder of entries that the catalog does not have


@dataclass(frozen=True, eq=False)
class Bundle:
    """What is judged. `devices` are in natural order of their names; `wiring` is None for loose files, and so is `root`
    unless they have a manifest.json.

    Devices are switches with a config_db.json, `links` those of their planes: InfiniBand planes are in `wiring` alone.
    """

    devices: Mapping[str, ObservedDevice]
    links: tuple[WiredLink, ...]
    root: Path | None = None
    wiring: Wiring | None = None
    links_from: str = "fabric.json"  # | a file with links or of LLDP | sources, such as "DEVICE_NEIGHBOR, BGP"
    contradictions: tuple[Contradiction, ...] = ()  # of the sources of links, without fabric.json
    subnet_roots: tuple[Path, ...] = ()  # bundles with InfiniBand planes, and loose folders with an opensm.conf
    hosts: Mapping[str, ObservedHosts] = field(default_factory=dict)  # the files of hosts, by group
    cabling: Cabling | None = None  # the planned and the observed cables, if `links` are observed
    models: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)  # the routing models of its planes

    @cached_property
    def release(self) -> int | None:
        """The SONiC release that the manifest names; None without one."""
        manifest = read_manifest(self.root) if self.root else None
        return manifest.sonic_release if manifest else None

    @property
    def platform_files(self) -> tuple[Path, ...]:
        """The entries of switch models that are not in the catalog."""
        return tuple(sorted((self.root / PLATFORMS).glob("*.yaml"))) if self.root else ()

    @cached_property
    def kubernetes(self) -> ObservedManifests | None:
        """The objects of `handoff kubernetes` in the folder kubernetes/; None without it."""
        folder = self.root / KUBERNETES if self.root else None
        return ObservedManifests(folder) if folder and folder.is_dir() and self.wiring else None

    def file(self, path: str) -> Path | None:
        """A file of the folder; None if it is missing."""
        file = self.root / path if self.root else None
        return file if file and file.is_file() else None

    def locate_wired(self, kind: str, name: str) -> Location | None:
        """The place of a plane, a device or a host (`kind` is planes, devices, hosts) in fabric.json, if it is read."""
        if self.wiring is None or self.root is None:
            return None
        file = self.root / "fabric.json"
        return Location(str(file), line_of(read_bytes(file), kind, name), 1)

    @cached_property
    def switch_links(self) -> tuple[WiredLink, ...]:
        """The links with a known switch at both ends."""
        return tuple(link for link in self.links if link.a[0] in self.devices and link.b[0] in self.devices)

    @cached_property
    def host_links(self) -> tuple[WiredLink, ...]:
        """The links from a host (end a) to a switch (end b)."""
        return tuple(link for link in self.links if link.kind == LinkKind.HOST_LEAF and link.b[0] in self.devices)

    @cached_property
    def external_at(self) -> Mapping[tuple[str, str], WiredLink]:
        """(switch, port) -> the link from a device outside the fabric (end a) to this port."""
        return {link.b: link for link in self.links if link.kind == LinkKind.EXTERNAL and link.b[0] in self.devices}

    @cached_property
    def link_at(self) -> Mapping[tuple[str, str], WiredLink]:
        """(device, port) -> the link of this port, for both ends of each link."""
        return {end: link for link in self.links for end in (link.a, link.b)}

    @cached_property
    def cordoned(self) -> frozenset[Endpoint]:
        """Both ends of each link that is out of service on purpose."""
        names = set(self.wiring.cordoned) if self.wiring else set()
        links = self.wiring.links if self.wiring and names else ()
        return frozenset(end for link in links if link.id in names for end in (link.a, link.b))

    @cached_property
    def sources(self) -> Sources | None:
        """Where the values come from; None for files outside a bundle. Raises UnreadableInputError."""
        return read_sources(self.root) if self.root else None

    @cached_property
    def cable_length_m(self) -> Mapping[str, float]:
        """link id -> true cable length, where known."""
        cables = self.wiring.cables if self.wiring else ()
        return {link: cable.length_m for cable in cables for link in cable.links}


def open_again(bundle: Bundle, changed: Collection[str]) -> Bundle:
    """The bundle of one folder after these files of it were written or removed; the other files are not read again.

    Raises UnreadableInputError as `open_bundle`.
    """
    assert bundle.root is not None
    paths = {name: f"sonic/{name}/{CONFIG_NAME}" for name in bundle.devices}
    may_differ = {*changed} - {*paths.values(), MANIFEST_NAME, SOURCES_NAME}
    fresh = open_bundle([bundle.root]) if may_differ else bundle
    devices = dict(fresh.devices)
    for name, device in devices.items():
        old = bundle.devices.get(name)
        if old is not None and isinstance(old.content, FileContent):
            content = old.content.again() if paths[name] in changed else old.content
            devices[name] = device if content is device.content else replace(device, content=content)
    again = replace(fresh, devices=devices)
    again.__dict__.update((name, found) for name, found in fresh.__dict__.items() if name in _OF_LINKS)
    return again


_OF_LINKS = {"switch_links", "host_links", "external_at", "link_at", "cordoned", "cable_length_m"}
_RENDER_FIRST = "; of an inventory, render a bundle first: `fabricgen render INVENTORY --output BUNDLE`"


def open_bundle(paths: Sequence[Path], links_file: Path | None = None) -> Bundle:
    """One bundle of all devices of bundles, of config_db.json files and of folders of them or of subnet managers.

    Raises UnreadableInputError for a path that is missing, is not JSON, or does not contain a device.
    """
    wirings: list[Wiring] = []
    subnet_roots: list[Path] = []
    found: list[tuple[str, Path]] = []
    configs = ConfigFiles()
    root: Path | None = None
    for path in paths:
        if not path.exists():
            raise UnreadableInputError("no such file or folder", Location(str(path)))
        refuse_incomplete(path)
        if path.suffix in (".yaml", ".yml"):
            raise UnreadableInputError(f"is not a JSON file{_RENDER_FIRST}", Location(str(path)))
        if (path / MANIFEST_NAME).is_file():
            root = path
        if (path / "fabric.json").is_file():
            root = path
            wirings.append(_read_wiring(path / "fabric.json"))
        if subnets := _subnet_root(path):
            subnet_roots.append(subnets)
        below = [] if path.name == OPTIONS_NAME else configs.below(path)
        if not (subnets or below):
            problem = f"contains neither a {CONFIG_NAME} nor an {OPTIONS_NAME}"
            if next(path.glob("*.yaml"), None):
                problem += _RENDER_FIRST
            raise UnreadableInputError(problem, Location(str(path)))
        found += below
    files = by_device(found)
    wiring = wirings[0] if len(wirings) == 1 and len(paths) == 1 else None
    wired = {device.name: device for device in wiring.devices} if wiring else {}
    manifest = read_manifest(root) if root and len(paths) == 1 else None
    release = manifest.sonic_release if manifest else None
    devices = {
        name: ObservedDevice(name, files[name], wired.get(name), configs.content(files[name]), release)
        for name in sorted(files, key=natural_key)
    }
    tables = {name: device.table for name, device in devices.items()}
    subnets_of = tuple(subnet_roots)
    if links_file is not None:
        planned = wiring.links if wiring else ()
        links = infer.from_links_file(links_file, read_bytes(links_file), tables, planned)
        hosts = read_hosts(root)
        return Bundle(devices, links, root, wiring, str(links_file), subnet_roots=subnets_of, hosts=hosts)
    if wiring is not None:
        links = tuple(link for link in wiring.links if link.plane not in wiring.infiniband_planes)
        return Bundle(devices, links, root, wiring, subnet_roots=subnets_of, hosts=read_hosts(root))
    found_links = find_links(tables, {name: frr for name, file in files.items() if (frr := frr_beside(file))})
    of_manifest = root if len(paths) == 1 else None
    return Bundle(
        devices,
        found_links.links,
        of_manifest,
        links_from=found_links.sources,
        contradictions=found_links.contradictions,
        subnet_roots=subnets_of,
    )


def _subnet_root(path: Path) -> Path | None:
    """The path itself if it contains the files of subnet managers, or has them below its infiniband/ folder."""
    if path.name == OPTIONS_NAME:
        return path.parent
    return path if (path / OPTIONS_NAME).is_file() or any((path / "infiniband").glob("*/")) else None


def _read_wiring(file: Path) -> Wiring:
    try:
        return load_wiring(read_bytes(file))
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableInputError(
            f"not a fabric.json that this version reads: {error}", Location(str(file))
        ) from error
