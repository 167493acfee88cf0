"""A described fabric to an explicit inventory, and what its render does not have of the description."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from fabricgen.adopt.foreign.described import WRONG, DescribedEnd, DescribedSwitch, Description
from fabricgen.adopt.foreign.hardware import Fitted, fit, platform_of, port_modes
from fabricgen.adopt.foreign.made_hardware import made_platform
from fabricgen.adopt.overrides import overrides
from fabricgen.adopt.source import ImportSource, SourceSwitch, Tables
from fabricgen.adopt.tree import inventory_tree
from fabricgen.adopt.wiring import usable_links
from fabricgen.adopt.written import FILE_NAME, REFUSED_NUMBERS, Adopted, inventory_yaml, not_allowed, rendered_tables
from fabricgen.bundle.wiring import Endpoint, WiredLink
from fabricgen.findings import Finding, Location, Severity, has_errors
from fabricgen.inventory.load import LOCK_NAME
from fabricgen.inventory.values import NAME
from fabricgen.physics import DEFAULT_MTU_BYTES
from fabricgen.platforms.entry_text import switch_entry_text
from fabricgen.platforms.model import IMPORTED, SwitchPlatform
from fabricgen.platforms.port_modes import PortModes
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.tables import vlan_name
from fabricgen.vocabulary import LinkKind, Role

UNKNOWN_HARDWARE, DIFFERENT, TO_ADD, MADE = "FG865", "FG868", "FG869", "FG870"
_ADD_HEADROOM = "lossless classes need headroom: import the device folder with `fabricgen import sonic-device`"


def explicit_inventory(
    described: Description, fabric: str, kind: str, hardware: Mapping[str, str], first: Location, *,
    single_file: bool = False,
) -> Adopted:  # fmt: skip
    """The inventory of a description. `hardware` is model -> platform, for models that the catalog does not have.

    `kind` is the name of the import, `first` the first of its files. The files are empty after errors. A platform that
    is made for a model needs a separate file, so it is an error with `single_file`.
    """
    adopted = Adopted(findings=list(described.findings))
    fitted = _fitted(described, hardware, adopted.findings)
    made = {one.platform.name: one.platform for one in fitted.values() if one.platform.vendor == IMPORTED}
    adopted.findings += _made(made.values(), single_file=single_file)
    if not described.switches:
        message = "the files do not describe a switch of a fabric"
        hint = f"give the files that `fabricgen import {kind} --help` describes"
        adopted.findings.append(Finding(WRONG, Severity.ERROR, message, location=first, hint=hint))
    if has_errors(adopted.findings):
        return adopted
    for name in _agree_on_speeds(described, fitted):
        fitted[name] = fit(described.switches[name], fitted[name].layouts)
    roles = _roles(described)
    switches = {
        name: SourceSwitch(name, roles[name], _tables(switch, fitted[name]), fitted[name].platform,
                           fitted[name].layout, fitted[name].base)
        for name, switch in sorted(described.switches.items(), key=lambda item: natural_key(item[0]))
    }  # fmt: skip
    links = {ends: (link, place) for ends, link, place in _links(described, fitted)}
    source = ImportSource(switches, tuple(link for link, _ in links.values()), {})
    usable, refused = usable_links(source)
    for link, reason in refused:
        message = f"link {':'.join(link.a)} to {':'.join(link.b)} is not in the inventory: {reason}"
        place = links[frozenset((link.a, link.b))][1]
        adopted.findings.append(Finding("FG142", Severity.NOTE, message, location=place))
    tree, lock, _ = inventory_tree(fabric, source, usable)
    _add_notes(tree, described)
    entries = {f"platforms/{name}.yaml": switch_entry_text(platform) for name, platform in sorted(made.items())}
    if entries:
        tree["platforms"] = list(entries)
    files = {LOCK_NAME: lock.dump(), **entries}
    tables, lock, findings = rendered_tables({FILE_NAME: inventory_yaml(tree), **files})
    if any(one.code in REFUSED_NUMBERS for one in findings):
        files[LOCK_NAME] = lock.dump()
        tables, lock, findings = rendered_tables({FILE_NAME: inventory_yaml(tree), **files})
    if tables is not None and any(one.vlans or one.channels for one in described.switches.values()):
        tree["overrides"] = _host_overrides(described, fitted, switches, tables)
        tables, lock, findings = rendered_tables({FILE_NAME: inventory_yaml(tree), **files})
    adopted.findings += described.not_imported()
    if tables is None:
        adopted.findings += [replace(one, location=None, related=()) for one in findings]  # not a file of the person
        return adopted
    adopted.links = len(usable)
    adopted.findings += _differences(described, switches, tables)
    adopted.findings += _to_add(tree, described)
    header = f"# Imported by `fabricgen import {kind}`.\n"
    adopted.files = {FILE_NAME: header + inventory_yaml(tree), LOCK_NAME: lock.dump(), **entries}
    return adopted


def _fitted(described: Description, hardware: Mapping[str, str], findings: list[Finding]) -> dict[str, Fitted]:
    """Name -> its hardware, for the switches with known hardware and an allowed name."""
    found: dict[str, Fitted] = {}
    layouts: dict[str, tuple[PortModes, ...]] = {}
    unknown: dict[str, list[DescribedSwitch]] = {}
    of_model: dict[str, list[DescribedSwitch]] = {}
    for switch in described.switches.values():
        of_model.setdefault(switch.model, []).append(switch)
    platforms = {
        model: platform_of(model, hardware) or made_platform(model, switches) for model, switches in of_model.items()
    }
    for name, switch in described.switches.items():
        if not NAME.fullmatch(name):
            findings.append(not_allowed(name, switch.place))
        elif platform := platforms[switch.model]:
            if platform.name not in layouts:
                layouts[platform.name] = port_modes(platform)
            found[name] = fit(switch, layouts[platform.name])
        else:
            unknown.setdefault(switch.model, []).append(switch)
    for model, switches in unknown.items():
        example = f"--hardware {model or 'MODEL'}=PLATFORM"
        hint = f"add {example}, a name of `fabricgen list platforms` that has the same ports"
        message = f"the catalog has no switch {model!r}" if model else "the files do not name the hardware of a switch"
        first = switches[0]
        findings.append(
            Finding(UNKNOWN_HARDWARE, Severity.ERROR, message, first.name, location=first.place, hint=hint,
                    count=len(switches))
        )  # fmt: skip
    return found


def _made(platforms: Iterable[SwitchPlatform], *, single_file: bool) -> Iterator[Finding]:
    """One finding for each platform that is not of the catalog. It needs a separate file."""
    for platform in platforms:
        ports = len(platform.layouts[0].ports)
        message = (
            f"the catalog does not have {platform.name}: its entry has {ports} ports ({platform.sources['all']}) and "
        )
        hint = "give --output: the entry is a file beside the inventory" if single_file else _ADD_HEADROOM
        severity = Severity.ERROR if single_file else Severity.NOTE
        yield Finding(MADE, severity, f"{message}no headroom", hint=hint)


def _agree_on_speeds(described: Description, fitted: Mapping[str, Fitted]) -> set[str]:
    """The switches with a port that got the speed of the far end of its link: the stated one, else the lower one.

    The speed of a port without a stated one depends on the layout, and many layouts have the port.
    """
    changed = set()
    for link in described.links:
        if link.a.device not in fitted or link.b.device not in fitted:
            continue
        ports = [described.switches[end.device].ports.get(end.port) for end in (link.a, link.b)]
        made = [fitted[end.device].ports.get(end.port) for end in (link.a, link.b)]
        stated = [port.speed_mbps for port in ports if port and port.speed_mbps]
        speeds = stated or [each.speed_mbps for each in made if each]
        for end, port, each in zip((link.a, link.b), ports, made, strict=True):
            if port and port.speed_mbps is None and each and each.speed_mbps != min(speeds):
                port.speed_mbps = min(speeds)
                changed.add(end.device)
    return changed


def _roles(described: Description) -> dict[str, Role]:
    """The role of each switch: that of the files, else leaf if it has hosts or no switch has any, else spine."""
    with_hosts = {end.device for link in described.links if link.is_host for end in (link.a, link.b)}
    with_hosts &= described.switches.keys()
    return {
        name: switch.role or (Role.LEAF if name in with_hosts or not with_hosts else Role.SPINE)
        for name, switch in described.switches.items()
    }


def _tables(switch: DescribedSwitch, fitted: Fitted) -> Tables:
    """The rows of CONFIG_DB that say the same as the description."""
    metadata: dict[str, str | list[str]] = {"hostname": switch.name, "hwsku": fitted.base.hwsku}
    if switch.asn:
        metadata["bgp_asn"] = str(switch.asn)
    if switch.mac:
        metadata["mac"] = switch.mac
    interfaces: dict[str, dict[str, str | list[str]]] = {
        f"{port.name}|{address}": {} for name, port in fitted.ports.items() for address in switch.ports[name].addresses
    }
    ports: dict[str, dict[str, str | list[str]]] = {
        port.name: {"speed": str(port.speed_mbps)} for port in fitted.layout.ports
    }
    for name, port in fitted.ports.items():
        if mtu := switch.ports[name].mtu:
            ports[port.name]["mtu"] = mtu
    return {
        "DEVICE_METADATA": {"localhost": metadata},
        "PORT": ports,
        "INTERFACE": interfaces,
        "LOOPBACK_INTERFACE": {f"Loopback0|{address}": {} for address in switch.loopbacks},
        "MGMT_INTERFACE": {
            f"eth0|{address}": {"gwaddr": switch.gateway} for address in switch.management if switch.gateway
        },
    }


def _host_overrides(
    described: Description,
    fitted: Mapping[str, Fitted],
    switches: Mapping[str, SourceSwitch],
    rendered: Mapping[str, Mapping[str, Any]],
) -> list[dict[str, Any]]:
    """The overrides that add VLANs and port channels, and that take the addresses from their ports."""
    sources, before = {}, {}
    for name, switch in switches.items():
        tables, members = _host_tables(described, described.switches[name], fitted[name])
        interfaces = rendered[name].get("INTERFACE", {})
        tables["INTERFACE"] = {key: row for key, row in interfaces.items() if key.partition("|")[0] not in members}
        sources[name] = replace(switch, tables=tables)
        before[name] = {"INTERFACE": interfaces}
    return overrides(ImportSource(sources, (), {}), before, with_foreign=True)[0]


def _host_tables(described: Description, switch: DescribedSwitch, fitted: Fitted) -> tuple[Tables, set[str]]:
    """The rows of VLANs and port channels, and the ports that belong to one."""
    names = {name: port.name for name, port in fitted.ports.items()}
    tables: Tables = {}
    for channel, ports in switch.channels.items():
        if known := [names[port] for port in ports if port in names]:
            row = {"admin_status": "up", "lacp_key": "auto", "min_links": "1", "mtu": str(DEFAULT_MTU_BYTES)}
            tables.setdefault("PORTCHANNEL", {})[channel] = dict(row)
            for port in known:
                tables.setdefault("PORTCHANNEL_MEMBER", {})[f"{channel}|{port}"] = {}
            names[channel] = channel
            for address in switch.ports[ports[0]].addresses if channel in switch.routed else ():
                rows = tables.setdefault("PORTCHANNEL_INTERFACE", {})
                rows |= {channel: {}, f"{channel}|{address}": {}}
    for number, vlan in switch.vlans.items():
        row = {"vlanid": str(number), "mtu": str(DEFAULT_MTU_BYTES)}
        servers = {"dhcp_servers": list(vlan.dhcp_servers)} if vlan.dhcp_servers else {}
        tables.setdefault("VLAN", {})[vlan_name(number)] = {**row, **servers}
        for address in vlan.addresses:
            rows = tables.setdefault("VLAN_INTERFACE", {})
            rows.setdefault(vlan_name(number), {})
            rows[f"{vlan_name(number)}|{address}"] = {}
        for member, is_tagged in vlan.members.items():
            if member not in names:
                described.leave_out(f"a member of a VLAN that the hardware does not have: {member}", vlan.place)
                continue
            mode = "tagged" if is_tagged else "untagged"
            tables.setdefault("VLAN_MEMBER", {})[f"{vlan_name(number)}|{names[member]}"] = {"tagging_mode": mode}
    keys = [key.partition("|")[2] for table in ("PORTCHANNEL_MEMBER", "VLAN_MEMBER") for key in tables.get(table, {})]
    return tables, set(keys)


def _links(
    described: Description, fitted: Mapping[str, Fitted]
) -> Iterator[tuple[frozenset[Endpoint], WiredLink, Location]]:
    """Both ends, the link and its place; ports of switches by their name in SONiC."""
    for link in described.links:
        ends = [_end(described, fitted, end) for end in (link.a, link.b)]
        if None in ends:
            bad = next(end for end, found in zip((link.a, link.b), ends, strict=True) if found is None)
            model = described.switches[bad.device].model
            described.leave_out(f"a link at {bad.device} {bad.port}: {model} has no such port in this mode", link.place)
            continue
        a, b = (end for end in ends if end)
        if a[0] in described.switches and b[0] not in described.switches:
            a, b = b, a
        outside = a[0] not in described.switches
        kind = (LinkKind.HOST_LEAF if link.is_host else LinkKind.EXTERNAL) if outside else LinkKind.PEER
        name = f"{':'.join(a)}--{':'.join(b)}"
        yield frozenset((a, b)), WiredLink(name, "", kind, a, b, 0, ""), link.place


def _end(described: Description, fitted: Mapping[str, Fitted], end: DescribedEnd) -> Endpoint | None:
    if end.device not in described.switches:
        return end.device, end.port
    port = fitted[end.device].ports.get(end.port)
    return (end.device, port.name) if port else None


def _add_notes(tree: dict[str, Any], described: Description) -> None:
    """Serials and racks of the switches."""
    notes = {note["name"]: note for note in tree.pop("devices", [])}
    for name, switch in described.switches.items():
        known = {key: text for key, text in (("serial", switch.serial), ("rack", switch.rack)) if text}
        if known:
            notes[name] = notes.get(name, {"name": name}) | known
    if notes:
        tree["devices"] = [notes[name] for name in described.switches if name in notes]


def _differences(
    described: Description, switches: Mapping[str, SourceSwitch], tables: Mapping[str, Any]
) -> Iterator[Finding]:
    """The ASNs and addresses of the description that the render does not have."""
    for name, switch in switches.items():
        made, place = tables[name], described.switches[name].place
        wanted = {
            f"bgp_asn {switch.asn}": str(switch.asn) == made["DEVICE_METADATA"]["localhost"].get("bgp_asn"),
        } if switch.asn else {}  # fmt: skip
        for table in ("LOOPBACK_INTERFACE", "MGMT_INTERFACE", "INTERFACE"):
            present = {key.lower() for key in made.get(table, {})}
            if table == "INTERFACE":  # the address of a port may be that of its port channel
                channels = {key.partition("|")[2]: key.partition("|")[0] for key in made.get("PORTCHANNEL_MEMBER", {})}
                routed = {key.lower() for key in made.get("PORTCHANNEL_INTERFACE", {})}
                present |= {
                    f"{port}|{address}".lower()
                    for port, channel in channels.items()
                    for name, bar, address in (key.partition("|") for key in routed)
                    if bar and name == channel.lower()
                }
            wanted |= {key.replace("|", " "): key.lower() in present for key in switch.tables[table]}
        for what, is_kept in wanted.items():
            if not is_kept:
                hint = "set it in the lock file, or with an override, if the switch must keep it"
                message = f"the inventory does not have {what} of {name}"
                yield Finding(DIFFERENT, Severity.WARNING, message, name, location=place, hint=hint)


def _to_add(tree: Mapping[str, Any], described: Description) -> Iterator[Finding]:
    """What the files do not contain, and a person must add."""
    if without := [one for one in described.switches.values() if one.management and not one.gateway]:
        network = without[0].management[0].network
        message = f"the files have addresses of eth0 in {network}, and no gateway: the inventory has no `management`"
        hint = f"add management: {{addresses: {network}, gateway: ADDRESS}}, and the addresses to the lock file"
        yield Finding(TO_ADD, Severity.WARNING, message, without[0].name, location=without[0].place, hint=hint,
                      count=len(without))  # fmt: skip
    if with_vlans := [one for one in described.switches.values() if any(vlan.members for vlan in one.vlans.values())]:
        message = (
            "ports of hosts are in VLANs, and the files do not have the addresses of hosts: the inventory has the "
        )
        message += "rows of switches as overrides, and hosts with addresses of routed ports"
        hint = "set `access` of the plane, and remove the overrides that it replaces"
        yield Finding(TO_ADD, Severity.WARNING, message, with_vlans[0].name, location=with_vlans[0].place, hint=hint,
                      count=len(with_vlans))  # fmt: skip
    for name, plane in tree["planes"].items():
        if plane["lossless"] == "none":
            message = f"plane {name} has no lossless classes: the files do not describe them"
            hint = f"set planes.{name}.lossless, for example to roce-lossless, and planes.{name}.cables"
            yield Finding(TO_ADD, Severity.NOTE, message, path=f"planes.{name}.lossless", hint=hint)
    if tree.get("host_models"):
        message = "the files do not describe the GPUs and NIC models of hosts"
        hint = "edit host_models, or name a model of `fabricgen list hosts` under hosts"
        yield Finding(TO_ADD, Severity.NOTE, message, path="host_models", hint=hint)
