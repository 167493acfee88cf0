"""Asks a running subnet what only it can tell: the SL of a path, the P_Keys of a port.

A program of its own, since the simulator is reached through a preloaded library:

    python -m fabricgen.simulate.opensm.mad SM_LID M_KEY <queries >answers

A query is three unsigned 16-bit numbers: 0, source LID, destination LID for an SL; 1, LID, block for 32 P_Keys. Answers
come in that order: one 16-bit number for an SL (NONE: no path), 32 for P_Keys (all NONE: no answer).
Layouts: IBA volume 1, chapters 13 to 15.
"""

import ctypes
import struct
import sys

PATH, P_KEYS = 0, 1
NONE = 0xFFFE  # no SL, and no P_Key: full membership of 0x7ffe is taken for none

_MAD = 256
_SUBN, _SUBN_ADM = 0x01, 0x03  # management classes
_GET = 1
_PATH_RECORD, _P_KEY_TABLE = 0x35, 0x16
_DLID, _SLID, _REVERSIBLE, _NUMB_PATH = 1 << 4, 1 << 5, 1 << 11, 1 << 12
_WELL_KNOWN_QKEY = 0x80010000
_TIMEOUT_MS, _RETRIES = 3000, 3


class Client:
    """One port's access to the subnet, through libibumad."""

    def __init__(self, sm_lid: int, m_key: int) -> None:
        self.umad = ctypes.CDLL("libibumad.so.3")
        self.umad.umad_size.restype = ctypes.c_size_t
        self.umad.umad_init()
        self.port = self.umad.umad_open_port(None, 0)
        if self.port < 0:
            raise SystemExit("no management port")
        self.sa = self.umad.umad_register(self.port, _SUBN_ADM, 2, 0, None)
        self.smp = self.umad.umad_register(self.port, _SUBN, 1, 0, None)
        self.head = self.umad.umad_size()  # known once a port is open
        self.buffer = ctypes.create_string_buffer(self.head + _MAD)
        self.sm_lid, self.m_key, self.transaction = sm_lid, m_key, 0x46470000

    def service_level(self, source: int, destination: int) -> bytes:
        """The SL that the SA gives to a path."""
        record = bytearray(64)
        struct.pack_into(">HH", record, 40, destination, source)
        record[49] = 0x81  # reversible, one path
        asked = _DLID | _SLID | _REVERSIBLE | _NUMB_PATH
        answer = self._ask(self.sa, _SUBN_ADM, 2, _PATH_RECORD, 0, bytes(24) + struct.pack(">Q", asked) + record)
        level = NONE if answer is None else struct.unpack_from(">H", answer, 56 + 52)[0] & 0xF
        return struct.pack("=H", level)

    def p_keys(self, lid: int, block: int) -> bytes:
        """A block of an adapter port's P_Key table."""
        answer = self._ask(self.smp, _SUBN, 1, _P_KEY_TABLE, block, struct.pack(">Q", self.m_key), lid)
        keys = (NONE,) * 32 if answer is None else struct.unpack_from(">32H", answer, 64)
        return struct.pack("=32H", *keys)

    def _ask(
        self, agent: int, kind: int, version: int, attribute: int, modifier: int, body: bytes, lid: int = 0
    ) -> bytes | None:
        """The answer to a Get; None for a refusal, or when none comes."""
        self.transaction += 1
        head = struct.pack(">BBBBHHQHHI", 1, kind, version, _GET, 0, 0, self.transaction, attribute, 0, modifier)
        ctypes.memset(self.buffer, 0, len(self.buffer))
        to_sa = kind == _SUBN_ADM
        qkey = ctypes.c_int(ctypes.c_int32(_WELL_KNOWN_QKEY).value if to_sa else 0)
        self.umad.umad_set_addr(self.buffer, self.sm_lid if to_sa else lid, int(to_sa), 0, qkey)
        ctypes.memmove(ctypes.addressof(self.buffer) + self.head, (head + body).ljust(_MAD, b"\0"), _MAD)
        if self.umad.umad_send(self.port, agent, self.buffer, _MAD, _TIMEOUT_MS, _RETRIES) != 0:
            return None
        while True:
            length = ctypes.c_int(_MAD)
            if self.umad.umad_recv(self.port, self.buffer, ctypes.byref(length), _TIMEOUT_MS) < 0:
                return None
            mad = self.buffer.raw[self.head :]
            if struct.unpack_from(">I", mad, 12)[0] == self.transaction & 0xFFFFFFFF:
                return None if struct.unpack_from(">H", mad, 4)[0] & 0x7FFF else mad


def main() -> None:
    """Answer all queries on standard input."""
    client = Client(int(sys.argv[1]), int(sys.argv[2], 0))
    queries = sys.stdin.buffer.read()
    write = sys.stdout.buffer.write
    for what, first, second in struct.iter_unpack("=3H", queries):
        write(client.service_level(first, second) if what == PATH else client.p_keys(first, second))


if __name__ == "__main__":
    main()
