"""Counters of NICs before and after the tests, as `ethtool -S` prints them.

Names: mlx5 (Linux, Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst), bnxt_en
(drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c), ice (drivers/net/ethernet/intel/ice/ice_ethtool.c) and ionic
(0eaed89c, drivers/net/ethernet/pensando/ionic/ionic_stats.c, ionic_port_stats_desc).
"""

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from fabricgen.bundle.wiring import Endpoint
from fabricgen.inputs import read_text

Key = TypeVar("Key", bound=Hashable)
_TITLE = re.compile(r"^NIC statistics:\s*$", re.MULTILINE)
_LINE = re.compile(r"^\s+([\w.\-\[\]: ]+?):\s+(\d+)\s*$")
# Errors of the link: bits that arrive wrong, and links that go down.
_ERRORS = re.compile(
    r"rx_(?:pcs_)?symbol_err(?:_phy)?|rx_crc_errors_phy|link_down_events(?:_phy)?|rx_fcs_err_frames|rx_crc_errors\.nic"
    r"|frames_rx_bad_fcs"
)
# PFC frames that the NIC sends: its host does not take what arrives.
_PAUSES = re.compile(r"tx_prio\d_pause|tx_pfc_ena_frames_pri\d|tx_priority_\d_xoff\.nic|frames_tx_pripause")
# Cycles in which the PCIe bus of the host does not take what has arrived.
_STALLED = re.compile(r"outbound_pci_stalled_wr(?:_events)?|rx_discards_phy")


@dataclass(frozen=True, slots=True)
class NicRise:
    """What rose on a NIC during the tests: counter -> by how much."""

    errors: Mapping[str, int]
    pauses: Mapping[str, int]
    stalled: Mapping[str, int]

    @property
    def holds(self) -> bool:
        """Whether the host does not take what arrives."""
        return bool(self.pauses or self.stalled)


def nic_rises(roots: Sequence[Path], nics: Sequence[Endpoint]) -> dict[Endpoint, NicRise]:
    """(host, NIC) -> what rose, for NICs with a file before and one after: before/HOST/NIC.txt, after/HOST/NIC.txt,
    also with ethtool- in front of the name."""
    before, after = (_files(roots, moment) for moment in ("before", "after"))
    found = {}
    for end in nics:
        if end in before and end in after:
            first, last = _read(before[end]), _read(after[end])
            if first and last:
                risen = rise(first, last)
                found[end] = NicRise(*(_of(risen, pattern) for pattern in (_ERRORS, _PAUSES, _STALLED)))
    return found


def rise(before: Mapping[Key, int], after: Mapping[Key, int]) -> dict[Key, int]:
    """What rose, and by how much. A counter that is smaller than before was cleared or wrapped in between: it rose at
    least by what it has now."""
    found = {}
    for key, value in after.items():
        earlier = before.get(key, 0)
        if gained := value - earlier if value >= earlier else value:
            found[key] = gained
    return found


def rise_lines(end: Endpoint, gained: Mapping[str, int]) -> list[str]:
    """A line for each counter of a NIC or port that rose."""
    return [f"{end[0]} {end[1]}: {name} rose by {value}" for name, value in sorted(gained.items())]


def _of(risen: Mapping[str, int], pattern: re.Pattern[str]) -> dict[str, int]:
    return {name: value for name, value in risen.items() if pattern.fullmatch(name)}


def _files(roots: Sequence[Path], moment: str) -> dict[Endpoint, Path]:
    found: dict[Endpoint, Path] = {}
    for root in roots:
        for file in sorted(root.rglob("*.txt")) if root.is_dir() else ():
            if moment in file.parent.relative_to(root.parent).parts:
                found.setdefault((file.parent.name, file.stem.removeprefix("ethtool-")), file)
    return found


def _read(file: Path) -> dict[str, int]:
    """Counter -> value, behind what the host printed first; nothing if the file is of another program."""
    _, *texts = _TITLE.split(read_text(file), maxsplit=1)
    return {found[1]: int(found[2]) for text in texts for line in text.splitlines() if (found := _LINE.match(line))}
