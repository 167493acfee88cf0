"""The inputs that are mutated, and the commands that read each of them.

`build` makes one folder with inventories, their bundles, readings of their links and tables, scenarios and settings.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from benchmarks.fuzz.run import run_command
from fabricgen.handoff import handoffs

HERE = Path(__file__).parent
ROOT = HERE.parents[1]

Command = tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """Files, by a glob below the folder, and the commands that read them. `weight` is the share of runs."""

    files: str
    commands: Sequence[Command]
    weight: int = 1


_JSON = ("--format", "json")
_INVENTORY = tuple(
    (verb, *options)
    for verb, *options in (
        ("render", "{top}", "-o", "out"), ("render", "{top}", "-o", "out", "--locked"), ("check", "{top}", *_JSON),
        ("capacity", "{top}"), ("render", "{top}", "-o", "{bundle}", "--check"),
        ("render", "{top}", "-o", "out", "--only", "leaf*"), ("check", "{top}", "--against", "{bundle}"),
        ("capacity", "{top}", "--format", "markdown"),
    )
)  # fmt: skip


def _bundle(name: str, other: str) -> list[Command]:
    """Every verb that reads a bundle."""
    judged = [("validate", name), ("validate", name, *_JSON), ("validate", name, "--deploy", "--expand")]
    simulated = [
        ("simulate", "deadlock", name, "--failures", "1"),
        ("simulate", "deadlock", name, *_JSON, "--certificate", "out.json"),
        ("simulate", "deadlock", name, "--routes", "out.json", "--repair", "local"),
        ("simulate", "congestion", name), ("simulate", "congestion", name, "--pattern", "permutation", *_JSON),
        ("simulate", "packets", name, "--pattern", "incast", "--size", "10KB"),
        ("simulate", "packets", name, "--pattern", "incast", "--size", "10KB", "--draws", "2"),
    ]  # fmt: skip
    compared = [("diff", *pair, *form) for pair in ((name, other), (other, name)) for form in _DIFFS]
    compared += [("rehearse", name, other), ("rehearse", other, name, *_JSON)]
    given = [("handoff", each, name, "-o", "out") for each in handoffs()]
    other_readers = [
        ("explain", name, "leaf1:PORT|Ethernet0|mtu"), ("import", "config-db", name, "-o", "out"),
        ("handoff", "ztp", name, "-o", "out", "--by", "serial"), ("validate", f"{name}/sonic"),
    ]  # fmt: skip
    return [*judged, *judged, *simulated, *compared, *given, *other_readers]


_DIFFS = ((), ("--stat",), ("--format", "jsonpatch"), ("--format", "markdown"), ("--format", "plan"), _JSON)
_PATCH = [
    {"op": "replace", "path": "/PORT/Ethernet0/mtu", "value": "9000"},
    {"op": "add", "path": "/BUFFER_PG/Ethernet0|5", "value": {"profile": "ingress_lossy_profile"}},
    {"op": "remove", "path": "/QUEUE/Ethernet0|1"},
    {"op": "move", "from": "/QUEUE/Ethernet0|2", "path": "/QUEUE/Ethernet0|1"},
]
_FORMATS = ("text", "concise", "json", "sarif", "junit", "github", "gitlab")


def cases() -> list[Case]:
    """All cases."""
    roce, subnet = _bundle("roce.bundle", "roce.same"), _bundle("infiniband.bundle", "infiniband.same")
    links = [
        ("validate", "roce.bundle"),
        ("simulate", "deadlock", "roce.loose"),
        ("simulate", "congestion", "roce.bundle"),
    ]
    subnet_diff = [("diff", "infiniband.bundle", name) for name in ("ibnetdiscover.txt", "dumps")]
    dumps = [("simulate", "deadlock", "infiniband.bundle", "--lfts", "dumps"), *subnet_diff]
    lldp = [(*words, "--lldp", "lldp") for words in links]
    scenario = [("simulate", verb, "--scenario", "scenario.json") for verb in ("packets", "congestion")]
    settings = [("validate", "roce.bundle", "--format", form) for form in _FORMATS] + [("capacity", "roce")]
    trace = [("simulate", verb, "roce.bundle", "--pattern", "trace:trace.json") for verb in ("packets", "congestion")]
    device = [("import", "sonic-device", "device/acme/x86_64-acme_box4-r0", "-o", "out.yaml")]
    return [
        Case("roce/*.*", _filled("roce"), 10),
        Case("roce/platforms/*", _filled("roce"), 3),
        Case("roce/allocations.lock.yaml", _filled("roce"), 4),
        Case("infiniband/*", _filled("infiniband"), 6),
        Case("overlay/**/*", [("render", "roce", "-o", "out", "--templates", "overlay")], 2),
        Case("roce.bundle/sonic/*/*", roce, 14),
        Case("roce.bundle/*.*", roce, 12),
        Case("roce.bundle/hosts/**/*", roce, 3),
        Case("infiniband.bundle/*.*", subnet, 4),
        Case("infiniband.bundle/[ih]*/**/*", subnet, 6),
        Case("links.json", [(*words, "--links", "links.json") for words in links], 2),
        Case("lldp/*", [*lldp, ("diff", "roce.bundle", "lldp")], 5),
        Case("running/*", [("diff", "roce.bundle", "running"), ("diff", "roce.bundle", "running", *_JSON)], 3),
        Case("dumps/*", dumps, 5),
        Case("ibnetdiscover.txt", subnet_diff[:1], 3),
        Case("scenario.json", scenario, 5),
        Case("trace.json", trace, 2),
        Case(
            "patch.json",
            [("validate", "roce.bundle/sonic/leaf1", "--patch", "patch.json", *form) for form in ((), _JSON)],
            3,
        ),
        Case("hosts.txt", [("simulate", "congestion", "roce.bundle", "--placement", "hosts.txt")], 1),
        Case("fabricgen.toml", settings, 3),
        Case("device/**/*", device, 4),
        Case("examples/*/*.yaml", [("capacity", "{parent}"), ("capacity", "{parent}", "--format", "json")], 1),
    ]


def warm_up() -> list[Command]:
    """Commands that compile the packet simulator, which is not part of the time of an input."""
    return [
        ("simulate", "packets", "--scenario", "scenario.json"),
        ("simulate", "packets", "roce.bundle", "--pattern", "incast", "--size", "10KB"),
    ]


def _filled(name: str) -> list[Command]:
    places = {"top": name, "bundle": f"{name}.bundle"}
    return [tuple(word.format(**places) for word in command) for command in _INVENTORY]


def build(folder: Path) -> None:
    """Write all inputs below `folder`, which is the working directory of the commands."""
    for name in ("roce", "infiniband"):
        shutil.copytree(HERE / "inventories" / name, folder / name)
        for copy in ("bundle", "same"):
            outcome = run_command(("render", str(folder / name), "-o", str(folder / f"{name}.{copy}"), "-q"))
            assert outcome.code == 0, outcome.error
    shutil.copytree(ROOT / "templates" / "sonic", folder / "overlay" / "sonic")
    shutil.copytree(ROOT / "tests" / "platforms" / "device", folder / "device", symlinks=True)
    shutil.copytree(ROOT / "inventories", folder / "examples")
    wiring = json.loads((folder / "roce.bundle" / "fabric.json").read_text())
    _write(folder / "links.json", [["|".join(link["a"]), "|".join(link["b"])] for link in wiring["links"]])
    _write_lldp(folder / "lldp", wiring)
    for file in (folder / "roce.bundle" / "sonic").glob("*/*"):
        for target in (
            folder / "running" / f"{file.parent.name}.json",
            folder / "roce.loose" / f"{file.parent.name}.json",
        ):
            target.parent.mkdir(exist_ok=True)
            shutil.copy(file, target)
    flows = [{"src": "gpu-000|rail0", "dst": "gpu-001|rail0", "bytes": 100_000, "start_ns": 5, "priority": 3}]
    _write(folder / "trace.json", {"flows": flows})
    _write(folder / "patch.json", _PATCH)
    (folder / "hosts.txt").write_text("gpu-000\ngpu-001\n")
    shutil.copy(HERE / "scenario.json", folder / "scenario.json")
    (folder / "fabricgen.toml").write_text(_TOML)
    subnet = json.loads((folder / "infiniband.bundle" / "fabric.json").read_text())
    _write_dumps(folder, subnet)


def _write(file: Path, content: object) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(orjson.dumps(content, option=orjson.OPT_INDENT_2))


def _write_lldp(folder: Path, wiring: dict[str, list[dict[str, list[str]]]]) -> None:
    """One switch in each format."""
    ends = [pair for link in wiring["links"] for pair in ((link["a"], link["b"]), (link["b"], link["a"]))]
    of = {
        name: {near[1]: far for near, far in ends if near[0] == name} for name in ("leaf1", "leaf2", "spine1", "spine2")
    }
    chassis = {"id": {"type": "mac", "value": "02:00:00:00:00:01"}}
    interfaces = [
        {
            port: {
                "via": "LLDP",
                "chassis": {far[0]: chassis},
                "port": {"id": {"type": "local", "value": far[1]}, "descr": "x"},
            }
        }
        for port, far in of["leaf1"].items()
    ]
    _write(folder / "leaf1.json", {"lldp": {"interface": interfaces}})
    rows = [
        {
            "name": port,
            "chassis": [{"name": [{"value": far[0]}]}],
            "port": [{"id": [{"type": "local", "value": far[1]}]}],
        }
        for port, far in of["leaf2"].items()
    ]
    _write(folder / "leaf2.json", {"lldp": [{"interface": rows}]})
    table = {
        f"LLDP_ENTRY_TABLE:{port}": {"type": "hash", "value": {"lldp_rem_sys_name": far[0], "lldp_rem_port_id": far[1]}}
        for port, far in of["spine1"].items()
    }
    _write(folder / "spine1.json", table)
    lines = [f"{port:14}{far[0]:16}{far[1]:16}{'BR':12}a cable" for port, far in of["spine2"].items()]
    titles = f"{'LocalPort':14}{'RemoteDevice':16}{'RemotePortID':16}{'Capability':12}RemotePortDescr\n{'-' * 70}\n"
    (folder / "spine2.txt").write_text(titles + "\n".join(lines) + "\n")


def _write_dumps(folder: Path, wiring: dict[str, list[dict[str, str]]]) -> None:
    """A ring of three switches with a host each, in OpenSM's formats, and the netlist of the bundle."""
    dumps = folder / "dumps"
    dumps.mkdir()
    cables = [((f"S{n}", 1), (f"S{(n + 1) % 3}", 2)) for n in range(3)] + [
        ((f"S{n}", 3), (f"H{n}", 1)) for n in range(3)
    ]
    text = "".join(f"{_end(*a)} {_end(*b)} PHY=4x LOG=ACT SPD=50\n" for a, b in cables)
    (dumps / "opensm-subnet.lst").write_text(text)
    (dumps / "opensm-lfts.dump").write_text("".join(_tables()))
    lanes = [
        f"{into:<3d} {out:<3d} : " + "".join(f"{lane:<2d} " for lane in range(16))
        for into in range(4)
        for out in range(1, 4)
    ]
    heads = [f'Switch 0x{_guid(f"S{n}"):016x}, base LID {11 + n}, "sw{n}"\n#in out : 0\n' for n in range(3)]
    (dumps / "opensm-sl2vl.dump").write_text("".join(head + "\n".join(lanes) + "\n" for head in heads))
    pairs = [(a, b) for a in range(3) for b in range(3) if a != b]
    (dumps / "path.psl").write_text("".join(f"0x{_guid(f'H{a}'):016x} {b + 1} {a % 2}\n" for a, b in pairs))
    netlist = next((folder / "infiniband.bundle" / "infiniband").rglob("topology.ibsim"))
    shutil.copy(netlist, folder / "ibnetdiscover.txt")
    assert wiring


def _guid(node: str) -> int:
    return 0xE8EBD30300000000 + (16 if node[0] == "H" else 0) + int(node[1])


def _end(node: str, port: int) -> str:
    kind, name = ("SW", f"sw{node[1]}") if node[0] == "S" else ("CA", f"host{node[1]} mlx5_0")
    guid, lid = _guid(node), int(node[1]) + (11 if node[0] == "S" else 1)
    return (
        f"{{ {kind} Ports:03 SystemGUID:0 NodeGUID:{guid:x} PortGUID:{guid + (kind == 'CA'):x} VenID:0 DevID:0000 "
        f"Rev:000000A1 {{{name}}} LID:{lid:04x} PN:{port:02x} }}"
    )


def _tables() -> Iterator[str]:
    for at in range(3):
        yield f"Unicast lids [0-13] of switch Lid {11 + at} guid 0x{_guid(f'S{at}'):016x} ('sw{at}'):\n"
        for to in range(3):
            guid = _guid(f"H{to}") + 1
            port = 3 if at == to else 1
            yield f"0x{to + 1:04x} {port:03d} # Channel Adapter portguid 0x{guid:016x}: 'host{to} mlx5_0'\n"


_TOML = """\
color = "never"
jobs = 1

[severity]
FG593 = "note"

[[suppressions]]
code = "FG593"
device = "leaf*"
reason = "measured"
expires = 2099-01-31

[validate]
expand = true
fail-on = "warning"

[simulate.deadlock]
failures = 1
"""
