"""What a switch's file says of one priority of one port: buffers, marks, watchdog, scheduler."""

from collections.abc import Mapping

from fabricgen.bundle.read import ObservedDevice
from fabricgen.physics import headroom_floor_bytes, peer_response_bytes
from fabricgen.simulate.congestion.buffers import SwitchGroups
from fabricgen.simulate.scenario import Ecn, SwitchBuffers, TrafficClass, Watchdog
from fabricgen.sonic.image import text
from fabricgen.sonic.tables import Row, parse_priorities

_MS = 1_000_000
_POLL_MS = 100  # of pfcwdorch where PFC_WD|GLOBAL has no POLL_INTERVAL
_DYNAMIC_XON_BYTES = 19_456  # of the profiles that sonic-swss computes: buffer_headroom_mellanox.lua
_LARGEST = (1 << 31) - 1
UNKNOWN_SPEED_MBPS = 100_000  # of files without PORT rows


class SwitchSettings:
    """One switch's file, for one priority."""

    def __init__(self, device: ObservedDevice, priority: int, mtu_bytes: int) -> None:
        self.device, self.priority, self.mtu_bytes = device, priority, mtu_bytes
        self.groups = SwitchGroups(device, priority)
        pool = device.row("BUFFER_POOL", "ingress_lossless_pool")
        self.headroom_pool_bytes = _number(pool, "xoff")
        self.pool_bytes = int(self.groups.pool_bytes) + self.headroom_pool_bytes
        self._queues = {
            (port, queue): row
            for key, row in device.table("QUEUE").items()
            if isinstance(row, Mapping)
            for port in key.partition("|")[0].split(",")
            for queue in parse_priorities(key.partition("|")[2])
        }

    def switch(self) -> SwitchBuffers:
        """What its ports share."""
        return SwitchBuffers(
            buffer_bytes=min(self.pool_bytes, _LARGEST),
            pg_reserve_bytes=0,
            pg_headroom_bytes=0,
            alpha=1.0,
            xon_offset_bytes=0,
            headroom_pool_bytes=self.headroom_pool_bytes,
        )

    def port(self, port: str) -> dict[str, object]:
        """What one port has for itself, as fields of SwitchBuffers."""
        row = self._profile(port)
        group = self.groups.group(port)
        found: dict[str, object] = {"ecn": self._ecn(port), "watchdog": self._watchdog(port), "pfc": group is not None}
        found["pfc"] = group is not None or self._all_by_itself(port)
        if "dynamic_th" in row:
            found |= {"alpha": 2.0 ** _exponent(row), "pg_reserve_bytes": _number(row, "size")}
        elif "static_th" in row:
            found |= {"static_threshold_bytes": max(1, _number(row, "static_th"))}
        elif group is not None:  # the dynamic model: the switch makes the profile itself
            found |= {"alpha": group.alpha, "pg_reserve_bytes": int(group.reserve_bytes)}
        if not found["pfc"]:
            return found
        if row:
            headroom = _number(row, "xoff")
            found |= {"xon_bytes": _number(row, "xon"), "xon_offset_bytes": _number(row, "xon_offset")}
        else:
            speed = self.groups.speed_mbps(port) or UNKNOWN_SPEED_MBPS
            headroom = headroom_floor_bytes(speed, self.groups.cable_m(port), self.mtu_bytes)
            headroom += (peer_response_bytes(speed) or 0) + self.mtu_bytes  # one more, for the pipeline of the chip
            found |= {"pg_reserve_bytes": _DYNAMIC_XON_BYTES, "xon_bytes": _DYNAMIC_XON_BYTES}
        return found | {"pg_headroom_bytes": headroom}

    def _all_by_itself(self, port: str) -> bool:
        """Whether PFC is on and no file says anything of groups, so that the switch does as it thinks best."""
        enabled = parse_priorities(text(self.groups.qos_of.get(port, {}), "pfc_enable"))
        return self.priority in enabled and not self.device.table("BUFFER_PG")

    def reserved_in_all(self) -> int:
        """What the pool keeps for all groups of the switch: their reserves, and headroom where each has its own."""
        total = 0
        for key, row in self.device.table("BUFFER_PG").items():
            name = text(row, "profile").strip("[]").removeprefix("BUFFER_PROFILE|")
            profile = self.device.row("BUFFER_PROFILE", name)
            own = 0 if self.headroom_pool_bytes else _number(profile, "xoff")
            ports, _, groups = key.partition("|")
            total += len(ports.split(",")) * len(parse_priorities(groups)) * (_number(profile, "size") + own)
        return total

    def traffic_class(self, port: str) -> TrafficClass:
        """The scheduler of the priority's queue."""
        queue = self._queues.get((port, self.priority), {})
        row = self.device.row("SCHEDULER", text(queue, "scheduler"))
        if text(row, "type") == "STRICT":
            return TrafficClass(self.priority, scheduler="strict")
        return TrafficClass(self.priority, weight=max(1, _number(row, "weight")))

    def profile_name(self, port: str) -> str:
        """BUFFER_PG.profile."""
        row = self.groups.profile_of.get(port, {})
        return text(row, "profile").strip("[]").removeprefix("BUFFER_PROFILE|")

    def _profile(self, port: str) -> Row:
        return self.device.row("BUFFER_PROFILE", self.profile_name(port))

    def _ecn(self, port: str) -> Ecn | None:
        queue = self._queues.get((port, self.priority), {})
        name = text(queue, "wred_profile").strip("[]").removeprefix("WRED_PROFILE|")
        row = self.device.row("WRED_PROFILE", name)
        mode = text(row, "ecn")
        if mode != "ecn_all" and "green" not in mode:
            return None
        kmin, kmax = (min(_number(row, f"green_{end}_threshold"), (1 << 30) - 1) for end in ("min", "max"))
        return Ecn(kmin, max(kmin, kmax), _number(row, "green_drop_probability") / 100)

    def _watchdog(self, port: str) -> Watchdog | None:
        row = self.device.row("PFC_WD", port)
        qos = self.groups.qos_of.get(port, {})
        guarded = text(qos, "pfcwd_sw_enable") if "pfcwd_sw_enable" in qos else text(qos, "pfc_enable")
        detection = _number(row, "detection_time")
        if not detection or self.priority not in parse_priorities(guarded):
            return None
        poll = _number(self.device.row("PFC_WD", "GLOBAL"), "POLL_INTERVAL") or _POLL_MS
        return Watchdog(
            detection_ns=detection * _MS,
            restoration_ns=_number(row, "restoration_time") * _MS,
            poll_ns=poll * _MS,
            action=text(row, "action") or "drop",
        )


def _number(row: Row, field: str) -> int:
    digits = text(row, field)
    return int(digits) if digits.isdecimal() else 0


def _exponent(row: Row) -> int:
    """dynamic_th, as far as a chip can have it; the schema check reports others."""
    digits = text(row, "dynamic_th")
    return max(-8, min(7, int(digits))) if digits.lstrip("-").isdecimal() else 0
