"""What stops working where a rule finds a fault, and so which other findings the fault explains."""

import enum
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Effect:
    """The codes that a fault explains: at the same session, at the same port (or its far end), on the same device, and
    on the same plane. `words` say what does not work."""

    words: str
    session: frozenset[str] = frozenset()
    port: frozenset[str] = frozenset()
    device: frozenset[str] = frozenset({"FG255"})
    plane: frozenset[str] = frozenset()

    @property
    def codes(self) -> frozenset[str]:
        """All codes that it can explain."""
        return self.session | self.port | self.device | self.plane


_SESSIONS = frozenset({"FG602", "FG366", "FG701"})  # what a session that is down causes at its two ends
_WITHOUT_ROUTES = frozenset({"FG360", "FG610", "FG702", "FG703", "FG711"})
_WITHOUT_PFC = frozenset({"FG516", "FG627"})


class Breaks(enum.Enum):
    """What a fault breaks, from the narrowest effect to the widest."""

    VALUE = Effect("a value is wrong", port=frozenset({"FG243", "FG593"}))
    LOSSLESS = Effect("packets can be dropped", port=_WITHOUT_PFC | {"FG593"}, plane=frozenset({"FG604"}))
    ROUTES = Effect("routes are missing", plane=_WITHOUT_ROUTES)
    SESSION = Effect("a BGP session stays down", session=_SESSIONS, plane=_WITHOUT_ROUTES)
    LINK = Effect("a link stays down", session=_SESSIONS, port=frozenset({"FG242", "FG593"}), plane=_WITHOUT_ROUTES)
    CABLE = Effect(
        "a cable is in another port", session=_SESSIONS, port=frozenset({"FG245", "FG250", "FG312"}),
        plane=_WITHOUT_ROUTES,
    )  # fmt: skip


EXPLAINED = frozenset().union(*(each.value.codes for each in Breaks))
