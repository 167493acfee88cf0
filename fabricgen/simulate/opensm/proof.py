"""One subnet's files proved on the real OpenSM: what it did with them, and whether that is what they say."""

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
        different = _differences(keys, dumps, intended)
        if bench.staged.enforces_partitions:
            different += _differences_of_switches(switch_keys(bench, dumps), dumps, intended)
        return replace(
            proof,
            dumps=replace(dumps, path_sl=levels.path_sl),
            refused_paths=levels.refused,
            knows_all_levels=levels.is_complete,
            keys=different,
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
    adapters = [port.port_guid for port in dumps.subnet.adapters]
    return intended_keys(text, adapters, [one.node_guid for one in dumps.subnet.switches], sm_port(bench))


def _differences(found: Keys, dumps: Dumps, intended: IntendedKeys) -> tuple[KeyDifference, ...]:
    ports = ((port.name, intended.keys[port.port_guid], found[port.port_guid]) for port in dumps.subnet.adapters)
    return tuple(_different(ports, intended))


def _differences_of_switches(
    found: Mapping[tuple[int, int], set[int] | None], dumps: Dumps, intended: IntendedKeys
) -> tuple[KeyDifference, ...]:
    """A switch has keys of its own; its port to an adapter has that one's, of a key twice the full one alone."""
    subnet = dumps.subnet

    def ports() -> Iterator[tuple[str, set[int], set[int] | None]]:
        for (row, port), there in found.items():
            switch, adapter = subnet.switches[row], subnet.adapters[subnet.adapter_at[row, port]]
            wanted = intended.keys[adapter.port_guid if port else switch.node_guid]
            yield (
                f"{switch.name} port {port}",
                {key for key in wanted if key | FULL == key or key | FULL not in wanted},
                there,
            )

    return tuple(_different(ports(), intended))


def _different(
    ports: Iterable[tuple[str, set[int], set[int] | None]], intended: IntendedKeys
) -> Iterator[KeyDifference]:
    for name, wanted, there in ports:
        if there is None or (not wanted <= there if intended.has_generated else wanted != there):
            yield KeyDifference(name, tuple(sorted(wanted)), None if there is None else tuple(sorted(there)))


def _distinct(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lines))
