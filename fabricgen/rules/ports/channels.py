"""Rules on the ports of port channels: they have one speed and one MTU, and there are enough of them."""

from collections.abc import Iterator, Mapping

from fabricgen.findings import Severity
from fabricgen.physics import DEFAULT_MTU_BYTES
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric, majority
from fabricgen.rules.view.switch import Switch, number
from fabricgen.sonic.canonical import natural_key
from fabricgen.units import counted, format_speed


@rule("FG294", Severity.ERROR, "The ports of a port channel do not fit together", breaks=Breaks.LINK)
def ports_of_channels(fabric: Fabric) -> Iterator[Defect]:
    """What: all ports of a port channel have one speed, and min_links is at most their number.

    Why: LACP aggregates ports of one speed only; the others stay out. With fewer ports than min_links the port channel
    stays down.

    Example: PortChannel8 has Ethernet8 of 400G and Ethernet12 of 100G.

    Fix: use ports of one speed, and lower min_links.

    Source: IEEE 802.1AX, 6.3 (keys contain the speed); sonic-utilities config/main.py (portchannel member add);
    sonic-swss cfgmgr/teammgr.cpp (addLag, min_ports).
    """
    for switch in fabric.switches.values():
        for channel, ports in channels_of(switch).items():
            speeds = {port: speed for port in ports if (speed := switch.speed_mbps(port))}
            usual = majority(speeds.values()) or next(iter(speeds.values()), 0)
            for port, speed in speeds.items():
                if speed != usual:
                    message = f"{port} has {format_speed(speed)}, but other ports of {channel} {format_speed(usual)}"
                    place = switch.place("PORTCHANNEL_MEMBER", f"{channel}|{port}")
                    related = ((f"the speed of {port}", switch.place("PORT", port, "speed")),)
                    yield Defect(place, message, "use ports of one speed", related)
            least = number(switch.device.text_of("PORTCHANNEL", channel, "min_links")) or 0
            if least > len(ports):
                place = switch.place("PORTCHANNEL", channel, "min_links")
                message = f"min_links is {least}, but {channel} has {counted(len(ports), 'port')}: it stays down"
                yield Defect(place, message, f"set min_links to {len(ports)} or less")


@rule("FG298", Severity.WARNING, "A VLAN or a port channel has another MTU than its ports")
def upper_mtu(fabric: Fabric) -> Iterator[Defect]:
    """What: the MTU of a port channel is that of its ports, and the MTU of a VLAN with an address is that of its
    members. Without the field both have 9100 bytes.

    Why: SONiC gives the ports of a port channel its MTU; their own has no effect. A packet that is routed into a VLAN
    is dropped if it is larger than the MTU of the VLAN or of the port.

    Example: ports have 9216 bytes, and VLAN|Vlan100 has no mtu.

    Fix: set one MTU on the ports, the port channel and the VLAN.

    Source: sonic-swss cfgmgr/teammgr.cpp (setLagMtu, addLagMember), cfgmgr/vlanmgr.cpp (DEFAULT_MTU_STR),
    orchagent/intfsorch.cpp (the router interface of a VLAN has its MTU).
    """
    for switch in fabric.switches.values():
        channels = channels_of(switch)
        for channel, ports in channels.items():
            mtu = _mtu(switch, "PORTCHANNEL", channel)
            for port in ports:
                if (own := _mtu(switch, "PORT", port)) != mtu:
                    message = f"the MTU of {port} is {own} bytes, but {channel} sets {mtu} bytes"
                    related = ((f"the MTU of {port}", switch.place("PORT", port, "mtu")),)
                    yield Defect(switch.place("PORTCHANNEL", channel, "mtu"), message, f"set mtu to {own}", related)
                    break
        for member, vlans in switch.vlans_of.items():
            table = "PORTCHANNEL" if member in channels else "PORT"
            own = _mtu(switch, table, member)
            for vlan, _ in vlans:
                mtu = _mtu(switch, "VLAN", vlan)
                if mtu != own and switch.addresses_of.get(vlan):
                    message = f"the MTU of {vlan} is {mtu} bytes, but that of its member {member} is {own} bytes"
                    related = ((f"the MTU of {member}", switch.place(table, member, "mtu")),)
                    yield Defect(switch.place("VLAN", vlan, "mtu"), message, f"set mtu to {own}", related)


def channels_of(switch: Switch) -> Mapping[str, list[str]]:
    """Port channel -> its ports, in natural order."""
    found: dict[str, list[str]] = {}
    for port, channel in sorted(switch.channel_of.items(), key=lambda one: natural_key(one[0])):
        found.setdefault(channel, []).append(port)
    return found


def _mtu(switch: Switch, table: str, key: str) -> int:
    return number(switch.device.text_of(table, key, "mtu")) or DEFAULT_MTU_BYTES
