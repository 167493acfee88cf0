"""The lossless plan of a switch: buffers, maps, marking and watchdog for its platform, role and cables.

Two buffer models. Traditional: pools of the SKU, and for each speed and cable the very profile that buffermgrd derives.
Dynamic (NVIDIA): profile NULL, no sizes; the switch works them out from CABLE_LENGTH, the port's MTU and the traffic
pattern.

On a plane without PFC the SKU's pools and lossy profiles stay; what makes a group, queue or port lossless is left out.
Where the platform has no buffer facts such a switch has no buffer tables, and keeps what its SAI sets up by itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fabricgen.design.model import Fabric, Link, Switch
from fabricgen.findings import Finding
from fabricgen.inventory.plane import Plane
from fabricgen.inventory.references import error, note
from fabricgen.lossless.classes import Classes, plan_classes
from fabricgen.lossless.congestion import Watchdog, plan_watchdog, wred_name, wred_profile
from fabricgen.lossless.headroom import Headroom, find_headroom, whole_metres
from fabricgen.origin import Value, value
from fabricgen.platforms.model import BufferDefaults
from fabricgen.sonic.tables import format_ranges
from fabricgen.units import format_length, format_speed

LOSSLESS_POOL = "ingress_lossless_pool"  # buffermgrd knows it by this name only (swss cfgmgr/buffermgr.h)
ROCE_HEADER_BYTES = 96  # GRH 40, UDP 8, BTH 12, XRC 4, AtomicETH 28, ICRC 4 (linux include/rdma/ib_addr.h)
SMALL_PACKET_PERCENT = 50  # as SONiC's own templates assume
NO_CABLE = "0m"  # what tells buffermgrd to make no headroom; a port without any length is retried for ever
NO_BUFFERS = BufferDefaults({}, {}, "", "", "", {})
DEFAULT_DYNAMIC_TH = 0  # alpha 1


@dataclass(frozen=True, eq=False)
class LosslessPlan:
    """What all switches of one platform, role and plane are told alike. Rows are CONFIG_DB rows."""

    classes: Classes
    dynamic: bool
    pools: Mapping[str, Mapping[str, Value]]  # empty, as all that concerns buffers, where no buffer facts are known
    profiles: Mapping[str, Mapping[str, Value]]
    default_dynamic_th: Value | None  # dynamic model only
    over_subscribe_ratio: Value | None  # of a shared headroom pool, dynamic model only
    pattern_mtu: Value | None
    pattern_small_packets: Value | None
    wred: Mapping[str, Mapping[str, Value]]
    watchdog: Watchdog | None  # None on a plane without PFC
    lossless_queue_profile: Value
    lossy_queue_profile: Value
    lossy_pg_profile: Value
    profile_lists: Mapping[str, Value]  # ingress | egress; empty on Broadcom
    lossless_ranges: tuple[str, ...]  # '3-4'
    lossy_ranges: tuple[str, ...]
    pfc_to_pg: bool  # the platform takes PFC_PRIORITY_TO_PRIORITY_GROUP_MAP


@dataclass(frozen=True, eq=False)
class PortBuffers:
    """What one port is told of its cable. In the dynamic model the profile is NULL and has no row; on a plane without
    PFC there is none, nor marking."""

    pg_profile: Value | None
    pg_profile_row: Mapping[str, Value] | None
    cable: Value
    wred: Value | None


class LosslessPlanner:
    """Plans for a fabric, each made once; what cannot be planned is collected in `findings`."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self.findings: list[Finding] = []
        self._plans: dict[tuple[str, str, str, str], LosslessPlan | None] = {}
        self._ports: dict[tuple[object, ...], PortBuffers | None] = {}

    def plan(self, switch: Switch) -> LosslessPlan | None:
        """The plan of a switch; None, with a finding, where the platform's buffers should be known and are not."""
        key = switch.identity.plane, switch.platform.name, switch.layout.name, switch.role
        if key not in self._plans:
            self._plans[key] = self._make(self.fabric.inventory.planes[key[0]], switch)
        return self._plans[key]

    def port(self, switch: Switch, link: Link) -> PortBuffers | None:
        """What the port at this link is told; None, with a finding, where the SKU has no headroom for it."""
        key = (
            switch.platform.name,
            switch.layout.name,
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
        classes = plan_classes(plane.lossless)
        lossless = set(classes.lossless)
        defaults = self._defaults(switch, lossless=bool(lossless))
        if defaults is None:
            return None
        self._check_watchdog(plane, switch)
        dynamic = platform.buffer_model == "dynamic" and bool(defaults.pools)
        source = layout.sources.get(f"buffers.{switch.role}", "")
        speeds = sorted({port.speed_mbps for port in layout.fabric_ports})
        mtu = plane.roce_mtu_bytes
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
                mtu + ROCE_HEADER_BYTES,
                f"RoCE MTU {mtu} B + {ROCE_HEADER_BYTES} B of headers = {mtu + ROCE_HEADER_BYTES} B",
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
            lossy_ranges=tuple(format_ranges(set(range(8)) - lossless)),
            pfc_to_pg=bool(lossless) and "yes" in platform.capabilities.get("pfc_to_pg_map", ()),
        )

    def _defaults(self, switch: Switch, *, lossless: bool) -> BufferDefaults | None:
        """What the SKU says of buffers; where it says nothing, None on a plane with PFC, and elsewhere nothing."""
        layout, platform = switch.layout, switch.platform
        known = layout.buffers.get(switch.role)
        if known is not None:
            return known
        message = f"{platform.name} ({layout.hwsku}) has no buffer facts for a {switch.role}"
        if lossless:
            hint = "choose a platform whose entry has pools and headroom rows"
            self.findings.append(
                error("FG580", f"{message}, so it cannot be lossless", switch.spec, "platform", hint=hint)
            )
            return None
        if platform.is_product:
            hint = "nothing to do on a plane without PFC; import the SKU's folder to have them rendered"
            message += ": no buffer table is rendered, the switch keeps its own defaults"
            self.findings.append(note("FG598", message, switch.spec, "platform", hint=hint))
            return NO_BUFFERS
        hint = "name the model that will stand there"
        self.findings.append(
            error("FG599", f"{platform.name} is for counting only: no switch boots its files", switch.spec, "platform",
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
        if switch.platform.buffer_model == "dynamic":
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
            self.findings.append(
                error("FG581", message, link.cable, hint=f"lengths that its table has at {speed}: {offered}")
            )
            return None
        table = layout.sources.get("headroom", "")
        if headroom.rounded:
            message = (
                f"cables of {length} are planned as {headroom.row.cable_m}m, the next length that {layout.hwsku} has"
            )
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
        """The ratio that was asked for; a traditional SKU's shared headroom pool is the xoff of its own pool."""
        ratio = plane.lossless.shared_headroom
        if ratio is None:
            return None
        if switch.platform.buffer_model != "dynamic":
            message = f"{switch.platform.name} sizes no buffers itself: its shared headroom pool is fixed by the SKU"
            hint = "leave `shared_headroom` out, or give such switches a plane of their own"
            self.findings.append(error("FG585", message, plane.lossless, "shared_headroom", hint=hint))
            return None
        return value(
            ratio, "headroom of all lossless groups over the pool", inventory=plane.lossless.source("shared_headroom")
        )

    def _check_watchdog(self, plane: Plane, switch: Switch) -> None:
        action, allowed = plane.lossless.watchdog.action, switch.platform.capabilities.get("watchdog_actions", ())
        if action and allowed and action not in allowed:
            message = f"{switch.platform.name} does not take the watchdog action {action!r}"
            self.findings.append(
                error("FG583", message, plane.lossless.watchdog, "action", hint=f"it takes: {', '.join(allowed)}")
            )


def _only_lossless(defaults: BufferDefaults) -> set[str]:
    """Profiles that nothing but a lossless queue uses: not those of a port's own lists, which name every pool."""
    listed = {name for names in defaults.port_profile_lists.values() for name in names.split(",")}
    return {defaults.lossless_queue_profile} - listed


def _rows(row: Mapping[str, str], source: str) -> dict[str, Value]:
    return {name: _default(text, source) for name, text in row.items()}


def _default(text: str, source: str) -> Value:
    return value(text, "the SKU's own default", platform=source)


def _headroom_row(headroom: Headroom, source: str, cable_source: str) -> dict[str, Value]:
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
