"""Dumps of a three-tier tree of 4,096 adapters in OpenSM's formats, with one uplink for each destination.

    python -m benchmarks.make_dumps FOLDER [--levels]

8 pods of 16 leaves and 16 spines, 256 cores, 32 adapters on a leaf. The *.fdbs and *.mcfdbs are for ibdmchk. With
--levels path.psl lists one of eight SLs for every pair, so that each leaf sends to each adapter with all of them.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

PODS, LEAVES, SPINES, CORES_EACH, PER_LEAF = 8, 16, 16, 16, 32
ADAPTERS = PODS * LEAVES * PER_LEAF
SLS = 8

_LEAF, _SPINE, _CORE = 0, PODS * LEAVES, PODS * (LEAVES + SPINES)
SWITCHES = _CORE + SPINES * CORES_EACH
_SWITCH_GUID, _ADAPTER_GUID = 0xE8EBD30300000000, 0xE8EBD30400000000


def main(folder: Path) -> None:
    """Write the files."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "opensm-subnet.lst").open("w") as out:
        out.writelines(f"{a} {b} PHY=4x LOG=ACT SPD=50\n" for a, b in _cables())
    names = [f"# Channel Adapter portguid 0x{_port_guid(host):016x}: 'host{host} mlx5_0'" for host in range(ADAPTERS)]
    with (folder / "opensm-lfts.dump").open("w") as tables, (folder / "tables.fdbs").open("w") as plain:
        for switch in range(SWITCHES):
            guid = _SWITCH_GUID + switch
            tables.write(
                f"Unicast lids [0-{ADAPTERS + SWITCHES}] of switch Lid {_lid(switch)} guid 0x{guid:016x} ('s'):\n"
            )
            plain.write(f"dump_ucast_routes: Switch 0x{guid:016x}\nLID    : Port : Hops : Optimal\n")
            ports = [_port(switch, host) for host in range(ADAPTERS)]
            tables.writelines(f"0x{host + 1:04x} {ports[host]:03d} {names[host]}\n" for host in range(ADAPTERS))
            plain.writelines(f"0x{host + 1:04X} : {ports[host]:03d}  : 00   : yes\n" for host in range(ADAPTERS))
    (folder / "none.mcfdbs").write_text("")


def add_levels(folder: Path) -> None:
    """Write path.psl: 16.8 million lines."""
    with (folder / "path.psl").open("w") as out:
        for source in range(ADAPTERS):
            head = f"0x{_port_guid(source) - 1:016x}"
            out.writelines(f"{head} {to + 1} {(source + to) % SLS}\n" for to in range(ADAPTERS) if to != source)


def _port_guid(host: int) -> int:
    return _ADAPTER_GUID + 16 * host + 1


def _lid(switch: int) -> int:
    return ADAPTERS + 1 + switch


def _port(switch: int, host: int) -> int:
    """The port of a switch to a host: down if the host is below, else up by the number of the host."""
    leaf, pod = host // PER_LEAF, host // PER_LEAF // LEAVES
    if switch >= _CORE:
        return pod + 1
    if switch >= _SPINE:
        if (switch - _SPINE) // SPINES == pod:
            return leaf % LEAVES + 1
        return LEAVES + host // SPINES % CORES_EACH + 1
    return host % PER_LEAF + 1 if switch == leaf else PER_LEAF + host % SPINES + 1


def _cables() -> Iterator[tuple[str, str]]:
    for host in range(ADAPTERS):
        yield _switch_end(host // PER_LEAF, host % PER_LEAF + 1), _adapter_end(host)
    for leaf in range(PODS * LEAVES):
        for number in range(SPINES):
            spine = _SPINE + leaf // LEAVES * SPINES + number
            yield _switch_end(leaf, PER_LEAF + number + 1), _switch_end(spine, leaf % LEAVES + 1)
    for spine in range(PODS * SPINES):
        for number in range(CORES_EACH):
            core = _CORE + spine % SPINES * CORES_EACH + number
            yield _switch_end(_SPINE + spine, LEAVES + number + 1), _switch_end(core, spine // SPINES + 1)


def _switch_end(switch: int, port: int) -> str:
    guid = _SWITCH_GUID + switch
    return _end("SW", 64, guid, guid, f"s{switch}", _lid(switch), port)


def _adapter_end(host: int) -> str:
    return _end("CA", 1, _port_guid(host) - 1, _port_guid(host), f"host{host} mlx5_0", host + 1, 1)


def _end(kind: str, ports: int, node: int, port_guid: int, name: str, lid: int, port: int) -> str:
    return (
        f"{{ {kind} Ports:{ports:02x} SystemGUID:{node:016x} NodeGUID:{node:016x} PortGUID:{port_guid:016x} "
        f"VenID:00000000 DevID:0000 Rev:000000A1 {{{name}}} LID:{lid:04x} PN:{port:02x} }}"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
    if "--levels" in sys.argv[2:]:
        add_levels(Path(sys.argv[1]))
