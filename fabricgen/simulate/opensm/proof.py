"""Runs the real OpenSM on the files of one subnet, and compares the result with the files."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from fabricgen.atomic import temporary_folder
from fabricgen.observed.opensm_dumps import Dumps, read_dumps
from fabricgen.opensm.partitions_conf import guid_of, key_of, read_partitions
from fabricgen.simulate.opensm.answers import Keys, path_levels, port_keys, sm_port, switch_keys, tenant_level
from fabricgen.simulate.opensm.bench import Bench, swept
from fabricgen.simulate.opensm.intended_keys import FULL, IntendedKeys, intended_keys
from fabricgen.simulate.opensm.staging import StagedSubnet, stage
from fabricgen.simulate.opensm.tools import Tools
from fabricgen.units import whole_number

_CONFIGURED = re.compile(r"osm_ucast_mgr_process: (\S+) tables configured")
_REFUSED = re.compile(r'Unrecognized token: "(?P<token>.*?)"|(?P<value>(?:Invalid Cached Option|-E- Parsing error).*)')
_MISREAD = re.compile(
    r"-> \w+: ((?:PARSE (?:WARN|ERROR)|Partition configuration in error|ERR (?:AC(?!01)|1B|0512|AA02|AB(?!24|26))).*)"
)  # AB24, AB26: ftree on a wiring that is not that of its lists
_ABSENT_ROOT = re.compile(r"ERR AB24: Root switch GUID (0x\w+) not found")
_FAILED = re.compile(r"-> (\w+: ERR .*)")


@dataclass(frozen=True)
class KeyDifference:
    """A port whose P_Key table differs from partitions.conf. `found` is None for a port that does not answer."""

    port: str
    expected: tuple[int, ...]
    found: tuple[int, ...] | None


@dataclass(frozen=True)
class LevelDifference:
    """A partition whose paths have another SL than partitions.conf gives it."""

    partition: str
    expected: int
    found: int


@dataclass(frozen=True)
class Proof:
    """The result of the run. `active` and `dumps` are None if no engine succeeded. `refused` are lines of the standard
    output, `misread` and `failed` are lines of the log, `absent_roots` GUIDs in the list of roots."""

    staged: StagedSubnet
    active: str | None
    refused: tuple[str, ...]
    misread: tuple[str, ...]
    failed: tuple[str, ...]
    keys: tuple[KeyDifference, ...] = ()
    levels: tuple[LevelDifference, ...] = ()
    unknown_members: tuple[str, ...] = ()
    absent_roots: tuple[str, ...] = ()
    dumps: Dumps | None = None
    refused_paths: tuple[tuple[str, str], ...] = ()
    knows_all_levels: bool = True
    is_inactive: bool = False  # OpenSM was not run: its file makes it wait for a command

    @property
    def fell_back(self) -> bool:
        """Whether the active engine differs from the first configured one."""
        return self.active != self.staged.engines[0]


def prove(tools: Tools, netlist: Path, folder: Path) -> Proof:
    """Runs OpenSM on the subnet. Raises UsageError if OpenSM or the simulator cannot run."""
    with temporary_folder("opensm") as scratch:
        staged = stage(folder, scratch)
    if staged.options.get("sm_inactive") == "TRUE":
        return Proof(staged, None, (), (), (), is_inactive=True)
    with swept(tools, netlist, folder) as bench:
        log = bench.log
        proof = Proof(
            staged=bench.staged,
            active=engine_at_work(bench),
            refused=_distinct(found["token"] or found["value"] for found in _REFUSED.finditer(bench.output)),
            misread=_distinct(found[1].strip() for found in _MISREAD.finditer(log)),
            absent_roots=_distinct(found[1] for found in _ABSENT_ROOT.finditer(log)),
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
            levels=tuple(_level_differences(bench, dumps)),
            unknown_members=_distinct(intended.unknown_members),
        )


def engine_at_work(bench: Bench) -> str | None:
    """The routing engine that made the tables; None if no engine did."""
    engines = _CONFIGURED.findall(bench.log)
    return engines[-1] if engines and bench.is_up else None


def _partitions(bench: Bench) -> str:
    name = bench.staged.options.get("partition_config_file", "partitions.conf").rpartition("/")[2]
    file = bench.scratch / name
    return file.read_text("utf-8", "replace") if file.is_file() else "Default=0x7fff : ALL=full ;"


def _level_differences(bench: Bench, dumps: Dumps) -> Iterator[LevelDifference]:
    """The partitions whose paths have another SL, in answer to a path query between two of their members."""
    for partition in read_partitions(_partitions(bench)).partitions:
        flag, key = partition.flag("sl"), key_of(partition)
        expected = whole_number(flag.value.text) if flag and flag.value else None
        if expected is None or not key:
            continue
        full = [guid for one in partition.members if one.value and one.value.text == "full" and (guid := guid_of(one))]
        found = tenant_level(bench, dumps, key | FULL, full)
        if found is not None and found != expected:
            yield LevelDifference(partition.name.text, expected, found)


def _intended(bench: Bench, dumps: Dumps) -> IntendedKeys:
    text = _partitions(bench)
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
