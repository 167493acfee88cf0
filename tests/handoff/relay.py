"""A stand-in for the DHCP relay of a switch: relay.py HOSTNAME GATEWAY SERVER INTERFACE=ALIAS ...

Kernels of test machines have no bridge whose FDB says where a request came in, so each port is an interface here. What
a server sees is as in sonic-buildimage 086b03b: dhcpv4-relay.agents.j2 (`dhcrelay -m discard -a %h:%p %P -id VLAN -pg
GATEWAY SERVER`), src/isc-dhcp/patch/0002 (format_relay_agent_rfc3046_msg: the circuit id is `%h:%p`) and 0004 (the
alias of the port); ISC dhcp 4.4.3 relay/dhcrelay.c do_relay4: giaddr, hops, to port 67 of the server, and answers are
broadcast without option 82 on the interface that its circuit id names.
"""

import selectors
import socket
import struct
import sys

_GIADDR, _HOPS, _OPTIONS = slice(24, 28), 3, 240
_AGENT, _CIRCUIT_ID, _END = 82, 1, 255


def _socket(address: str, interface: str = "") -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    if interface:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
    found.bind((address, 67))
    return found


def _options(packet: bytes) -> dict[int, bytes]:
    found, place = {}, _OPTIONS
    while packet[place] != _END:
        code, length = packet[place], packet[place + 1]
        found[code] = packet[place + 2 : place + 2 + length]
        place += 2 + length
    return found


def main(hostname: str, gateway: str, server: str, *ports: str) -> None:
    """Relay until the process ends."""
    aliases = dict(port.split("=") for port in ports)
    sockets = {_socket("", interface): interface for interface in aliases}
    upstream, waiting = _socket(gateway), selectors.DefaultSelector()
    for one in (*sockets, upstream):
        waiting.register(one, selectors.EVENT_READ)
    while True:
        for key, _ in waiting.select():
            packet = bytearray(key.fileobj.recv(2000))  # type: ignore[union-attr]
            options = _options(packet)
            if key.fileobj in sockets and packet[0] == 1 and _AGENT not in options:
                circuit = f"{hostname}:{aliases[sockets[key.fileobj]]}".encode()
                packet[_GIADDR], packet[_HOPS] = socket.inet_aton(gateway), packet[_HOPS] + 1
                agent = struct.pack("!BBBB", _AGENT, len(circuit) + 2, _CIRCUIT_ID, len(circuit)) + circuit
                upstream.sendto(bytes(packet).rstrip(b"\0").removesuffix(b"\xff") + agent + b"\xff", (server, 67))
            elif key.fileobj is upstream and packet[0] == 2:
                circuit = options[_AGENT][2:].decode()
                interface = next(name for name, alias in aliases.items() if circuit == f"{hostname}:{alias}")
                kept = b"".join(bytes([code, len(text)]) + text for code, text in options.items() if code != _AGENT)
                answer = bytes(packet[:_OPTIONS]) + kept + b"\xff"
                next(one for one, name in sockets.items() if name == interface).sendto(answer, ("255.255.255.255", 68))


if __name__ == "__main__":
    main(*sys.argv[1:])
