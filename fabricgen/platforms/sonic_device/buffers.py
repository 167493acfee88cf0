"""buffers_defaults_*.j2: what the SKU says about pools and profiles, role by role."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fabricgen.findings import Severity
from fabricgen.platforms.model import BufferDefaults, PlatformPort
from fabricgen.platforms.sonic_device.templates import BufferTemplate, Tables, TemplateRefusedError
from fabricgen.platforms.sonic_device.tree import DeviceTree
from fabricgen.sonic.device_types import DEVICE_TYPES
from fabricgen.units import whole_number

# Role -> the topologies to take it from, best first; files/build_templates/buffers_config.j2 has the device types of
# the roles for t0, t1 and t2. A SKU that lacks a role's own topology lends the one of the nearest tier.
TOPOLOGIES = {
    "leaf": ("t0", "t1", "lt2", "ft2", "t2", "def"),
    "spine": ("t1", "lt2", "t0", "ft2", "t2", "def"),
    "core": ("t2", "t1", "ft2", "lt2", "t0", "def"),
}

# The macros in the order in which buffers_config.j2 looks for them, with the arguments it gives them.
_POOLS = {"generate_buffer_pool_and_profiles": 0, "generate_buffer_pool_and_profiles_with_inactive_ports": -1}
_LISTS = {"generate_profile_lists": 1, "generate_profile_lists_with_inactive_ports": 2}
_GROUPS = {"generate_pg_profiles_with_inactive_ports": 2, "generate_pg_profils": 1}
_QUEUES = {"generate_queue_buffers": 1, "generate_queue_buffers_with_inactive_ports": 2}
_LOSSLESS, _LOSSY = 3, 0  # a priority of each kind in SONiC's own maps
_HEADROOM_POOL = "ingress_lossless_pool"  # swss cfgmgr/buffermgr.h
_OLD_REFERENCE = re.compile(r"\[[A-Z_]+\|([^\]|]+)\]")

Rows = dict[str, dict[str, str]]


def read_buffers(
    tree: DeviceTree, sku: Path, ports: Sequence[PlatformPort], *, dynamic: bool
) -> tuple[Mapping[str, BufferDefaults], Mapping[str, str]]:
    """(role -> defaults, role -> source); a role without defaults has the reason in its source.

    Without any template both are empty.
    """
    found: dict[str, BufferDefaults] = {}
    sources: dict[str, str] = {}
    for role, topologies in TOPOLOGIES.items() if ports else ():
        files = [file for topology in topologies if (file := sku / f"buffers_defaults_{topology}.j2").exists()]
        if not files:
            continue
        file = files[0]
        try:
            template = BufferTemplate(tree, file, ports, DEVICE_TYPES[role], dynamic=dynamic)
            found[role] = _defaults(tree, file, template, ports[0].name)
        except TemplateRefusedError as problem:
            message = f"{file.name} gives no buffers for a {role}: {problem}"
            hint = "the role is refused for lossless planes with this SKU"
            tree.report("FG124", Severity.WARNING, message, file, hint=hint)
            sources[role] = f"{tree.named(file.resolve())}: {problem}"
            continue
        sources[role] = tree.named(file.resolve())
        if file.name != f"buffers_defaults_{topologies[0]}.j2":
            tree.note("FG127", f"buffers_defaults_{topologies[0]}.j2 is missing: a {role} uses {file.name}", file)
    if not any((sku / f"buffers_defaults_{name}.j2").exists() for name in TOPOLOGIES["leaf"]):
        hint = "copy the file into the folder, or write pools and profiles into the entry"
        message = "no buffers_defaults_*.j2, so pools are not known and lossless planes are refused"
        tree.report("FG124", Severity.WARNING, message, sku, hint=hint)
    return found, sources


def _defaults(tree: DeviceTree, file: Path, template: BufferTemplate, port: str) -> BufferDefaults:
    made = template.tables(_POOLS, port)
    rewritten: set[str] = set()
    pools = _rows(made.get("BUFFER_POOL", {}), rewritten)
    profiles = _rows(made.get("BUFFER_PROFILE", {}), rewritten)
    if not pools or not profiles:
        raise TemplateRefusedError("it defines no pools and profiles")
    lists = template.tables(_LISTS, port)
    queues, groups = template.tables(_QUEUES, port), template.tables(_GROUPS, port)
    defaults = BufferDefaults(
        pools=pools,
        profiles=profiles,
        lossless_queue_profile=_profile(queues, "BUFFER_QUEUE", _LOSSLESS, rewritten) or "egress_lossless_profile",
        lossy_queue_profile=_profile(queues, "BUFFER_QUEUE", _LOSSY, rewritten) or "egress_lossy_profile",
        lossy_pg_profile=_profile(groups, "BUFFER_PG", _LOSSY, rewritten) or "ingress_lossy_profile",
        port_profile_lists={
            side: ",".join(_bare(name, rewritten) for name in str(row["profile_list"]).split(","))
            for side in ("ingress", "egress")
            if "profile_list" in (row := _row(lists, f"BUFFER_PORT_{side.upper()}_PROFILE_LIST", port))
        },
    )
    _refuse_dangling(defaults)
    if _HEADROOM_POOL not in pools:
        raise TemplateRefusedError(f"it has no {_HEADROOM_POOL}, the one that buffermgrd takes headroom from")
    name = defaults.lossless_queue_profile
    if name == defaults.lossy_queue_profile or "lossy" in profiles[name]["pool"]:
        raise TemplateRefusedError(f"its queue {_LOSSLESS} has {name} of {profiles[name]['pool']}: nothing is lossless")
    if rewritten:
        message = (
            f"references such as {min(rewritten)} are refused by SONiC's YANG and by orchagent: bare names instead"
        )
        tree.note("FG125", message, file)
    return defaults


def _rows(rows: Mapping[str, Any], rewritten: set[str]) -> Rows:
    return {
        name: {field: _bare(str(text), rewritten) for field, text in row.items()}
        for name, row in rows.items()
        if isinstance(row, dict)
    }


def _row(tables: Tables, table: str, key: str) -> Mapping[str, Any]:
    row = tables.get(table, {}).get(key)
    return row if isinstance(row, dict) else {}


def _bare(text: str, rewritten: set[str]) -> str:
    """'[BUFFER_POOL|name]' to 'name'."""
    match = _OLD_REFERENCE.fullmatch(text.strip())
    if match:
        rewritten.add(text)
    return match[1] if match else text.strip()


def _profile(tables: Tables, table: str, number: int, rewritten: set[str]) -> str:
    """The profile of the row whose range has this queue or priority group."""
    for key, row in tables.get(table, {}).items():
        low, _, high = str(key).rpartition("|")[2].partition("-")
        first, last = whole_number(low), whole_number(high or low)
        if first is not None and last is not None and first <= number <= last and isinstance(row, dict):
            return _bare(str(row.get("profile", "")), rewritten)
    return ""


def _refuse_dangling(defaults: BufferDefaults) -> None:
    missing = sorted(_dangling(defaults))
    if missing:
        raise TemplateRefusedError(f"it refers to {', '.join(missing)}, which it does not define")


def _dangling(defaults: BufferDefaults) -> Iterator[str]:
    for profile in defaults.profiles.values():
        if profile.get("pool") not in defaults.pools:
            yield f"pool {profile.get('pool')}"
    named = [defaults.lossless_queue_profile, defaults.lossy_queue_profile, defaults.lossy_pg_profile]
    named += [name for text in defaults.port_profile_lists.values() for name in text.split(",")]
    yield from (f"profile {name}" for name in named if name not in defaults.profiles)
