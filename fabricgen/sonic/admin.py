"""What a file sets for the interfaces of its switch: which are shut down, and the speeds of ports."""

from fabricgen.sonic.image import rows, text
from fabricgen.sonic.tables import ConfigDb
from fabricgen.units import whole_number


def shut_interfaces(config: ConfigDb) -> dict[str, tuple[str, ...]]:
    """Interface -> the (table, key, field) that shuts it down.

    A port without admin_status is down as well; FG237 reports it, and it counts as up here. A port channel is down with
    its members, or by its own field.
    """
    found: dict[str, tuple[str, ...]] = {
        port: ("PORT", port, "admin_status")
        for port, row in rows(config, "PORT").items()
        if row.get("admin_status") == "down"
    }
    members: dict[str, list[str]] = {}
    for key in rows(config, "PORTCHANNEL_MEMBER"):
        channel, _, port = key.partition("|")
        members.setdefault(channel, []).append(port)
    for channel, ports in members.items():
        if all(port in found for port in ports):
            found[channel] = found[ports[0]]
    for channel, row in rows(config, "PORTCHANNEL").items():
        if row.get("admin_status") == "down":
            found[channel] = ("PORTCHANNEL", channel, "admin_status")
    return found


def port_speeds(config: ConfigDb) -> dict[str, int]:
    """Port -> PORT.speed in Mb/s. A port whose speed is missing or not a number, which the rules report, is left
    out."""
    speeds = {port: whole_number(text(row, "speed")) for port, row in rows(config, "PORT").items()}
    return {port: mbps for port, mbps in speeds.items() if mbps}
