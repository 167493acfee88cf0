"""Headroom must fit the speed and the cable that are really there."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.physics import headroom_floor_bytes
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import End, Fabric, number
from fabricgen.rules.view.qos_classes import port_classes
from fabricgen.units import format_length, parse_length_m

_DEFAULT_MTU_BYTES = 9100


def _length_m(text: str) -> float | None:
    try:
        return parse_length_m(text)
    except ValueError:
        return None  # the schema rules report it


def _place(end: End) -> Place:
    return end.switch.place("CABLE_LENGTH", end.switch.cable_row, end.port)


def _cable(end: End) -> str:
    return end.switch.cable_text(end.port)


@rule("FG531", Severity.ERROR, "A lossless port has no cable length")
def missing_length(fabric: Fabric) -> Iterator[Defect]:
    """What: CABLE_LENGTH has a length above 0m for every wired port that carries lossless traffic.

    Why: the switch makes headroom only when it knows speed and cable length. Without the entry buffermgrd retries for
    ever; "0m" means no headroom on purpose. PFC stays on in both cases, and drops.

    Example: CABLE_LENGTH|AZURE has no entry for Ethernet256.

    Fix: add the length, rounded up to one of the SKU's headroom table.

    Source: sonic-swss issue 465, pull request 3548, cfgmgr/buffermgr.cpp.
    """
    for ports in port_classes(fabric):
        for switch, port, end in ports.members if ports.is_used and ports.lossless else ():
            text = switch.cable_text(port)
            if not text or _length_m(text) == 0:
                message = "a lossless port has no cable length" if not text else "cable length 0m means no headroom"
                length_m = end.cable_m if end else None
                hint = f"the cable is {format_length(length_m)} long" if length_m else "add the cable's length"
                yield Defect(switch.place("CABLE_LENGTH", switch.cable_row, port), message, hint)


@rule("FG532", Severity.ERROR, "The cable length is shorter than the cable, or differs at the two ends")
def wrong_length(fabric: Fabric) -> Iterator[Defect]:
    """What: CABLE_LENGTH is at least the true length of the cable, and the same at both ends.

    Why: headroom holds what is in flight on the cable. Sized for a shorter one it overflows under pause, on long links
    first.

    Example: the plan has 40 m, CABLE_LENGTH says 5m.

    Fix: write the next length of the SKU's headroom table that is not below the true one, at both ends.

    Source: IEEE 802.1Qbb headroom; sonic-swss cfgmgr/buffermgr.cpp.
    """
    short = set()
    for end in fabric.ends:
        said = _length_m(_cable(end))
        if said and end.cable_m and said < end.cable_m:
            short.add(end)
            message = f"cable length is {_cable(end)}, the cable has {format_length(end.cable_m)}"
            place, related = _place(end), ((f"the far end, {end.far_name}", _place(end.far)),) if end.far else ()
            yield Defect(place, message, f"write at least {format_length(end.cable_m)}", related)
    for pair in fabric.pairs:
        lengths = [_length_m(_cable(end)) for end in pair]
        if all(lengths) and lengths[0] != lengths[1] and short.isdisjoint(pair):
            near, far = fabric.blamed(pair, _cable)
            message = f"cable length is {_cable(near)}, the far end has {_cable(far)}"
            related = ((f"the far end, {far.switch.name}", _place(far)),)
            yield Defect(_place(near), message, "write the same at both ends", related)


@rule("FG533", Severity.ERROR, "A lossless group has the headroom of another speed or cable")
def profile_name(fabric: Fabric) -> Iterator[Defect]:
    """What: in the traditional model the lossless groups of a port use the profile that is named after the port's own
    speed and cable length.

    Why: a profile that was left over from another speed or cable has the wrong headroom, and buffermgrd replaces it
    at the next link event: what runs is not what the file says.

    Example: a 400G port with 40m of cable bound to pg_lossless_400000_5m_profile.

    Fix: bind pg_lossless_<speed>_<cable>_profile.

    Source: sonic-swss pull requests 278 and 4004; sonic-mgmt tests/qos/test_buffer_traditional.py.
    """
    for ports in port_classes(fabric):
        named = [(rest, str(row.get("profile"))) for rest, row in ports.rows["BUFFER_PG"].items()]
        headroom = [(rest, name) for rest, name in named if name.startswith("pg_lossless_")]
        for switch, port, end in ports.members if headroom and not ports.qos.is_dynamic else ():
            speed = (end.link.speed_mbps if end else 0) or switch.speed_mbps(port)
            cable = switch.cable_text(port)
            expected = f"pg_lossless_{speed}_{cable}_profile"
            for rest, name in headroom if speed and cable else ():
                if name != expected and not (end and _is_length_doubtful(fabric, end)):
                    message = f"headroom profile is {name}, speed and cable need {expected}"
                    related = (("the cable length", switch.place("CABLE_LENGTH", switch.cable_row, port)),)
                    place = switch.place("BUFFER_PG", f"{port}|{rest}", "profile")
                    yield Defect(place, message, f"bind {expected}", related)


def _is_length_doubtful(fabric: Fabric, end: End) -> bool:
    """Whether another rule doubts the length itself: shorter than the cable, unlike the far end's, or unusual."""
    said = _length_m(_cable(end))
    too_short = bool(said and end.cable_m and said < end.cable_m)
    return too_short or fabric.is_unusual(end, _cable)


@rule("FG534", Severity.ERROR, "Headroom below what physics needs")
def below_floor(fabric: Fabric) -> Iterator[Defect]:
    """What: xoff of a lossless profile is at least a round trip of the cable, a frame at each end and the pause frame.

    Why: this much still arrives after XOFF was decided, whatever the chip. Less headroom drops on any switch. Real
    hardware needs more: where the SKU's own row is known, FG524 holds the profile to it.

    Example: xoff 20480 for 400G over 40 m needs at least 38284 bytes.

    Fix: take the SKU's row for the speed and cable.

    Source: IEEE 802.1Qbb; fabricgen/physics.py.
    """
    for ports in port_classes(fabric):
        for rest, row in ports.rows["BUFFER_PG"].items():
            name = str(row.get("profile"))
            xoff = number(ports.qos.row("BUFFER_PROFILE", name).get("xoff"))
            if xoff is None or (ports.qos.layout and ports.qos.layout.headroom):
                continue
            for switch, port, end in ports.members:
                speed, length_m = switch.speed_mbps(port), (end and end.cable_m) or _length_m(switch.cable_text(port))
                mtu = number(switch.device.row("PORT", port).get("mtu")) or _DEFAULT_MTU_BYTES
                floor = headroom_floor_bytes(speed, length_m, mtu) if speed and length_m else 0
                if xoff < floor:
                    message = f"xoff of {name} is {xoff} bytes, {length_m:g} m at this speed need {floor} at least"
                    related = (("a port that uses it", switch.place("BUFFER_PG", f"{port}|{rest}")),)
                    yield Defect(switch.place("BUFFER_PROFILE", name, "xoff"), message, "", related)
                    break
