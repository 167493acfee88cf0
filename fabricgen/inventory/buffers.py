"""`buffers` of an inventory: headroom rows, pools and profiles of SKUs that ship none, and who states them."""

from collections.abc import Mapping
from dataclasses import dataclass

from fabricgen.inventory.nodes import Node
from fabricgen.inventory.part import Part
from fabricgen.units import parse_length_m, parse_speed_mbps
from fabricgen.vocabulary import Role

Rows = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class HeadroomSpec(Part):
    """One row of headroom; the fields are those of pg_profile_lookup.ini."""

    speed_mbps: int
    cable_m: int
    size_bytes: int
    xon_bytes: int
    xoff_bytes: int
    dynamic_th: int
    xon_offset_bytes: int | None


@dataclass(frozen=True)
class BufferTablesSpec(Part):
    """Pools, profiles and the names of the usual profiles, for switches of these roles."""

    roles: tuple[Role, ...]
    pools: Rows
    profiles: Rows
    lossless_queue_profile: str
    lossy_queue_profile: str
    lossy_pg_profile: str
    port_profile_lists: Mapping[str, str]


@dataclass(frozen=True)
class BuffersSpec(Part):
    """The buffers of one hwsku."""

    stated_by: str
    headroom: tuple[HeadroomSpec, ...]
    tables: tuple[BufferTablesSpec, ...]


def build_buffers(root: Node) -> dict[str, BuffersSpec]:
    """hwsku -> its buffers."""
    return {hwsku: _buffers(node, f"buffers.{hwsku}") for hwsku, node in root.members("buffers")}


def _buffers(node: Node, path: str) -> BuffersSpec:
    return BuffersSpec(
        node=node,
        path=path,
        stated_by=node.scalar("source"),
        headroom=tuple(_row(item, f"{path}.headroom[{n}]") for n, item in enumerate(node.list_of("headroom"))),
        tables=tuple(_tables(item, f"{path}.tables[{n}]") for n, item in enumerate(node.list_of("tables"))),
    )


def _row(node: Node, path: str) -> HeadroomSpec:
    return HeadroomSpec(
        node=node,
        path=path,
        speed_mbps=parse_speed_mbps(node.scalar("speed")),
        cable_m=int(parse_length_m(node.scalar("cable"))),
        size_bytes=node.scalar("size"),
        xon_bytes=node.scalar("xon"),
        xoff_bytes=node.scalar("xoff"),
        dynamic_th=node.scalar("dynamic_th"),
        xon_offset_bytes=node.scalar("xon_offset"),
    )


def _tables(node: Node, path: str) -> BufferTablesSpec:
    names = ("lossless_queue_profile", "lossy_queue_profile", "lossy_pg_profile")
    return BufferTablesSpec(
        node=node,
        path=path,
        roles=tuple(Role(text) for text in node.texts("roles")),
        pools=_rows(node, "pools"),
        profiles=_rows(node, "profiles"),
        port_profile_lists=node.text_mapping("port_profile_lists"),
        **{name: node.scalar(name) for name in names},
    )


def _rows(node: Node, key: str) -> dict[str, dict[str, str]]:
    table = node.part(key)
    return {name: table.text_mapping(name) for name in table.mapping}
