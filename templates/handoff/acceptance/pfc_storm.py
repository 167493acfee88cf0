"""Send PFC frames that pause one priority: pfc_storm.py INTERFACE PRIORITY MILLISECONDS. Needs root.

IEEE 802.1Qbb: destination 01:80:c2:00:00:01, type 0x8808, opcode 0x0101, one bit for each priority, eight times in
quanta of 512 bit times. A pause of 65,535 quanta takes 84 us at 400G, so frames follow each other without a wait.
"""

import socket
import sys
import time
from pathlib import Path

MOST_MS = 20_000


def frame(source: bytes, priority: int) -> bytes:
    """The frame, padded to the least length."""
    times = b"".join((b"\xff\xff" if number == priority else b"\0\0") for number in range(8))
    head = bytes.fromhex("0180c2000001") + source + bytes.fromhex("88080101")
    return (head + (1 << priority).to_bytes(2, "big") + times).ljust(60, b"\0")


def main() -> None:
    """Send until the time is over."""
    interface, priority, milliseconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    if not 0 <= priority <= 7 or not 0 < milliseconds <= MOST_MS:
        sys.exit(f"priority 0 to 7, and at most {MOST_MS} ms")
    address = bytes.fromhex(Path(f"/sys/class/net/{interface}/address").read_text().strip().replace(":", ""))
    port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    port.bind((interface, 0))
    content, end = frame(address, priority), time.monotonic() + milliseconds / 1000
    while time.monotonic() < end:
        port.send(content)


if __name__ == "__main__":
    main()
