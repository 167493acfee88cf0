"""Queries a running subnet: the SL of a path, the P_Keys of a port.

It is a separate program, because the simulator is reached through a preloaded library. It imports the standard library
only, so that it starts at once:

    python mad.py SM_LID M_KEY ROUTES <routes and queries >answers

The input begins with ROUTES directed routes (directed.py). A query is four unsigned 16-bit numbers: 0, source LID,
destination LID, P_Key (0: a query without one) for an SL; 1 + port, route, block, 0 for 32 P_Keys (port 0 of an adapter
is the port at the end of the route). Answers come in that order: one 16-bit number for an SL (NONE: no path), 32 for
P_Keys (all NONE: no answer).
Layouts: IBA volume 1, chapters 13 to 15.
"""

import ctypes
import struct
import sys
from collections.abc import Sequence
from itertools import islice

PATH, P_KEYS = 0, 1
ROUTE_BYTES = 64  # the number of hops, then the egress port of each
NONE = 0xFFFE  # no SL or no P_Key; it cannot be distinguished from full membership of 0x7ffe

_MAD = 256
_SUBN_DIRECTED, _SUBN_ADM = 0x81, 0x03  # management classes
_GET = 1
_PATH_RECORD, _P_KEY_TABLE = 0x35, 0x16
_DLID, _SLID, _REVERSIBLE, _NUMB_PATH, _P_KEY = 1 << 4, 1 << 5, 1 << 11, 1 << 12, 1 << 13
_WELL_KNOWN_QKEY = 0x80010000
_PERMISSIVE = 0xFFFF  # a LID
_TIMEOUT_MS, _RETRIES = 5000, 3
_AHEAD, _ROUNDS = 64, 3

Query = tuple[int, ...]  # four numbers


class Client:
    """One port's access to the subnet, through libibumad."""

    def __init__(self, sm_lid: int, m_key: int, routes: Sequence[bytes]) -> None:
        self.umad = ctypes.CDLL("libibumad.so.3")
        self.umad.umad_size.restype = ctypes.c_size_t
        self.umad.umad_init()
        self.port = self.umad.umad_open_port(None, 0)
        if self.port < 0:
            raise SystemExit("no management port")
        self.sa = self.umad.umad_register(self.port, _SUBN_ADM, 2, 0, None)
        self.smp = self.umad.umad_register(self.port, _SUBN_DIRECTED, 1, 0, None)
        self.head = self.umad.umad_size()  # known once a port is open
        self.buffer = ctypes.create_string_buffer(self.head + _MAD)
        self.sm_lid, self.m_key, self.routes, self.transaction = sm_lid, m_key, routes, 0x46470000

    def answers(self, queries: Sequence[Query]) -> list[bytes]:
        """The answers in the order of the queries; up to `_AHEAD` queries are in flight."""
        found: dict[int, bytes | None] = {}
        for _ in range(_ROUNDS):
            missing = (number for number in range(len(queries)) if number not in found)
            waiting: dict[int, int] = {}
            while True:
                for number in islice(missing, _AHEAD - len(waiting)):
                    waiting[self._send(queries[number])] = number
                if not waiting:
                    break
                mad = self._receive()
                if mad is None:  # unanswered queries are repeated in the next round
                    break
                number = waiting.pop(struct.unpack_from(">I", mad, 12)[0], -1)
                if number >= 0:
                    found[number] = None if struct.unpack_from(">H", mad, 4)[0] & 0x7FFF else mad
        return [_content(query, found.get(number)) for number, query in enumerate(queries)]

    def _send(self, query: Query) -> int:
        """Sends a query; returns the low half of its transaction number, which the answer has too."""
        what, first, second, key = query
        self.transaction += 1
        if what == PATH:
            record = bytearray(64)
            struct.pack_into(">HH", record, 40, second, first)
            record[49] = 0x81  # reversible, one path
            struct.pack_into(">H", record, 50, key)
            components = _DLID | _SLID | _REVERSIBLE | _NUMB_PATH | (_P_KEY if key else 0)
            body = (
                _head(_SUBN_ADM, 2, self.transaction, _PATH_RECORD, 0)
                + bytes(24)
                + struct.pack(">Q", components)
                + record
            )
            agent, to, queue, qkey = self.sa, self.sm_lid, 1, ctypes.c_int32(_WELL_KNOWN_QKEY).value
        else:
            table, route = what - P_KEYS << 16 | second, self.routes[first]
            head = bytearray(_head(_SUBN_DIRECTED, 1, self.transaction, _P_KEY_TABLE, table))
            head[7] = route[0]
            local = struct.pack(">QHH28x64x", self.m_key, _PERMISSIVE, _PERMISSIVE)  # no part of the way by LID
            body = bytes(head) + local + b"\0" + route[1 : 1 + route[0]]
            agent, to, queue, qkey = self.smp, _PERMISSIVE, 0, 0
        ctypes.memset(self.buffer, 0, len(self.buffer))
        self.umad.umad_set_addr(self.buffer, to, queue, 0, ctypes.c_int(qkey))
        ctypes.memmove(ctypes.addressof(self.buffer) + self.head, body.ljust(_MAD, b"\0"), _MAD)
        if self.umad.umad_send(self.port, agent, self.buffer, _MAD, _TIMEOUT_MS, _RETRIES) != 0:
            raise SystemExit("the management port accepts no more datagrams")
        return self.transaction & 0xFFFFFFFF

    def _receive(self) -> bytes | None:
        length = ctypes.c_int(_MAD)
        if self.umad.umad_recv(self.port, self.buffer, ctypes.byref(length), _TIMEOUT_MS) < 0:
            return None
        return bytes(self.buffer.raw[self.head :])


def _head(kind: int, version: int, transaction: int, attribute: int, modifier: int) -> bytes:
    return struct.pack(">BBBBHHQHHI", 1, kind, version, _GET, 0, 0, transaction, attribute, 0, modifier)


def _content(query: Query, mad: bytes | None) -> bytes:
    if query[0] == PATH:
        return struct.pack("=H", NONE if mad is None else struct.unpack_from(">H", mad, 56 + 52)[0] & 0xF)
    return struct.pack("=32H", *((NONE,) * 32 if mad is None else struct.unpack_from(">32H", mad, 64)))


def main() -> None:
    """Answers all queries on standard input."""
    routes = [sys.stdin.buffer.read(ROUTE_BYTES) for _ in range(int(sys.argv[3]))]
    client = Client(int(sys.argv[1]), int(sys.argv[2], 0), routes)
    queries = list(struct.iter_unpack("=4H", sys.stdin.buffer.read()))
    sys.stdout.buffer.write(b"".join(client.answers(queries)))


if __name__ == "__main__":
    main()
