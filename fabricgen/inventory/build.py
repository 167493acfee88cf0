"""A tree that conforms to the schema, as the typed model. Mistakes that the schema cannot detect are reported here."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from fabricgen.findings import Finding, Severity
from fabricgen.inventory.mistakes import name_twice
from fabricgen.inventory.model import DeviceNote, Inventory, LinkNote
from fabricgen.inventory.nodes import Node, SecretReference
from fabricgen.inventory.part import Part, declared


def build_inventory(root: Node, findings: list[Finding]) -> Inventory:
    """The model of a valid tree. Names given twice, literal secrets and unclear links are added to `findings`."""
    inventory = Inventory.read(root, "")
    findings += literal_secrets(inventory)
    return replace(
        inventory,
        devices=_unique(inventory.devices, findings),
        links=tuple(_clear(inventory.links, findings)),
        digest=hashlib.sha256(json.dumps(root.plain(), sort_keys=True, default=str).encode()).hexdigest(),
    )


def _clear(notes: Iterable[LinkNote], findings: list[Finding]) -> Iterator[LinkNote]:
    """The entries of `links`; one that names no link, or names it in two ways, is reported."""
    for note in notes:
        given = note.node.mapping.keys() & {"ends", "cable"}
        if len(given) == 1:
            yield note
        elif not {"ends", "cable"} & note.node.cut:
            code, message = ("FG105", "a link has `ends` or `cable`, not both") if given else (
                "FG106", "the link has neither `ends` nor `cable`")  # fmt: skip
            hint = "give `ends: [device:port, device:port]`, or `cable:` with a name of cabling.csv"
            findings.append(
                Finding(code, Severity.ERROR, message, path=note.path, location=note.node.location, hint=hint)
            )


def _unique(notes: Iterable[DeviceNote], findings: list[Finding]) -> tuple[DeviceNote, ...]:
    kept: dict[str, DeviceNote] = {}
    for note in notes:
        if note.name in kept:
            findings.append(name_twice(note.name, note, kept[note.name]))
        kept.setdefault(note.name, note)
    return tuple(kept.values())


def literal_secrets(part: Part) -> Iterator[Finding]:
    """Findings about secrets of a part, and of the parts in it, that are not references. None shows the secret."""
    for one in declared(type(part)):
        given = part.node.mapping.get(one.name)
        if given and one.notation.schema.get("writeOnly") and not isinstance(given.value, SecretReference):
            path = part.path_of(one.name)
            yield Finding(
                "FG108", Severity.ERROR, f"{path} contains a literal secret", path=path, location=given.location,
                hint=f"write `{one.name}: !secret path/of/the/secret`, and change the secret",
            )  # fmt: skip
        value = getattr(part, one.field)
        for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, tuple) else [value]:
            if isinstance(inner, Part):
                yield from literal_secrets(inner)
