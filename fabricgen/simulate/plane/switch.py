"""What a switch's file says of one class of traffic at one port: group, queue, marks, watchdog, scheduler.

The port's own maps tell which priority group and which queue a packet goes to: by its DSCP where that is known, else it
is taken to be in the traffic class of its priority. A map that a port does not name is taken as the identity.
"""

from collections.abc import Mapping

from fabricgen.bundle.read import ObservedDevice
from fabricgen.physics import headroom_floor_bytes, peer_response_bytes
from fabricgen.simulate.plane.buffers import SwitchGroups
from fabricgen.simulate.scenario import Ecn, SwitchBuffers, Watchdog
from fabricgen.sonic.image import text as field_text
from fabricgen.sonic.tables import Row, parse_priorities

_MS = 1_000_000
_POLL_MS = 100  # of pfcwdorch where PFC_WD|GLOBAL has no POLL_INTERVAL
_DYNAMIC_XON_BYTES = 19_456  # of the profiles that sonic-swss computes: buffer_headroom_mellanox.lua
_LARGEST = (1 << 31) - 1
_TRAFFIC_CLASSES = 8
UNKNOWN_SPEED_MBPS = 100_000  # of files without PORT rows


class SwitchSettings:
    """One switch's file, for the traffic of one priority; `dscp` is what its packets have, None where nobody says."""

    def __init__(self, device: ObservedDevice, priority: int, mtu_bytes: int, dscp: int | None = None) -> None:
        self.device, self.priority, self.mtu_bytes, self.dscp = device, priority, mtu_bytes, dscp
        self.groups = SwitchGroups(device, priority)
        self._groups_of = {priority: self.groups}
        pool = device.row("BUFFER_POOL", "ingress_lossless_pool")
        self.headroom_pool_bytes = _number(pool, "xoff")
        self.pool_bytes = int(self.groups.pool_bytes) + self.headroom_pool_bytes
        self._queues = _by_queue(device.table("QUEUE"))
        self._limits = _by_queue(device.table("BUFFER_QUEUE"))

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
        group = self._group_of(port).group(port)
        found: dict[str, object] = {"ecn": self._ecn(port), "watchdog": self._watchdog(port), **self._outward(port)}
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

    def group(self, port: str) -> int:
        """The priority group of what comes in by a port."""
        return self._mapped(port, "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP", self._traffic_class(port))

    def queue(self, port: str) -> int:
        """The queue of what goes out by a port."""
        return self._mapped(port, "tc_to_queue_map", "TC_TO_QUEUE_MAP", self._traffic_class(port))

    def _traffic_class(self, port: str) -> int:
        if self.dscp is None:
            return self.priority
        found = self._mapped(port, "dscp_to_tc_map", "DSCP_TO_TC_MAP", self.dscp)
        return found if found < _TRAFFIC_CLASSES else self.priority

    def _mapped(self, port: str, field: str, table: str, number: int) -> int:
        """Through the map that a port names: 0 for what it leaves out."""
        everywhere = self.device.row("PORT_QOS_MAP", "global") if field == "dscp_to_tc_map" else {}
        row = self.groups.qos_of.get(port, {})
        name = _reference(row, field) or _reference(everywhere, field)
        entries = self.device.row(table, name) if name else {}
        return _number(entries, str(number)) if entries else number

    def _group_of(self, port: str) -> SwitchGroups:
        number = self.group(port)
        if number not in self._groups_of:
            self._groups_of[number] = SwitchGroups(self.device, number)
        return self._groups_of[number]

    def _outward(self, port: str) -> dict[str, object]:
        """Scheduler and limit of the queue. A fixed limit that is no less than the pool limits nothing."""
        found: dict[str, object] = {"scheduler": "dwrr", "weight": 1}
        queue = self.queue(port)
        scheduler = self.device.row("SCHEDULER", _reference(self._queues.get((port, queue), {}), "scheduler"))
        if scheduler:
            found["weight"] = max(1, _number(scheduler, "weight"))
            found["scheduler"] = "strict" if field_text(scheduler, "type") == "STRICT" else "dwrr"
        row = self.device.row("BUFFER_PROFILE", _reference(self._limits.get((port, queue), {}), "profile"))
        if not row:
            return found
        pool = _reference(row, "pool")
        size = _number(self.device.row("BUFFER_POOL", pool), "size") or self.pool_bytes
        static = _number(row, "static_th")
        found |= {"egress_pool": pool, "egress_pool_bytes": size, "egress_reserve_bytes": _number(row, "size")}
        if "dynamic_th" in row:
            return found | {"egress_alpha": 2.0 ** _exponent(row)}
        return found | {"egress_static_bytes": static if static < size else 0}

    def _all_by_itself(self, port: str) -> bool:
        """Whether PFC is on and no file says anything of groups, so that the switch does as it thinks best."""
        enabled = parse_priorities(field_text(self.groups.qos_of.get(port, {}), "pfc_enable"))
        return self.group(port) in enabled and not self.device.table("BUFFER_PG")

    def reserved_in_all(self) -> int:
        """What the pool keeps for all groups of the switch: their reserves, and headroom where each has its own."""
        total = 0
        for key, row in self.device.table("BUFFER_PG").items():
            profile = self.device.row("BUFFER_PROFILE", _reference(row, "profile"))
            own = 0 if self.headroom_pool_bytes else _number(profile, "xoff")
            ports, _, groups = key.partition("|")
            total += len(ports.split(",")) * len(parse_priorities(groups)) * (_number(profile, "size") + own)
        return total

    def profile_name(self, port: str) -> str:
        """BUFFER_PG.profile."""
        return _reference(self._group_of(port).profile_of.get(port, {}), "profile")

    def _profile(self, port: str) -> Row:
        return self.device.row("BUFFER_PROFILE", self.profile_name(port))

    def _ecn(self, port: str) -> Ecn | None:
        queue = self._queues.get((port, self.queue(port)), {})
        row = self.device.row("WRED_PROFILE", _reference(queue, "wred_profile"))
        mode = field_text(row, "ecn")
        if mode != "ecn_all" and "green" not in mode:
            return None
        kmin, kmax = (min(_number(row, f"green_{end}_threshold"), (1 << 30) - 1) for end in ("min", "max"))
        return Ecn(kmin, max(kmin, kmax), _number(row, "green_drop_probability") / 100)

    def _watchdog(self, port: str) -> Watchdog | None:
        row = self.device.row("PFC_WD", port)
        qos = self.groups.qos_of.get(port, {})
        guarded = field_text(qos, "pfcwd_sw_enable") if "pfcwd_sw_enable" in qos else field_text(qos, "pfc_enable")
        detection = _number(row, "detection_time")
        if not detection or self.queue(port) not in parse_priorities(guarded):
            return None
        poll = _number(self.device.row("PFC_WD", "GLOBAL"), "POLL_INTERVAL") or _POLL_MS
        return Watchdog(
            detection_ns=detection * _MS,
            restoration_ns=_number(row, "restoration_time") * _MS,
            poll_ns=poll * _MS,
            action=field_text(row, "action") or "drop",
        )


def _by_queue(table: Mapping[str, Row]) -> dict[tuple[str, int], Row]:
    """(port, queue) -> row; a key may name several of both."""
    return {
        (port, queue): row
        for key, row in table.items()
        if isinstance(row, Mapping)
        for port in key.partition("|")[0].split(",")
        for queue in parse_priorities(key.partition("|")[2])
    }


def _reference(row: Row, field: str) -> str:
    """The name of the row that a field refers to: old files write [TABLE|NAME]."""
    return field_text(row, field).strip("[]").rpartition("|")[2]


def _number(row: Row, field: str) -> int:
    text = field_text(row, field)
    return int(text) if text.isdecimal() else 0


def _exponent(row: Row) -> int:
    """dynamic_th, as far as a chip can have it; the schema check reports others."""
    text = field_text(row, "dynamic_th")
    return max(-8, min(7, int(text))) if text.lstrip("-").isdecimal() else 0
