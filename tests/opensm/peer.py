"""ibdmchk of ibutils on the dumps of a subnet: the same question, answered by other code."""

import re
import subprocess
from pathlib import Path

import numpy as np

from fabricgen.observed.opensm_dumps import Dumps


def credit_loops(ibdmchk: str, folder: Path, dumps: Dumps) -> bool:
    """Whether ibdmchk finds a credit loop. It crashes after its verdict, so its exit code has no meaning."""
    (folder / "tables.fdbs").write_text(_fdbs((folder / "opensm-lfts.dump").read_text()))
    (folder / "none.mcfdbs").write_text("")
    command = [ibdmchk, "-s", "opensm-subnet.lst", "-f", "tables.fdbs", "-m", "none.mcfdbs"]
    if dumps.path_sl is not None:
        (folder / "path.psl").write_text(path_sl_text(dumps))
        command += ["-c", "path.psl"]
        command += ["-d", "opensm-sl2vl.dump"] if dumps.sl2vl is not None else []
    return judge(command, folder)


def judge(command: list[str], folder: Path) -> bool:
    """Whether a run of ibdmchk finds a credit loop."""
    output = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False).stdout
    free = "no credit loops found" in output
    found = re.search(r"credit loop on|Potential Credit Loop", output, re.IGNORECASE) is not None
    assert free != found, output[-2000:]
    return found


def path_sl_text(dumps: Dumps) -> str:
    """Path SLs as ibdmchk reads them."""
    assert dumps.path_sl is not None
    lines = []
    for row, column in np.argwhere(dumps.path_sl < 16).tolist():
        port = row % len(dumps.subnet.adapters)
        if dumps.owners[column] != port:
            guid = dumps.subnet.adapters[port].node_guid
            lines.append(f"0x{guid:016x} {dumps.destinations[column]} {dumps.path_sl[row, column]}\n")
    return "".join(lines)


def _fdbs(tables: str) -> str:
    lines = []
    for line in tables.splitlines():
        if line.startswith("U"):
            guid = line.split("guid ")[1].split()[0]
            lines.append(f"dump_ucast_routes: Switch {guid}\nLID    : Port : Hops : Optimal\n")
        elif line.startswith("0x"):
            lines.append(f"0x{line[2:6].upper()} : {line[7:10]}  : 00   : yes\n")
    return "".join(lines)
