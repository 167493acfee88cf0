"""Runs the real OpenSM on the files of one subnet, and compares the result with the files."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from fabricgen.observed.opensm_dumps import Dumps, read_dumps
from fabricgen.simulate.opensm.answers import Keys, path_levels, port_keys, sm_port, switch_keys
from fabricgen.simulate.opensm.bench import Bench, swept
from fabricgen.simulate.opensm.intended_keys import FULL, IntendedKeys, intended_keys
from fabricgen.simulate.opensm.staging import Staged
from fabricgen.simulate.opensm.tools import Tools

_CONFIGURED = re.compile(r"osm_ucast_mgr_process: (\S+) tables configured")
_REFUSED = re.compile(r'Unrecognized token: "(?P<token>.*?)"|(?P<value>(?:Invalid Cached Option|-E- Parsing error).*)')
_MISREAD = re.compile(
    r"-> \w+: ((?:PARSE (?:WARN|ERROR)|Partition configuration in error|ERR (?:AC(?!01)|1B|0512|AA02|AB)).*)"
)
_FAILED = re.compile(r"-> (\w+: ERR .*)")


@dataclass(frozen=True)
class KeyDifference:
    """A port whose P_Key table differs from partitions.conf. `found` is None for a port that does not answer."""

    port: str
    expected: tuple[int, ...]
    found: tuple[int, ...] | None


@dataclass(frozen=True)
class Proof:
    """The result of the run. `active` and `dumps` are None if no engine succeeded. `refused` are lines of the standard
    output, `misread` and `failed` are lines of the log."""

    staged: Staged
    active: str | None
    refused: tuple[str, ...]
    misread: tuple[str, ...]
    failed: tuple[str, ...]
    keys: tuple[KeyDifference, ...] = ()
    unknown_members: tuple[str, ...] = ()
    dumps: Dumps | None = None
    refused_paths: tuple[tuple[str, str], ...] = ()
    knows_all_levels: bool = True

    @property
    def fell_back(self) -> bool:
        """Whether the active engine differs from the first configured one."""
        return self.active != self.staged.engines[0]


def prove(tools: Tools, netlist: Path, folder: Path) -> Proof:
    """Runs OpenSM on the subnet. Raises UsageError if OpenSM or the simulator cannot run."""
    with swept(tools, netlist, folder) as bench:
        log = bench.log
        proof = Proof(
            staged=bench.staged,
            active=engine_at_work(bench),
            refused=_distinct(found["token"] or found["value"] for found in _REFUSED.finditer(bench.output)),
            misread=_distinct(found[1].strip() for found in _MISREAD.finditer(log)),
            failed=_distinct(found[1].strip() for found in _FAILED.finditer(log)),
        )
        if proof.active is None:
            return proof
        dumps = read_dumps(bench.scratch)
        keys = port_keys(bench, dumps)
        levels = path_levels(bench, dumps, proof.active, keys)
        intended = _intended(bench, dumps)
        different = _differences(keys, dumps, intended)
        if bench.staged.enforces_partitions:
            different += _differences_of_switches(switch_keys(bench, dumps), dumps, intended)
        return replace(
            proof,
            dumps=replace(dumps, path_sl=levels.path_sl),
            refused_paths=levels.refused,
            knows_all_levels=levels.is_complete,
            keys=different,
            unknown_members=_distinct(intended.unknown_members),
        )


def engine_at_work(bench: Bench) -> str | None:
    """The routing engine that made the tables; None if no engine did."""
    engines = _CONFIGURED.findall(bench.log)
    return engines[-1] if engines and bench.is_up else None


def _intended(bench: Bench, dumps: Dumps) -> IntendedKeys:
    name = bench.staged.options.get("partition_config_file", "partitions.conf").rpartition("/")[2]
    file = bench.scratch / name
    text = file.read_text("utf-8", "replace") if file.is_file() else "Default=0x7fff : ALL=full ;"
    adapters = [port.port_guid for port in dumps.subnet.adapters]
    return intended_keys(text, adapters, [one.node_guid for one in dumps.subnet.switches], sm_port(bench))


def _differences(found: Keys, dumps: Dumps, intended: IntendedKeys) -> tuple[KeyDifference, ...]:
    ports = ((port.name, intended.keys[port.port_guid], found[port.port_guid]) for port in dumps.subnet.adapters)
    return tuple(_different(ports, intended))


def _differences_of_switches(
    found: Mapping[tuple[int, int], set[int] | None], dumps: Dumps, intended: IntendedKeys
) -> tuple[KeyDifference, ...]:
    """A switch has its own keys. Its port to an adapter has the keys of the adapter; of a key with both memberships
    only the full one."""
    subnet = dumps.subnet

    def ports() -> Iterator[tuple[str, set[int], set[int] | None]]:
        for (row, port), there in found.items():
            switch, adapter = subnet.switches[row], subnet.adapters[subnet.adapter_at[row, port]]
            expected = intended.keys[adapter.port_guid if port else switch.node_guid]
            yield (
                f"{switch.name} port {port}",
                {key for key in expected if key | FULL == key or key | FULL not in expected},
                there,
            )

    return tuple(_different(ports(), intended))


def _different(
    ports: Iterable[tuple[str, set[int], set[int] | None]], intended: IntendedKeys
) -> Iterator[KeyDifference]:
    for name, expected, there in ports:
        if there is None or (not expected <= there if intended.has_generated else expected != there):
            yield KeyDifference(name, tuple(sorted(expected)), None if there is None else tuple(sorted(there)))


def _distinct(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lines))
