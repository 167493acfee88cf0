"""The check of `validate --deploy`: files that will be deployed contain no placeholder GUIDs.

A placeholder GUID represents hardware whose GUID is not yet known. Files with placeholders can be rendered, validated
and simulated, but a subnet manager silently ignores roots, members and ports with these GUIDs.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from fabricgen.bundle.wiring import Wiring
from fabricgen.findings import Finding, Location, Related, Severity
from fabricgen.inputs import read_bytes
from fabricgen.observed.subnet_files import subnets_of
from fabricgen.opensm.guids import PLACEHOLDER_PREFIX

_PLACEHOLDER = re.compile(rb"%s[0-9a-f]{10}" % PLACEHOLDER_PREFIX.removeprefix("0x").encode())
_SHOWN = 4  # files
_HINT = (
    "set the GUIDs of the hardware with `devices` (guid), guids.csv, or `discovered` with a scan of the fabric; "
    "then render again"
)


def not_deployable(paths: Sequence[Path], wiring: Wiring | None) -> Iterator[Finding]:
    """One finding for each subnet with placeholders in its files, and for each other plane that fabric.json marks."""
    reported = set()
    for path in paths:
        for subnet in subnets_of(path):
            finding = _placeholders(subnet.name or subnet.folder.name, subnet.folder)
            if finding:
                reported.add(subnet.plane)
                yield finding
        for mark in wiring.placeholders if wiring else ():
            if mark.plane not in reported:
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
    message = f"subnet {name}: {len(places)} files contain {len(guids)} placeholder GUIDs, which no hardware has"
    related = tuple(Related("another file", place) for place in places[1:_SHOWN])
    return Finding(
        "FG840", Severity.ERROR, message, path=name, location=places[0], related=related, hint=_HINT, count=len(guids)
    )
