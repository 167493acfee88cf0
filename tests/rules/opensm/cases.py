"""One change of a clean bundle's InfiniBand files each: what must be found, and what must not."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.opensm.netlists import two_tier
from tests.opensm.small import DRAGONFLY, MESH, TORUS, TREE

CONF, PARTS, ROOTS, NODES, STANDBY = "opensm.conf", "partitions.conf", "root_guids", "cn_guids", "standby-1/opensm.conf"
NET, TOPO, GRID, POLICY = "topology.ibsim", "topology.topo", "torus-2QoS.conf", "qos-policy.conf"
NODE, PORT, OTHER_PORT = "0x02fab00200000000", "0x02fab00200000001", "0x02fab00200000101"
SPINE, LEAF, MANAGER = "0x02fab00100000008", "0x02fab00100000000", "0x02fab00200000201"
FIRST = f"blue=0x8001, ipoib, mtu=4, rate=21 :\n    {PORT}=full"
MASTER_AND_STANDBY = (CONF, STANDBY)


@dataclass(frozen=True)
class Case:
    """`old` becomes `new` in the first of `files`, and in the others. The code must be found there, on a line that has
    `at` (by default what is new), and nothing else but what is in `also`. `pitfalls` are those it is an example of."""

    code: str
    old: str
    new: str
    file: str | tuple[str, ...] = MASTER_AND_STANDBY
    bundle: str = TREE
    at: str = ""
    also: tuple[str, ...] = ()
    pitfalls: tuple[int, ...] = ()
    plane: str = "compute"
    severity: str = ""
    change: Callable[[Path], None] | None = None  # what else is done in the subnet's folder
    lenient: bool = False  # so much is changed that others rightly speak, too

    @property
    def files(self) -> tuple[str, ...]:
        """All that are changed."""
        return (self.file,) if isinstance(self.file, str) else self.file


def line(name: str, value: str) -> str:
    return f"\n{name} {value}\n"


def option(code: str, name: str, old: str, new: str, **more: object) -> Case:
    """An option with another value in the files of all managers; the finding is at its line."""
    return Case(code, line(name, old), line(name, new), at=more.pop("at", name), **more)  # type: ignore[arg-type]


def many(count: int) -> str:
    """Partitions of all adapters."""
    return "".join(f"t{number}=0x{0x9000 + number:x} : ALL_CAS=full ;\n" for number in range(count))


def members(count: int) -> str:
    """Members on one line."""
    return ", ".join([f"{PORT}=full"] * count)


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def write(name: str, text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(text)


def only(name: str, *lines: str) -> Callable[[Path], None]:
    """A file with nothing but these lines."""
    return write(name, "".join(f"{one}\n" for one in lines))


def limited_green(folder: Path) -> None:
    head, name, rest = (folder / PARTS).read_text().partition("green=")
    (folder / PARTS).write_text(head + name + rest.replace("=full", "=limited"))


def third_host(folder: Path) -> None:
    """Blue has hosts 0 to 2, so that most of them tell what is usual."""
    text = (folder / PARTS).read_text()
    listed = [f"0x02fab002000001{number:02x}=full" for number in range(1, 16, 2)]
    (folder / PARTS).write_text(text.replace(" ;\n\ngreen", f", {', '.join(listed)} ;\n\ngreen"))


def both_member(folder: Path) -> None:
    (folder / PARTS).write_text((folder / PARTS).read_text().replace(f"{PORT}=full", f"{PORT}=both"))


def rewired(*pairs: tuple[str, str], file: str = NET) -> Callable[[Path], None]:
    """Lines of the netlist, or of another file, in another form, each of which must be there."""

    def change(folder: Path) -> None:
        text = (folder / file).read_text()
        for old, new in pairs:
            assert old in text, old
            text = text.replace(old, new)
        (folder / file).write_text(text)

    return change


def large(folder: Path) -> None:
    """400 adapters, with 128 LIDs each."""
    (folder / NET).write_text(two_tier(8, 2, 50).text())


SWAPPED_RAILS = rewired(
    (f'(02fab00200000001)\t"S-{LEAF[2:]}"', '(02fab00200000001)\t"S-02fab00100000001"'),
    ('(02fab00200000003)\t"S-02fab00100000001"', f'(02fab00200000003)\t"S-{LEAF[2:]}"'),
    (f'[1]\t"H-{NODE[2:]}"[1]', '[1]\t"H-x"[1]'),
    ('[1]\t"H-02fab00200000002"[1]', f'[1]\t"H-{NODE[2:]}"[1]'),
    ('[1]\t"H-x"[1]', '[1]\t"H-02fab00200000002"[1]'),
)
MISSING_UPLINK = rewired(
    (f'[59]\t"S-{SPINE[2:]}"[1]\t# "compute-spine-00" lid 0 4xHDR\n', ""),
    (f'[1]\t"S-{LEAF[2:]}"[59]\t# "compute-su00-r0-leaf" lid 0 4xHDR\n', ""),
)
GENERIC = "GENERIC-64X400G compute-leaf"
BOTH_ENDS = rewired(  # two cables of one switch in each other's place, at all their ends
    (f"P9 -> {GENERIC}-01 P10\n   P11 -> {GENERIC}-03 P12", f"P9 -> {GENERIC}-03 P12\n   P11 -> {GENERIC}-01 P10"),
    (f"P10 -> {GENERIC}-00 P9", f"P10 -> {GENERIC}-00 P11 "),
    (f"P12 -> {GENERIC}-00 P11\n", f"P12 -> {GENERIC}-00 P9\n"),
    file=TOPO,
)
SPINE_HEAD = f'Switch\t64 "S-{SPINE[2:]}"\t# "compute-spine-00" enhanced port 0 lid 0 lmc 0'
MANAGER_ON_SPINE = rewired(
    (f'({MANAGER[2:]})\t"S-{LEAF[2:]}"[6]', f'({MANAGER[2:]})\t"S-{SPINE[2:]}"[64]'),
    ('[6]\t"H-02fab00200000200"[1]\t# "sm-000 rail0" lid 0 4xHDR\n', ""),
    (f"{SPINE_HEAD}\n", f'{SPINE_HEAD}\n[64]\t"H-02fab00200000200"[1]\n'),
)

END = "\n# Lifetimes\n"
BAD: list[Case] = [
    Case("FG810", END, f"\nar_mode 1{END}", at="ar_mode", pitfalls=(40,)),
    Case("FG810", "\nsm_priority 13", "\nsm_prio 13", STANDBY, also=("FG833",)),
    option("FG811", "qos", "TRUE", "true", bundle=TORUS, also=("FG815", "FG832"), pitfalls=(6,)),
    option("FG811", "use_ucast_cache", "TRUE", "yes", pitfalls=(6,)),
    Case("FG811", END, f"\nforce_link_speed_ext 8{END}", at="force_link", pitfalls=(49,)),
    option("FG811", "lmc", "0", "8", also=("FG814",)),
    option("FG811", "max_op_vls", "4", "9"),
    option("FG811", "part_enforce", "both", "yes", also=("FG823",)),
    option("FG811", "subnet_timeout", "18", "18s"),
    option("FG811", "routing_engine", "ftree,no_fallback", "= ftree,no_fallback", also=("FG812",)),
    Case("FG811", END, f"\nlmc 0{END}", at="lmc 0"),
    option("FG812", "routing_engine", "ftree,no_fallback", "ftre,no_fallback", also=("FG818",), pitfalls=(1,)),
    option("FG812", "routing_engine", "ftree,no_fallback", "ar_updn,no_fallback", also=("FG818",), pitfalls=(1, 40)),
    option("FG813", "routing_engine", "ftree,no_fallback", "ftree", severity="warning", pitfalls=(2,)),
    option(
        "FG813", "routing_engine", "torus-2QoS,no_fallback", "torus-2QoS", bundle=TORUS, severity="error", pitfalls=(2,)
    ),
    option("FG814", "routing_engine", "torus-2QoS,no_fallback", "minhop", bundle=TORUS, also=("FG818",), pitfalls=(3,)),
    option(
        "FG814",
        "routing_engine",
        "torus-2QoS,no_fallback",
        "dor,no_fallback",
        bundle=TORUS,
        also=("FG818",),
        pitfalls=(3,),
    ),
    option(
        "FG814",
        "routing_engine",
        "torus-2QoS,no_fallback",
        "updn,no_fallback",
        bundle=TORUS,
        also=("FG818",),
        pitfalls=(2,),
    ),
    option("FG814", "routing_engine", "dfsssp,no_fallback", "minhop", bundle=DRAGONFLY, also=("FG818",), pitfalls=(3,)),
    option("FG814", "routing_engine", "dfsssp,no_fallback", "torus-2QoS,no_fallback", bundle=DRAGONFLY, pitfalls=(2,)),
    option(
        "FG814",
        "routing_engine",
        "ftree,no_fallback",
        "lash,no_fallback",
        also=("FG815",),
        severity="warning",
        pitfalls=(46,),
    ),
    option("FG814", "lmc", "0", "2", pitfalls=(24,)),
    option("FG814", "routing_engine", "updn,no_fallback", "ftree,no_fallback", plane="storage", also=("FG818",)),
    option("FG815", "qos", "TRUE", "FALSE", bundle=TORUS, also=("FG832",), pitfalls=(4,)),
    option("FG815", "qos", "TRUE", "FALSE", bundle=DRAGONFLY, also=("FG832",), pitfalls=(4,)),
    option("FG815", "max_op_vls", "4", "2", bundle=DRAGONFLY, also=("FG816",)),
    option(
        "FG816", "qos_sl2vl", "0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7", "0,1,2,3", bundle=DRAGONFLY, pitfalls=(28,), also=()
    ),
    option(
        "FG816",
        "qos_sl2vl",
        "0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7",
        "0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,15",
        bundle=DRAGONFLY,
        pitfalls=(29,),
    ),
    option("FG816", "qos_ca_vlarb_high", "0:64,1:64", "0:300,1:64", bundle=TORUS, pitfalls=(30,)),
    option("FG816", "qos_ca_vlarb_low", "0:64,1:64", "0-64,1-64", bundle=TORUS, pitfalls=(30,)),
    option("FG816", "qos_ca_vlarb_low", "0:64,1:64", "0:64,15:64", bundle=TORUS, pitfalls=(30,)),
    Case("FG816", "\nqos_vlarb_high", "\n#qos_vlarb_high", bundle=TORUS, at="opensm.conf of", pitfalls=(31,)),
    option("FG816", "qos_high_limit", "0", "255", bundle=TORUS, pitfalls=(31,)),
    option("FG817", "head_of_queue_lifetime", "0x12", "0x14", bundle=TORUS, severity="error", pitfalls=(39,)),
    option("FG817", "packet_life_time", "0x12", "0x14", severity="warning", pitfalls=(39,)),
    option("FG817", "vl_stall_count", "0x07", "0"),
    Case("FG818", "partitions.conf", "partition.conf", at="partition_config_file", pitfalls=(7,)),
    Case("FG818", "\nroot_guid_file", "\n#root_guid_file", at="opensm.conf of", pitfalls=(19,)),
    Case("FG818", "\npartition_config_file", "\n#partition_config_file", at="opensm.conf of"),
    Case("FG818", "torus_config /etc/opensm/", "torus_config /etc/osm/", bundle=TORUS, at="/etc/osm/"),
    Case(
        "FG819", "rate=21 :\n    0x02fab00200000001", "rate=21\n    0x02fab00200000001", PARTS, at="blue", pitfalls=(7,)
    ),
    Case("FG819", f"{PORT}=full", "02fab00200000001g=full", PARTS, pitfalls=(7,)),
    Case("FG819", f"{PORT}=full", f"e8eb{PORT[6:]}=full", PARTS, pitfalls=(7,)),
    Case("FG819", "=full ;\n\ngreen", "=full\n\ngreen", PARTS, at="green", pitfalls=(7,)),
    Case("FG819", f"{PORT}=full", members(180), PARTS, at=PORT, pitfalls=(8,)),
    Case("FG820", f"{PORT}=full", f"{NODE}=full", PARTS, pitfalls=(9,)),
    Case("FG820", f"{PORT}=full", "0x02fab00200009999=full", PARTS, pitfalls=(9,)),
    Case("FG821", "green=0x8002", "green=0x0001", PARTS, pitfalls=(10,)),
    Case("FG821", "green=0x8002", "green=0x8000", PARTS, pitfalls=(11,)),
    Case("FG821", "green=0x8002", "green=0", PARTS, pitfalls=(11,)),
    Case("FG821", "green=0x8002", "green", PARTS, pitfalls=(11,)),
    Case("FG822", "", "", PARTS, at="green", change=limited_green, pitfalls=(12,)),
    Case("FG822", f"{PORT}=full, ", "", PARTS, at="0x02fab00200000003", change=third_host, severity="warning"),
    Case("FG823", "Default=0x7fff", "Deflt=0x7ffe", PARTS, at="Partitions of", pitfalls=(13,)),
    Case("FG823", "ALL_CAS=limited", "ALL_CAS=full", PARTS),
    Case("FG823", f"SELF=full, {MANAGER}=full", f"{MANAGER}=limited", PARTS, at="Default", severity="error"),
    Case("FG823", "ALL_CAS=full", "ALL_CAS=limited", PARTS, bundle=TORUS),
    option("FG823", "part_enforce", "both", "off"),
    Case("FG824", FIRST, FIRST.replace("mtu=4", "mtu=4096"), PARTS, at="mtu=4096", pitfalls=(14,)),
    Case("FG824", FIRST, FIRST.replace("rate=21", "rate=400"), PARTS, at="rate=400", pitfalls=(14,)),
    Case("FG824", FIRST, FIRST.replace("rate=21", "rate=22"), PARTS, at="rate=22", pitfalls=(15,)),
    Case("FG825", FIRST, FIRST.replace("ipoib", "ipiob"), PARTS, at="ipiob", pitfalls=(16,)),
    Case("FG825", f"{PORT}=full", f"{PORT}=member", PARTS, severity="warning", pitfalls=(16,)),
    Case("FG825", f"{PORT}=full", f"{PORT}=ful", PARTS, severity="warning", pitfalls=(16,)),
    Case("FG825", f"{PORT}=full", f"{PORT}=both", PARTS, severity="error", pitfalls=(17,)),
    Case("FG825", "ALL_CAS=limited", "ALL_C=limited", PARTS),
    Case("FG826", "\ngreen=", f"\n{many(140)}\ngreen=", PARTS, at="_", pitfalls=(18,)),
    Case(
        "FG826",
        "\ngreen=",
        f"\n{many(9).replace('ALL_CAS', 'ALL')}\ngreen=",
        PARTS,
        at="_",
        severity="warning",
        pitfalls=(18,),
    ),
    Case("FG827", SPINE, SPINE[2:], ROOTS, at=SPINE[2:], pitfalls=(21,)),
    Case("FG827", SPINE, "02fa:b001:0000:0008", ROOTS, pitfalls=(21,)),
    Case("FG827", f"{SPINE} #", f"{SPINE}, #", ROOTS, pitfalls=(21,)),
    Case("FG827", "", "", NODES, at="_", change=only(NODES, "# none"), pitfalls=(23,)),
    Case("FG828", f"{SPINE} # compute-spine-00\n", "", ROOTS, at="_", severity="warning", pitfalls=(19,)),
    Case("FG828", "", "", ROOTS, at="0x02fab00100009999", change=only(ROOTS, "0x02fab00100009999"), pitfalls=(20,)),
    Case("FG828", f"{SPINE} #", f"{LEAF}\n{SPINE} #", ROOTS, at=LEAF, pitfalls=(22,)),
    Case("FG829", f"{PORT} #", f"{NODE} #", NODES, also=(), pitfalls=(23,)),
    Case("FG829", f"{PORT} #", "0x02fab00200009999 #", NODES, pitfalls=(23,)),
    Case("FG829", f"{PORT} # gpu-000 rail0\n", "", NODES, at="_", severity="warning"),
    Case("FG829", f"{MANAGER} #", f"{PORT} #", "io_guids"),
    option("FG830", "lmc", "0", "7", bundle=DRAGONFLY, change=large, lenient=True, pitfalls=(25,)),
    Case("FG831", "xm_link", "#xm_link", GRID, bundle=TORUS, at="xp_link", pitfalls=(26,)),
    Case("FG831", "portgroup_max_ports 9", "portgroup_max_ports 8", GRID, bundle=TORUS, pitfalls=(27,)),
    Case("FG831", "torus 4 3 1", "torus 4 4 1", GRID, bundle=TORUS, at="torus 4 4", pitfalls=(2,)),
    Case(
        "FG831",
        "yp_link 0x02fab00100000000 0x02fab00100000004",
        "yp_link 0x02fab00100000000 0x02fab00100000005",
        GRID,
        bundle=TORUS,
    ),
    Case(
        "FG831",
        "yp_link 0x02fab00100000000 0x02fab00100000004",
        "yp_link 0x02fab00100000000 0x02fab00100009999",
        GRID,
        bundle=TORUS,
    ),
    Case("FG832", "name: DEFAULT", "name: STANDARD", POLICY, bundle=TORUS, at="_", pitfalls=(32,)),
    Case("FG832", "sl: 0", "sl: 16", POLICY, bundle=TORUS, at="sl: 16", pitfalls=(32,)),
    Case("FG832", "    end-qos-level\n", "", POLICY, bundle=TORUS, at="qos-level", pitfalls=(32,)),
    Case(
        "FG832",
        "end-qos-levels",
        "end-qos-levels\nqos-match-rules\n qos-match-rule\n  use: x\n  qos-level-name: fast\n"
        " end-qos-match-rule\nend-qos-match-rules",
        POLICY,
        bundle=TORUS,
        at="fast",
        pitfalls=(32,),
    ),
    Case(
        "FG832",
        "",
        "",
        CONF,
        at="qos FALSE",
        change=write(POLICY, "qos-ulps\n default : 0\nend-qos-ulps\n"),
        severity="warning",
        pitfalls=(33,),
    ),
    Case(
        "FG833",
        line("routing_engine", "ftree,no_fallback"),
        line("routing_engine", "updn,no_fallback"),
        STANDBY,
        at="routing_engine",
        also=("FG818",),
        pitfalls=(34,),
    ),
    Case(
        "FG833",
        "",
        "",
        f"standby-1/{PARTS}",
        at="_",
        change=write(f"standby-1/{PARTS}", "Default=0x7fff : ALL=full ;\n"),
        pitfalls=(34,),
    ),
    Case(
        "FG833", "", "", f"standby-1/{ROOTS}", at="_", change=write(f"standby-1/{ROOTS}", f"{SPINE}\n"), pitfalls=(34,)
    ),
    Case("FG834", line("sm_priority", "13"), line("sm_priority", "14"), STANDBY, at="sm_priority", pitfalls=(35,)),
    Case("FG834", line("sm_priority", "13"), line("sm_priority", "15"), STANDBY, at="sm_priority", pitfalls=(35,)),
    Case("FG834", "guid 0x02fab00200000281", f"guid {MANAGER}", STANDBY, severity="error"),
    option("FG835", "honor_guid2lid_file", "TRUE", "FALSE", severity="error", pitfalls=(36,)),
    option("FG835", "sminfo_polling_timeout", "1000", "10000", pitfalls=(38,)),
    option("FG835", "reassign_lids", "FALSE", "TRUE", severity="error"),
    Case("FG836", f"guid {MANAGER}", "guid 0x02fab00200000200", CONF, also=("FG823",)),
    Case("FG836", "", "", CONF, at=f"guid {MANAGER}", change=MANAGER_ON_SPINE, also=("FG838",), pitfalls=(48,)),
    option("FG837", "subnet_prefix", "0xfec0000000000002", "0xfec0000000000001", plane="storage", pitfalls=(47,)),
    Case(
        "FG838", "caguid=0x02fab00200000002", "caguid=0x02fab00200000000", NET, at="_", also=("FG839",), pitfalls=(41,)
    ),
    Case("FG838", "caguid=0x02fab00200000002\n", "", NET, at="H-02fab00200000002"),
    Case("FG838", f'[1]\t"H-{NODE[2:]}"[1]\t', "# ", NET, at=NODE[2:]),
    Case("FG838", "compute-leaf", "x", "node-name-map", bundle=MESH, at='"x-00"', severity="warning"),
    Case("FG839", "", "", NET, at=PORT[2:], change=SWAPPED_RAILS, also=("FG838",), pitfalls=(43,)),
    Case("FG839", "", "", NET, at=LEAF[2:], change=MISSING_UPLINK, also=("FG838",), pitfalls=(44, 45)),
    Case("FG838", "", "", NET, at="_", change=write(NET, "")),
    Case("FG838", "", "", NET, at="_", change=write(NET, "\x7fELF\x02 no netlist\n\x00"), bundle=MESH),
    Case("FG819", "", "", PARTS, at="_", change=write(PARTS, "# no tenants yet\n"), also=("FG833",), lenient=True),
    Case("FG841", "   P1 -> DGX-H100 gpu-000 rail0\n", "", TOPO, at="rail0 -> MQM9700"),
    Case("FG841", "   P1 -> DGX-H100 gpu-000 rail0", "   P1 -> DGX-H100 gpu-000 rail1", TOPO),
    Case("FG841", "   P1 -> DGX-H100 gpu-000 rail0", "   P63 -> DGX-H100 gpu-000 rail0", TOPO),
    Case("FG841", "   P1 -> DGX-H100 gpu-000 rail0", "   P1 -> DGX-H200 gpu-000 rail0", TOPO),
    Case("FG841", "   P1 -> DGX-H100 gpu-000 rail0", "   P1 - DGX-H100 gpu-000 rail0", TOPO),
    Case("FG841", "DGX-H100 gpu-001\n", "DGX-H100 gpu-000\n", TOPO),
    Case("FG841", "", "", TOPO, at="_", change=write(TOPO, "PORT -> no system yet\n\x00\x01 binary")),
    Case("FG841", "", "", TOPO, at="compute-leaf-00", bundle=MESH, change=BOTH_ENDS),
]

# What OpenSM takes as it was meant: silent.
GOOD: list[Case] = [
    Case("FG810", END, f"\n# ar_mode 1\nsweep_interval 10{END}", at="_"),
    option("FG811", "qos", "TRUE", "TRUE # in capitals", bundle=TORUS),
    option("FG811", "subnet_timeout", "18", "0x12"),
    option("FG812", "routing_engine", "ftree,no_fallback", "ftree,nue,no_fallback"),
    option("FG813", "routing_engine", "ftree,no_fallback", "minhop,no_fallback", also=("FG818",)),
    option("FG814", "routing_engine", "torus-2QoS,no_fallback", "torus-2QoS,nue,no_fallback", bundle=TORUS),
    option("FG814", "routing_engine", "torus-2QoS,no_fallback", "nue,no_fallback", bundle=TORUS),
    option("FG815", "max_op_vls", "4", "5", bundle=DRAGONFLY, also=("FG816",)),
    option("FG816", "qos_ca_vlarb_low", "0:64,1:64", "0:255, 1:255", bundle=TORUS),
    option("FG817", "leaf_head_of_queue_lifetime", "0x10", "0x0f"),
    Case("FG818", "\nuse_ucast_cache", "\nlog_file /var/log/other.log\nuse_ucast_cache"),
    Case("FG819", ",\n    0x", ", # more\n\t0x", PARTS),
    Case("FG820", f"{PORT}=full", f"{PORT.upper().replace('X', 'x')}=full", PARTS),
    Case("FG821", "green=0x8002", "green=2", PARTS),
    Case("FG822", FIRST, f"blue=0x8001, ipoib, defmember=full :\n    {PORT}", PARTS),
    Case("FG823", "Default=0x7fff", "Default", PARTS),
    Case("FG824", FIRST, FIRST.replace("mtu=4, rate=21", "mtu=5, rate=16, sl=1"), PARTS),
    Case("FG825", "allow_both_pkeys FALSE", "allow_both_pkeys TRUE", change=both_member),
    Case("FG826", "\ngreen=", f"\n{many(100)}\ngreen=", PARTS),
    Case("FG827", f"{SPINE} #", f"{SPINE.upper().replace('X', 'x')} ;", ROOTS),
    Case("FG828", "", "", ROOTS, change=only(ROOTS, "0x02fab00100000009 second", SPINE)),
    Case(
        "FG829",
        "0x02fab00200000001 # gpu-000 rail0\n0x02fab00200000003 # gpu-000 rail1\n",
        "0x02fab00200000003\n0x02fab00200000001\n",
        NODES,
    ),
    option("FG830", "lmc", "0", "3", bundle=DRAGONFLY),
    Case("FG831", "portgroup_max_ports 9", "portgroup_max_ports 16\nmax_changes 2", GRID, bundle=TORUS),
    Case("FG832", "use: everything", "use: all that has no level of its own", POLICY, bundle=TORUS),
    Case("FG833", END, f"\nlog_prefix standby{END}", STANDBY),
    Case("FG834", line("sm_priority", "13"), line("sm_priority", "2"), STANDBY),
    option("FG835", "sminfo_polling_timeout", "1000", "2000"),
    option("FG836", "guid", MANAGER, "0", file=CONF),
    option("FG837", "subnet_prefix", "0xfec0000000000002", "0xfec0000000000099", plane="storage"),
    Case("FG838", "# Subnet", "# The subnet", NET),
    Case("FG839", "4xHDR", "2xHDR", NET),
    Case("FG841", "   P1 -> DGX-H100 gpu-000 rail0\n", "   P1 -4x -25G -> DGX-H100  gpu-000 rail0 # first\n", TOPO),
]
