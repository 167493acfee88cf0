"""config_db files to eBGP sessions: the pairs of rows that make a session, and the rows that make none.

A session needs a row at both ends. Each row has an address (or, unnumbered, a port) of the other end and its ASN. A
session that cannot come up is left out of the routing model and reported, because it changes the next hops.
"""

import numpy as np
from numpy.typing import NDArray

from fabricgen.bundle.outside import outside_sessions
from fabricgen.bundle.read import Bundle
from fabricgen.routing.answers import NONE
from fabricgen.routing.obstacles import FarEnd, Obstacles, SessionFailure
from fabricgen.routing.spoken import AbsentSession, Session, SessionEnd, SpokenFabric
from fabricgen.routing.spoken_files import SpokenFiles


def find_sessions(bundle: Bundle, switches: list[str]) -> SpokenFabric:
    """The sessions among `switches`. Raises UnreadableInputError if a file is not JSON."""
    read = SpokenFiles(bundle, switches)
    obstacles, neighbors = Obstacles(read), read.neighbors
    sessions: list[Session] = []
    absent: list[AbsentSession] = []
    answered = bytearray(len(neighbors))  # whether the session of a row is already found
    plain = _plain(read).tolist()

    def end(switch: str, interface: str, row: int) -> SessionEnd:
        return SessionEnd(switch, interface, neighbors.key[row], neighbors.terms[row])

    for number, (name, one) in enumerate(read.speakers.items()):
        beyond = {neighbor.key for _, neighbor in outside_sessions(bundle, name, one)}
        for row in neighbors.rows_of(number):
            if answered[row] or (neighbors.key[row] in beyond and row not in neighbors.obstacle):
                continue
            far = (_cabled(read, obstacles, name, row) if plain[row] else None) or obstacles.far_end(name, row)
            if isinstance(far, SessionFailure):
                absent.append(obstacles.absent(name, row, far))
                continue
            interface, other = far
            answered[other.row] = True
            ends = end(name, interface, row), end(*other)
            sessions.append(Session(*ends) if name < other.switch else Session(*reversed(ends)))
    down = frozenset((name, port) for name, ports in read.ports_down.items() for port in ports)
    return SpokenFabric(read.speakers, read.addresses, tuple(sessions), tuple(absent), read.tables, down, read.vteps)


def _plain(read: SpokenFiles) -> NDArray[np.bool_]:
    """The rows whose session comes up if their cable is right; `Obstacles` looks closer at the others."""
    rows, found, speakers = read.neighbors, read.found, read.speakers.values()
    asns = np.array([-1 if one.asn is None else one.asn for one in speakers], np.int64)
    ids: dict[str, int] = {"": 0}
    router = np.array([ids.setdefault(one.router_id, len(ids)) for one in speakers], np.int64)
    is_filtered = np.array([bool(acl) for acl in read.acl.values()], bool)
    is_blocked = np.zeros(len(rows), bool)
    is_blocked[list(rows.obstacle)] = True
    is_blocked[[row for row, terms in enumerate(rows.terms) if terms.waits or terms.checks_ttl]] = True
    is_usable = np.array(read.addresses.bound, bool)
    for number, ports in enumerate(read.ports_down.values()):
        held = read.addresses.rows_of(number) if ports else ()
        is_usable[[row for row in held if read.addresses.interface[row] in ports]] = False
    plain: NDArray[np.bool_] = found.answer != NONE
    some = np.flatnonzero(plain)
    answer, near, far = found.answer[some], found.near[some], found.owner[some]
    own, other, wanted = rows.switch[some], read.addresses.switch[far], np.array(rows.asn, np.int64)
    plain[some] = (
        (own != other)
        & ~(is_blocked[some] | is_blocked[answer] | is_filtered[own] | is_filtered[other])
        & is_usable[near]
        & is_usable[far]
        & (asns[own] != asns[other])
        & ((wanted[some] < 0) | (wanted[some] == asns[other]))
        & ((wanted[answer] < 0) | (wanted[answer] == asns[own]))
        & ((router[own] == 0) | (router[own] != router[other]))
    )
    return plain


def _cabled(read: SpokenFiles, obstacles: Obstacles, name: str, row: int) -> tuple[str, FarEnd] | None:
    """(own interface, far end) of a plain row; None if the two interfaces are not connected."""
    near, far = read.addresses.interface[read.found.near[row]], int(read.found.owner[row])
    other, port = read.names[read.addresses.switch_of(far)], read.addresses.interface[far]
    if obstacles.unplugged((name, near), (other, port)):
        return None
    return near, FarEnd(other, port, int(read.found.answer[row]))
