"""Queries to the running subnet: the SLs of paths and the P_Keys of ports."""

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from fabricgen.errors import UsageError
from fabricgen.observed.opensm_dumps import Dumps
from fabricgen.observed.path_sls import NO_PATH
from fabricgen.observed.subnet import Subnet
from fabricgen.opensm.options import LAST_SL, OpensmEngine
from fabricgen.simulate.opensm import mad
from fabricgen.simulate.opensm.bench import Bench
from fabricgen.simulate.opensm.mad import NONE, P_KEYS, PATH, ROUTE_BYTES

_PER_PORT = (
    OpensmEngine.DFSSSP,
    OpensmEngine.NUE,
)  # engines that choose the SL by LID; others choose by switch or not at all
_MOST_PATHS = 1 << 21  # some 13,000 answers a second
_BLOCK = 32
_RULES_BY_PORT = re.compile(r"^\s*(?:any|source|destination|use|ipoib|sdp|iser|rds|srp)\b", re.MULTILINE)
_LEVELS = re.compile(r"^\s*qos-levels\b.*?^\s*end-qos-levels\b", re.MULTILINE | re.DOTALL)  # `use` is a comment there
_TIMEOUT_S = 900
_NO_ROUTES = np.zeros((0, ROUTE_BYTES), np.uint8)


Keys = Mapping[int, set[int] | None]  # by port GUID


@dataclass(frozen=True)
class PathLevels:
    """`path_sl` as in Dumps. `is_complete` is False if there were too many pairs to query each. `refused` are some
    pairs of adapter ports that share a P_Key but have no path."""

    path_sl: NDArray[np.uint8]
    is_complete: bool
    refused: tuple[tuple[str, str], ...]


def path_levels(bench: Bench, dumps: Dumps, engine: str, keys: Keys) -> PathLevels:
    """The SL of every path. One port is queried for all ports of a switch with equal P_Keys, unless the engine or a QoS
    policy treats ports differently."""
    subnet = dumps.subnet
    cabled = np.flatnonzero(subnet.attached_switch >= 0)
    by_port = engine in _PER_PORT or _policy_depends_on_ports(bench)
    lids_each = int(np.bincount(dumps.owners).max()) if by_port else 1  # with LMC the SL depends on the source LID too
    is_complete = not by_port or lids_each * len(cabled) * len(dumps.destinations) <= _MOST_PATHS
    by_kind: dict[object, int] = {}
    group = np.full(len(subnet.adapters), -1, np.int64)
    for port in cabled.tolist():
        held = frozenset(keys.get(subnet.adapters[port].port_guid) or ())
        kind = port if by_port and is_complete else (int(subnet.attached_switch[port]), held)
        group[port] = by_kind.setdefault(kind, len(by_kind))
    _, first = np.unique(group[cabled], return_index=True)
    sources = cabled[first]
    by_lid = by_port and is_complete
    columns = np.arange(len(dumps.destinations))
    groups, place = np.unique(columns if by_lid else group[dumps.owners], return_inverse=True)
    queried = columns if by_lid else np.array([np.flatnonzero(place == one)[0] for one in range(len(groups))])
    lids_each = lids_each if by_lid else 1
    queries = np.zeros((lids_each, len(sources), len(queried), 4), np.uint16)
    queries[..., 0] = PATH
    base = np.array([subnet.adapters[source].lid for source in sources.tolist()])
    queries[..., 1] = (np.arange(lids_each)[:, None] + base)[..., None]
    queries[..., 2] = dumps.destinations[queried]
    answers = _query(bench, dumps, queries, 1).reshape(queries.shape[:-1])
    levels = np.where(answers < 16, answers, NO_PATH).astype(np.uint8)
    path_sl = np.full((lids_each, len(subnet.adapters), len(columns)), NO_PATH, np.uint8)
    path_sl[:, cabled] = levels[:, group[cabled]][..., place]
    pairs = zip(*((levels == NO_PATH).any(axis=0).nonzero()), strict=True)
    named = ((subnet.adapters[sources[row]], subnet.adapters[dumps.owners[queried[column]]]) for row, column in pairs)
    refused = ((a.name, b.name) for a, b in named if a is not b and _may_talk(keys, a.port_guid, b.port_guid))
    return PathLevels(path_sl.reshape(-1, len(columns)), is_complete, tuple(islice(refused, 5)))


def _may_talk(keys: Keys, one: int, other: int) -> bool:
    """Whether two ports share a P_Key, with full membership of at least one."""
    return any((a ^ b) & 0x7FFF == 0 and (a | b) & 0x8000 for a in keys.get(one) or () for b in keys.get(other) or ())


def port_keys(bench: Bench, dumps: Dumps) -> Keys:
    """Port GUID -> the P_Keys of its table, read from the port; None for a port that does not answer."""
    adapters = dumps.subnet.adapters
    _, routes = directed_routes(dumps.subnet, sm_port(bench))
    found = _key_tables(bench, dumps, routes, [(row, 0) for row in range(len(adapters))])
    return {port.port_guid: keys for port, keys in zip(adapters, found, strict=True)}


def switch_keys(bench: Bench, dumps: Dumps) -> Mapping[tuple[int, int], set[int] | None]:
    """The same for switches by (number of the switch, port): port 0, the switch itself, and the ports with adapters.
    OpenSM sets no P_Keys on ports between switches."""
    subnet = dumps.subnet
    places = [(switch, 0) for switch in range(len(subnet.switches))]
    places += zip(*(axis.tolist() for axis in (subnet.adapter_at >= 0).nonzero()), strict=True)
    routes, _ = directed_routes(subnet, sm_port(bench))
    found = _key_tables(bench, dumps, routes, places)
    return dict(zip(places, found, strict=True))


def _key_tables(
    bench: Bench, dumps: Dumps, routes: NDArray[np.uint8], ports: Sequence[tuple[int, int]]
) -> list[set[int] | None]:
    """The P_Keys of ports, each a row of the directed routes and the number of a switch's port."""
    keys: list[set[int] | None] = [None] * len(ports)
    waiting, block = list(range(len(ports))), 0
    while waiting:
        queries = np.array([(P_KEYS + ports[one][1], ports[one][0], block, 0) for one in waiting], np.uint16)
        tables = _query(bench, dumps, queries, _BLOCK, routes).reshape(-1, _BLOCK)
        more = []
        for one, table in zip(waiting, tables, strict=True):
            if (table == NONE).all():
                continue
            keys[one] = (keys[one] or set()) | {key for key in table.tolist() if key & 0x7FFF}
            if table[-1]:
                more.append(one)
        waiting, block = more, block + 1
    return keys


def tenant_level(bench: Bench, dumps: Dumps, key: int, members: Sequence[int]) -> int | None:
    """The SL of a path between the first two of the ports, given by GUID, in answer to a query with their P_Key, as
    IPoIB and rdma_cm ask; None without a path or a second port."""
    lids = {port.port_guid: port.lid for port in dumps.subnet.adapters}
    ends = [lids[guid] for guid in members if lids.get(guid)][:2]
    if len(ends) < 2:
        return None
    (level,) = _query(bench, dumps, np.array([(PATH, *ends, key)], np.uint16), 1).tolist()
    return level if level <= LAST_SL else None


def sm_port(bench: Bench) -> int:
    """The GUID of the port that OpenSM uses."""
    found = re.search(r"osm_vendor_bind: .* binding to port GUID 0x(\w+)", bench.log)
    return int(found[1], 16) if found else 0


def _policy_depends_on_ports(bench: Bench) -> bool:
    """Whether a QoS policy with more than a default level is in force."""
    name = bench.staged.options.get("qos_policy_file", "qos-policy.conf").rpartition("/")[2]
    file = bench.scratch / name
    if bench.staged.options.get("qos") != "TRUE" or not file.is_file():
        return False
    text = re.sub(r"#.*", "", file.read_text("utf-8", "replace"))
    return bool(_RULES_BY_PORT.search(_LEVELS.sub("", text)))


def _query(
    bench: Bench, dumps: Dumps, queries: NDArray[np.uint16], per_query: int, routes: NDArray[np.uint8] = _NO_ROUTES
) -> NDArray[np.uint16]:
    """The answers to all queries. Raises UsageError if the subnet does not answer."""
    manager = next((port for port in dumps.subnet.adapters if port.port_guid == sm_port(bench)), None)
    key = bench.staged.options.get("m_key", "0")
    lid, count = str(manager.lid if manager else 1), str(len(routes))
    command = [sys.executable, "-I", "-S", mad.__file__, lid, key, count]  # it needs the standard library only
    try:
        run = subprocess.run(
            command, input=routes.tobytes() + queries.tobytes(), env=bench.environment, cwd=bench.scratch,
            capture_output=True, timeout=_TIMEOUT_S, check=False, start_new_session=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise UsageError(f"the simulated subnet did not answer within {_TIMEOUT_S} s") from error
    answers = np.frombuffer(run.stdout, np.uint16)
    if run.returncode or len(answers) != len(queries.reshape(-1, 4)) * per_query:
        error_text = run.stderr.decode("utf-8", "replace").strip()[-300:]
        raise UsageError(f"the simulated subnet cannot be queried (code {run.returncode}): {error_text}")
    return answers


# Directed routes: the egress ports from the subnet manager to each port, which need no forwarding tables.
#
# So a port answers where OpenSM has no routes to it: behind a missing cable, or after an engine that gave up. Layout:
# InfiniBand Architecture Specification, volume 1, section 14.2.2.


def directed_routes(subnet: Subnet, manager: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The shortest routes to each switch [S, 64] and adapter port [A, 64] from the adapter port with the GUID
    `manager`. 0 hops: the manager's own port, or a port that it does not reach."""
    to_switch = np.zeros((len(subnet.switches), ROUTE_BYTES), np.uint8)
    to_adapter = np.zeros((len(subnet.adapters), ROUTE_BYTES), np.uint8)
    own = next((row for row, port in enumerate(subnet.adapters) if port.port_guid == manager), None)
    if own is None or subnet.attached_switch[own] < 0:
        return to_switch, to_adapter
    first = int(subnet.attached_switch[own])
    to_switch[first, :2] = 1, max(subnet.adapters[own].port, 1)
    reached, waiting = {first}, [first]
    for row in waiting:  # grows while it is read
        for port in np.flatnonzero(subnet.peer_switch[row] >= 0).tolist():
            far = int(subnet.peer_switch[row, port])
            if far not in reached and to_switch[row, 0] < ROUTE_BYTES - 1:
                reached.add(far)
                waiting.append(far)
                to_switch[far] = _longer(to_switch[row], port)
    for row, (switch, port) in enumerate(zip(subnet.attached_switch, subnet.attached_port, strict=True)):
        if row != own and switch in reached and to_switch[switch, 0] < ROUTE_BYTES - 1:
            to_adapter[row] = _longer(to_switch[switch], port)
    return to_switch, to_adapter


def _longer(route: NDArray[np.uint8], port: int) -> NDArray[np.uint8]:
    """The route with one more hop."""
    made = route.copy()
    made[0] += 1
    made[made[0]] = port
    return made
