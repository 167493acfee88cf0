"""The interfaces of a switch that its file shuts down."""

from fabricgen.sonic.image import rows
from fabricgen.sonic.tables import ConfigDb


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
