"""The lossless plan of a switch: buffers, maps, marking and watchdog for its platform, role and cables.

Two buffer models. Traditional: pools of the SKU, and for each speed and cable the same profile that buffermgrd derives.
Dynamic (NVIDIA): profile NULL, no sizes; the switch computes them from CABLE_LENGTH, the port's MTU and the traffic
pattern.

A plane without PFC has the SKU's pools and lossy profiles, and nothing that makes a group, queue or port lossless.
Without buffer facts of the platform such a switch has no buffer tables and keeps the defaults of its SAI.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fabricgen.design.model import Fabric, Link, Switch
from fabricgen.findings import Finding
from fabricgen.inventory.mistakes import error, note
from fabricgen.inventory.plane import Plane
from fabricgen.lossless.classes import Classes, plan_classes
from fabricgen.lossless.congestion import WatchdogRows, plan_watchdog, wred_name, wred_profile
from fabricgen.lossless.headroom import TableHeadroom, find_headroom, whole_metres
from fabricgen.lossless.trimming import Trimming, plan_trimming, trimming_problem, trimming_queues
from fabricgen.origin import Value, value
from fabricgen.physics import ROCE_V2_HEADER_BYTES, link_mtu_for_roce
from fabricgen.platforms.model import BufferDefaults, Layout
from fabricgen.sonic.device_types import DEVICE_TYPES
from fabricgen.sonic.tables import format_ranges
from fabricgen.units import format_length, format_speed
from fabricgen.vocabulary import BufferModel

LOSSLESS_POOL = "ingress_lossless_pool"  # the only name that buffermgrd supports (swss cfgmgr/buffermgr.h)
SMALL_PACKET_PERCENT = 50  # as SONiC's own templates assume
NO_CABLE = "0m"  # buffermgrd creates no headroom for it; it retries a port without a length for ever
NO_BUFFERS = BufferDefaults({}, {}, "", "", "", {})
DEFAULT_DYNAMIC_TH = 0  # alpha 1


@dataclass(frozen=True, slots=True, eq=False)
class LosslessPlan:
    """The settings that all switches of one platform, role and plane share. Rows are CONFIG_DB rows.

    A planner makes one plan for equal switches, so plans are compared by identity.
    """

    classes: Classes
    dynamic: bool
    pools: Mapping[str, Mapping[str, Value]]  # empty, like all buffer settings, where no buffer facts are known
    profiles: Mapping[str, Mapping[str, Value]]
    default_dynamic_th: Value | None  # dynamic model only
    over_subscribe_ratio: Value | None  # of a shared headroom pool, dynamic model only
    pattern_mtu: Value | None
    pattern_small_packets: Value | None
    wred: Mapping[str, Mapping[str, Value]]
    watchdog: WatchdogRows | None  # None on a plane without PFC
    lossless_queue_profile: Value
    lossy_queue_profile: Value
    lossy_pg_profile: Value
    profile_lists: Mapping[str, Value]  # ingress | egress; empty on Broadcom
    lossless_ranges: tuple[str, ...]  # '3-4'
    lossy_ranges: tuple[str, ...]  # of queues that neither are lossless nor trim
    trimming: Trimming | None
    pfc_to_pg: bool  # whether the platform supports PFC_PRIORITY_TO_PRIORITY_GROUP_MAP


@dataclass(frozen=True, slots=True, eq=False)
class PortBuffers:
    """The settings of one port for its speed and cable. A planner makes one for equal ports, compared by identity.

    In the dynamic model the profile is NULL and has no row. A plane without PFC has no profile and no marking.
    """

    pg_profile: Value | None
    pg_profile_row: Mapping[str, Value] | None
    cable: Value
    wred: Value | None


class LosslessPlanner:
    """Plans for a fabric, each made once; `findings` collects what cannot be planned."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self.findings: list[Finding] = []
        self._plans: dict[tuple[str, str, str, str, str], LosslessPlan | None] = {}
        self._ports: dict[tuple[object, ...], PortBuffers | None] = {}

    def plan(self, switch: Switch) -> LosslessPlan | None:
        """The plan of a switch; None, with a finding, if it needs buffer facts that the platform does not have."""
        layout = switch.layout
        key = switch.identity.plane, switch.platform.name, layout.hwsku, layout.name, switch.buffer_role
        if key not in self._plans:
            self._plans[key] = self._make(self.fabric.inventory.planes[key[0]], switch)
        return self._plans[key]

    def port(self, switch: Switch, link: Link) -> PortBuffers | None:
        """The settings of the port at this link; None, with a finding, where the SKU has no headroom for it."""
        key = (
            switch.platform.name,
            switch.layout.hwsku,
            link.speed_mbps,
            link.cable.path,
            link.cable.length_m,
            link.plane,
        )
        if key not in self._ports:
            self._ports[key] = self._make_port(switch, link)
        return self._ports[key]

    def _make(self, plane: Plane, switch: Switch) -> LosslessPlan | None:
        layout, platform = switch.layout, switch.platform
        classes = plan_classes(plane.lossless, plane.trimming)
        lossless = set(classes.lossless)
        defaults = self._defaults(switch, lossless=bool(lossless))
        if defaults is None:
            return None
        self._check_watchdog(plane, switch)
        dynamic = platform.buffer_model == BufferModel.DYNAMIC and bool(defaults.pools)
        source = layout.sources.get(f"buffers.{switch.buffer_role}", "")
        speeds = sorted({port.speed_mbps for port in layout.fabric_ports})
        mtu = plane.roce_mtu_bytes
        trimming = self._trimming(plane, switch, classes, defaults)
        trimmed = trimming_queues(classes) if trimming else frozenset()
        return LosslessPlan(
            classes=classes,
            dynamic=dynamic,
            pools={name: _rows(row, source) for name, row in defaults.pools.items()},
            profiles={
                name: _rows(row, source)
                for name, row in defaults.profiles.items()
                if lossless or name not in _only_lossless(defaults)
            },
            default_dynamic_th=value(DEFAULT_DYNAMIC_TH, "alpha = 2^0 = 1") if dynamic else None,
            over_subscribe_ratio=self._shared_headroom(plane, switch),
            pattern_mtu=value(
                link_mtu_for_roce(mtu),
                f"RoCE MTU {mtu} B + {ROCE_V2_HEADER_BYTES} B of headers = {link_mtu_for_roce(mtu)} B",
                inventory=plane.source("roce_mtu"),
            )
            if dynamic and lossless
            else None,
            pattern_small_packets=value(SMALL_PACKET_PERCENT, "percent, as SONiC's templates assume")
            if dynamic and lossless
            else None,
            wred={wred_name(speed): wred_profile(plane.lossless.ecn, speed) for speed in speeds} if lossless else {},
            watchdog=plan_watchdog(plane.lossless.watchdog, len(layout.ports)) if lossless else None,
            lossless_queue_profile=_default(defaults.lossless_queue_profile, source),
            lossy_queue_profile=_default(defaults.lossy_queue_profile, source),
            lossy_pg_profile=_default(defaults.lossy_pg_profile, source),
            profile_lists=_rows(defaults.port_profile_lists, source),
            lossless_ranges=tuple(format_ranges(lossless)),
            lossy_ranges=tuple(format_ranges(set(range(8)) - lossless - trimmed)),
            trimming=trimming,
            pfc_to_pg=bool(lossless) and "yes" in platform.capabilities.get("pfc_to_pg_map", ()),
        )

    def _defaults(self, switch: Switch, *, lossless: bool) -> BufferDefaults | None:
        """The SKU's buffer facts. Without any: None, with a finding, on a plane with PFC, else no buffers at all."""
        layout, platform = switch.layout, switch.platform
        known = layout.buffers.get(switch.buffer_role)
        if known is not None:
            return known
        message = f"{platform.name} ({layout.hwsku}) has no buffer facts for a {switch.role}"
        if switch.buffer_role != switch.role:
            message += f" of the type {switch.device_type}"
        if lossless:
            dynamic = platform.buffer_model == BufferModel.DYNAMIC
            hint = "choose a platform that has pools and headroom rows, set `lossless: none`, or state them: "
            hint += table_lines(layout, switch.buffer_role, dynamic=dynamic)
            if others := [DEVICE_TYPES[role] for role in DEVICE_TYPES if role in layout.buffers]:
                names = " and ".join(f"`type: {name}`" for name in others)
                hint = f"the SKU has buffers for {names}: set it, and another type in each other tier; or {hint}"
            if not platform.is_product:
                hint = "choose a platform that has pools and headroom rows"
            self.findings.append(
                error("FG580", f"{message}, so it cannot be lossless", switch.spec, "platform", hint=hint)
            )
            return None
        if platform.is_product:
            hint = "nothing to do on a plane without PFC; import the SKU's folder to render buffer tables"
            message += ": no buffer table is rendered, and the switch keeps its defaults"
            self.findings.append(note("FG598", message, switch.spec, "platform", hint=hint))
            return NO_BUFFERS
        hint = "name the switch model that will be installed"
        self.findings.append(
            error("FG599", f"{platform.name} is for counting only: no switch loads its files", switch.spec, "platform",
                  hint=hint)
        )  # fmt: skip
        return None

    def _make_port(self, switch: Switch, link: Link) -> PortBuffers | None:
        layout, lossless = switch.layout, self.fabric.inventory.planes[link.plane].lossless
        if not lossless.classes:
            cable = value(NO_CABLE, "no headroom: the plane has no PFC", inventory=lossless.source())
            return PortBuffers(pg_profile=None, pg_profile_row=None, cable=cable, wred=None)
        wred = value(wred_name(link.speed_mbps), f"marking at {format_speed(link.speed_mbps)}")
        cable_source = link.cable.source()
        if switch.platform.buffer_model == BufferModel.DYNAMIC:
            metres = whole_metres(link.cable.length_m)
            return PortBuffers(
                value("NULL", "the switch works the headroom out by itself", inventory=cable_source),
                None,
                value(f"{metres}m", "the true length in whole metres", inventory=cable_source),
                wred,
            )
        headroom = find_headroom(layout, link.speed_mbps, link.cable.length_m)
        speed, length = format_speed(link.speed_mbps), format_length(link.cable.length_m)
        if headroom is None:
            offered = (
                ", ".join(f"{row.cable_m}m" for row in layout.headroom if row.speed_mbps == link.speed_mbps) or "none"
            )
            message = f"{layout.hwsku} has no headroom for {speed} over {length}, so the port would pause and drop"
            hint = f"lengths in its table at {speed}: {offered}; a row can be stated: "
            hint += row_lines(layout, link.speed_mbps, whole_metres(link.cable.length_m))
            self.findings.append(error("FG581", message, link.cable, hint=hint))
            return None
        table = layout.sources.get("headroom", "")
        if headroom.rounded:
            row_length = f"{headroom.row.cable_m}m"
            message = f"cables of {length} are planned as {row_length}, the next length in the table of {layout.hwsku}"
            self.findings.append(
                note("FG582", message, link.cable, hint="fabric.json and cabling.csv keep the true length")
            )
        row = f"row {speed} {headroom.row.cable_m}m of the SKU's table"
        steps = f"{length} rounded up to the next length: {row}" if headroom.rounded else row
        return PortBuffers(
            value(headroom.profile, "the name that buffermgrd gives it", inventory=cable_source, platform=table),
            _headroom_row(headroom, table, cable_source),
            value(f"{headroom.row.cable_m}m", steps, inventory=cable_source, platform=table),
            wred,
        )

    def _shared_headroom(self, plane: Plane, switch: Switch) -> Value | None:
        """The ratio of the inventory, for dynamic buffers only: other SKUs fix their shared headroom pool."""
        ratio = plane.lossless.shared_headroom
        if ratio is None:
            return None
        if switch.platform.buffer_model != BufferModel.DYNAMIC:
            message = f"{switch.platform.name} does not size its buffers: the SKU fixes its shared headroom pool"
            hint = "remove `shared_headroom`, or move these switches to another plane"
            self.findings.append(error("FG585", message, plane.lossless, "shared_headroom", hint=hint))
            return None
        return value(
            ratio, "headroom of all lossless groups over the pool", inventory=plane.lossless.source("shared_headroom")
        )

    def _trimming(self, plane: Plane, switch: Switch, classes: Classes, defaults: BufferDefaults) -> Trimming | None:
        if plane.trimming is None:
            return None
        release = self.fabric.inventory.sonic.release
        if problem := trimming_problem(plane.trimming, switch.platform, defaults, release):
            message, hint = problem
            self.findings.append(error("FG589", message, plane.trimming, hint=hint))
            return None
        source = switch.layout.sources.get(f"buffers.{switch.buffer_role}", "")
        return plan_trimming(plane.trimming, classes, defaults, source)

    def _check_watchdog(self, plane: Plane, switch: Switch) -> None:
        action, allowed = plane.lossless.watchdog.action, switch.platform.capabilities.get("watchdog_actions", ())
        if action and allowed and action not in allowed:
            message = f"{switch.platform.name} does not support the watchdog action '{action}'"
            self.findings.append(
                error("FG583", message, plane.lossless.watchdog, "action", hint=f"supported: {', '.join(allowed)}")
            )


def _only_lossless(defaults: BufferDefaults) -> set[str]:
    """Profiles that only lossless queues use. The profile lists of ports use one profile of each pool and stay."""
    listed = {name for names in defaults.port_profile_lists.values() for name in names.split(",")}
    return {defaults.lossless_queue_profile} - listed


def _rows(row: Mapping[str, str], source: str) -> dict[str, Value]:
    return {name: _default(text, source) for name, text in row.items()}


def _default(text: str, source: str) -> Value:
    return value(text, "the SKU's own default", platform=source)


def _headroom_row(headroom: TableHeadroom, source: str, cable_source: str) -> dict[str, Value]:
    row = headroom.row
    where = f"row {format_speed(row.speed_mbps)} {row.cable_m}m"

    def cell(name: str, content: int) -> Value:
        return value(content, f"{name} of {where}", inventory=cable_source, platform=source)

    fields = {
        "pool": value(LOSSLESS_POOL, "the pool that buffermgrd uses"),
        "size": cell("size", row.size_bytes),
        "xon": cell("xon", row.xon_bytes),
        "xoff": cell("xoff", row.xoff_bytes),
        "dynamic_th": cell("threshold", row.dynamic_th),
    }
    if row.xon_offset_bytes is not None:
        fields["xon_offset"] = cell("xon_offset", row.xon_offset_bytes)
    return fields


# What to write under `buffers:` for a SKU whose files do not make it lossless.

_SOURCE = 'source: "DOCUMENT OF THE VENDOR"'
_PROFILE = "{pool: POOL, size: BYTES, dynamic_th: N}"


def row_lines(layout: Layout, speed_mbps: int, length_m: float) -> str:
    """The line that states a row of headroom. Words in capitals are for the person to replace."""
    return f"buffers: {{{layout.hwsku}: {{{_SOURCE}, headroom: [{_row(speed_mbps, length_m)}]}}}}"


def table_lines(layout: Layout, role: str, *, dynamic: bool) -> str:
    """The lines that state the buffers of a role, with rows of headroom where the SKU has none for its speeds."""
    missing = sorted(set(layout.speeds_mbps) - {row.speed_mbps for row in layout.headroom})
    rows = "" if dynamic else ", ".join(_row(speed, 5) for speed in missing)
    tables = (
        f"{{roles: [{role}], "
        "pools: {ingress_lossless_pool: {type: ingress, mode: dynamic, size: BYTES, xoff: BYTES}, "
        "egress_lossless_pool: {type: egress, mode: static, size: BYTES}}, "
        f"profiles: {{egress_lossless_profile: {_PROFILE}, egress_lossy_profile: {_PROFILE}, "
        f"ingress_lossy_profile: {_PROFILE}}}, lossless_queue_profile: egress_lossless_profile, "
        "lossy_queue_profile: egress_lossy_profile, lossy_pg_profile: ingress_lossy_profile}"
    )
    headroom = f", headroom: [{rows}]" if rows else ""
    return f"buffers: {{{layout.hwsku}: {{{_SOURCE}{headroom}, tables: [{tables}]}}}}"


def _row(speed_mbps: int, length_m: float) -> str:
    numbers = "size: BYTES, xon: BYTES, xoff: BYTES, dynamic_th: N"
    return f"{{speed: {format_speed(speed_mbps)}, cable: {format_length(length_m)}, {numbers}}}"
