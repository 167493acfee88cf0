"""Compares the cables of dumps with those of the bundle's plane."""

from dataclasses import dataclass
from pathlib import Path

from fabricgen.observed.opensm_dumps import read_subnet
from fabricgen.observed.subnet import GuidCable, Subnet, cables_by_guid
from fabricgen.observed.subnet_files import subnets_of
from fabricgen.opensm.guids import guid_text, is_placeholder


@dataclass(frozen=True, slots=True)
class OtherWiring:
    """Of the `cables` in the dumps, `unknown` are not in the plane; the dumps lack `missing` cables of the plane."""

    plane: str
    cables: int
    unknown: int
    missing: int


def find_other_wiring(seen: Subnet, bundle: Path, name: str) -> OtherWiring | None:
    """How the cables differ from those of the bundle's subnet or plane `name`, or of any subnet if none has that name.
    Of several subnets the one with the most common cables counts. None if the cables are equal, or if the bundle has
    placeholder GUIDs and the dumps do not."""
    subnets = [one for one in subnets_of(bundle) if one.netlist.is_file()]
    planned = {
        one.name: set(cables_by_guid(read_subnet(one.netlist))) for one in subnets if name in (one.name, one.plane)
    }
    planned = planned or {one.name: set(cables_by_guid(read_subnet(one.netlist))) for one in subnets}
    there = set(cables_by_guid(seen))
    if not planned:
        return None
    plane = max(planned, key=lambda one: len(planned[one] & there))
    differing = OtherWiring(plane, len(there), len(there - planned[plane]), len(planned[plane] - there))
    if not (planned[plane] & there) and all(map(_is_placeholder, planned[plane])):
        return None
    return differing if differing.unknown or differing.missing else None


def _is_placeholder(cable: GuidCable) -> bool:
    return all(is_placeholder(guid_text(guid)) for guid, _ in cable)
