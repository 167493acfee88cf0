"""A fabric as the files of another tool describe it: switches, links and numbers, in the names of that tool."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from ipaddress import ip_interface

from fabricgen.adopt.source import Interface
from fabricgen.findings import Finding, Location, Severity
from fabricgen.units import whole_number
from fabricgen.vocabulary import Role

WRONG = "FG866"
LEFT_OUT = "FG867"
Addresses = tuple[Interface, ...]


@dataclass
class DescribedPort:
    """A port. `cage` and one of `lane` and `part` place it on the front panel, from 1; 0 where the name has none.

    `speed_mbps` is None where the files do not state it.
    """

    place: Location
    cage: int = 0
    lane: int = 0
    part: int = 0
    speed_mbps: int | None = None
    mtu: str = ""
    addresses: Addresses = ()


@dataclass
class DescribedVlan:
    """A VLAN of a switch. `members` is port or port channel -> whether its frames have a tag."""

    place: Location
    addresses: Addresses = ()
    members: dict[str, bool] = field(default_factory=dict)
    dhcp_servers: tuple[str, ...] = ()


@dataclass
class DescribedSwitch:
    """A switch. `model` is what the files call its hardware, `modes` the breakout of cages, such as 4x25G. `channels`
    has the ports of each port channel, which has its name of SONiC; one of `routed` has the addresses of its port."""

    name: str
    place: Location
    role: Role | None = None
    model: str = ""
    asn: int | None = None
    mac: str = ""
    serial: str = ""
    rack: str = ""
    loopbacks: Addresses = ()
    management: Addresses = ()
    gateway: str = ""
    ports: dict[str, DescribedPort] = field(default_factory=dict)
    modes: dict[int, str] = field(default_factory=dict)
    vlans: dict[int, DescribedVlan] = field(default_factory=dict)
    channels: dict[str, list[str]] = field(default_factory=dict)
    routed: set[str] = field(default_factory=set)
    channel_of: dict[str, str] = field(default_factory=dict)  # name of a connection -> its port channel

    def route(self, channel: str, addresses: Addresses) -> bool:
        """Give the addresses of a port channel to its port. One with several ports is removed: it would be several
        links with sessions."""
        ports = self.channels.get(channel, [])
        if len(ports) != 1 or ports[0] not in self.ports:
            self.channels.pop(channel, None)
            return False
        self.ports[ports[0]].addresses += addresses
        self.routed.add(channel)
        return True

    def vlan(self, number: int, place: Location) -> DescribedVlan:
        """The VLAN of this number, which is added if it is the first time."""
        return self.vlans.setdefault(number, DescribedVlan(place))


@dataclass(frozen=True)
class DescribedEnd:
    """One end of a link: a port of a switch, or of any other device."""

    device: str
    port: str


@dataclass(frozen=True)
class DescribedLink:
    """A link. `is_host` if its end without a switch is a server."""

    a: DescribedEnd
    b: DescribedEnd
    place: Location
    is_host: bool = False


class Description:
    """What the files describe, the findings on them, and what has no place in an inventory."""

    def __init__(self) -> None:
        self.switches: dict[str, DescribedSwitch] = {}
        self.links: list[DescribedLink] = []
        self.findings: list[Finding] = []
        self._left_out: dict[str, Location] = {}
        self._counts: Counter[str] = Counter()

    def wrong(self, message: str, place: Location, hint: str = "") -> None:
        """A value of the files that is missing or not possible."""
        self.findings.append(Finding(WRONG, Severity.ERROR, message, location=place, hint=hint))

    def leave_out(self, what: str, place: Location) -> None:
        """Something of the files that does not carry over; equal ones are one finding."""
        self._left_out.setdefault(what, place)
        self._counts[what] += 1

    def vlan_numbers(self, text: str, place: Location) -> list[int]:
        """The VLANs of a list such as 110,120-122; a finding for each part that is not one."""
        found: list[int] = []
        for part in filter(None, (each.strip() for each in text.split(","))):
            low, dash, high = part.partition("-")
            first, last = whole_number(low), whole_number(high if dash else low)
            if first is None or last is None or not 0 < first <= last < 4095:
                self.leave_out(f"VLANs {part!r}", place)
            else:
                found += range(first, last + 1)
        return found

    def add_switch(self, switch: DescribedSwitch) -> None:
        """Add a switch; a second one of the same name is a finding."""
        if known := self.switches.get(switch.name):
            self.wrong(f"a second switch {switch.name}; the first is at {known.place}", switch.place)
            return
        self.switches[switch.name] = switch

    def add_link(self, a: DescribedEnd, b: DescribedEnd, place: Location, *, is_host: bool = False) -> None:
        """Add a link, unless it is known: files of both switches describe it."""
        self.links.append(DescribedLink(a, b, place, is_host))

    def not_imported(self) -> Iterable[Finding]:
        """One note for each kind of what does not carry over."""
        for what, place in self._left_out.items():
            message = f"not imported: {what}"
            yield Finding(LEFT_OUT, Severity.NOTE, message, location=place, count=self._counts[what])

    def asn(self, text: str, place: Location) -> int | None:
        """The number of an ASN, also in the form 65000.1; None with a finding for another text, None for no text."""
        high, dot, low = text.partition(".")
        numbers = [whole_number(part) for part in ([high, low] if dot else [text])]
        asn = sum(number << 16 * power for power, number in enumerate(reversed(numbers)) if number is not None)
        if text and (None in numbers or not 0 < asn < 1 << 32):
            self.wrong(f"{text!r} is not an ASN: expected 1 to {(1 << 32) - 1}", place)
            return None
        return asn if text else None

    def addresses(self, texts: Iterable[str], place: Location) -> Addresses:
        """The addresses with their prefix lengths; a finding for each text that is not one."""
        found = []
        for text in filter(None, texts):
            try:
                found.append(ip_interface(text))
            except ValueError:
                self.wrong(f"{text!r} is not an address", place)
        return tuple(found)
