"""The cables of a bundle compared with observed ones."""

import enum
from dataclasses import dataclass
from pathlib import Path

from fabricgen.bundle.cables import Miscabling, miscablings, pair_of, plugged
from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint
from fabricgen.errors import UsageError
from fabricgen.observed.lldp import is_shut, read_lldp, resolved


class CableSource(enum.StrEnum):
    """How cables were observed."""

    LLDP = "lldp"
    IBNETDISCOVER = "ibnetdiscover"


@dataclass(frozen=True, slots=True)
class UnknownNode:
    """A node whose GUID is not in the bundle. `expected` is the GUID of the bundle's switch with this name, or ""."""

    guid: str
    name: str
    expected: str


@dataclass(frozen=True)
class CableDifference:
    """The result of a comparison. `correct` counts the cables as planned.

    `silent` are the switches of the bundle without an LLDP dump, or without a node in the output of ibnetdiscover.
    """

    miscablings: tuple[Miscabling, ...]
    correct: int
    silent: tuple[str, ...]
    unknown: tuple[UnknownNode, ...] = ()
    observer: CableSource = CableSource.LLDP

    @property
    def differs(self) -> bool:
        """Whether a cable or node differs. Silent switches differ for ibnetdiscover, which reads whole subnets."""
        return bool(self.miscablings or self.unknown or (self.silent and self.observer is CableSource.IBNETDISCOVER))


def compare_cables(bundle: Bundle, path: Path) -> CableDifference:
    """Compare the links of a bundle with an LLDP dump or a folder of dumps.

    A link to a host without LLDP is not missing, because many hosts do not run LLDP, and neither is a link
    with a port that the configuration shuts down. Raises UnreadableInputError for a
    file that is not a dump, UsageError if no dump belongs to a switch of the bundle.
    """
    readings = read_lldp(path)
    dumped = {near[0] for near, _ in readings} & bundle.devices.keys()
    if not dumped:
        raise UsageError(
            f"{path}: no dump belongs to a switch of the bundle; name a dump DEVICE.json or DEVICE/lldp.json"
        )
    far_ends = {link.a: link.b for link in bundle.links} | {link.b: link.a for link in bundle.links}
    nics: dict[str, list[Endpoint]] = {}
    for link in bundle.host_links:
        nics.setdefault(link.a[0], []).append(link.a)
    seen = {
        pair_of(near, plugged(near, resolved(far, bundle.devices), far_ends, nics))
        for near, far in readings
        if near[0] in dumped
    }
    expected = (
        pair_of(link.a, link.b)
        for link in bundle.switch_links
        if dumped & {link.a[0], link.b[0]} and not any(is_shut(bundle, end) for end in (link.a, link.b))
    )
    found, correct = miscablings(seen, far_ends, expected)
    silent = tuple(name for name in bundle.devices if name not in dumped)
    return CableDifference(found, correct, silent)
