"""What the file of a switch configures for one class of traffic: priority groups, queues, marking, the watchdog.

The maps of a port give the priority group and the queue of a packet: by its DSCP where that is known, or else by the
traffic class with the number of its priority. A map that no field of the port names is the identity.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from fabricgen.bundle.forgetful import speeds_of
from fabricgen.bundle.read import Bundle, ObservedDevice
from fabricgen.physics import DEFAULT_MTU_BYTES, headroom_floor_bytes, peer_response_bytes
from fabricgen.simulate.plane.buffers import Profile, SwitchBufferTables
from fabricgen.simulate.plane.interfaces import BoundGroup, InterfaceQos, member_ports, profile_name
from fabricgen.simulate.plane.queues import QueueTables
from fabricgen.simulate.scenario import Ecn, WatchdogTimers
from fabricgen.sonic.dynamic_buffers.prediction import LOSSLESS_POOL
from fabricgen.sonic.image import rows, text
from fabricgen.units import parse_length_m

_DYNAMIC_XON_BYTES = 19_456  # where the ASIC is unknown: that of most ports, sonic-swss buffer_headroom_mellanox.lua


@dataclass(frozen=True, slots=True)
class PriorityGroup:
    """A priority group at a port. It pauses its sender, if it is `lossless`, when it holds more than its reserve and
    `alpha` of the free part of `pool`, or `static_bytes` where that is not None."""

    lossless: bool
    alpha: float = 1.0
    static_bytes: int | None = None
    reserve_bytes: int = 0
    headroom_bytes: int = 0
    xon_bytes: int = 0
    xon_offset_bytes: int = 0
    profile: str = ""
    pool: str = ""


class RoceClass(NamedTuple):
    """A class of traffic: its priority, its largest packet on the wire, and the DSCP of its packets, None if
    unknown."""

    priority: int
    packet_bytes: int
    dscp: int | None = None


class SwitchClass:
    """One class of traffic on one switch, whose QoS is `qos`."""

    def __init__(self, bundle: Bundle, name: str, traffic: RoceClass, qos: InterfaceQos) -> None:
        self.device = bundle.devices[name]
        self.cables = Cables(bundle, self.device)
        self.buffers = SwitchBufferTables(self.device, qos)
        self.queues = QueueTables(self.device)
        self._traffic, self._qos, self._class = traffic, qos, qos.of_class(traffic.priority, traffic.dscp)
        self._configured: dict[BoundGroup, PriorityGroup] = {}

    def pool_bytes(self, pool: str) -> int:
        """What the groups of a pool share, without the headroom pool: what the file or the switch gives it, or else the
        memory of the ASIC without the headroom of all ports."""
        return self.buffers.shared_bytes(pool) or self._estimated_bytes

    @cached_property
    def _estimated_bytes(self) -> int:
        headroom = sum(
            headroom_floor_bytes(self.cables.configured_mbps(port), self.cables.configured_m(port), DEFAULT_MTU_BYTES)
            for port in self._qos.ports
            if self._qos.of(port).bound("BUFFER_PG", self.group_number(port))
        )
        return self.buffers.memory_without(headroom)

    def group_number(self, interface: str) -> int:
        """The priority group of packets that arrive at an interface."""
        return self._class.numbers(interface)[0]

    def queue_number(self, interface: str) -> int:
        """The queue of packets that an interface sends."""
        return self._class.numbers(interface)[1]

    def group(self, interface: str) -> PriorityGroup:
        """The priority group of packets that arrive at an interface."""
        bound = self._class.group(interface)
        if bound in self._configured:
            return self._configured[bound]
        name = bound.profile
        lossless = bound.has_pfc and (name is not None or not self.buffers.groups_configured)
        profile = self.buffers.profile(name) if name is not None else None
        if lossless and not profile:
            return self._computed(interface)
        group = PriorityGroup(lossless=False, profile=name or "", pool=self.buffers.lossless_pool)
        self._configured[bound] = _configured(profile, lossless=lossless) if profile else group
        return self._configured[bound]

    def marking(self, interface: str) -> Ecn | None:
        """The WRED marking of the queue; None if it does not mark."""
        return self.queues.marking(self._qos.of(interface), self.queue_number(interface))

    def watchdog(self, interface: str) -> WatchdogTimers | None:
        """The PFC watchdog of the queue; None if it does not watch it."""
        return self.queues.watchdog(self._qos.of(interface), self.queue_number(interface))

    def scheduling(self, interface: str) -> tuple[bool, int]:
        """(whether the queue is strict, its DWRR weight)."""
        return self.queues.scheduling(self._qos.of(interface), self.queue_number(interface))

    def queue_profile(self, interface: str) -> Profile | None:
        """The buffer profile of the queue; None if the file does not define one."""
        bound = self._qos.of(interface).bound("BUFFER_QUEUE", self.queue_number(interface))
        return self.buffers.profile(profile_name(bound[1])) if bound else None

    def trims(self, interface: str) -> bool:
        """Whether the switch cuts packets for which the queue has no room."""
        profile = self.queue_profile(interface)
        row = self.device.row("BUFFER_PROFILE", profile.name) if profile else {}
        return bool(self.device.row("SWITCH_TRIMMING", "GLOBAL")) and text(row, "packet_discard_action") == "trim"

    def _computed(self, interface: str) -> PriorityGroup:
        """The group with the profile that the switch computes from speed and CABLE_LENGTH; of an interface, with that
        of its first member."""
        computed = self.buffers.computed
        if computed is None:
            return self._estimated(interface)
        headroom = computed.headroom(next(iter(member_ports(self.device.config, interface)), interface))
        if headroom is None:  # without a cable length the switch does not create a profile
            return PriorityGroup(lossless=True, alpha=self.buffers.default_alpha, pool=LOSSLESS_POOL)
        in_size = 0 if computed.sizes.headroom_bytes else headroom.xoff_bytes
        return PriorityGroup(
            lossless=True,
            alpha=self.buffers.default_alpha,
            reserve_bytes=headroom.size_bytes - in_size,
            headroom_bytes=headroom.xoff_bytes,
            xon_bytes=headroom.xon_bytes,
            pool=LOSSLESS_POOL,
        )

    def _estimated(self, interface: str) -> PriorityGroup:
        """The same for an unknown ASIC: the floor of 802.1Qbb, the response of the peer and one packet."""
        speed = self.cables.speed_mbps(interface)
        packet = self._traffic.packet_bytes
        headroom = headroom_floor_bytes(speed, self.cables.configured_m(interface), packet)
        headroom += (peer_response_bytes(speed) or 0) + packet  # one more packet, for the pipeline of the ASIC
        return PriorityGroup(
            lossless=True,
            alpha=self.buffers.default_alpha,
            reserve_bytes=_DYNAMIC_XON_BYTES,
            headroom_bytes=headroom,
            xon_bytes=_DYNAMIC_XON_BYTES,
            pool=self.buffers.lossless_pool,
        )


def _configured(profile: Profile, *, lossless: bool) -> PriorityGroup:
    return PriorityGroup(
        lossless=lossless,
        alpha=profile.alpha,
        static_bytes=profile.static_bytes,
        reserve_bytes=profile.reserve_bytes if profile.static_bytes is None else 0,
        headroom_bytes=profile.headroom_bytes if lossless else 0,
        xon_bytes=profile.xon_bytes if lossless else 0,
        xon_offset_bytes=profile.xon_offset_bytes if lossless else 0,
        profile=profile.name,
        pool=profile.pool,
    )


# Speeds and cable lengths of the ports of one switch.

UNKNOWN_SPEED_MBPS = 100_000  # of files without PORT rows: equal everywhere, so ratios hold


class Cables:
    """What is plugged into one switch."""

    def __init__(self, bundle: Bundle, device: ObservedDevice) -> None:
        self._bundle, self._device = bundle, device
        self._speeds = speeds_of(device)
        self._lengths = next(iter(rows(device.config, "CABLE_LENGTH").values()), {})

    def configured_mbps(self, port: str) -> int:
        """PORT.speed; 0 if missing."""
        return self._speeds.get(port, 0)

    def speed_mbps(self, interface: str) -> int:
        """The speed of a port, or of the members of an interface together; that of its link if the file does not have
        it."""
        if own := self.configured_mbps(interface):
            return own
        if total := sum(map(self.configured_mbps, member_ports(self._device.config, interface))):
            return total
        link = self._bundle.link_at.get((self._device.name, interface))
        return (link.speed_mbps if link else None) or UNKNOWN_SPEED_MBPS

    def configured_m(self, port: str) -> float:
        """CABLE_LENGTH of a port, by which the switch computes headroom; 0 if missing."""
        try:
            return parse_length_m(text(self._lengths, port))
        except ValueError:
            return 0.0  # the rules report it

    def length_m(self, port: str) -> float:
        """The true length of the cable where it is known, or else CABLE_LENGTH."""
        link = self._bundle.link_at.get((self._device.name, port))
        known = self._bundle.cable_length_m.get(link.id) if link else None
        return self.configured_m(port) if known is None else known
