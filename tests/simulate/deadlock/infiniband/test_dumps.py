"""Dumps of every form to the same arrays, and a message for each missing part."""

import re
from pathlib import Path

import numpy as np
import pytest

from fabricgen.errors import UnreadableInputError
from fabricgen.observed import path_sls
from fabricgen.observed.opensm_dumps import NO_PORT, Dumps, read_dumps
from fabricgen.simulate.deadlock.infiniband.analysis import analyse_dumps
from fabricgen.simulate.deadlock.infiniband.findings import subnet_findings
from fabricgen.simulate.deadlock.infiniband.virtual_lanes import find_credit_loops
from tests.opensm.netlists import Net, torus

RING = 3


def ring() -> Net:
    """Three switches in a ring with one host each; all packets go clockwise, over port 1."""
    return torus((RING,), 1)[0]


def lid(node: str) -> int:
    """Hosts have LIDs 1 to 3, switches 11 to 13."""
    return int(node[1:]) + (1 if node[0] == "H" else 11)


def subnet_lst(net: Net) -> str:
    def end(node: str, port: int) -> str:
        kind, guid = ("SW", net.guid(node)) if node[0] == "S" else ("CA", net.guid(node) + 1)
        return (
            f"{{ {kind} Ports:03 SystemGUID:0 NodeGUID:{net.guid(node):x} PortGUID:{guid:x} VenID:0 DevID:0000 "
            f"Rev:000000A1 {{{net.names[node]}}} LID:{lid(node):04x} PN:{port:02x} }}"
        )

    return "".join(f"{end(*a)} {end(*b)} PHY=4x LOG=ACT SPD=50\n" for a, b in net.cables.items())


def ibnetdiscover(net: Net) -> str:
    """The netlist with LIDs, as ibnetdiscover prints it."""
    lines, node = [], ""
    for line in net.text().splitlines():
        if line.startswith(("Switch", "Ca")):
            node = next(one for one in net.names if f'"{one[0]}-{net.guid(one):016x}"' in line)
        if line.startswith("Switch"):
            line = line.replace("port 0 lid 0", f"port 0 lid {lid(node)}")
        elif line.startswith("[") and node[0] == "H":
            line = line.replace("# lid 0", f"# lid {lid(node)}")
        lines.append(line)
    return "\n".join(lines) + "\n"


def out_port(net: Net, at: int, to: int) -> int:
    return 3 if at == to else 1


def lfts(net: Net, *, name_ports: bool = True) -> str:
    lines = []
    for at in range(RING):
        lines.append(f"Unicast lids [0-13] of switch Lid {11 + at} guid 0x{net.guid(f'S{at}'):016x} ('sw{at}'):")
        for to in range(RING):
            comment = f"# Channel Adapter portguid 0x{net.guid(f'H{to}') + 1:016x}: 'host'" if name_ports else ""
            lines.append(f"0x{to + 1:04x} {out_port(net, at, to):03d} {comment}")
    return "\n".join(lines) + "\n"


def fdbs(net: Net) -> str:
    lines = []
    for at in range(RING):
        lines.append(
            f"osm_ucast_mgr_dump_ucast_routes: Switch 0x{net.guid(f'S{at}'):016x}\nLID    : Port : Hops : Optimal"
        )
        lines += [f"0x{to + 1:04X} : {out_port(net, at, to):03d}  : 01   : yes" for to in range(RING)]
        lines.append("0x0009 : UNREACHABLE")
    return "\n".join(lines) + "\n"


def sl2vl(net: Net, lane_of: dict[tuple[int, int], int]) -> str:
    """SL 0 and 1 to lanes 0 and 1, but where `lane_of` says otherwise for (switch, in-port)."""
    lines = []
    for at in range(RING):
        lines.append(f'Switch 0x{net.guid(f"S{at}"):016x}, base LID {11 + at}, "sw{at}"')
        lines.append("#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n#" + "-" * 56)
        for into in range(4):
            for out in range(1, 4):
                lanes = [lane_of.get((at, into), 0), *range(1, 16)]
                lines.append(f"{into:<3d} {out:<3d} : " + "".join(f"{lane:<2d} " for lane in lanes))
    return "\n".join([*lines, 'Channel Adapter 0xe8, base LID 1, "h"', "#in out : 0", "0   0   : 0  1 "]) + "\n"


def folder(path: Path, **files: str) -> Path:
    path.mkdir(exist_ok=True, parents=True)
    for name, text in files.items():
        (path / name.replace("__", "-").replace("_", ".")).write_text(text)
    return path


def same(one: Dumps, other: Dumps) -> bool:
    arrays = ("forwarding", "destinations", "owners")
    return one.subnet.switches == other.subnet.switches and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays
    )


def test_topology_and_tables_of_every_form_are_the_same_subnet(tmp_path: Path) -> None:
    net = ring()
    opensm = read_dumps(folder(tmp_path / "a", opensm__subnet_lst=subnet_lst(net), opensm__lfts_dump=lfts(net)))
    diags = read_dumps(
        folder(tmp_path / "b", ibnetdiscover_txt=ibnetdiscover(net), lfts_txt=lfts(net, name_ports=False))
    )
    ibdiagnet = read_dumps(folder(tmp_path / "c", ibdiagnet_lst=subnet_lst(net), ibdiagnet_fdbs=fdbs(net)))
    simulated = read_dumps(folder(tmp_path / "d", topology_ibsim=net.text(), lfts_dump=lfts(net)))
    assert opensm.destinations.tolist() == [1, 2, 3]
    assert opensm.forwarding[:, 1:].tolist() == [[3, 1, 1], [1, 3, 1], [1, 1, 3]]
    assert opensm.forwarding[:, 0].tolist() == [NO_PORT] * RING
    assert same(opensm, ibdiagnet)
    for other in (diags, simulated):
        by_name = {one.node_guid: row for row, one in enumerate(other.subnet.switches)}
        rows = [by_name[one.node_guid] for one in opensm.subnet.switches]
        assert np.array_equal(other.forwarding[rows], opensm.forwarding)
        assert find_credit_loops(other).dependencies == find_credit_loops(opensm).dependencies == RING


def test_a_dateline_breaks_the_ring(tmp_path: Path) -> None:
    net = ring()
    looped = folder(tmp_path, opensm__subnet_lst=subnet_lst(net), opensm__lfts_dump=lfts(net))
    cycle = find_credit_loops(read_dumps(looped)).cycle
    assert cycle is not None
    assert sorted(cycle.hops) == [("sw0", "1"), ("sw1", "1"), ("sw2", "1")]
    folder(tmp_path, opensm__sl2vl_dump=sl2vl(net, {(0, 2): 1}))  # what comes over the cable sw2-sw0 goes on on lane 1
    broken = find_credit_loops(read_dumps(tmp_path))
    assert broken.cycle is None
    assert broken.lanes == (0, 1)
    assert (broken.channels, broken.dependencies) == (4, 3)
    assert broken.order is not None and len(set(broken.order.tolist())) == 4


def test_path_sls_choose_the_lanes(tmp_path: Path) -> None:
    net = ring()
    files = folder(tmp_path, opensm__subnet_lst=subnet_lst(net), opensm__lfts_dump=lfts(net))
    levels = {(source, to): int(source == 2) for source in range(RING) for to in range(RING) if source != to}
    lines = [f"0x{net.guid(f'H{source}'):016x} {to + 1} {level}\n" for (source, to), level in levels.items()]
    (files / "paths.psl").write_text("".join(lines))
    found = find_credit_loops(read_dumps(files))
    assert found.cycle is None
    assert found.lanes == (0, 1)


@pytest.mark.parametrize("block", [1, 40, 1 << 19])
def test_path_sls_are_read_line_by_line_whatever_the_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(path_sls, "_BLOCK", block)
    net = ring()
    subnet = read_dumps(folder(tmp_path, opensm__subnet_lst=subnet_lst(net), opensm__lfts_dump=lfts(net))).subnet
    destinations = np.array([7, 48, 49151])
    guid = [f"0x{adapter.node_guid:016x}" for adapter in subnet.adapters]
    lines = [
        "# source destination SL",
        f"{guid[2]} 49151 15",
        f"{guid[0].upper().replace('X', 'x')} 7 3",
        f"{guid[1]} 49151 0\r",
        "",
        f"{guid[0]} 48 10  # read from the SA",
        "0x00000000deadbeef 48 1",  # unknown source
        f"{guid[1]} 9 1",  # unknown destination
        f"{guid[1]} 48",
        f"  {guid[1]} 7 1",
        f"{guid[1]} 123456789 1",
        f"{guid[2]} 7 1",  # the file ends without a line end
    ]
    (tmp_path / "paths.psl").write_text("\n".join(lines), newline="")
    read = path_sls.read_path_sls(tmp_path / "paths.psl", subnet, destinations)
    none = path_sls.NO_PATH
    assert read.tolist() == [[3, 10, none], [none, none, 0], [1, none, 15]]


def test_a_missing_route_is_a_place_where_packets_get_lost(tmp_path: Path) -> None:
    net = ring()
    text = lfts(net).replace("0x0003 001", "0x0003 255", 1)
    found = find_credit_loops(read_dumps(folder(tmp_path, opensm__subnet_lst=subnet_lst(net), opensm__lfts_dump=text)))
    assert found.lost == (("sw0", 3),)


RIGHT = {"opensm__subnet_lst": subnet_lst(ring()), "opensm__lfts_dump": lfts(ring())}


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "forwarding tables"),
        ({"opensm__lfts_dump": ""}, "topology"),
        ({"opensm__lfts_dump": "", "opensm__subnet_lst": "{ nothing }\n"}, "no switch"),
        (
            {**RIGHT, "opensm__lfts_dump": ""},
            "lfts.dump: no forwarding table of a switch in opensm-subnet.lst",
        ),
        ({**RIGHT, "opensm__lfts_dump": lfts(ring()).replace("e8ebd303", "e8ebd309")}, "no forwarding table"),
        ({**RIGHT, "opensm__sl2vl_dump": ""}, "has no SL-to-VL table of sw0 and 2 more switches"),
        ({**RIGHT, "opensm__sl2vl_dump": "\x7fELF\x00\n1 2"}, "has no SL-to-VL table of sw0 and 2 more switches"),
        (
            {**RIGHT, "opensm__sl2vl_dump": sl2vl(ring(), {}).partition("Switch 0xe8ebd30300000002")[0]},
            "has no SL-to-VL table of sw2$",
        ),
        ({**RIGHT, "paths_psl": "0x00000000deadbeef 1 0\n"}, "no line .* of a path between adapters here"),
    ],
)
def test_what_is_missing_is_named(tmp_path: Path, files: dict[str, str], message: str) -> None:
    with pytest.raises(UnreadableInputError) as error:
        read_dumps(folder(tmp_path, **files))
    assert re.search(message, str(error.value))


def test_what_a_list_of_sls_lacks_is_not_followed(tmp_path: Path) -> None:
    net = ring()
    files = folder(tmp_path, **RIGHT, opensm__sl2vl_dump=sl2vl(net, {(0, 2): 1}))
    pairs = [(a, b) for a in range(RING) for b in range(RING) if a != b]
    lines = [f"0x{net.guid(f'H{a}'):016x} {b + 1} 0\n" for a, b in pairs]
    (files / "paths.psl").write_text("".join(lines))
    assert [result.claim for result in analyse_dumps(files)] == ["proved"]
    (files / "paths.psl").write_text("".join(lines[1:]))
    assert [result.claim for result in analyse_dumps(files)] == ["possible"]


def test_dumps_of_another_wiring_are_reported(tmp_path: Path) -> None:
    """Beside a bundle: its own, those of another fabric, and real ones where the bundle has placeholders."""
    net, bundle = ring(), tmp_path / "bundle"
    dumps = folder(tmp_path / "dumps", **RIGHT)

    def messages(netlist: str) -> list[str]:
        plane = folder(bundle / "infiniband" / "compute", opensm_conf="", topology_ibsim=netlist)
        assert plane.is_dir()
        findings = subnet_findings(analyse_dumps(dumps, bundle, "compute"))
        return [finding.message for finding in findings if finding.code == "FG852"]

    assert messages(net.text()) == []
    (message,) = messages(torus((4,), 1)[0].text())
    assert "1 of the 6 cables in the dumps are not in plane compute, 3 of the plane's cables are missing" in message
    assert messages(net.text().replace("e8ebd303", "02fab001").replace("e8ebd304", "02fab002")) == []
    assert len(messages(net.text().replace("e8ebd303", "e8ebd305"))) == 1
