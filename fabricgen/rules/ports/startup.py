"""Rules on settings that keep a switch from starting: its containers, and the type of its chip."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric

_DISABLED = ("disabled", "always_disabled")
# What stops without the container. FG362 judges bgp.
_CONTAINERS = {
    "database": "no daemon can read the configuration",
    "swss": "no port comes up",
    "syncd": "no port comes up",
    "teamd": "no port channel comes up",
    "pmon": "xcvrd does not start the optics of 400G and more, fans and sensors are not watched",
    "lldp": "cables cannot be compared with the plan",
    "macsec": "no encrypted port passes traffic",
    "snmp": "nothing answers the managers that the file names",
    "gnmi": "nothing answers on the port that the file names",
    "telemetry": "nothing answers on the port that the file names",
    "sflow": "no samples are sent",
}
_ONLY_WATCHES = frozenset({"lldp", "snmp", "gnmi", "telemetry", "sflow"})  # traffic passes without it
# Containers that matter only with rows of a table.
_NEEDED_BY = {
    "teamd": "PORTCHANNEL_MEMBER",
    "macsec": "MACSEC_PROFILE",
    "snmp": "SNMP_COMMUNITY",
    "gnmi": "GNMI",
    "telemetry": "TELEMETRY",
    "sflow": "SFLOW_COLLECTOR",
}
_RESTARTED = ("swss", "syncd", "bgp", "teamd", "pmon")
_TYPE = ("DEVICE_METADATA", "localhost", "switch_type")
_FIXED_TYPES = ("", "switch", "npu")
_WITHOUT_OUTPUT_QUEUES = ("Tomahawk", "Trident", "Spectrum")


@rule("FG357", Severity.ERROR, "A container that forwarding needs is disabled", breaks=Breaks.SESSION)
def disabled_container(fabric: Fabric) -> Iterator[Defect]:
    """What: The containers database, swss, syncd and pmon are not disabled in FEATURE, and teamd and macsec are
    not if the file has port channels or MACsec profiles. lldp disabled is a warning, and so are snmp, gnmi, telemetry
    and sflow whose tables have rows. FG362 judges bgp.

    Why: The table is applied at each start. Without swss or syncd nothing programs the chip: all ports stay down, and
    only the management port answers. Without pmon no xcvrd sets up the data path of CMIS optics, so links of 400G and
    800G stay down. Without lldp no tool can compare the cables with the plan.

    Example: FEATURE|syncd has state disabled.

    Fix: Set the state to enabled, or remove the row: then the image's own state holds.

    Source: sonic-buildimage src/sonic-host-services (featured), files/build_templates/init_cfg.json.j2; issue 20430
    (CMIS data path by xcvrd of pmon).
    """
    for switch in fabric.switches.values():
        for name, effect in _CONTAINERS.items():
            state = switch.device.text_of("FEATURE", name, "state")
            if state in _DISABLED and (name not in _NEEDED_BY or switch.device.table(_NEEDED_BY[name])):
                place = switch.place("FEATURE", name, "state")
                severity = Severity.WARNING if name in _ONLY_WATCHES else None
                yield Defect(place, f"FEATURE|{name} is {state}: {effect}", "set state to enabled", severity=severity)


@rule("FG428", Severity.WARNING, "A container that forwarding needs does not start again")
def without_restart(fabric: Fabric) -> Iterator[Defect]:
    """What: auto_restart of the features swss, syncd, bgp, teamd and pmon is not disabled.

    Why: The supervisor ends a container whose critical process has crashed, and systemd starts it again. Without the
    restart one crash takes the switch out of service until a person starts the container.

    Example: FEATURE|bgp has auto_restart disabled.

    Fix: Set auto_restart to enabled, or remove the field: then the image's own value holds.

    Source: sonic-host-services scripts/featured FeatureHandler.update_systemd_config; sonic-buildimage
    files/build_templates/init_cfg.json.j2 (auto_restart).
    """
    for switch in fabric.switches.values():
        for name in _RESTARTED:
            state = switch.device.text_of("FEATURE", name, "auto_restart")
            if state in _DISABLED:
                place = switch.place("FEATURE", name, "auto_restart")
                message = f"auto_restart of {name} is {state}: after a crash it stays down"
                yield Defect(place, message, "set auto_restart to enabled")


@rule("FG358", Severity.ERROR, "The type of the switch does not fit its chip")
def type_of_chip(fabric: Fabric) -> Iterator[Defect]:
    """What: switch_type is missing, switch or npu on switches whose chip does not have virtual output queues: Tomahawk,
    Trident and Spectrum.

    Why: orchagent selects its modules and the attributes of the chip by this field. With voq it expects system ports
    and a switch ID, with dpu or fabric it does not serve front ports. The chip does not start, or its ports stay down.

    Example: switch_type voq on a Tomahawk 5.

    Fix: Remove switch_type.

    Source: sonic-swss orchagent/main.cpp (gMySwitchType); sonic-buildimage sonic-device_metadata.yang.
    """
    for switch in fabric.switches.values():
        found, asic = switch.device.text_of(*_TYPE), (switch.platform and switch.platform.asic) or ""
        if found not in _FIXED_TYPES and asic.startswith(_WITHOUT_OUTPUT_QUEUES):
            yield Defect(switch.place(*_TYPE), f"switch_type is {found}, but the chip is {asic}", "remove switch_type")
