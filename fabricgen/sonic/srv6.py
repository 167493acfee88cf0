"""SRv6 with uSIDs in CONFIG_DB: locators, SIDs and static routes of a switch, and lists of uSIDs as addresses.

A list is one IPv6 address: a block of 32 bits and up to six uSIDs of 16 bits (usid-f3216). A switch with the SID of the
first uSID removes it, moves the others up, and looks up the result; another switch forwards by its longest prefix.

Source: RFC 9800 (NEXT-CSID), RFC 8986; sonic-buildimage src/sonic-bgpcfgd/bgpcfgd/managers_srv6.py (SRv6Mgr) and
managers_static_rt.py, sonic-srv6.yang of 202505 to 086b03b; issue 21857 (interface sr0).
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.image import rows
from fabricgen.sonic.releases import MASTER
from fabricgen.sonic.tables import ConfigDb, Row
from fabricgen.units import whole_number

BLOCK_BITS, USID_BITS = 32, 16  # also the defaults of block_len and node_len
MOST_USIDS = (128 - BLOCK_BITS) // USID_BITS
FIRST_LOCAL = 0xE000  # uSIDs from here on mean something at one switch only
OUTER_BYTES = 40  # the IPv6 header around a packet; a list of one address needs no routing header
SIDS_SINCE = 202511  # earlier images do not create the interface sr0, to which FRR attaches static SIDs
CHIPS_WITHOUT_SIDS = ("Tomahawk", "Tomahawk2", "Trident3")  # sonic-mgmt issue 24698
LOCATORS, SIDS = "SRV6_MY_LOCATORS", "SRV6_MY_SIDS"
_MASK = (1 << USID_BITS) - 1


class Sid(NamedTuple):
    """A row of SRV6_MY_SIDS whose locator exists: its key, the locator and its prefix, the action, and its prefix."""

    key: str
    locator: str
    within: Address
    action: str
    prefix: Address


class UsidRoute(NamedTuple):
    """A static route of the default VRF: its key, prefix, next hops and interfaces, and whether bgpcfgd announces
    it."""

    key: str
    prefix: Address
    next_hops: tuple[str, ...]
    ports: tuple[str, ...]
    is_announced: bool


def locator_of(row: Row) -> Address | None:
    """The prefix of a locator, whose length is that of the block and the node; None if it has none."""
    block, node = whole_number(row.get("block_len")), whole_number(row.get("node_len"))
    length = (BLOCK_BITS if block is None else block) + (USID_BITS if node is None else node)
    text = str(row.get("prefix", "")).partition("/")[0]
    found = parse_address(f"{text}/{length}") if text and length <= 128 else None
    return found.network if found else None


def block_of(row: Row) -> Address | None:
    """The block of a locator."""
    found, block = locator_of(row), whole_number(row.get("block_len"))
    return found.widened(BLOCK_BITS if block is None else block) if found else None


def sids_of(config: ConfigDb) -> Iterator[Sid]:
    """The SIDs of a switch; rows without a locator or prefix are left out, as bgpcfgd leaves them out."""
    prefixes = {name: found for name, row in rows(config, LOCATORS).items() if (found := locator_of(row))}
    for key, row in rows(config, SIDS).items():
        name, _, text = key.partition("|")
        if name in prefixes and (prefix := parse_address(text)):
            yield Sid(key, name, prefixes[name], str(row.get("action", "")), prefix)


def is_taken(sid: Sid, block: Address | None, release: int) -> bool:
    """Whether bgpcfgd gives the SID to FRR: it is inside its locator. On the master branch actions other than uN need
    only the block of the locator."""
    if release == MASTER and sid.action != "uN":
        return block is not None and block.covers(sid.prefix)
    return sid.within.covers(sid.prefix)


def routes_within(config: ConfigDb, blocks: Iterable[Address]) -> Iterator[UsidRoute]:
    """The static routes of the default VRF whose prefixes are inside one of the blocks.

    bgpcfgd announces a static route unless `advertise` is false (ROUTE_ADVERTISE_ENABLE_TAG).
    """
    blocks = tuple(blocks)
    for key, row in rows(config, "STATIC_ROUTE").items():
        vrf, bar, text = key.partition("|")
        if bar and vrf != "default":
            continue
        prefix = parse_address(text if bar else vrf)
        if prefix and any(block.covers(prefix) for block in blocks):
            announced = row.get("advertise") != "false"
            yield UsidRoute(key, prefix.network, _list(row, "nexthop"), _list(row, "ifname"), announced)


def _list(row: Row, field: str) -> tuple[str, ...]:
    text = row.get(field)
    return tuple(text.split(",")) if isinstance(text, str) and text else ()


def usid_prefix(block: Address, usid: int) -> Address:
    """The prefix of 48 bits that matches lists which start with a uSID."""
    return Address(6, block.number | usid << 128 - BLOCK_BITS - USID_BITS, BLOCK_BITS + USID_BITS)


def list_address(block: Address, usids: Iterable[int]) -> Address:
    """The address of a list of uSIDs. Raises ValueError for more than six."""
    number, shift = block.number, 128 - BLOCK_BITS
    for usid in usids:
        shift -= USID_BITS
        if shift < 0:
            raise ValueError(f"an address has room for {MOST_USIDS} uSIDs")
        number |= usid << shift
    return Address(6, number, 128)


def first_usid(address: Address) -> int:
    """The uSID that decides where a list goes next."""
    return address.number >> 128 - BLOCK_BITS - USID_BITS & _MASK


def shifted(address: Address) -> Address:
    """The list without its first uSID, as the SID uN leaves it."""
    bits = 128 - BLOCK_BITS
    rest = address.number & (1 << bits) - 1
    return Address(6, address.number - rest | rest << USID_BITS & (1 << bits) - 1, 128)
