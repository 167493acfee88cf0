"""A tree that conforms to the schema, as the typed model. This module and `build_*` fill in the defaults."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from fabricgen.bundle.wiring import Checks, MaintenanceSet
from fabricgen.findings import Finding, Related, Severity
from fabricgen.inventory.buffers import build_buffers
from fabricgen.inventory.build_management import build_management
from fabricgen.inventory.build_plane import build_plane
from fabricgen.inventory.host_models import build_host_model
from fabricgen.inventory.model import (
    AdapterNote,
    DeviceNote,
    HostGroup,
    Inventory,
    LinkNote,
    Override,
    SonicTarget,
)
from fabricgen.inventory.nodes import Node
from fabricgen.inventory.part import Part
from fabricgen.sonic import releases
from fabricgen.sonic.release_models import release_number
from fabricgen.vocabulary import DeviceState, LinkState

ADAPTER_KEYS = ("host", "nic", "node_guid", "port_guid")


def build_inventory(root: Node, findings: list[Finding]) -> Inventory:
    """The model of a valid tree. Mistakes that the schema cannot detect are added to `findings`."""
    top = root.mapping
    planes = {name: build_plane(name, node, root.part("profiles").mapping) for name, node in root.members("planes")}
    notes = [_device(node, index) for index, node in enumerate(root.list_of("devices"))]
    return Inventory(
        node=root,
        path="",
        fabric=root.scalar("fabric", "unnamed"),
        sonic=_sonic(root.part("sonic")),
        platform_files=root.texts("platforms"),
        host_models={name: build_host_model(name, node) for name, node in root.members("host_models")},
        hosts={
            name: HostGroup(
                node=node, path=f"hosts.{name}", name=name, model=node.scalar("model"), count=node.scalar("count")
            )
            for name, node in root.members("hosts")
        },
        planes=planes,
        management=build_management(top["management"], findings) if "management" in top else None,
        names={role: str(node.value) for role, node in root.members("names")},
        devices=_unique(notes, findings),
        buffers=build_buffers(root),
        guids=tuple(
            AdapterNote(node=node, path=f"guids[{index}]", **{key: str(node.scalar(key)) for key in ADAPTER_KEYS})
            for index, node in enumerate(root.list_of("guids"))
        ),
        overrides=tuple(_override(node, index) for index, node in enumerate(root.list_of("overrides"))),
        checks=_checks(root.part("checks")),
        links=tuple(_link_notes(root, findings)),
        digest=hashlib.sha256(json.dumps(root.plain(), sort_keys=True, default=str).encode()).hexdigest(),
    )


def _checks(node: Node) -> Checks:
    least = node.scalar("min_busbw_after_failure")
    return Checks(
        min_busbw_after_failure=None if least is None else float(least),
        failures=node.scalar("failures", 1),
        switch_failures=node.scalar("switch_failures", False),
        repair=node.scalar("repair", "none"),
        maintenance=tuple(
            MaintenanceSet(str(one.scalar("name")), one.texts("switches"), one.texts("links"))
            for one in node.list_of("maintenance")
        ),
    )


def _sonic(node: Node) -> SonicTarget:
    return SonicTarget(
        node=node,
        path="sonic",
        release=release_number(node.scalar("release", releases.DEFAULT)),
        base=node.scalar("base"),
        owned_tables=node.texts("owned_tables"),
    )


def _device(node: Node, index: int) -> DeviceNote:
    fields = {key: node.scalar(key) for key in node.mapping if key not in ("unit", "state", "ports")}
    state = DeviceState(node.scalar("state", DeviceState.ACTIVE))
    return DeviceNote(
        node=node,
        path=f"devices[{index}]",
        unit=str(node.scalar("unit", "")),
        state=state,
        ports=node.text_mapping("ports"),
        **fields,
    )


def _link_notes(root: Node, findings: list[Finding]) -> Iterator[LinkNote]:
    """The entries of `links`; one that names no link, or names it in two ways, is reported."""
    for index, node in enumerate(root.list_of("links")):
        path, given = f"links[{index}]", node.mapping.keys() & {"ends", "cable"}
        if len(given) == 1:
            state = LinkState(node.scalar("state"))
            yield LinkNote(node=node, path=path, ends=node.texts("ends"), cable=node.scalar("cable"), state=state)
        elif not {"ends", "cable"} & node.cut:
            code, message = ("FG105", "a link has `ends` or `cable`, not both") if given else (
                "FG106", "the link has neither `ends` nor `cable`")  # fmt: skip
            hint = "give `ends: [device:port, device:port]`, or `cable:` with a name of cabling.csv"
            findings.append(Finding(code, Severity.ERROR, message, path=path, location=node.location, hint=hint))


def _unique(notes: list[DeviceNote], findings: list[Finding]) -> tuple[DeviceNote, ...]:
    kept: dict[str, DeviceNote] = {}
    for note in notes:
        if note.name in kept:
            findings.append(name_twice(note.name, note, kept[note.name]))
        kept.setdefault(note.name, note)
    return tuple(kept.values())


def name_twice(name: str, second: Part, first: Part) -> Finding:
    """The finding about two items with one name."""
    return Finding(
        "FG102", Severity.ERROR, f"the name {name!r} is given twice", path=second.path, location=second.at("name"),
        related=(Related("the first one", first.at("name")),), hint="rename or remove one of the two",
    )  # fmt: skip


def _override(node: Node, index: int) -> Override:
    match = {key: child.value for key, child in node.members("match")}
    config: Any = node.mapping["config_db"].plain()
    return Override(node=node, path=f"overrides[{index}]", match=match, config_db=config)
