"""Dumps beside a bundle: whether their cables are those of the plane that they are taken for."""

from dataclasses import dataclass
from pathlib import Path

from fabricgen.observed.opensm_dumps import read_subnet
from fabricgen.observed.subnet import GuidCable, Subnet, cables_by_guid
from fabricgen.observed.subnet_files import subnets_of
from fabricgen.opensm.guids import guid_text, is_placeholder


@dataclass(frozen=True, slots=True)
class OtherWiring:
    """Of the `cables` in the dumps `strange` are none of the plane's, and `lacking` of the plane's are not there."""

    plane: str
    cables: int
    strange: int
    lacking: int


def find_other_wiring(seen: Subnet, bundle: Path, name: str) -> OtherWiring | None:
    """How the cables differ from those of the bundle's subnet or plane `name`, of any where none is named so; of
    several the one that is most like it. None where they are the same, or where the bundle has placeholder GUIDs and
    the dumps have not."""
    subnets = [one for one in subnets_of(bundle) if one.netlist.is_file()]
    meant = {
        one.name: set(cables_by_guid(read_subnet(one.netlist))) for one in subnets if name in (one.name, one.plane)
    }
    meant = meant or {one.name: set(cables_by_guid(read_subnet(one.netlist))) for one in subnets}
    there = set(cables_by_guid(seen))
    if not meant:
        return None
    plane = max(meant, key=lambda one: len(meant[one] & there))
    differing = OtherWiring(plane, len(there), len(there - meant[plane]), len(meant[plane] - there))
    if not (meant[plane] & there) and all(map(_is_placeholder, meant[plane])):
        return None
    return differing if differing.strange or differing.lacking else None


def _is_placeholder(cable: GuidCable) -> bool:
    return all(is_placeholder(guid_text(guid)) for guid, _ in cable)
