"""The InfiniBand subnets of a bundle: the folders with the files of their subnet managers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from fabricgen.bundle.read import OPTIONS_NAME
from fabricgen.bundle.sources import MLNX_FOLDER
from fabricgen.findings import Location
from fabricgen.inputs import read_bytes
from fabricgen.observed.subnet import Subnet
from fabricgen.opensm.node_name_map import read_node_names

NETLIST = "topology.ibsim"


@dataclass(frozen=True, slots=True)
class SubnetFiles:
    """One subnet: `name` is its plane, or plane/subnet if the plane has several."""

    name: str
    plane: str
    folder: Path

    @property
    def place(self) -> str:
        """The folder, relative to that of the bundle or to the given loose folder."""
        return f"infiniband/{self.name}" if self.plane else "."

    @property
    def netlist(self) -> Path:
        """The planned wiring, as ibsim reads it."""
        return self.folder / NETLIST

    def name_of(self, file: str) -> str:
        """The name of the manager of a file: the subnet, with /standby-N for a standby."""
        return "/".join((self.name, *file.split("/")[:-1]))

    def locate(self, file: str, word: str = "", line: int = 0) -> Location:
        """The given line of a file, else the first line with the word, else the whole file."""
        path = self.folder / file
        if line or not word:
            return Location(str(path), line)
        text = read_bytes(path).decode("utf-8", "replace") if path.is_file() else ""
        found = re.search(rf"\b{re.escape(word)}\b", text)
        return Location(str(path), text.count("\n", 0, found.end()) + 1 if found else 0)


def subnets_of(root: Path) -> Iterator[SubnetFiles]:
    """Every subnet below a bundle's infiniband/ folder, or the subnet of a loose folder with an opensm.conf."""
    if (root / OPTIONS_NAME).is_file():
        name = root.absolute().name
        yield SubnetFiles(name, "", root)
        return
    below = root / "infiniband"
    for conf in sorted([*below.glob(f"*/{OPTIONS_NAME}"), *below.glob(f"*/*/{OPTIONS_NAME}")]):
        *parents, last = conf.parent.relative_to(below).parts
        if parents and (last.startswith("standby-") or last == MLNX_FOLDER):
            continue
        yield SubnetFiles("/".join((*parents, last)), (*parents, last)[0], conf.parent)


def with_names(subnet: Subnet, folder: Path) -> Subnet:
    """The subnet with the names of a folder's node-name-map; switches without an entry keep their descriptions."""
    file = folder / "node-name-map"
    if not file.is_file():
        return subnet
    names = read_node_names(read_bytes(file).decode("utf-8", "replace"))
    switches = tuple(replace(one, name=names.get(one.node_guid, one.name)) for one in subnet.switches)
    return replace(subnet, switches=switches)
