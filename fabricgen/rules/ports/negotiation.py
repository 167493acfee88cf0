"""Rules on what ports offer when they negotiate their speed."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import End, Fabric, far_end
from fabricgen.rules.view.switch import number
from fabricgen.units import format_speed
from fabricgen.vocabulary import FIBRES, Medium

_OPTICAL = (Medium.AOC, *FIBRES)


@rule("FG307", Severity.ERROR, "A port offers speeds that its cable or the far end does not have", breaks=Breaks.SIGNAL)
def offered_speeds(fabric: Fabric) -> Iterator[Defect]:
    """What: Where autoneg is on, adv_speeds has the speed of the link, nothing faster that the far end offers too,
    and a speed in common with the far end. autoneg is off on optical cables of any length.

    Why: The ends choose the fastest speed that both offer. Without a common one the link stays down. With one that the
    cable is not made for, it comes up with errors, or not at all. Optical modules do not carry the messages.

    Example: adv_speeds is 800000 at both ends of a cable of 400G.

    Fix: Offer the speed of the link only, or set autoneg to off.

    Source: IEEE 802.3 clause 73; sonic-swss orchagent/portsorch.cpp (setPortAdvSpeeds); sonic-buildimage
    sonic-port.yang.
    """
    wiring = fabric.bundle.wiring
    medium = {link: cable.medium for cable in wiring.cables for link in cable.links} if wiring else {}
    for end in fabric.ends:
        if end.text("autoneg") != "on":
            continue
        own, speed = _offered(end), end.link.speed_mbps
        related = far_end(end, "PORT", "adv_speeds")
        kind = medium.get(end.link.id)
        if kind in _OPTICAL and not (end.cable_m or 0) > _LONGEST_COPPER_M:  # else FG571
            hint = "set autoneg to off at both ends"
            yield Defect(
                end.place("PORT", "autoneg"), f"autoneg is on, and the cable is optical ({kind})", hint, related
            )
        far = _offered(end.far) if end.far and end.far.text("autoneg") == "on" else frozenset()
        place, hint = end.place("PORT", "adv_speeds"), f"set adv_speeds to {speed}" if speed else "offer a common speed"
        if own and far and not own & far:
            message = f"{_listed(own)} of adv_speeds and {_listed(far)} of the far end have no speed in common"
            yield Defect(place, message, hint, related)
        elif own and speed and speed not in own:
            yield Defect(place, f"adv_speeds has {_listed(own)}, but the link is {format_speed(speed)}", hint, related)
        elif speed and any(each > speed and (not far or each in far) for each in own):
            fast = max(each for each in own if each > speed)
            message = f"adv_speeds has {format_speed(fast)}, and the cable is made for {format_speed(speed)}"
            yield Defect(place, message, hint, related)


_LONGEST_COPPER_M = 10.0


def _offered(end: End) -> frozenset[int]:
    """The speeds in Mb/s that a port offers; empty for all."""
    given = end.row.get("adv_speeds", ())
    words = given.split(",") if isinstance(given, str) else given if isinstance(given, list) else ()
    return frozenset(found for word in words if (found := number(str(word).strip())))


def _listed(speeds: frozenset[int]) -> str:
    return ", ".join(map(format_speed, sorted(speeds)))
