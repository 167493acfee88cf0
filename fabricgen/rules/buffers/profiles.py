"""Rules that compare buffer pools and profiles with the SKU's own tables."""

from collections.abc import Iterator, Mapping

from fabricgen.findings import Severity
from fabricgen.platforms.model import BufferDefaults
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.qos import QosTables
from fabricgen.rules.view.qos_classes import port_classes, qos_tables
from fabricgen.rules.view.switch import number
from fabricgen.sonic.releases import branch_of
from fabricgen.sonic.tables import Row

_HEADROOM_PREFIX = "pg_lossless_"
_SMALL_PACKETS_PERCENT = 50  # files/build_templates/buffers_config.j2


@rule("FG521", Severity.ERROR, "A buffer pool differs from the SKU's")
def pools(fabric: Fabric) -> Iterator[Defect]:
    """What: BUFFER_POOL has the pools of the SKU's own template with their size, xoff, mode and type.

    Why: The sizes add up to the chip's memory. The chip rejects a larger pool, and after a cold boot the lossless
    groups are missing without an error; a smaller pool wastes memory and pauses early.

    Example: ingress_lossless_pool has size 186115492, the SKU has 166115492.

    Fix: Copy the row from the SKU's buffers_defaults template.

    Source: sonic-buildimage device/<vendor>/<platform>/<hwsku>/buffers_defaults_*.j2; issue 28657, pull request 25945.
    """
    for qos in qos_tables(fabric):
        if qos.defaults and qos.tables["BUFFER_POOL"]:
            yield from _against(qos, "BUFFER_POOL", qos.defaults.pools, "")


@rule("FG522", Severity.ERROR, "A buffer profile differs from the SKU's")
def profiles(fabric: Fabric) -> Iterator[Defect]:
    """What: BUFFER_PROFILE has the profiles of the SKU's own template with their pool, size and threshold. A profile
    that trims packets has those of the SKU's lossy queues.

    Why: The threshold determines how much of the shared pool one queue can use. One wrong alpha on many switches has
    caused pause storms in production.

    Example: egress_lossy_profile has dynamic_th 3, the SKU has 0.

    Fix: Copy the row from the SKU's template. FG524 covers headroom profiles (pg_lossless_…).

    Source: sonic-buildimage device/…/buffers_defaults_*.j2; Guo et al., SIGCOMM 2016 (alpha 1/16 and 1/64).
    """
    for qos in qos_tables(fabric):
        if qos.defaults and qos.tables["BUFFER_PROFILE"]:
            found, rows = qos.tables["BUFFER_PROFILE"], qos.defaults.profiles.items()
            expected = {name: row for name, row in rows if name in found or not _is_idle(qos, name)}
            expected |= {
                name: _trimming(qos.defaults) for name, row in found.items() if _trims(row) and name not in expected
            }
            yield from _against(qos, "BUFFER_PROFILE", expected, _HEADROOM_PREFIX)


def _trims(profile: Row) -> bool:
    return profile.get("packet_discard_action") == "trim"


def _trimming(defaults: BufferDefaults) -> Mapping[str, str]:
    """The profile of queues that trim: the SKU has none, so it is that of its lossy queues with the action."""
    return {**defaults.profiles.get(defaults.lossy_queue_profile, {}), "packet_discard_action": "trim"}


def _is_idle(qos: QosTables, profile: str) -> bool:
    """Whether a profile may be missing: that of lossless queues on a plane without PFC, if no port's list contains
    it."""
    if qos.defaults is None or not qos.is_lossy:
        return False
    listed = ",".join(qos.defaults.port_profile_lists.values()).split(",")
    return profile == qos.defaults.lossless_queue_profile and profile not in listed


def _against(qos: QosTables, table: str, expected: Mapping[str, Row], own_prefix: str) -> Iterator[Defect]:
    """Rows of a table that differ from the SKU's. Rows with `own_prefix` are not compared."""
    rows, sku = qos.tables[table], qos.layout.hwsku if qos.layout else ""
    for key, row in expected.items():
        if key not in rows:
            yield from qos.defects(table, key, "", f"{key} is missing, but hwsku {sku} has it", "add the SKU's row")
            continue
        found = qos.row(table, key)
        for field in dict.fromkeys((*row, *found)):
            if found.get(field) != row.get(field):
                message = (
                    f"{field} of {key} is {_shown(found.get(field))}, but hwsku {sku} has {_shown(row.get(field))}"
                )
                yield from qos.defects(table, key, field, message, _hint(field, row.get(field)))
    for key in (name for name in rows if name not in expected):
        if not (own_prefix and key.startswith(own_prefix)):
            message = f"{key} is unknown to hwsku {sku}"
            yield from qos.defects(table, key, "", message, "remove the row", (), Severity.WARNING)


def _hint(field: str, value: object) -> str:
    return f"remove {field}" if value is None else f"set {field} to {value}"


def _shown(value: object) -> str:
    return "none" if value is None else str(value)


@rule("FG271", Severity.NOTE, "The SKU's facts are those of another release")
def facts_of_another_release(fabric: Fabric) -> Iterator[Defect]:
    """What: The branch of the switch's SONiC release has the SKU's folder, with its pools and headroom.

    Why: Pools, thresholds and headroom change between releases with the SAI. If the branch does not have them, those of
    sonic-buildimage's master branch are rendered and compared: an image of this release may need others.

    Example: The branch 202505 has no folder of Nokia-IXR7220-H6-O256.

    Fix: Compare the numbers with the image that the switches run, or set `sonic.release` to a release with the SKU.

    Source: sonic-buildimage device/<vendor>/<platform>/<hwsku> of each branch.
    """
    for qos in qos_tables(fabric):
        layout, release = qos.layout, qos.switches[0].device.release
        facts = layout.facts_of(release) if layout and qos.defaults and qos.tables["BUFFER_POOL"] else None
        if layout and facts and facts.lacks:
            missing = "folder that can be used" if "sku" in facts.lacks else " and ".join(facts.lacks)
            message = f"the branch {branch_of(release)} of sonic-buildimage has no {missing} for hwsku {layout.hwsku}"
            message += "; the facts are those of its master branch"
            hint = "compare pools and headroom with the image that the switch runs"
            yield from qos.defects("DEVICE_METADATA", "localhost", "hwsku", message, hint)


@rule("FG523", Severity.ERROR, "A priority group uses a profile of the other buffer model")
def mixed_models(fabric: Fabric) -> Iterator[Defect]:
    """What: On a traditional switch no priority group has the profile NULL. On a dynamic switch the lossless groups
    have it, unless a static profile is intended.

    Why: NULL lets buffermgrd compute the headroom. The traditional model does not compute it, so the group has none.

    Example: BUFFER_PG|Ethernet0|3-4 with profile NULL, buffer_model traditional.

    Fix: Use the headroom profile (traditional), or NULL (dynamic).

    Source: sonic-swss cfgmgr/buffermgr.cpp, buffermgrdyn.cpp; pull requests 1956 and 1975.
    """
    for ports in port_classes(fabric):
        for rest, row in ports.rows["BUFFER_PG"].items():
            profile = row.get("profile")
            if profile == "NULL" and not ports.qos.is_dynamic:
                message = "profile NULL needs the dynamic model, but this switch uses the traditional model"
                yield from ports.defects("BUFFER_PG", rest, "profile", message, "bind the headroom profile")
            elif ports.qos.is_dynamic and str(profile).startswith(_HEADROOM_PREFIX):
                message = f"profile {profile} has fixed headroom, but this switch uses the dynamic model"
                hint = "set profile to NULL"
                yield from ports.defects("BUFFER_PG", rest, "profile", message, hint, (), Severity.WARNING)


@rule("FG524", Severity.ERROR, "A headroom profile differs from the SKU's")
def headroom_profiles(fabric: Fabric) -> Iterator[Defect]:
    """What: A profile pg_lossless_<speed>_<cable>_profile has size, xon, xoff, threshold and xon_offset of the SKU's
    row for this speed and cable, and belongs to ingress_lossless_pool.

    Why: The vendor measured the row on this chip. With a smaller xoff the data that arrives after the pause drops, and
    buffermgrd overwrites other values at the next link event.

    Example: xoff is 512140, the SKU's row for 400G and 40m has 612140.

    Fix: Copy the row of pg_profile_lookup.ini.

    Source: sonic-buildimage device/…/pg_profile_lookup.ini; sonic-swss cfgmgr/buffermgr.cpp.
    """
    for qos, name in _missing_headroom(fabric):
        message = f"{name} is missing, but priority groups use it"
        yield from qos.defects("BUFFER_PROFILE", name, "", message, "add the SKU's row for this speed and cable")
    for qos in qos_tables(fabric):
        for name in qos.tables["BUFFER_PROFILE"] if qos.layout and not qos.is_dynamic else ():
            expected = expected_headroom(qos, name)
            if expected is None:
                continue
            found = qos.row("BUFFER_PROFILE", name)
            if not expected:
                message = f"the SKU has no headroom row for {name}"
                hint = "use a speed and cable length that the SKU has"
                yield from qos.defects("BUFFER_PROFILE", name, "", message, hint)
            for field in dict.fromkeys((*expected, *found)) if expected else ():
                if found.get(field) != expected.get(field) and field not in ("headroom_type", "packet_discard_action"):
                    message = (
                        f"{field} of {name} is {_shown(found.get(field))}, "
                        f"the SKU's row has {_shown(expected.get(field))}"
                    )
                    yield from qos.defects("BUFFER_PROFILE", name, field, message, _hint(field, expected.get(field)))


def _missing_headroom(fabric: Fabric) -> Iterator[tuple[QosTables, str]]:
    """Headroom profiles that groups use and that are missing in the file, if the SKU has a row for them."""
    seen = set()
    for ports in port_classes(fabric):
        for name in dict.fromkeys(profile for _, profile in ports.profiles("BUFFER_PG").values()):
            if name not in ports.qos.tables["BUFFER_PROFILE"] and (ports.qos, name) not in seen:
                seen.add((ports.qos, name))
                if expected_headroom(ports.qos, name):
                    yield ports.qos, name


def expected_headroom(qos: QosTables, name: str) -> Mapping[str, str] | None:
    """The SKU's row for a pg_lossless_<speed>_<cable>_profile; empty for no such row, None for no such name."""
    parts = name.removeprefix(_HEADROOM_PREFIX).removesuffix("_profile").split("_")
    if not name.startswith(_HEADROOM_PREFIX) or len(parts) != 2 or not qos.layout or not qos.layout.headroom:
        return None
    speed, cable_m = number(parts[0]), number(parts[1].removesuffix("m"))
    row = qos.layout.headroom_by_key.get((speed or 0, cable_m if cable_m is not None else -1))
    if row is None:
        return {}
    mode = qos.row("BUFFER_POOL", "ingress_lossless_pool").get("mode", "dynamic")
    fields = {
        "pool": "ingress_lossless_pool",
        "size": str(row.size_bytes),
        "xon": str(row.xon_bytes),
        "xoff": str(row.xoff_bytes),
        f"{mode}_th": str(row.dynamic_th),
    }
    return fields if row.xon_offset_bytes is None else {**fields, "xon_offset": str(row.xon_offset_bytes)}


@rule("FG525", Severity.ERROR, "The profile lists of a port differ from the platform's")
def profile_lists(fabric: Fabric) -> Iterator[Defect]:
    """What: If the platform's templates have BUFFER_PORT_INGRESS_PROFILE_LIST and BUFFER_PORT_EGRESS_PROFILE_LIST, each
    wired port has its rows; on other platforms no port has them.

    Why: On NVIDIA switches a port without the lists gets no space in the shared pools. Broadcom's SAI does not support
    them.

    Example: BUFFER_PORT_INGRESS_PROFILE_LIST has no row for a port of an SN5600.

    Fix: Give the port the platform's list.

    Source: sonic-buildimage files/build_templates/buffers_config.j2, device/mellanox templates.
    """
    for ports in port_classes(fabric):
        if not ports.qos.defaults or not ports.is_wired:
            continue
        for direction in ("ingress", "egress"):
            table = f"BUFFER_PORT_{direction.upper()}_PROFILE_LIST"
            row, expected = ports.rows[table].get(""), ports.qos.defaults.port_profile_lists.get(direction)
            if row is None and expected:
                hint = "add the platform's list"
                yield from ports.defects(table, "", "", f"the port has a cable but no {table} row", hint)
            elif row is not None and _names(row.get("profile_list")) != _names(expected):
                message = f"profile_list is {row.get('profile_list')}, the platform has {expected or 'none'}"
                yield from ports.defects(table, "", "profile_list", message, _hint("profile_list", expected))


def _names(profile_list: object) -> frozenset[str]:
    """The profiles of a list. Their order has no effect: bufferorch binds each to its own pool."""
    return frozenset(str(profile_list or "").split(","))


@rule("FG526", Severity.ERROR, "The dynamic model assumes RoCE packets that are too small")
def traffic_pattern(fabric: Fabric) -> Iterator[Defect]:
    """What: On a dynamic switch LOSSLESS_TRAFFIC_PATTERN.mtu is at least the RoCE MTU, and its small_packet_percentage
    at least that of SONiC's templates.

    Why: The vendor's Lua script uses this size for packets in flight; a smaller size gives too little headroom. FG587
    covers a missing row.

    Example: mtu 1024 (SONiC's template) with a RoCE MTU of 4096.

    Fix: Set mtu to the RoCE MTU.

    Source: sonic-swss cfgmgr/buffer_headroom_mellanox.lua, buffermgrdyn.cpp.
    """
    for qos in qos_tables(fabric):
        if not qos.is_dynamic or (qos.plane and not qos.plane.lossless):
            continue
        for name, row in qos.tables["LOSSLESS_TRAFFIC_PATTERN"].items():
            mtu = number(row.get("mtu"))
            small = number(row.get("small_packet_percentage"))
            if small is not None and small < _SMALL_PACKETS_PERCENT:
                message = f"small_packet_percentage is {small}, but SONiC's templates assume {_SMALL_PACKETS_PERCENT}"
                hint = _hint("small_packet_percentage", _SMALL_PACKETS_PERCENT)
                yield from qos.defects("LOSSLESS_TRAFFIC_PATTERN", name, "small_packet_percentage", message, hint)
            if mtu is not None and qos.plane and qos.plane.roce_mtu and mtu < qos.plane.roce_mtu:
                message = f"mtu of lossless packets is {mtu} bytes, but the RoCE MTU is {qos.plane.roce_mtu} bytes"
                yield from qos.defects(
                    "LOSSLESS_TRAFFIC_PATTERN", name, "mtu", message, _hint("mtu", qos.plane.roce_mtu)
                )
