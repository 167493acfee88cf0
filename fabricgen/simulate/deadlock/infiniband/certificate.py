"""The certificate of an InfiniBand subnet: the order of its channels, and the tables that packets follow.

Tables that OpenSM made in this run are part of the certificate, because they exist nowhere else. For dumped tables, the
certificate has the checksums of the files. The wiring is always read from a file. docs/certificate.md has the format.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fabricgen.bundle.read import OPTIONS_NAME
from fabricgen.inputs import read_bytes
from fabricgen.observed.opensm_dumps import Dumps, dump_files
from fabricgen.observed.subnet import Subnet
from fabricgen.observed.subnet_files import NETLIST
from fabricgen.opensm.guids import guid_text
from fabricgen.routing.infiniband import LANES
from fabricgen.simulate.deadlock.infiniband.analysis import SubnetDeadlock
from fabricgen.simulate.opensm.staging import StagedSubnet

Bytes = NDArray[np.uint8]
Block = tuple[list[int], list[int], str]  # in-ports, out-ports, the lanes of SLs 0 to 15


def subnet_certificate(result: SubnetDeadlock) -> dict[str, Any] | None:
    """The entry of one subnet; None if there are no tables to certify."""
    evidence = result.evidence
    dumps, loops = evidence.dumps, evidence.loops
    if dumps is None:
        return None
    assert loops is not None  # of these tables
    names = switch_names(dumps.subnet)
    order = None if loops.order is None else [_channel(dumps.subnet, names, one) for one in loops.order.tolist()]
    dumped: dict[str, Path | None] = {} if evidence.proof else dump_files(evidence.folder)
    ran_on = _read_by(evidence.proof.staged, evidence.folder) if evidence.proof else []
    files = [*ran_on, *(file for file in dumped.values() if file)]
    entry: dict[str, Any] = {
        "name": result.name,
        "technology": "infiniband",
        "claim": result.claim,
        "model": result.model,
        "folder": evidence.place,
        "files": {file.name: hashlib.sha256(read_bytes(file)).hexdigest() for file in files},
        "switches": {name: guid_text(one.node_guid) for name, one in zip(names, dumps.subnet.switches, strict=True)},
        "topology": NETLIST,
    }
    if evidence.proof is None:
        entry |= {kind: file and file.name for kind, file in dumped.items()}
    elif order is not None:
        entry |= _tables(dumps, names)
    return {**entry, "seal": _seal(entry, order), "order": order}


def switch_names(subnet: Subnet) -> list[str]:
    """The names of the switches; the node GUID if several switches have the same name."""
    count = Counter(one.name for one in subnet.switches)
    return [one.name if count[one.name] == 1 else guid_text(one.node_guid) for one in subnet.switches]


def subnet_next_hops(dumps: Dumps) -> dict[str, dict[str, list[str]]]:
    """{switch: {port GUID: [next-hop switches]}} for packets to each adapter port; several next hops if its LIDs have
    different paths. No row for a port of the switch itself or without a route."""
    subnet, names = dumps.subnet, switch_names(dumps.subnet)
    known = dumps.forwarding < subnet.ports
    far = subnet.peer_switch[np.arange(len(names))[:, None], np.where(known, dumps.forwarding, 0)]
    far = np.where(known, far, -1)[:, dumps.destinations]
    guids = [guid_text(subnet.adapters[owner].port_guid) for owner in dumps.owners.tolist()]
    found: dict[str, dict[str, list[str]]] = {}
    for name, row in zip(names, far.tolist(), strict=True):
        hops: dict[str, set[str]] = {}
        for guid, other in zip(guids, row, strict=True):
            if other >= 0:
                hops.setdefault(guid, set()).add(names[other])
        found[name] = {guid: sorted(hops[guid]) for guid in sorted(hops)}
    return found


def _read_by(staged: StagedSubnet, folder: Path) -> list[Path]:
    """The files that OpenSM read, opensm.conf and the netlist first."""
    return [folder / name for name in (OPTIONS_NAME, NETLIST, *staged.named) if (folder / name).is_file()]


def _channel(subnet: Subnet, names: list[str], channel: int) -> tuple[str, int, tuple[int, ...]]:
    switch, port = divmod(channel // LANES, subnet.ports)
    return names[switch], port, (channel % LANES,)


def _seal(entry: dict[str, Any], order: object) -> str:
    kept = [*(entry.get(name) for name in ("endpoints", "tables", "lanes", "levels")), order]
    return hashlib.sha256(json.dumps(kept, separators=(",", ":")).encode()).hexdigest()


def _tables(dumps: Dumps, names: list[str]) -> dict[str, Any]:
    guids = [dumps.subnet.adapters[owner].port_guid for owner in dumps.owners.tolist()]
    rows = dumps.forwarding[:, dumps.destinations]
    return {
        "endpoints": [(guid_text(guid), lid) for guid, lid in zip(guids, dumps.destinations.tolist(), strict=True)],
        "tables": {name: row.tobytes().hex() for name, row in zip(names, rows, strict=True)},
        "lanes": None if dumps.sl2vl is None else _lanes(dumps.subnet, dumps.sl2vl, names),
        "levels": list(_levels(dumps)),
    }


def _lanes(subnet: Subnet, sl2vl: Bytes, names: list[str]) -> dict[str, Any]:
    """The most frequent SL-to-VL table of a pair of ports, and the other tables by switch."""
    of_switch = [_blocks(subnet, sl2vl, switch) for switch in range(len(names))]
    size = Counter[str]()
    for blocks in of_switch:
        for into, out, lanes in blocks:
            size[lanes] += len(into) * len(out)
    usual = max(size, key=lambda lanes: (size[lanes], lanes), default="0123456789abcdef")
    others = (
        (name, [block for block in blocks if block[2] != usual]) for name, blocks in zip(names, of_switch, strict=True)
    )
    return {"usual": usual, "others": {name: blocks for name, blocks in others if blocks}}


def _blocks(subnet: Subnet, sl2vl: Bytes, switch: int) -> list[Block]:
    """The tables of a switch from its cabled ports to its ports towards other switches, grouped by in-ports and then
    out-ports with equal tables."""
    out_ports = np.flatnonzero(subnet.peer_switch[switch] >= 0)
    in_ports = np.flatnonzero((subnet.peer_switch[switch] >= 0) | (subnet.adapter_at[switch] >= 0))
    by_tables: dict[bytes, list[int]] = {}
    for into in in_ports.tolist():
        by_tables.setdefault(sl2vl[switch, into, out_ports].tobytes(), []).append(into)
    found: list[Block] = []
    for same_in_ports in by_tables.values():
        by_lanes: dict[str, list[int]] = {}
        for out in out_ports.tolist():
            lanes = "".join(f"{lane & 0xF:x}" for lane in sl2vl[switch, same_in_ports[0], out].tolist())
            by_lanes.setdefault(lanes, []).append(out)
        found += [(same_in_ports, outs, lanes) for lanes, outs in by_lanes.items()]
    return found


def _levels(dumps: Dumps) -> Iterator[tuple[list[int], str]]:
    """(sources, SLs by destination), both by number of the endpoint: one digit for each destination, `-` for no path;
    only one character if all are equal."""
    sources: dict[str, list[int]] = {}
    digits = np.frombuffer(b"0123456789abcdef-", np.uint8)
    for columns, row in _level_rows(dumps):
        text = digits[np.minimum(row, len(digits) - 1)].tobytes().decode()
        sources.setdefault(text[:1] if text == text[:1] * len(text) else text, []).extend(columns)
    for text, columns in sources.items():
        yield sorted(columns), text


def _level_rows(dumps: Dumps) -> Iterator[tuple[list[int], Bytes]]:
    """(sending endpoints, SLs). If a port has only one row of `path_sl`, the row holds for all of its LIDs."""
    of_port: dict[int, list[int]] = {}
    for column, owner in enumerate(dumps.owners.tolist()):
        of_port.setdefault(owner, []).append(column)
    levels = dumps.path_sl
    if levels is None:
        levels = np.zeros((len(dumps.subnet.adapters), len(dumps.destinations)), np.uint8)
    each = len(levels) // len(dumps.subnet.adapters)
    for number, row in enumerate(levels):
        nth, owner = divmod(number, len(dumps.subnet.adapters))
        columns = of_port.get(owner, [])
        columns = columns if each == 1 else columns[nth : nth + 1]
        if columns and dumps.subnet.attached_switch[owner] >= 0:
            yield columns, row
