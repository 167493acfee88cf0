"""`buffers` of the inventory as part of a platform: the rows that a person states count like those of the SKU's files.

Stated rows are compared with physics, and with the rows of other SKUs of the same chip.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace

from fabricgen.findings import Finding, Severity
from fabricgen.inventory.buffers import BuffersSpec, BufferTablesSpec, HeadroomSpec
from fabricgen.inventory.mistakes import error
from fabricgen.physics import DEFAULT_MTU_BYTES, headroom_floor_bytes
from fabricgen.platforms import catalog
from fabricgen.platforms.model import BufferDefaults, HeadroomRow, Layout, SwitchPlatform
from fabricgen.units import format_speed
from fabricgen.vocabulary import BufferModel

LOSSLESS_POOL = "ingress_lossless_pool"  # the only name that buffermgrd supports (swss cfgmgr/buffermgr.h)
_FAR_FROM_RELATIVES = 2  # times the largest row of other SKUs of the chip, or that part of the smallest


def with_buffers(
    platform: SwitchPlatform, buffers: Mapping[str, BuffersSpec], findings: list[Finding]
) -> SwitchPlatform:
    """The platform with the buffers of the inventory in its layouts; a finding for each that cannot be right."""
    if not any(layout.hwsku in buffers for layout in platform.layouts):
        return platform
    layouts = []
    for layout in platform.layouts:
        stated = buffers.get(layout.hwsku)
        if stated:
            findings += _problems(platform, layout, stated)
        layouts.append(_with_stated(layout, stated) if stated else layout)
    return replace(platform, layouts=tuple(layouts))


def _with_stated(layout: Layout, stated: BuffersSpec) -> Layout:
    known = dict(layout.headroom_by_key)
    rows = known | {(row.speed_mbps, row.cable_m): _row(row) for row in stated.headroom}
    buffers = dict(layout.buffers)
    buffers |= {role.value: _defaults(tables) for tables in stated.tables for role in tables.roles}
    sources = dict(layout.sources)
    if stated.headroom:
        sources["headroom"] = stated.stated_by
    sources |= {f"buffers.{role}": stated.stated_by for tables in stated.tables for role in tables.roles}
    return replace(layout, headroom=tuple(rows.values()), buffers=buffers, sources=sources, by_release=())


def _row(stated: HeadroomSpec) -> HeadroomRow:
    return HeadroomRow(**{field.name: getattr(stated, field.name) for field in fields(HeadroomRow)})


def _defaults(stated: BufferTablesSpec) -> BufferDefaults:
    return BufferDefaults(**{field.name: getattr(stated, field.name) for field in fields(BufferDefaults)})


def _problems(platform: SwitchPlatform, layout: Layout, stated: BuffersSpec) -> Iterator[Finding]:
    for row in stated.headroom if platform.buffer_model == BufferModel.TRADITIONAL else ():
        floor = headroom_floor_bytes(row.speed_mbps, row.cable_m, DEFAULT_MTU_BYTES)
        what = f"{format_speed(row.speed_mbps)} over {row.cable_m}m"
        if row.xoff_bytes < floor:
            message = f"xoff is {row.xoff_bytes} bytes, but {what} need at least {floor} bytes"
            hint = "correct the row: bytes on the wire, the peer's response and two frames arrive after the pause"
            yield replace(error("FG549", message, row, "xoff", hint=hint), severity=Severity.WARNING)
            continue
        others = sorted(_relatives(platform, layout, row))
        if others and not others[0] <= row.xoff_bytes * _FAR_FROM_RELATIVES <= others[-1] * _FAR_FROM_RELATIVES**2:
            message = f"xoff is {row.xoff_bytes} bytes for {what}, other SKUs of {platform.asic} have "
            message += f"{others[0]} to {others[-1]} bytes"
            found = error("FG549", message, row, "xoff", hint="compare the row with its source")
            yield replace(found, severity=Severity.WARNING)
    for tables in stated.tables:
        yield from _dangling(tables)


def _relatives(platform: SwitchPlatform, layout: Layout, row: HeadroomSpec) -> Iterator[int]:
    """xoff of other SKUs of the chip for the same speed and cable."""
    for other in (platform, *(catalog.switches_with(platform.asic) if platform.asic else ())):
        for each in other.layouts:
            found = each.headroom_by_key.get((row.speed_mbps, row.cable_m))
            if found and each.hwsku != layout.hwsku:
                yield found.xoff_bytes


def _dangling(tables: BufferTablesSpec) -> Iterator[Finding]:
    if LOSSLESS_POOL not in tables.pools:
        hint = "buffermgrd takes headroom from the pool of this name only"
        yield error("FG549", f"`pools` has no {LOSSLESS_POOL}", tables, "pools", hint=hint)
    for name, profile in tables.profiles.items():
        if profile.get("pool") not in tables.pools:
            message = f"profile {name} names the pool {profile.get('pool', '(none)')}, which `pools` does not have"
            yield error("FG549", message, tables, "profiles", name, hint=f"known: {', '.join(tables.pools)}")
    used = {key: getattr(tables, key) for key in ("lossless_queue_profile", "lossy_queue_profile", "lossy_pg_profile")}
    for key, name in used.items():
        if name not in tables.profiles:
            message = f"{key} is {name}, which `profiles` does not have"
            yield error("FG549", message, tables, key, hint=f"known: {', '.join(tables.profiles)}")
    for side, names in tables.port_profile_lists.items():
        if unknown := [name for name in names.split(",") if name not in tables.profiles]:
            message = f"the {side} list names {', '.join(unknown)}, which `profiles` does not have"
            hint = f"known: {', '.join(tables.profiles)}"
            yield error("FG549", message, tables, "port_profile_lists", side, hint=hint)
