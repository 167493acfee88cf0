"""Rules on DEVICE_METADATA: the switch is the planned one, and its platform is known."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from fabricgen.bundle.names import is_file_name
from fabricgen.bundle.read import Bundle
from fabricgen.findings import Finding, Severity
from fabricgen.platforms.model import UNKNOWN_HWSKU
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.device_types import DEVICE_TYPES
from fabricgen.sonic.image import SESSION_TABLES, runs_bgpcfgd
from fabricgen.units import counted

_ROW = ("DEVICE_METADATA", "localhost")
_MAC = re.compile(r"(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}")
_SHOWN = 4  # names in a message


@rule("FG221", Severity.ERROR, "The hostname differs from the device's name")
def hostname(fabric: Fabric) -> Iterator[Defect]:
    """What: DEVICE_METADATA.hostname equals the name of the device in the bundle. In loose files it is not the hostname
    of another file, and not the name of another device.

    Why: Neighbors, LLDP and deployment tools identify a switch by its name. A file with another switch's hostname is
    usually the file of that switch. A file without a hostname is a warning: the switch calls itself sonic.

    Example: sonic/leaf1/config_db.json has hostname leaf2.

    Fix: Set hostname to the device's name, or rename the folder.

    Source: sonic-buildimage src/sonic-yang-models/yang-models/sonic-device_metadata.yang,
    files/image_config/hostname/hostname-config.sh.
    """
    hostnames = Counter(switch.device.text_of(*_ROW, "hostname") for switch in fabric.switches.values())
    for switch in fabric.switches.values():
        found = switch.device.text_of(*_ROW, "hostname")
        # Without fabric.json a folder may have any name, but two files with one hostname are copies.
        is_alone = not found or (is_file_name(found) and hostnames[found] == 1 and found not in fabric.switches)
        is_loose = switch.device.wired is None and is_alone
        asic = switch.device.text_of(*_ROW, "asic_name")  # one of several ASICs, each with a file and the same hostname
        if switch.name not in (found, f"{found}-{asic}") and not is_loose:
            message = f"hostname is {found!r}, but the device is {switch.name}"
            severity = None
            if "hostname" not in switch.device.metadata:
                message, severity = "hostname is missing: the switch calls itself sonic", Severity.WARNING
            yield Defect(switch.place(*_ROW, "hostname"), message, f"set hostname to {switch.name}", severity=severity)


@rule("FG222", Severity.ERROR, "Two switches have the same MAC address")
def duplicate_mac(fabric: Fabric) -> Iterator[Defect]:
    """What: DEVICE_METADATA.mac is different on every switch.

    Why: Routed ports answer ARP with this address. If two switches with a common neighbor share it, packets reach
    either of them.

    Example: leaf1 and leaf2 both have mac 02:00:00:00:00:01 after a copied file.

    Fix: Give each switch the base MAC in its EEPROM, or remove the field.

    Source: sonic-buildimage sonic-device_metadata.yang; sonic-swss orchagent reads it as the router MAC.
    """
    owners: dict[str, list[Switch]] = defaultdict(list)
    for switch in fabric.switches.values():
        if mac := switch.device.text_of(*_ROW, "mac").lower():
            owners[mac].append(switch)
    for mac, switches in owners.items():
        for switch in switches if len(switches) > 1 else ():
            other = next(one for one in switches if one is not switch)
            related = (("the other switch", other.place(*_ROW, "mac")),)
            hint = "set mac to the base MAC of this switch, or remove it"
            yield Defect(switch.place(*_ROW, "mac"), f"{other.name} has the same mac {mac}", hint, related)


@rule("FG263", Severity.ERROR, "The MAC address of a switch is not a unicast address")
def unicast_mac(fabric: Fabric) -> Iterator[Defect]:
    """What: DEVICE_METADATA.mac is not a group address, and not zero.

    Why: The switch sends frames from this address and answers ARP with it. Hosts and switches discard frames from a
    group address, and flood frames to it.

    Example: mac is 01:00:5e:00:00:01.

    Fix: Set mac to the base MAC in the EEPROM of the switch, or remove the field.

    Source: IEEE 802.3 clause 3.2.3; sonic-swss orchagent reads it as the router MAC.
    """
    for switch in fabric.switches.values():
        mac = switch.device.text_of(*_ROW, "mac")
        octets = mac.split(":")
        if _MAC.fullmatch(mac) and (int(octets[0], 16) & 1 or not any(int(each, 16) for each in octets)):
            kind = "a group address" if int(octets[0], 16) & 1 else "zero"
            hint = "set mac to the base MAC of this switch, or remove it"
            yield Defect(switch.place(*_ROW, "mac"), f"mac {mac} is {kind}", hint)


def without_mac(bundle: Bundle) -> Iterator[Finding]:
    """The note of `validate --deploy` on switches without `mac`: `config reload` adds it, a plain boot does not."""
    without = [device for device in bundle.devices.values() if not device.text_of(*_ROW, "mac")]
    if without:
        names = ", ".join(device.name for device in without[:_SHOWN]) + (" …" if without[_SHOWN:] else "")
        yield Finding(
            code="FG262",
            severity=Severity.NOTE,
            message=f"{counted(len(without), 'switch')} without mac in DEVICE_METADATA: {names}",
            location=without[0].locate(_ROW[0]),
            hint="deploy with `config reload` or ZTP, which add the MAC of the switch. Before a copy and boot, set "
            "`mac` in `devices`",
            count=len(without),
        )


@rule("FG223", Severity.ERROR, "The hwsku differs from the planned one")
def planned_hwsku(fabric: Fabric) -> Iterator[Defect]:
    """What: DEVICE_METADATA.hwsku is that of the device in fabric.json.

    Why: The hwsku selects port lanes, buffer tables and SerDes settings of the whole switch. With a wrong hwsku the
    ports do not match the cables.

    Example: fabric.json plans Arista-7060X6-64PE-O128S2, the file has Arista-7060X6-64PE-64x400G.

    Fix: Set hwsku to the planned one, or change the platform in the inventory and render again.

    Source: sonic-buildimage device/<vendor>/<platform>/<hwsku>.
    """
    for switch in fabric.switches.values():
        planned = switch.device.wired.hwsku if switch.device.wired else ""
        if planned and switch.hwsku != planned and (switch.hwsku or planned != UNKNOWN_HWSKU):
            message = f"hwsku is {switch.hwsku or 'missing'}, but {planned} is planned"
            yield Defect(switch.place(*_ROW, "hwsku"), message, f"set hwsku to {planned}")


@rule("FG224", Severity.ERROR, "The platform does not belong to the hwsku")
def platform_of_hwsku(fabric: Fabric) -> Iterator[Defect]:
    """What: DEVICE_METADATA.platform is the ONIE platform whose folder contains the hwsku.

    Why: SONiC finds the hwsku in the platform's folder. With a wrong pair the switch has no ports.

    Example: hwsku Mellanox-SN5600-O128 with platform x86_64-mlnx_msn4700-r0.

    Fix: Set platform to the ONIE name of the model.

    Source: sonic-buildimage device/<vendor>/<platform>/<hwsku>.
    """
    for switch in fabric.switches.values():
        found = switch.device.text_of(*_ROW, "platform")
        if switch.platform and found != switch.platform.onie_platform:
            expected = switch.platform.onie_platform
            message = f"platform is {found or 'missing'}, but hwsku {switch.hwsku} belongs to {expected}"
            yield Defect(switch.place(*_ROW, "platform"), message, f"set platform to {expected}")


@rule("FG225", Severity.ERROR, "The buffer model differs from the platform's")
def buffer_model(fabric: Fabric) -> Iterator[Defect]:
    """What: DEVICE_METADATA.buffer_model is that of the platform's image: dynamic only if it has Lua scripts.

    Why: In the dynamic model buffermgrd computes pools and headroom with the vendor's Lua scripts. Without them the
    switch has no headroom. A traditional file on a dynamic switch crashes orchagent with a pool without size. If all
    its pools have sizes, as those of the SKU's buffers.json.j2, it works, but the catalog has no pools and profiles of
    this model to compare (a warning; an error with fabric.json, which plans the other model).

    Example: buffer_model "dynamic" on a Broadcom switch.

    Fix: "traditional" on Broadcom and Marvell, "dynamic" where NVIDIA's templates are rendered.

    Source: sonic-swss pull request 1956, cfgmgr/buffer_pool_*.lua, buffer_headroom_*.lua; sonic-utilities
    config/main.py (`config qos reload` takes buffers.json.j2 unless the model is dynamic).
    """
    for switch in fabric.switches.values():
        found = switch.device.text_of(*_ROW, "buffer_model") or "traditional"
        if switch.platform and found != switch.platform.buffer_model:
            expected = switch.platform.buffer_model
            message = f"buffer_model is {found}, but {switch.platform.name} uses {expected}"
            hint, severity = f"set buffer_model to {expected}", None
            pools = switch.device.table("BUFFER_POOL").values()
            is_planned = fabric.bundle.wiring is not None
            if found == "traditional" and not is_planned and pools and all("size" in row for row in pools):
                message = f"buffer_model is traditional: the catalog has pools and profiles of {expected} only"
                hint, severity = "compare pools and profiles with the SKU's buffers_defaults template", Severity.WARNING
            yield Defect(switch.place(*_ROW, "buffer_model"), message, hint, severity=severity)


@rule("FG226", Severity.NOTE, "The hwsku is unknown")
def unknown_hwsku(fabric: Fabric) -> Iterator[Defect]:
    """What: The catalog has no platform with this hwsku, so some checks are not done for the switch.

    Why: lanes, aliases, pool sizes and headroom are facts about the hardware. fabricgen does not guess them.

    Example: hwsku MyLab-64x400G.

    Fix: `fabricgen import sonic-device DIR` makes a catalog entry from the SKU's folder.

    Source: fabricgen/platforms/catalog.
    """
    for switch in fabric.switches.values():
        if not switch.layout:
            message = (
                f"hwsku {switch.hwsku or '(none)'} is unknown: lanes, aliases, breakout, pools, profiles, "
                "headroom and buffer model are not checked"
            )
            hint = "import the SKU's device folder with `fabricgen import sonic-device`"
            yield Defect(switch.place(*_ROW, "hwsku"), message, hint)


@rule("FG227", Severity.ERROR, "The device type does not match the tier")
def type_of_tier(fabric: Fabric) -> Iterator[Defect]:
    """What: DEVICE_METADATA.type is present, differs between the tiers, and is never ToRRouter above the leaves.

    Why: Without a type bgpcfgd starts no BGP session (a warning on a switch without neighbors). The type sets the ECMP
    hash seed, so two tiers with one type use the same hash, and traffic polarizes. ToRRouter accepts its own ASN once
    in a path: above the leaves this allows valley routes and thus cyclic buffer dependencies.

    Example: A spine has type ToRRouter, or leaves and spines both have LeafRouter.

    Fix: leaf ToRRouter, spine LeafRouter, core SpineRouter.

    Source: sonic-buildimage dockers/docker-orchagent/switch.json.j2, src/sonic-bgpcfgd, bgpd.main.conf.j2.
    """
    types: dict[str, set[str]] = defaultdict(set)
    for switch in fabric.switches.values():
        types[switch.role].add(switch.device.text_of(*_ROW, "type"))
    for switch in fabric.switches.values():
        found, place = switch.device.text_of(*_ROW, "type"), switch.place(*_ROW, "type")
        usual = DEVICE_TYPES.get(switch.role, "")
        hint = f"set type to {usual}" if usual else "set type"
        if not found:
            if runs_bgpcfgd(switch.device.config) and any(map(switch.device.table, SESSION_TABLES)):
                yield Defect(place, "type is missing, so no BGP session starts", hint)
            else:
                message = "type is missing: it selects the buffers and the seed of the hash"
                yield Defect(place, message, hint, severity=Severity.WARNING)
        elif not switch.device.wired or found == usual:
            continue
        elif found == "ToRRouter":
            yield Defect(place, f"type is ToRRouter, so this {switch.role} accepts routes with its own ASN", hint)
        elif other := next(
            (role for role, kinds in sorted(types.items()) if role != switch.role and found in kinds), ""
        ):
            message = f"type is {found}, so this {switch.role} uses the same hash as the {other}s"
            yield Defect(place, message, hint)
