"""What may be designed with and must not be deployed: asked for by `validate --deploy`.

Placeholder GUIDs stand in for hardware that nobody has seen yet. Files with them render, simulate and pass every rule;
a subnet manager that reads them finds no such root, member or port, and says nothing.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from fabricgen.bundle.read import read_bytes
from fabricgen.bundle.wiring import Wiring
from fabricgen.findings import Finding, Location, Related, Severity
from fabricgen.observed.subnet_files import subnets_of
from fabricgen.opensm.guids import PLACEHOLDER_PREFIX

_PLACEHOLDER = re.compile(rb"%s[0-9a-f]{10}" % PLACEHOLDER_PREFIX.removeprefix("0x").encode())
_SHOWN = 4  # files
_HINT = (
    "give the hardware's: `devices` (guid), guids.csv, or `discovered` with a reading of the fabric; then render again"
)


def not_deployable(paths: Sequence[Path], wiring: Wiring | None) -> Iterator[Finding]:
    """One finding for each subnet with placeholders in its files, and for each plane that fabric.json marks."""
    told = set()
    for path in paths:
        for subnet in subnets_of(path):
            finding = _placeholders(subnet.name or subnet.folder.name, subnet.folder)
            if finding:
                told.add(subnet.plane)
                yield finding
        for mark in wiring.placeholders if wiring else ():
            if mark.plane not in told:
                message = (
                    f"plane {mark.plane}: {mark.switches} switches and {mark.adapters} adapters have placeholder GUIDs"
                )
                place = Location(str(path / "fabric.json"), 1, 1)
                yield Finding("FG840", Severity.ERROR, message, path=mark.plane, location=place, hint=_HINT)


def _placeholders(name: str, folder: Path) -> Finding | None:
    guids: set[bytes] = set()
    places = []
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        text = read_bytes(file)
        if found := _PLACEHOLDER.search(text):
            places.append(Location(str(file), text.count(b"\n", 0, found.start()) + 1))
            guids.update(_PLACEHOLDER.findall(text))
    if not places:
        return None
    message = f"subnet {name}: {len(guids)} placeholder GUIDs in {len(places)} files: no hardware has them"
    related = tuple(Related("here, too", place) for place in places[1:_SHOWN])
    return Finding(
        "FG840", Severity.ERROR, message, path=name, location=places[0], related=related, hint=_HINT, count=len(guids)
    )
