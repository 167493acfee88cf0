"""A site of NetBox or Nautobot as an inventory: an explicit design with its devices, links, racks and addresses.

The site becomes the tables that a switch would have of it; the import of config_db.json makes an inventory of them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fabricgen.adopt.adopt import Lookup
from fabricgen.adopt.settings import link_kind
from fabricgen.adopt.source import ImportSource, SourceSwitch
from fabricgen.adopt.tree import inventory_tree
from fabricgen.adopt.wiring import usable_links
from fabricgen.adopt.written import FILE_NAME, inventory_yaml, rendered_tables
from fabricgen.bundle.wiring import WiredLink
from fabricgen.dcim.site import Site, SiteCable, SiteDevice
from fabricgen.findings import Finding, Severity, has_errors
from fabricgen.inventory.load import LOCK_NAME
from fabricgen.inventory.values import NAME
from fabricgen.platforms.catalog import host_model
from fabricgen.platforms.ports_in_use import PortsInUse
from fabricgen.sonic.device_types import DEVICE_TYPES
from fabricgen.units import counted, format_length
from fabricgen.vocabulary import DeviceState, LinkKind, Medium, Role

LOOPBACK, MANAGEMENT = "Loopback0", "eth0"
_HEADER = "# Imported from {system}, site {site}, by `fabricgen import netbox`.\n"
_ROLES = {str(role): role for role in (Role.LEAF, Role.SPINE, Role.CORE)}
_MEDIA = {"dac-passive": Medium.DAC, "dac-active": Medium.AEC, "aoc": Medium.AOC, "cat6": Medium.UTP}
_STATES = {"offline": DeviceState.DRAINED, "planned": DeviceState.PLANNED, "failed": DeviceState.FAILED}


@dataclass
class AdoptedSite:
    """The files of the inventory by path, empty after errors."""

    files: dict[str, str] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    switches: int = 0
    links: int = 0


def adopt_site(site: Site, system: str, fabric: str, lookup: Lookup, gateways: Sequence[str] = ()) -> AdoptedSite:
    """The inventory of a site. Switches are the devices whose role is leaf, spine or core.

    `lookup` finds the platform and layout of a device type. `gateways` are those of the management network, which a
    source of truth does not have. Findings are about what is not in the inventory.
    """
    adopted = AdoptedSite()
    switches = dict(_switches(site, lookup, gateways, adopted.findings))
    if not switches:
        hint = "give the switches a device role with the slug leaf, spine or core"
        adopted.findings.append(_left_out(Severity.ERROR, f"site {site.name} has no switch of a fabric", hint))
    if has_errors(adopted.findings):
        return adopted
    links = [_link(cable, switches) for cable in site.cables]
    source = ImportSource(switches, tuple(link for link in links if link), {})
    usable, refused = usable_links(source)
    for link, reason in refused:
        message = f"link {':'.join(link.a)} to {':'.join(link.b)} is not in the inventory: {reason}"
        adopted.findings.append(Finding("FG142", Severity.NOTE, message))
    tree, lock, _ = inventory_tree(fabric, source, usable)
    for plane in tree["planes"].values():
        del plane["lossless"]  # a source of truth does not have it: the default of the design
    _add_cables(tree, source, usable, {(cable.a, cable.b): cable for cable in site.cables})
    _add_models(tree, site)
    _add_devices(tree, site)
    files = {FILE_NAME: _HEADER.format(system=system, site=site.name) + inventory_yaml(tree), LOCK_NAME: lock.dump()}
    tables, lock, findings = rendered_tables(files)
    adopted.findings += [*_not_carried(site, switches, links, gateways), *(findings if tables is None else ())]
    if tables is not None:
        adopted.files = {**files, LOCK_NAME: lock.dump()}
        adopted.switches, adopted.links = len(switches), len(usable)
    return adopted


def _left_out(severity: Severity, message: str, hint: str = "", count: int = 1) -> Finding:
    return Finding("FG149", severity, message, hint=hint, count=count)


def _switches(
    site: Site, lookup: Lookup, gateways: Sequence[str], findings: list[Finding]
) -> Iterator[tuple[str, SourceSwitch]]:
    in_use = PortsInUse()
    for device in site.devices:
        role = _ROLES.get(device.role.lower())
        if role is None:
            continue
        if not NAME.fullmatch(device.name):
            hint = "use letters, digits, - _ . with a letter or digit first, at most 63"
            message = f"{device.name!r} is not allowed as the name of a switch in an inventory"
            findings.append(Finding("FG140", Severity.ERROR, message, device=device.name, hint=hint))
            continue
        found = lookup(device.model) or lookup(device.part_number)
        if found is None:
            message = f"the catalog has no platform for the device type {device.model or '(none)'}"
            hint = "set the model of the device type, or its part number, to a hwsku of `fabricgen list platforms`"
            findings.append(Finding("FG141", Severity.ERROR, message, device=device.name, hint=hint))
            continue
        platform, base = found
        tables = _tables(device, role, base.hwsku, gateways)
        layout = in_use.layout(platform, base, tables["PORT"], {})
        yield device.name, SourceSwitch(device.name, role, tables, platform, layout, base)


def _tables(device: SiteDevice, role: Role, hwsku: str, gateways: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The tables of a switch that the site determines."""
    gateway_of = {6 if ":" in text else 4: text for text in gateways}
    rows: dict[str, dict[str, Any]] = {"PORT": {}, "INTERFACE": {}, "LOOPBACK_INTERFACE": {}, "MGMT_INTERFACE": {}}
    rows["DEVICE_METADATA"] = {"localhost": {"hwsku": hwsku, "hostname": device.name, "type": DEVICE_TYPES[role]}}
    for port in device.ports.values():
        keys = [f"{port.name}|{address}" for address in port.addresses]
        if port.name == LOOPBACK:
            rows["LOOPBACK_INTERFACE"] |= {key: {} for key in keys}
        elif port.name == MANAGEMENT:
            gateway = {key: gateway_of.get(6 if ":" in key else 4, "") for key in keys}
            rows["MGMT_INTERFACE"] |= {key: {"gwaddr": gateway[key]} for key in keys}
        else:
            facts = {"speed": port.speed_mbps, "mtu": port.mtu, "alias": port.label or None}
            rows["PORT"][port.name] = {name: str(value) for name, value in facts.items() if value is not None}
            rows["INTERFACE"] |= {key: {} for key in keys}
    return rows


def _link(cable: SiteCable, switches: Mapping[str, SourceSwitch]) -> WiredLink | None:
    """A cable as a link, a host at end a; None if neither end is a switch."""
    low, high = (cable.a, cable.b) if cable.b[0] in switches else (cable.b, cable.a)
    if high[0] not in switches:
        return None
    kind = LinkKind.UNKNOWN if low[0] in switches else LinkKind.HOST_LEAF
    name = f"{':'.join(low)}--{':'.join(high)}"
    return WiredLink(name, "", kind, low, high, 0, name)


def _add_cables(
    tree: Mapping[str, Any],
    source: ImportSource,
    usable: Sequence[WiredLink],
    cables: Mapping[tuple[tuple[str, str], tuple[str, str]], SiteCable],
) -> None:
    """Lengths and media: the usual ones of each kind of link in `cables` of the plane, the others at their links."""
    for name, plane in tree["planes"].items():
        links = [link for link in usable if source.switches[link.b[0]].plane == name]
        written = {link.id: _written(cables[min(link.a, link.b), max(link.a, link.b)]) for link in links}
        usual: dict[LinkKind, tuple[tuple[str, object], ...]] = {}
        for kind in sorted({link_kind(source, link) for link in links}):
            counts = Counter(written[link.id] for link in links if link_kind(source, link) == kind)
            usual[kind] = counts.most_common(1)[0][0]
        if known := {kind: dict(cable) for kind, cable in usual.items() if cable}:
            plane["cables"] = known
        for index, link in enumerate(links):
            own = written[link.id]
            if own and own != usual[link_kind(source, link)]:
                plane["links"][index] = {"ends": plane["links"][index], "cable": dict(own)}


def _written(cable: SiteCable) -> tuple[tuple[str, object], ...]:
    medium = _MEDIA.get(cable.type) or next((each for each in Medium if cable.type.startswith(each)), None)
    length = [("length", format_length(cable.length_m))] if cable.length_m else []
    return (*length, ("medium", str(medium))) if length and medium else tuple(length)


def _add_models(tree: dict[str, Any], site: Site) -> None:
    """A group whose hosts are of one model of the catalog has this model, if it has all their NICs."""
    types = {device.name: device.model for device in site.devices}
    group_of: dict[str, set[str]] = {}
    nics: dict[str, set[str]] = {}
    for plane in tree["planes"].values():
        listed = [entry["ends"] if isinstance(entry, dict) else entry for entry in plane["links"]]
        for low, _ in listed:
            host, _, nic = low.rpartition(":")
            group, slash, _ = host.rpartition("/")
            if slash:
                nics.setdefault(group, set()).add(nic)
    names = _host_names(tree)
    for name, group in names.items():
        group_of.setdefault(group, set()).add(types.get(name, ""))
    for group, models in group_of.items():
        model = host_model(next(iter(models))) if len(models) == 1 else None
        if model and nics.get(group, set()) <= model.nic_by_name.keys():
            tree["hosts"][group]["model"] = model.name
    used = {group["model"] for group in tree.get("hosts", {}).values()}
    if own := {name: model for name, model in tree.pop("host_models", {}).items() if name in used}:
        tree["host_models"] = own


def _host_names(tree: Mapping[str, Any]) -> dict[str, str]:
    """Host -> its group, by the pattern of the names."""
    pattern = tree.get("names", {}).get("host", "")
    return {
        pattern.format(group=group, number=number): group
        for group, facts in tree.get("hosts", {}).items()
        for number in range(facts["count"])
    }


def _add_devices(tree: dict[str, Any], site: Site) -> None:
    """Racks, units, serials and states; those of hosts under the names of the inventory, which are the same."""
    known = {*_host_names(tree)}
    for plane in tree["planes"].values():
        known |= {switch["name"] for tier in ("leaves", "spines", "cores") for switch in plane.get(tier, ())}
    rows = []
    for device in site.devices:
        facts = {"rack": device.rack, "unit": device.unit, "serial": device.serial}
        if device.role.lower() in _ROLES:
            facts["state"] = _STATES.get(device.status, "")
        if device.name in known and any(facts.values()):
            rows.append({"name": device.name, **{key: str(value) for key, value in facts.items() if value}})
    if rows:
        tree["devices"] = rows


def _not_carried(
    site: Site, switches: Mapping[str, SourceSwitch], links: Sequence[WiredLink | None], gateways: Sequence[str]
) -> Iterator[Finding]:
    """What the inventory does not have of the site."""
    linked = {name for link in links if link for name, _ in (link.a, link.b)}
    alone = [device.name for device in site.devices if device.name not in linked and device.name not in switches]
    if alone:
        message = f"{counted(len(alone), 'device')} without a cable to a switch: not in the inventory, as {alone[0]}"
        yield _left_out(Severity.NOTE, message, count=len(alone))
    if other := site.left_out + sum(link is None for link in links):
        message = f"{counted(other, 'cable')} between other devices, or to parts that are not interfaces of the site"
        yield _left_out(Severity.NOTE, message, count=other)
    managed = [name for name, switch in switches.items() if switch.tables["MGMT_INTERFACE"]]
    if managed and not gateways:
        message = f"the management addresses of {counted(len(managed), 'switch')}: their gateway is not known"
        yield _left_out(Severity.NOTE, message, "repeat the import with --gateway ADDRESS", len(managed))
    yield _left_out(Severity.NOTE, "ASNs, lossless classes and the rails of leaves: not in a source of truth")
