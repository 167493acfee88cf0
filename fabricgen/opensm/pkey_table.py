"""The P_Key table of an adapter port as OpenSM fills it when the port comes up: which key has which index.

Index 0 has the key of Default, or that of a partition with the flag indx0. The others follow in the order in which
OpenSM sorts partitions: by the bytes of the P_Key in reverse, so that 0x7000 comes before 0x0001. With allow_both_pkeys
nothing has index 0, unless a partition has indx0, and a member with both keys has the limited one first.

OpenSM keeps the index of a key while it runs (keep_pkey_indexes), so a key that is added later goes to a free index.
Source: opensm 3.3.23, osm_pkey_mgr.c; tests/simulate/opensm/test_pkey_index.py compares it with the real OpenSM.
"""

from collections.abc import Iterable

DEFAULT_KEY, FULL_BIT = 0x7FFF, 0x8000
EMPTY = 0


def pkey_table(keys: Iterable[int], *, first: int | None = None, allow_both: bool = False) -> list[int]:
    """The keys of a port by index, each with its membership bit. `first` are the low 15 bits of the port's partition
    with indx0."""
    ordered = sorted(set(keys), key=_order)
    if first is None:
        if allow_both:
            return [EMPTY, *ordered]
        first = DEFAULT_KEY
    front = [key for key in ordered if key & DEFAULT_KEY == first][:1]
    return [*(front or [EMPTY]), *(key for key in ordered if key not in front)]


def _order(key: int) -> tuple[int, int]:
    low = key & DEFAULT_KEY
    return (low & 0xFF) << 8 | low >> 8, key & FULL_BIT
