"""Rules on pools, profiles and parameters without which the buffer daemons program nothing."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.qos import QosTables
from fabricgen.rules.view.qos_classes import port_classes, qos_tables
from fabricgen.rules.view.switch import number

_POOL, _PROFILE = "BUFFER_POOL", "BUFFER_PROFILE"
_DEFAULT, _PATTERN = "DEFAULT_LOSSLESS_BUFFER_PARAMETER", "LOSSLESS_TRAFFIC_PATTERN"
_DIRECTIONS = {"BUFFER_PG": ("ingress", "priority group"), "BUFFER_QUEUE": ("egress", "queue")}


@rule("FG527", Severity.ERROR, "A buffer profile has the wrong direction")
def direction(fabric: Fabric) -> Iterator[Defect]:
    """What: The profiles of priority groups use a pool of type ingress, those of queues a pool of type egress. A pool
    of type both serves both. In the traditional model a group or queue may have the profile that the SKU's own template
    binds to it.

    Why: buffermgrd of the dynamic model refuses the row. For a priority group the port is then never ready, and no port
    of the switch comes up. Without this check, in the traditional model, the chip gets a profile of the other pool.

    Example: BUFFER_PG|Ethernet0|0 has egress_lossy_profile.

    Fix: Bind a profile of the right direction.

    FG522 covers profiles whose own pool is wrong.

    Source: Measured with sonic-swss 6079a435 ("Egress buffer profile configured on PG"); cfgmgr/buffermgrdyn.cpp
    (checkBufferProfileDirection).
    """
    for ports in port_classes(fabric):
        for table, (wanted, what) in _DIRECTIONS.items():
            for rest, row in ports.rows[table].items():
                name = str(row.get("profile"))
                found = "" if _is_skus_own(ports.qos, table, name) else _direction(ports.qos, name)
                if found in ("ingress", "egress") and found != wanted:
                    message = f"the profile {name} of the {what} belongs to an {found} pool"
                    hint = f"bind a profile of an {wanted} pool"
                    yield from ports.defects(table, rest, "profile", message, hint, (("the profile", _PROFILE, name),))


def _is_skus_own(qos: QosTables, table: str, profile: str) -> bool:
    """Whether the SKU's template binds the profile to such a group or queue. Teralynx has one lossy pool for both
    directions, of type egress: sonic-buildimage device/marvell/x86_64-marvell_d64p512t-r0 buffers_defaults_t0.j2."""
    if qos.defaults is None or qos.is_dynamic:
        return False
    queues = (qos.defaults.lossless_queue_profile, qos.defaults.lossy_queue_profile)
    return profile in ((qos.defaults.lossy_pg_profile,) if table == "BUFFER_PG" else queues)


def _direction(qos: QosTables, profile: str) -> str:
    """The type of a profile's pool; "" if it is unknown, or if the profile's pool is not that of the SKU."""
    pool = qos.row(_PROFILE, profile).get("pool")
    skus = qos.defaults.profiles.get(profile) if qos.defaults else None
    if skus is not None and skus.get("pool") != pool:
        return ""
    return str(qos.row(_POOL, str(pool)).get("type", ""))


@rule("FG587", Severity.ERROR, "A parameter of the dynamic buffer model is missing")
def dynamic_parameters(fabric: Fabric) -> Iterator[Defect]:
    """What: A switch of the dynamic model has a row in DEFAULT_LOSSLESS_BUFFER_PARAMETER and, if a priority group has
    the profile NULL, a row in LOSSLESS_TRAFFIC_PATTERN.

    Why: Without the first, buffermgrd waits for it, programs no buffer at all, and no port of the switch comes up: no
    daemon logs an error. Without the second, the vendor's Lua script fails, and PFC is enabled on groups that have no
    headroom; before release 202605 orchagent ends with the first such group, and no port works.

    Example: A file of the dynamic model without DEFAULT_LOSSLESS_BUFFER_PARAMETER.

    Fix: Add the row; FG526 explains the right mtu.

    Source: Measured with sonic-swss 6079a435 and branch 202505; cfgmgr/buffermgrdyn.cpp,
    cfgmgr/buffer_headroom_mellanox.lua.
    """
    computed = {
        ports.qos
        for ports in port_classes(fabric)
        if any(row.get("profile") == "NULL" for row in ports.rows["BUFFER_PG"].values())
    }
    for qos in qos_tables(fabric):
        is_foreign = qos.platform is not None and qos.platform.buffer_model != "dynamic"  # FG225 reports it
        if not qos.is_dynamic or is_foreign or not qos.tables[_POOL]:
            continue
        if not qos.tables[_DEFAULT]:
            message = f"{_DEFAULT} has no row: buffermgrd programs no buffers, and no port comes up"
            yield from qos.defects(_DEFAULT, "AZURE", "", message, "add the row AZURE with default_dynamic_th")
        if qos in computed and not qos.tables[_PATTERN]:
            message = f"{_PATTERN} has no row: lossless groups get no headroom"
            hint = "add the row AZURE with mtu (the RoCE MTU) and small_packet_percentage"
            yield from qos.defects(_PATTERN, "AZURE", "", message, hint)


@rule("FG588", Severity.ERROR, "The switch cannot create a buffer pool or profile")
def refused_definitions(fabric: Fabric) -> Iterator[Defect]:
    """What: In the traditional model each pool has a size. Each profile has exactly one of dynamic_th and static_th; in
    the dynamic model it is the one of its pool's mode. No profile of an ingress pool trims packets.

    Why: The SAI refuses the pool or the profile. No port that uses it becomes ready, and no port of the switch comes
    up; the error is in syslog, if at all.

    Example: BUFFER_PROFILE|my_profile has neither dynamic_th nor static_th.

    Fix: Complete the row as the message says.

    FG521 and FG522 cover rows of the SKU's own template.

    Source: Measured with sonic-swss 6079a435; orchagent/bufferorch.cpp, cfgmgr/buffermgrdyn.cpp.
    """
    for qos in qos_tables(fabric):
        skus = qos.defaults
        for name in qos.tables[_POOL] if not qos.is_dynamic else ():
            if "size" not in qos.row(_POOL, name) and not (skus and name in skus.pools):
                hint = "set size to the bytes of the pool"
                yield from qos.defects(_POOL, name, "size", f"{name} has no size", hint)
        for name in qos.tables[_PROFILE]:
            if not (skus and name in skus.profiles):
                yield from _refused_profile(qos, name)


def _refused_profile(qos: QosTables, name: str) -> Iterator[Defect]:
    row = qos.row(_PROFILE, name)
    pool = qos.row(_POOL, str(row.get("pool")))
    found = [mode for mode in ("dynamic", "static") if f"{mode}_th" in row]
    mode = str(pool.get("mode", "dynamic"))
    if not found:
        message = f"{name} has neither dynamic_th nor static_th"
        yield from qos.defects(_PROFILE, name, f"{mode}_th", message, f"set {mode}_th")
    elif len(found) > 1:
        other = "static" if mode == "dynamic" else "dynamic"
        message = f"{name} has both dynamic_th and static_th"
        yield from qos.defects(_PROFILE, name, f"{other}_th", message, f"remove {other}_th")
    elif qos.is_dynamic and "mode" in pool and found != [mode]:
        message = f"{name} has {found[0]}_th, but the mode of its pool is {mode}"
        yield from qos.defects(_PROFILE, name, f"{found[0]}_th", message, f"replace {found[0]}_th by {mode}_th")
    if row.get("packet_discard_action") == "trim" and pool.get("type") == "ingress" and number(row.get("xoff")) is None:
        message = f"{name} trims packets, but its pool is of type ingress"
        yield from qos.defects(_PROFILE, name, "packet_discard_action", message, "remove packet_discard_action")
