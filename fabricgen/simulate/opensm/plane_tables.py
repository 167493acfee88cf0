"""The forwarding tables of InfiniBand planes: dumps, or those that the real OpenSM makes."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from fabricgen.bundle.read import Bundle
from fabricgen.errors import UsageError
from fabricgen.observed.opensm_dumps import FORWARDING, Dumps, read_dumps
from fabricgen.observed.subnet_files import SubnetFiles, subnets_of
from fabricgen.simulate.opensm.bench import swept
from fabricgen.simulate.opensm.tools import Tools, find_tools


def plane_tables(bundle: Bundle, planes: Sequence[str], lfts: Path | None = None) -> dict[str, list[Dumps]]:
    """The tables of each plane's subnets: those of the folder `lfts`, else those of OpenSM. A plane is left out if
    OpenSM or ibsim is not installed, if OpenSM does not route it, and if no dump is of its switches. Raises UsageError
    and UnreadableInputError."""
    if lfts is not None:
        dumped = [read_dumps(folder) for folder in dump_folders(lfts)]
        found = {plane: [one for one in dumped if _is_of(bundle, plane, one)] for plane in planes}
        return {plane: tables for plane, tables in found.items() if tables}
    tools, root = find_tools(), bundle.root
    if tools is None or root is None:
        return {}
    made: dict[str, list[Dumps]] = {}
    for plane in planes:
        subnets = [files for files in subnets_of(root) if files.plane == plane and files.netlist.is_file()]
        tables = [one for files in subnets for one in _routed(tools, files)]
        if tables and len(tables) == len(subnets):
            made[plane] = tables
    return made


def dump_folders(folder: Path) -> list[Path]:
    """The folders with forwarding tables: the given one, or those below it, one for each subnet."""
    if not folder.is_dir() or _has_tables(folder):
        return [folder]
    return [one for one in sorted(folder.iterdir()) if _has_tables(one)] or [folder]


def _has_tables(folder: Path) -> bool:
    return any(any(folder.glob(pattern)) for pattern in FORWARDING)


def _is_of(bundle: Bundle, plane: str, dumps: Dumps) -> bool:
    devices = bundle.wiring.devices if bundle.wiring else ()
    guids = {int(device.node_guid, 16) for device in devices if device.plane == plane and device.node_guid}
    return any(switch.node_guid in guids for switch in dumps.subnet.switches)


def _routed(tools: Tools, files: SubnetFiles) -> Iterator[Dumps]:
    try:
        with swept(tools, files.netlist, files.folder) as bench:
            if bench.is_up:
                yield read_dumps(bench.scratch)
    except UsageError as error:
        raise UsageError(f"{files.name}: {error}") from error
