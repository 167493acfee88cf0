"""Dumps of a subnet that OpenSM has routed, as arrays.

    topology      opensm-subnet.lst (or ibdiagnet's *.lst), ibnetdiscover output, or a netlist of ibsim
    forwarding    opensm-lfts.dump, the same from dump_lfts, or *.fdbs of ibdiagnet
    SL to VL      opensm-sl2vl.dump, if OpenSM programs it (qos TRUE)
    path SLs      *.psl, as for ibdmchk -c

Files of large subnets have millions of lines with fixed columns, so they are read as arrays of bytes. Sources of the
formats: osm_dump.c of OpenSM 3.3.23 and the reader of ibdm.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fabricgen.errors import UnreadableInputError
from fabricgen.findings import Location
from fabricgen.inputs import DUMP_BYTES, read_bytes
from fabricgen.observed.path_sls import read_path_sls
from fabricgen.observed.subnet import Subnet, subnet_of
from fabricgen.opensm.netlist import PortEnd, SubnetNodeKind, read_netlist

NO_PORT = 255  # of a LID without a route

Bytes = NDArray[np.uint8]

TOPOLOGY = ("opensm-subnet.lst", "*.lst", "ibnetdiscover*", "*.ibsim", "*.topology", "net")
FORWARDING = ("opensm-lfts.dump", "*lfts*", "*.fdbs")
SL2VL = ("opensm-sl2vl.dump", "*sl2vl*")
PATH_SLS = ("*.psl", "psl", "path-records*")

_END = re.compile(
    r"\{ (CA|SW|Rt)(?:-SM)? +Ports:\w+ \S+ NodeGUID:(\w+) PortGUID:(\w+) [^{]*\{(.*?)\} LID:(\w+) PN:(\w+) \}"
)
_KINDS = {"CA": SubnetNodeKind.ADAPTER, "SW": SubnetNodeKind.SWITCH, "Rt": SubnetNodeKind.ROUTER}
_SWITCH_HEAD = re.compile(rb"(?:Switch 0x|Unicast lids .*? guid 0x|\w+: Switch 0x)([0-9a-fA-F]+)")
_BLOCK = 1 << 20
_LANES = 16  # VL 15 drops the packets of a service level
_ADAPTER_LID = re.compile(rb"^0x(\w{4}) \d+ *[#:] *\(?Channel Adapter portguid 0x(\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Dumps:
    """A routed subnet. With S switches, P ports, A adapter ports, L LIDs (highest + 1) and D destination LIDs:

    `forwarding` [S, L] is the egress port of a switch for a LID, NO_PORT without a route. `destinations` [D] are the
    LIDs of adapters, and `owners` [D] their adapter ports. `sl2vl` [S, P, P, 16] (in, out, SL) is None if it was not
    programmed. `path_sl` [A, D] is None if not known, and NO_PATH for a pair without a path. It is [n * A, D] if each
    adapter port has n source LIDs with different SLs: all ports with their first LID, then with their second."""

    subnet: Subnet
    forwarding: Bytes
    destinations: NDArray[np.int64]
    owners: NDArray[np.int64]
    sl2vl: Bytes | None = None
    path_sl: Bytes | None = None


def read_dumps(folder: Path) -> Dumps:
    """The dumps of one subnet. Raises UnreadableInputError if the topology or forwarding tables are missing, or if the
    files are of different subnets."""
    if not folder.is_dir():
        raise UnreadableInputError("no such folder", Location(str(folder)))
    tables = _needed(folder, FORWARDING, "forwarding tables, for example opensm-lfts.dump")
    topology = _needed(folder, TOPOLOGY, "topology, for example opensm-subnet.lst or the output of ibnetdiscover")
    subnet = read_subnet(topology)
    if not subnet.switches:
        raise UnreadableInputError("the file has no switch with a cable", Location(str(topology)))
    text = read_bytes(tables, DUMP_BYTES)
    destinations, owners = _destinations(subnet, text)
    if not len(destinations):
        raise UnreadableInputError("the file has no LID of an adapter", Location(str(tables)))
    forwarding = _forwarding(subnet, text, int(destinations.max()) + 1)
    if (forwarding[:, destinations] == NO_PORT).all():
        raise UnreadableInputError(f"no forwarding table of a switch in {topology.name}", Location(str(tables)))
    lanes, path_sls = _first(folder, SL2VL), _first(folder, PATH_SLS)
    return Dumps(
        subnet,
        forwarding,
        destinations,
        owners,
        _sl2vl(subnet, lanes) if lanes else None,
        read_path_sls(path_sls, subnet, destinations) if path_sls else None,
    )


def dump_files(folder: Path) -> dict[str, Path | None]:
    """The files that `read_dumps` reads in a folder, by content; `levels` are the SLs of paths."""
    kinds = {"topology": TOPOLOGY, "tables": FORWARDING, "lanes": SL2VL, "levels": PATH_SLS}
    return {kind: _first(folder, patterns) for kind, patterns in kinds.items()}


def topology_file(folder: Path) -> Path | None:
    """The topology file of a folder, if any."""
    return _first(folder, TOPOLOGY)


def read_subnet(file: Path) -> Subnet:
    """The subnet in a topology file of any format."""
    text = read_bytes(file, DUMP_BYTES).decode("utf-8", "replace")
    return subnet_of(_listed(text) if text.lstrip().startswith("{") else read_netlist(text).cables())


def _first(folder: Path, patterns: Sequence[str]) -> Path | None:
    found = (file for pattern in patterns for file in sorted(folder.glob(pattern)) if file.is_file())
    return next(found, None)


def _needed(folder: Path, patterns: Sequence[str], what: str) -> Path:
    if (file := _first(folder, patterns)) is None:
        raise UnreadableInputError(f"the folder has no {what}", Location(str(folder)))
    return file


def _listed(text: str) -> Iterator[tuple[PortEnd, PortEnd]]:
    for line in text.splitlines():
        ends = _END.findall(line)
        if len(ends) == 2:
            near, far = (
                PortEnd(_KINDS[kind], int(node, 16), int(port_guid, 16), name, int(lid, 16), int(port, 16))
                for kind, node, port_guid, name, lid, port in ends
            )
            yield near, far


def _destinations(subnet: Subnet, text: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(LID, adapter port). The table of the first switch has the port of every LID; otherwise the topology has it."""
    place = {adapter.port_guid: number for number, adapter in enumerate(subnet.adapters)}
    end = text.find(b"Unicast lids", 1)
    named = (
        (int(lid, 16), place.get(int(guid, 16))) for lid, guid in _ADAPTER_LID.findall(text[: max(end, 0) or None])
    )
    owner = {lid: adapter for lid, adapter in named if adapter is not None}
    if not owner:
        owner = {adapter.lid: number for number, adapter in enumerate(subnet.adapters) if adapter.lid}
    lids = sorted(owner)
    return np.array(lids, np.int64), np.array([owner[lid] for lid in lids], np.int64)


def _rows(subnet: Subnet, text: bytes, width: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """(start of every line of numbers, row of the switch of its section), block by block. A line at the end of the file
    that is shorter than `width` is ignored."""
    raw = np.frombuffer(text, np.uint8)
    row = {switch.node_guid: number for number, switch in enumerate(subnet.switches)}
    current = -1
    for starts in _lines(text):
        letter = raw[starts]
        is_number = (letter >= ord("0")) & (letter <= ord("9")) & (starts + width <= len(text))
        heads = starts[(letter >= ord("A")) & ~is_number]
        owners = [current]
        for head in heads.tolist():
            if text.startswith(b"LID ", head):  # the titles of the columns
                owners.append(owners[-1])
                continue
            named = _SWITCH_HEAD.match(text, head)
            owners.append(row.get(int(named[1], 16), -1) if named else -1)
        current = owners[-1]
        lines = starts[is_number]
        yield lines, np.array(owners)[np.searchsorted(heads, lines)]


def _lines(text: bytes) -> Iterator[NDArray[np.int64]]:
    """The starts of lines, in blocks that fit into a core's cache."""
    raw = np.frombuffer(text, np.uint8)
    first = 0
    while first < len(text):
        last = text.find(b"\n", first + _BLOCK) + 1 or len(text)
        yield np.concatenate(([first], np.flatnonzero(raw[first : last - 1] == ord("\n")) + first + 1))
        first = last


def _hex(raw: Bytes, at: NDArray[np.int64], digits: int) -> NDArray[np.int32]:
    value = np.zeros(len(at), np.int32)
    for column in range(digits):
        letter = raw[at + column]
        value = value << 4 | np.where(letter >= ord("A"), (letter & 0x5F) - 55, letter & 0xF)
    return value


def _decimal(raw: Bytes, at: NDArray[np.int64], digits: int) -> NDArray[np.int32]:
    """Numbers of at most `digits` digits; -1 if there is no digit."""
    value = np.full(len(at), -1, np.int32)
    goes_on = np.ones(len(at), bool)
    for column in range(digits):
        digit = raw[at + column] - np.uint8(ord("0"))
        goes_on &= digit < 10
        value = np.where(goes_on, np.maximum(value, 0) * 10 + digit, value)
    return value


def _forwarding(subnet: Subnet, text: bytes, lids: int) -> Bytes:
    raw = np.frombuffer(text, np.uint8)
    table = np.full((len(subnet.switches), lids), NO_PORT, np.uint8)
    for starts, switch in _rows(subnet, text, 10):
        colon = len(starts) > 0 and raw[starts[0] + 7] == ord(":")
        lid, port = _hex(raw, starts + 2, 4), _decimal(raw, starts + (9 if colon else 7), 3)
        valid = (raw[starts + 1] == ord("x")) & (lid < lids) & (port >= 0) & (switch >= 0)
        table[switch[valid], lid[valid]] = port[valid]
    return table


def _sl2vl(subnet: Subnet, file: Path) -> Bytes:
    text = read_bytes(file, DUMP_BYTES)
    raw = np.frombuffer(text, np.uint8)
    lanes = np.zeros((len(subnet.switches), subnet.ports, subnet.ports, 16), np.uint8)
    missing = np.array((subnet.peer_switch >= 0).any(axis=1))
    for lines, owner in _rows(subnet, text, 57):
        starts, switch = lines[owner >= 0], owner[owner >= 0]
        into, out = _decimal(raw, starts, 3), _decimal(raw, starts + 4, 3)
        known = (into >= 0) & (into < subnet.ports) & (out >= 0) & (out < subnet.ports)
        place = (switch[known], into[known], out[known])
        missing[place[0]] = False
        for service_level in range(16):
            lanes[(*place, service_level)] = _decimal(raw, starts[known] + 10 + 3 * service_level, 2)
    if (lanes >= _LANES).any():
        raise UnreadableInputError(f"an entry is not a virtual lane from 0 to {_LANES - 1}", Location(str(file)))
    if missing.any():
        name = subnet.switches[int(missing.argmax())].name
        others = f" and {missing.sum() - 1} more switches" if missing.sum() > 1 else ""
        raise UnreadableInputError(f"the file has no SL-to-VL table of {name}{others}", Location(str(file)))
    return lanes
