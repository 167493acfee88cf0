"""DHCP for hosts in VLANs: the configuration of Kea, with the planned address of each port.

The relay of a switch adds option 82 to a request. Its circuit id names the switch and the port, so the server knows the
host without its MAC address: `%h:%p` is the host name of the switch and the alias of the port, or the name of the port
channel, which has no alias. Names and aliases are cut after 16 bytes (IFNAMSIZ).

Source: sonic-buildimage 086b03b dockers/docker-dhcp-relay/dhcpv4-relay.agents.j2 (-a %h:%p %P),
port-name-alias-map.txt.j2, src/isc-dhcp/patch/0002 to 0004 (format_relay_agent_rfc3046_msg). Kea Administrator
Reference Manual, Host Reservations: identifier circuit-id. The relay of sonic-dhcp-relay, which images start only with
has_sonic_dhcpv4_relay, adds `:` and the VLAN to the circuit id (dhcp4relay/src/dhcp4relay.cpp).
"""

import json
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network, ip_interface
from typing import TYPE_CHECKING, Any

from fabricgen.errors import UsageError
from fabricgen.handoff import ONLY_SWITCHES, Handoff, Option, WrittenFiles
from fabricgen.handoff.chosen import chosen_devices
from fabricgen.sonic.addresses import is_ipv4
from fabricgen.sonic.canonical import natural_key
from fabricgen.sonic.tables import channel_of, split_key, vlans_of
from fabricgen.units import counted, whole_number

if TYPE_CHECKING:
    from fabricgen.bundle.read import Bundle, ObservedDevice

FILE = "kea-dhcp4.json"
_LONGEST_ALIAS = 16  # IFNAMSIZ


def dhcp_files(
    bundle: "Bundle",
    only: str | None = None,
    boot_file: str | None = None,
    next_server: str | None = None,
    lease: str = "86400",
) -> Iterator[tuple[str, bytes]]:
    """(relative path, bytes) of the file of Kea. Raises UsageError if no VLAN of the bundle relays DHCP."""
    seconds = whole_number(lease)
    if not seconds:
        raise UsageError(f"--lease {lease}: not a number of seconds")
    if next_server is not None and not is_ipv4(next_server):
        raise UsageError(f"--next-server {next_server}: not an IPv4 address")
    hosts = {
        (host.name, nic): (host.name, address)
        for host in (bundle.wiring.hosts if bundle.wiring else ())
        for nic, address in _addresses(host).items()
    }
    subnets = [
        subnet
        for device in chosen_devices(bundle, only)
        for vlan in sorted(device.table("VLAN"), key=natural_key)
        if device.row("VLAN", vlan).get("dhcp_servers") and (subnet := _subnet(bundle, device, vlan, hosts))
    ]
    if not subnets:
        hint = "set `dhcp` in `access` of a plane"
        raise UsageError(f"no VLAN of the chosen switches relays DHCP to a server: {hint}")
    boot = {"next-server": next_server, "boot-file-name": boot_file}
    yield (
        FILE,
        json.dumps(
            {
                "Dhcp4": {
                    # Hosts ask through relays only, so the server needs no raw sockets.
                    "interfaces-config": {"interfaces": ["*"], "dhcp-socket-type": "udp"},
                    "lease-database": {"type": "memfile", "persist": True},
                    "host-reservation-identifiers": ["circuit-id"],
                    "valid-lifetime": seconds,
                    **{name: text for name, text in boot.items() if text},
                    "subnet4": subnets,
                }
            },
            indent=2,
        ).encode()
        + b"\n",
    )


def _addresses(host: Any) -> dict[str, str]:
    """NIC -> its IPv4 address; all NICs of a bond have that of the bond."""
    found = {nic.name: str(ip_interface(text).ip) for nic in host.nics for text in nic.addresses if ":" not in text}
    for bond in host.bonds:
        own = next((found[nic] for nic in bond.nics if nic in found), None)
        found |= dict.fromkeys(bond.nics, own) if own else {}
    return found


def _subnet(
    bundle: "Bundle", device: "ObservedDevice", vlan: str, hosts: Mapping[tuple[str, str], tuple[str, str]]
) -> dict[str, Any] | None:
    """The subnet of a VLAN on a switch; None without an IPv4 address."""
    keys = (split_key(key) for key in device.table("VLAN_INTERFACE"))
    gateways = [ip_interface(key[1]) for key in keys if len(key) == 2 and key[0] == vlan and ":" not in key[1]]
    if not gateways:
        return None
    gateway = gateways[0]
    network = gateway.network
    assert isinstance(network, IPv4Network)
    reservations = []
    for member, ports in _members(device, vlan):
        ends = [bundle.link_at[device.name, port].a for port in ports if (device.name, port) in bundle.link_at]
        found = next((hosts[end] for end in ends if end in hosts), None)
        if found is None or IPv4Address(found[1]) not in network:
            continue
        alias = device.text_of("PORT", member, "alias") or member
        circuit = f"{device.name}:{alias[:_LONGEST_ALIAS]}"
        reservations.append({"circuit-id": f"'{circuit}'", "ip-address": found[1], "hostname": found[0]})
    return {
        "id": int(network.network_address),  # a number that no other subnet gets, whatever is added
        "subnet": str(network),
        "relay": {"ip-addresses": [str(gateway.ip)]},
        "option-data": [{"name": "routers", "data": str(gateway.ip)}],
        "reservations": reservations,
    }


def _members(device: "ObservedDevice", vlan: str) -> Iterator[tuple[str, list[str]]]:
    """(port or port channel, its ports) of each member of a VLAN."""
    channels: dict[str, list[str]] = {}
    for port, channel in channel_of(device.table("PORTCHANNEL_MEMBER")).items():
        channels.setdefault(channel, []).append(port)
    members = vlans_of(device.table("VLAN_MEMBER"))
    for member in sorted(members, key=natural_key):
        if vlan in members[member]:
            yield member, channels.get(member, [member])


def _notes(files: WrittenFiles) -> Iterator[str]:
    content = json.loads(files[FILE])["Dhcp4"]["subnet4"]
    reserved = sum(len(subnet["reservations"]) for subnet in content)
    yield f"{counted(reserved, 'address', 'addresses')} in {counted(len(content), 'subnet')}, by switch and port."
    if empty := [subnet["subnet"] for subnet in content if not subnet["reservations"]]:
        yield f"No host of {', '.join(empty)} has a planned address: add a pool for it."


HANDOFF = Handoff(
    "dhcp",
    "Write the configuration of a DHCP server (Kea) for hosts in VLANs: addresses by switch and port, PXE.",
    dhcp_files,
    (
        ONLY_SWITCHES,
        Option("next-server", "IPv4 address of the server with the boot file.", metavar="ADDRESS"),
        Option("boot-file", "Name of the boot file of hosts that boot from the network.", metavar="FILE"),
        Option("lease", "Seconds of a lease.", "86400"),
    ),
    "run Kea with {output}/kea-dhcp4.json on the servers that `dhcp` of the plane names",
    _notes,
    examples=("", "--next-server 10.90.0.6"),
)
