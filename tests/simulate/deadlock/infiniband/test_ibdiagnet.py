"""Dumps in the form of ibdiagnet (*.lst, *.fdbs, *.psl), made by hand over random wirings, against ibdmchk. OpenSM has
no part in them; 18 have a credit loop, 6 have none."""

import random
from pathlib import Path

import pytest

from fabricgen.observed.opensm_dumps import read_dumps
from fabricgen.simulate.deadlock.infiniband.virtual_lanes import find_credit_loops
from tests.opensm.netlists import Net
from tests.opensm.peer import judge

SWITCHES, HOSTS_EACH = 9, 2


def wired(chance: random.Random, extra_links: int) -> Net:
    """A random tree of switches with more links, parallel ones among them, and hosts on every switch."""
    net = Net()
    switches = [net.switch(f"sw{number}") for number in range(SWITCHES)]
    for switch in switches:
        for _ in range(HOSTS_EACH):
            net.host(switch)
    for number in range(1, SWITCHES):
        net.link(switches[number], switches[chance.randrange(number)])
    for _ in range(extra_links):
        net.link(*chance.sample(switches, 2))
    return net


def routed(net: Net, chance: random.Random, *, shortest: bool) -> dict[str, dict[str, int]]:
    """switch -> host -> port: shortest paths, else those of a random tree towards each host."""
    around: dict[str, list[tuple[int, str]]] = {}
    for (node, port), (far, _) in net.cables.items():
        around.setdefault(node, []).append((port, far))
    tables: dict[str, dict[str, int]] = {node: {} for node in net.names if node[0] == "S"}
    for host in (node for node in net.names if node[0] == "H"):
        reached, seen = [host], {host}
        while reached:
            near = reached.pop(0 if shortest else chance.randrange(len(reached)))
            neighbours = [(far, port) for far in tables for port, there in around[far] if there == near]
            chance.shuffle(neighbours)
            for far, port in neighbours:
                if far not in seen:
                    seen.add(far)
                    reached.append(far)
                    tables[far][host] = port
    return tables


def lid(node: str) -> int:
    """Hosts from 1 on, switches from 101 on."""
    return int(node[1:]) + (1 if node[0] == "H" else 101)


def dump(folder: Path, net: Net, tables: dict[str, dict[str, int]], level_of: dict[tuple[str, str], int]) -> Path:
    """The files of ibdiagnet, and the SLs of all pairs where there are any."""

    def end(node: str, port: int) -> str:
        kind, ports, own = ("SW", 36, 0) if node[0] == "S" else ("CA", 1, 1)
        guid = net.guid(node)
        return (
            f"{{ {kind} Ports:{ports:02x} SystemGUID:{guid:016x} NodeGUID:{guid:016x} PortGUID:{guid + own:016x} "
            f"VenID:000002C9 DevID:0000 Rev:000000A1 {{{net.names[node]}}} LID:{lid(node):04x} PN:{port:02x} }}"
        )

    cables = "".join(f"{end(*a)} {end(*b)} PHY=4x LOG=ACT SPD=50\n" for a, b in net.cables.items())
    (folder / "ibdiagnet.lst").write_text(cables)
    lines = []
    for switch, ports in tables.items():
        lines.append(f"osm_ucast_mgr_dump_ucast_routes: Switch 0x{net.guid(switch):016x}")
        lines.append("LID    : Port : Hops : Optimal")
        lines += [f"0x{lid(host):04X} : {port:03d}  : 00   : yes" for host, port in ports.items()]
    (folder / "ibdiagnet.fdbs").write_text("\n".join(lines) + "\n")
    if level_of:
        line = (f"0x{net.guid(a):016x} {lid(b)} {level}\n" for (a, b), level in level_of.items())
        (folder / "ibdiagnet.psl").write_text("".join(line))
    return folder


@pytest.mark.parametrize("seed", range(24))
def test_random_tables_are_judged_as_ibdmchk_judges_them(ibdmchk: str, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    net = wired(chance, extra_links=1 + seed % 6)
    hosts = [node for node in net.names if node[0] == "H"]
    levels = 1 + seed % 3
    level_of = {(a, b): chance.randrange(levels) for a in hosts for b in hosts if a != b} if levels > 1 else {}
    folder = dump(tmp_path, net, routed(net, chance, shortest=seed % 2 == 0), level_of)
    dumps = read_dumps(folder)
    assert len(dumps.destinations) == SWITCHES * HOSTS_EACH
    found = find_credit_loops(dumps)
    assert not found.lost_count
    psl = ["-c", "ibdiagnet.psl"] if level_of else []
    (folder / "none.mcfdbs").write_text("")
    looped = judge([ibdmchk, "-s", "ibdiagnet.lst", "-f", "ibdiagnet.fdbs", "-m", "none.mcfdbs", *psl], folder)
    assert (found.cycle is not None) == looped
