"""Linear hashes of many packets at once.

A CRC, or an XOR of words, is linear: the hash of a packet is the XOR of what its bytes add and of what the start value
adds. So packets are hashed once, for all switches. It also means that another start value changes the hashes of all
packets by the same XOR: flows whose hashes are equal stay together.
"""

import zlib
from binascii import crc_hqx
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]  # packets x bytes
Words = NDArray[np.uint64]

_REFLECTED = np.array([zlib.crc32(bytes([byte]), 0xFFFFFFFF) ^ 0xFFFFFFFF for byte in range(256)], np.uint32)
_CCITT = np.array([crc_hqx(bytes([byte]), 0) for byte in range(256)], np.uint16)
_HALVES = {"CRC_32LO": 0, "CRC_32HI": 16}

# Name in SWITCH_HASH -> bits of its result. Source: SAI inc/saihash.h, sai_hash_algorithm_t.
BITS = {"CRC": 32, "CRC_32LO": 16, "CRC_32HI": 16, "CRC_CCITT": 16, "XOR": 16, "CRC_XOR": 16}


def linear_part(algorithm: str, fields: Sequence[Bytes]) -> Words:
    """What the fields of each packet add to its hash, with start value 0. All packets have fields of equal widths."""
    if algorithm == "CRC_XOR":
        return linear_part("CRC_CCITT", fields) ^ linear_part("XOR", fields)
    packet = np.concatenate(fields, axis=1)
    if algorithm == "XOR":
        even = np.pad(packet, ((0, 0), (0, packet.shape[1] % 2)))
        folded: Words = np.bitwise_xor.reduce(even.view(">u2").astype(np.uint64), axis=1)
        return folded
    if algorithm == "CRC_CCITT":
        short = np.zeros(len(packet), np.uint16)
        for byte in packet.T:
            short = (short << np.uint16(8)) ^ _CCITT[(short >> np.uint16(8)) ^ byte]
        return short.astype(np.uint64)
    register = np.zeros(len(packet), np.uint32)
    for byte in packet.T:
        register = _REFLECTED[(register ^ byte) & np.uint32(0xFF)] ^ (register >> np.uint32(8))
    return _cut(algorithm, register.astype(np.uint64))


def start_part(algorithm: str, seed: int, width: int) -> int:
    """What a start value adds to the hash of a packet of `width` bytes. CRC inverts it first and the result last, as
    zlib does: `linear_part ^ start_part` is zlib.crc32(packet, seed), for CRC_CCITT binascii.crc_hqx(packet, seed)."""
    if algorithm == "XOR":
        return seed & 0xFFFF
    if algorithm == "CRC_CCITT":
        return crc_hqx(bytes(width), seed & 0xFFFF)
    if algorithm == "CRC_XOR":
        return start_part("CRC_CCITT", seed, width) ^ start_part("XOR", seed, width)
    return int(_cut(algorithm, np.array([zlib.crc32(bytes(width), seed)], np.uint64))[0])


def rotated(values: Words, bits: NDArray[np.uint64], offset: NDArray[np.uint64]) -> Words:
    """Values of `bits` bits, rotated right by `offset` bits."""
    by = offset % bits
    mask = (np.uint64(1) << bits) - np.uint64(1)
    turned: Words = ((values >> by) | (values << (bits - by))) & mask
    return turned


def _cut(algorithm: str, values: Words) -> Words:
    """The half of a CRC-32 that an algorithm uses."""
    if algorithm not in _HALVES:
        return values
    return (values >> np.uint64(_HALVES[algorithm])) & np.uint64(0xFFFF)
