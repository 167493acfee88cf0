"""What the switches of a plane say in BGP: speakers, sessions that come up, and rows whose sessions stay down."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from fabricgen.routing.spoken_rows import AddressColumns
from fabricgen.sonic.addresses import Address
from fabricgen.sonic.image import Speaker, Terms
from fabricgen.sonic.tables import ConfigDb


class SessionEnd(NamedTuple):
    """One end: the switch, its egress interface, the key of its BGP_NEIGHBOR row, and what it accepts and sends."""

    switch: str
    interface: str
    key: str
    terms: Terms


class Session(NamedTuple):
    """An eBGP session that comes up as configured; the name of switch `a` comes first. Parallel links have one session
    each."""

    a: SessionEnd
    b: SessionEnd


@dataclass(frozen=True, slots=True)
class AbsentSession:
    """A BGP_NEIGHBOR row whose session cannot come up. `inside`: the far end is one of the judged switches. `follows`:
    this row is right, and the row at the far end is wrong. `far` is the switch at the far end, "" if it is not judged.
    `cause` are the switch and the (table, key, field) that the reason is about. The rows of one session have the same
    `session`. `is_cordoned`: the link is out of service on purpose."""

    switch: str
    key: str
    reason: str
    inside: bool
    follows: bool = False
    far: str = field(default="", compare=False)
    cause: tuple[str, tuple[str, ...]] = field(default=("", ()), compare=False)
    session: frozenset[object] = field(default=frozenset(), compare=False)
    is_cordoned: bool = False


@dataclass(frozen=True, slots=True)
class SpokenFabric:
    """The BGP speakers of one plane by switch, the sessions, and the rows whose sessions stay down. The rows of the
    speakers are made at each use; `addresses` has those of all in the order of the switches. `tables` are those on QoS
    and uSIDs of each switch, kept so that each file is read once. `down` are the (switch, interface) that are shut
    down, `vteps` the address that VXLAN packets to a VRF with an L3 VNI go to, by switch and VRF."""

    speakers: Mapping[str, Speaker]
    addresses: AddressColumns
    sessions: tuple[Session, ...]
    absent: tuple[AbsentSession, ...]
    tables: Mapping[str, ConfigDb]
    down: frozenset[tuple[str, str]] = frozenset()
    vteps: Mapping[tuple[str, str], Address] = field(default_factory=dict)

    @property
    def left_out(self) -> int:
        """The number of sessions between judged switches that cannot come up, without those of cordoned links."""
        return _count(one for one in self.absent if one.inside and not one.is_cordoned)

    @property
    def cordoned(self) -> int:
        """The number of sessions between judged switches whose links are cordoned."""
        return _count(one for one in self.absent if one.inside and one.is_cordoned)


def _count(absent: Iterable[AbsentSession]) -> int:
    return len({one.session or (one.switch, one.key) for one in absent})
