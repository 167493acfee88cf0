"""The objects of a bundle for NetBox or Nautobot, as files. `fabricgen.dcim` writes them to a server."""

from collections.abc import Iterator
from functools import partial
from itertools import chain, islice
from operator import attrgetter
from typing import TYPE_CHECKING

import orjson

from fabricgen.dcim.objects import KINDS, Item, ObjectKind
from fabricgen.errors import UsageError
from fabricgen.handoff import Handoff, Option
from fabricgen.handoff.chosen import fits

if TYPE_CHECKING:
    from fabricgen.bundle.read import Bundle
    from fabricgen.dcim.planned import PlannedObjects
    from fabricgen.handoff import Content

_LINES = 1024  # of a piece
_OPTIONS = orjson.OPT_APPEND_NEWLINE | orjson.OPT_PASSTHROUGH_DATACLASS
SITE = Option("site", "Site of the devices, a location in Nautobot. Default: the name of the fabric.", metavar="NAME")
ONLY = Option("only", "Only devices whose names match; separate several patterns by commas.", metavar="GLOB")


def planned_objects(bundle: "Bundle", site: str | None = None, only: str | None = None) -> "PlannedObjects":
    """The objects of a bundle. Raises UsageError for files without fabric.json, and if `only` chooses no device."""
    from fabricgen.dcim.planned import PlannedObjects

    if bundle.wiring is None:
        raise UsageError("fabric.json is missing, which has the identities: render the bundle with fabricgen")
    planned = PlannedObjects(bundle, bundle.wiring, site or bundle.wiring.fabric, partial(fits, only=only))
    if next(planned.items(ObjectKind.DEVICE), None) is None:
        raise UsageError("the bundle has no devices" if only is None else f"--only {only}: no device matches")
    return planned


def netbox_files(bundle: "Bundle", site: str | None = None, only: str | None = None) -> Iterator[tuple[str, "Content"]]:
    """(relative path, content): for each kind of object a file with one JSON object on each line.

    Raises UsageError for files without fabric.json, and if `only` chooses no device.
    """
    planned = planned_objects(bundle, site, only)
    for kind in KINDS:
        lines = map(_line, planned.items(kind))
        if first := next(lines, None):
            yield f"{kind.replace(' ', '-')}.jsonl", _pieces(chain([first], lines))


def _pieces(lines: Iterator[bytes]) -> Iterator[bytes]:
    while piece := b"".join(islice(lines, _LINES)):
        yield piece


def _line(item: Item) -> bytes:
    stated = {name: item.fields[name] for name in item.stated}
    row = {"identity": item.identity, "name": item.name, **item.initial, **stated}
    if item.parent:
        row = {"identity": item.identity, "device": item.parent.identity, **row}
    return orjson.dumps(row, _identity, _OPTIONS)


_identity = attrgetter("identity")  # of a reference


HANDOFF = Handoff(
    "netbox",
    "Write the objects of a source of truth: racks, devices, interfaces, addresses and cables for NetBox or Nautobot.",
    netbox_files,
    (SITE, ONLY),
    "set NETBOX_URL and NETBOX_TOKEN, then fabricgen handoff netbox {bundle} --output {output} --plan",
    examples=("", "--plan", "--software nautobot --apply"),
)
