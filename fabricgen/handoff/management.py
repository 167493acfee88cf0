"""Addresses of eth0 in the files, for DHCP and collectors."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.tables import split_key

if TYPE_CHECKING:
    from fabricgen.bundle.read import ObservedDevice
    from fabricgen.sonic.addresses import Address


def management_addresses(device: "ObservedDevice") -> Iterator[tuple["Address", str]]:
    """(address, gateway) of each row of MGMT_INTERFACE, IPv4 before IPv6; "" for no valid gateway."""
    from fabricgen.sonic.addresses import parse_address  # it imports sockets

    found = []
    for key in sorted(device.table("MGMT_INTERFACE"), key=natural_key):
        parts = split_key(key)
        address = parse_address(parts[1]) if len(parts) == 2 else None
        if address is not None:
            gateway = device.text_of("MGMT_INTERFACE", key, "gwaddr")
            found.append((address, gateway if parse_address(gateway) else ""))
    yield from sorted(found, key=lambda pair: pair[0].version)
