"""What stops working where a rule finds a fault, and so which other findings the fault explains."""

import enum
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Effect:
    """The codes that a fault explains: at the same session, at the same port (or its far end), on the same device, on a
    device or its neighbors, on the same plane, if it is on most switches of a plane on its hosts, and in the same file
    of a host. `words` say what does not work."""

    words: str
    session: frozenset[str] = frozenset()
    port: frozenset[str] = frozenset()
    device: frozenset[str] = frozenset({"FG255"})
    near: frozenset[str] = frozenset()
    plane: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    file: frozenset[str] = frozenset()

    @property
    def codes(self) -> frozenset[str]:
        """All codes that it can explain."""
        return frozenset().union(self.session, self.port, self.device, self.near, self.plane, self.hosts, self.file)


_SESSIONS = frozenset({"FG602", "FG366", "FG701"})  # what a session that is down causes at its two ends
_UNREACHABLE = frozenset({"FG360", "FG702"})  # they name the switch where packets are lost or wait
_WITHOUT_ROUTES = frozenset({"FG610", "FG703", "FG711"})  # of a plane as a whole
_WITHOUT_PFC = frozenset({"FG516", "FG627"})


class Breaks(enum.Enum):
    """What a fault breaks, from the narrowest effect to the widest."""

    VALUE = Effect("a value is wrong", port=frozenset({"FG243", "FG593"}))
    LOSSLESS = Effect(
        "packets can be dropped", port=_WITHOUT_PFC | {"FG593"}, plane=frozenset({"FG604"}),
        hosts=frozenset({"FG903", "FG904"}),
    )  # fmt: skip
    ADDRESS = Effect("a host has another address", file=frozenset({"FG909"}))
    ROUTES = Effect("routes are missing", near=_UNREACHABLE, plane=_WITHOUT_ROUTES)
    SESSION = Effect("a BGP session stays down", session=_SESSIONS, near=_UNREACHABLE, plane=_WITHOUT_ROUTES)
    SIGNAL = Effect("the ends of a link do not understand each other", port=frozenset({"FG242", "FG593"}))
    LINK = Effect(
        "a link stays down", session=_SESSIONS, port=frozenset({"FG242", "FG593"}), near=_UNREACHABLE,
        plane=_WITHOUT_ROUTES,
    )  # fmt: skip
    CABLE = Effect(
        "a cable is in another port", session=_SESSIONS, port=frozenset({"FG245", "FG250", "FG312"}),
        near=_UNREACHABLE, plane=_WITHOUT_ROUTES,
    )  # fmt: skip


EXPLAINED = frozenset().union(*(each.value.codes for each in Breaks))
