"""One subnet's files proved on the real OpenSM: what it did with them, and whether that is what they say."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from fabricgen.observed.opensm_dumps import Dumps, read_dumps
from fabricgen.observed.partitions import IntendedKeys, intended_keys
from fabricgen.simulate.opensm.answers import Keys, path_levels, port_keys, sm_port
from fabricgen.simulate.opensm.bench import Bench, swept
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
    """A port whose P_Key table is not what partitions.conf says; `found` is None for a port that does not answer."""

    port: str
    expected: tuple[int, ...]
    found: tuple[int, ...] | None


@dataclass(frozen=True)
class Proof:
    """What OpenSM did. `active` is None, and so is `dumps`, when no engine took. `refused` are lines of its standard
    output, `misread` and `failed` of its log."""

    staged: Staged
    active: str | None
    refused: tuple[str, ...]
    misread: tuple[str, ...]
    failed: tuple[str, ...]
    keys: tuple[KeyDifference, ...] = ()
    strangers: tuple[str, ...] = ()
    dumps: Dumps | None = None
    refused_paths: tuple[tuple[str, str], ...] = ()
    knows_all_levels: bool = True

    @property
    def fell_back(self) -> bool:
        """Whether the engine at work is another than the first asked for."""
        return self.active != self.staged.engines[0]


def prove(tools: Tools, netlist: Path, folder: Path) -> Proof:
    """Run OpenSM on the subnet. Raises UsageError when it, or the simulator, cannot run at all."""
    with swept(tools, netlist, folder) as bench:
        log = bench.log
        proof = Proof(
            staged=bench.staged,
            active=engine_at_work(bench),
            refused=_distinct(found["token"] or found["value"] for found in _REFUSED.finditer(bench.said)),
            misread=_distinct(found[1].strip() for found in _MISREAD.finditer(log)),
            failed=_distinct(found[1].strip() for found in _FAILED.finditer(log)),
        )
        if proof.active is None:
            return proof
        dumps = read_dumps(bench.scratch)
        keys = port_keys(bench, dumps)
        levels = path_levels(bench, dumps, proof.active, keys)
        intended = _intended(bench, dumps)
        return replace(
            proof,
            dumps=replace(dumps, path_sl=levels.path_sl),
            refused_paths=levels.refused,
            knows_all_levels=levels.is_complete,
            keys=_differences(keys, dumps, intended),
            strangers=_distinct(intended.strangers),
        )


def engine_at_work(bench: Bench) -> str | None:
    """The routing engine that made the tables; None when none did."""
    engines = _CONFIGURED.findall(bench.log)
    return engines[-1] if engines and bench.is_up else None


def _intended(bench: Bench, dumps: Dumps) -> IntendedKeys:
    name = bench.staged.options.get("partition_config_file", "partitions.conf").rpartition("/")[2]
    file = bench.scratch / name
    text = file.read_text("utf-8", "replace") if file.is_file() else "Default=0x7fff : ALL=full ;"
    return intended_keys(text, [port.port_guid for port in dumps.subnet.adapters], sm_port(bench))


def _differences(found: Keys, dumps: Dumps, intended: IntendedKeys) -> tuple[KeyDifference, ...]:
    different = []
    for port in dumps.subnet.adapters:
        wanted, there = intended.keys[port.port_guid], found[port.port_guid]
        if there is None or (not wanted <= there if intended.has_generated else wanted != there):
            read = None if there is None else tuple(sorted(there))
            different.append(KeyDifference(port.name, tuple(sorted(wanted)), read))
    return tuple(different)


def _distinct(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lines))
