"""Speeds and cable lengths of the ports of one switch."""

from fabricgen.bundle.read import Bundle, ObservedDevice
from fabricgen.simulate.plane.buffers import number
from fabricgen.simulate.plane.interfaces import member_ports
from fabricgen.sonic.image import rows, text
from fabricgen.units import parse_length_m

UNKNOWN_SPEED_MBPS = 100_000  # of files without PORT rows: equal everywhere, so ratios hold


class Cables:
    """What is plugged into one switch."""

    def __init__(self, bundle: Bundle, device: ObservedDevice) -> None:
        self._bundle, self._device = bundle, device
        self._rows = rows(device.config, "PORT")
        self._lengths = next(iter(rows(device.config, "CABLE_LENGTH").values()), {})

    def configured_mbps(self, port: str) -> int:
        """PORT.speed; 0 if missing."""
        return number(self._rows.get(port, {}), "speed")

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
