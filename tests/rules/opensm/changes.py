"""Changes of a subnet manager's files, and names of files and GUIDs that cases use."""

from collections.abc import Callable
from pathlib import Path

from tests.opensm.netlists import two_tier
from tests.rules.changes import Edit, Write, edit

CONF, PARTS, ROOTS, NODES, STANDBY = "opensm.conf", "partitions.conf", "root_guids", "cn_guids", "standby-1/opensm.conf"
NET, TOPO, GRID, POLICY = "topology.ibsim", "topology.topo", "torus-2QoS.conf", "qos-policy.conf"
NODE, PORT, OTHER_PORT = "0x02fab00200000000", "0x02fab00200000001", "0x02fab00200000101"
SPINE, LEAF, MANAGER = "0x02fab00100000008", "0x02fab00100000000", "0x02fab00200000201"
FIRST = f"blue=0x8001, ipoib, mtu=4, rate=21 :\n    {PORT}=full"
MANAGERS = (CONF, STANDBY)


def line(name: str, value: str) -> str:
    return f"\n{name} {value}\n"


def option(name: str, old: str, new: str, files: str | tuple[str, ...] = MANAGERS) -> Edit:
    """Give an option another value in the files of managers."""
    return edit(files, line(name, old), line(name, new))


def many(count: int) -> str:
    """Partitions of all adapters."""
    return "".join(f"t{number}=0x{0x9000 + number:x} : ALL_CAS=limited, SELF=full ;\n" for number in range(count))


def members(count: int) -> str:
    """Members on one line."""
    return ", ".join([f"{PORT}=full"] * count)


def only(name: str, *lines: str) -> Write:
    """A file with only these lines."""
    return Write(name, "".join(f"{one}\n" for one in lines))


def limited_green(folder: Path) -> None:
    head, name, rest = (folder / PARTS).read_text().partition("green=")
    (folder / PARTS).write_text(head + name + rest.replace("=full", "=limited"))


def third_host(folder: Path) -> None:
    """Blue has hosts 0 to 2, so that two of them show the usual ports."""
    text = (folder / PARTS).read_text()
    listed = [f"0x02fab002000001{number:02x}=full" for number in range(1, 16, 2)]
    (folder / PARTS).write_text(text.replace(" ;\n\ngreen", f", {', '.join(listed)} ;\n\ngreen"))


def both_member(folder: Path) -> None:
    (folder / PARTS).write_text((folder / PARTS).read_text().replace(f"{PORT}=full", f"{PORT}=both"))


def rewired(*pairs: tuple[str, str], file: str = NET) -> Callable[[Path], None]:
    """Replace lines of the netlist or of another file; each of them must exist."""

    def change(folder: Path) -> None:
        text = (folder / file).read_text()
        for old, new in pairs:
            assert old in text, old
            text = text.replace(old, new)
        (folder / file).write_text(text)

    return change


def unreached_spine(folder: Path) -> None:
    """topology.ibsim: compute-su00-r0-leaf has no cable to compute-spine-00"""
    switch, kept = "", []
    for text in (folder / NET).read_text().splitlines(keepends=True):
        if text.startswith("Switch"):
            switch = text
        ends = {LEAF[2:]: SPINE[2:], SPINE[2:]: LEAF[2:]}
        if not any(near in switch and text.startswith("[") and f'"S-{far}"' in text for near, far in ends.items()):
            kept.append(text)
    (folder / NET).write_text("".join(kept))


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
BOTH_ENDS = rewired(  # two cables of one switch are exchanged, at all their ends
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
