"""The DHCP request of a switch in ONIE or zero touch provisioning: dhcp_client.py INTERFACE MAC CLIENT_ID USER_CLASS
VENDOR_CLASS.

Prints the first offer as JSON: address, and the options 3, 12, 67, 114 and 125; null without an answer in a second.
With a vendor class it names ONIE's enterprise in option 125, as ONIE does.
"""

import json
import socket
import struct
import sys

_MAGIC = b"\x63\x82\x53\x63"
_DISCOVER = b"\x35\x01\x01\x37\x05\x03\x0c\x43\x72\x7d"  # requests the options 3, 12, 67, 114, 125
_ENTERPRISE = struct.pack("!I", 42623)
_PLATFORM = _ENTERPRISE + b"\x03\x03\x01r0"  # sub-option 3


def main(interface: str, mac: str, client_id: str, user_class: str, vendor_class: str) -> None:
    """Ask once."""
    options = _DISCOVER
    onie = ((60, vendor_class.encode()), (125, _PLATFORM if vendor_class else b""))
    for code, value in ((77, user_class.encode()), (61, b"\0" + client_id.encode() if client_id else b""), *onie):
        options += bytes([code, len(value)]) + value if value else b""
    head = struct.pack("!BBBBIHHIIII", 1, 1, 6, 0, 7, 0, 0x8000, 0, 0, 0, 0)
    packet = head + bytes.fromhex(mac.replace(":", "")) + bytes(10 + 192) + _MAGIC + options + b"\xff"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker:
        asker.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        asker.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
        asker.bind(("", 68))
        asker.settimeout(1)
        asker.sendto(packet, ("255.255.255.255", 67))
        try:
            offer = asker.recv(2000)
        except TimeoutError:
            sys.stdout.write("null")
            return
    found = {"address": socket.inet_ntoa(offer[16:20])}
    place = 240
    while offer[place] != 255:
        code, length = offer[place], offer[place + 1]
        value = offer[place + 2 : place + 2 + length]
        if code == 3:
            found["router"] = socket.inet_ntoa(value)
        elif code == 125:
            found[str(code)] = value.removeprefix(_ENTERPRISE)[1:].hex()
        elif code in (12, 67, 114):
            found[str(code)] = value.rstrip(b"\0").decode()  # RFC 2132: a receiver drops trailing nulls
        place += 2 + length
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
