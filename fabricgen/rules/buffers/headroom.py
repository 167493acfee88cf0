"""Rules on headroom: it must match the speed and the cable of each port."""

from collections.abc import Iterator
from functools import cache

from fabricgen.findings import Severity
from fabricgen.physics import DEFAULT_MTU_BYTES, headroom_floor_bytes
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import rule
from fabricgen.rules.view.cable_texts import cable_texts
from fabricgen.rules.view.fabric import End, Fabric
from fabricgen.rules.view.qos import PortClass
from fabricgen.rules.view.qos_classes import port_classes
from fabricgen.rules.view.switch import number
from fabricgen.sonic.device_types import OUTSIDE_ROLE
from fabricgen.units import format_length, parse_length_m

_SHORT_CABLE_M = 10
_LONGEST_HOST_CABLE_M = 500  # 400GBASE-DR4 (IEEE 802.3 clause 124)
_LONGEST_CABLE_M = 10_000  # 400GBASE-LR4-10


@cache
def _length_m(text: str) -> float | None:
    try:
        return parse_length_m(text)
    except ValueError:
        return None  # the schema rules report it


def _place(end: End) -> Place:
    return end.switch.place("CABLE_LENGTH", end.switch.cable_row(end.port), end.port)


def _cable(end: End) -> str:
    return end.switch.cable_text(end.port)


@rule("FG531", Severity.ERROR, "A lossless port has no cable length")
def missing_length(fabric: Fabric) -> Iterator[Defect]:
    """What: CABLE_LENGTH has a length above 0m for every wired port that carries lossless traffic.

    Why: The switch creates headroom only if it knows speed and cable length. Without the entry buffermgrd retries for
    ever; "0m" means no headroom. In both cases PFC is enabled and packets drop. On ports that are down and have no
    cable this is a warning.

    Example: CABLE_LENGTH|AZURE has no entry for Ethernet256.

    Fix: Add the length, rounded up to a length in the SKU's headroom table.

    Source: sonic-swss issue 465, pull request 3548, cfgmgr/buffermgr.cpp.
    """
    texts = cable_texts(fabric)
    for ports in port_classes(fabric):
        for switch, port, end in ports.members if ports.is_used and ports.lossless else ():
            text = texts[switch].get(port, "")
            if not text or _length_m(text) == 0:
                message = (
                    "the cable length of a lossless port is missing"
                    if not text
                    else "cable length 0m gives no headroom"
                )
                length_m = end.cable_m if end else None
                hint = (
                    f"set the length to at least {format_length(length_m)}"
                    if length_m
                    else "add the length of the cable"
                )
                place = switch.place("CABLE_LENGTH", switch.cable_row(port), port)
                yield Defect(place, message, hint, (), ports.idle_severity)


@rule("FG532", Severity.ERROR, "The cable length is not that of the cable, or differs at the two ends")
def wrong_length(fabric: Fabric) -> Iterator[Defect]:
    """What: CABLE_LENGTH is at least the true length of the cable. It is not above twice the true length, 10 m and the
    next length of the SKU's headroom table (a warning). Both ends have the same length, or each the next one of its
    SKU's table. Without fabric.json, a cable to a host is at most 500 m, another one at most 10 km.

    Why: Headroom stores the data in flight on the cable. Headroom for a shorter cable overflows under pause, on long
    links first. Headroom for a much longer cable takes the memory that all queues share: they pause earlier.

    Example: fabric.json has 40 m, CABLE_LENGTH has 5m.

    Fix: At both ends, set the next length of the SKU's headroom table that is not shorter than the cable.

    Source: IEEE 802.1Qbb headroom; sonic-swss cfgmgr/buffermgr.cpp.
    """
    short, cables_m, texts_of = set(), fabric.cable_length_m, cable_texts(fabric)
    for end in fabric.ends:
        configured_m = _length_m(texts_of[end.switch].get(end.port, ""))
        actual_m = cables_m.get(end.link.id)
        if not configured_m or (actual_m and actual_m <= configured_m <= 2 * actual_m):
            continue
        if actual_m and configured_m < actual_m:
            short.add(end)
            message = f"cable length is {_cable(end)}, but the cable is {format_length(actual_m)} long"
            place, related = _place(end), ((f"the far end, {end.far_name}", _place(end.far)),) if end.far else ()
            yield Defect(place, message, f"set the length to at least {format_length(actual_m)}", related)
        elif _is_agreed(end) and configured_m > (most_m := _longest_m(end)):
            actual = f"the cable is {format_length(actual_m)} long" if actual_m else "no cable here is that long"
            message = f"cable length is {_cable(end)}, but {actual}"
            hint = f"set the length of the cable, at most {format_length(most_m)}"
            yield Defect(_place(end), message, hint, (), Severity.WARNING)
    for pair in fabric.pairs:
        texts = [texts_of[end.switch].get(end.port, "") for end in pair]
        if texts[0] == texts[1]:
            continue
        lengths = [length_m for text in texts if (length_m := _length_m(text))]
        if len(lengths) < 2 or lengths[0] == lengths[1] or not short.isdisjoint(pair):
            continue
        wrong = [end for end, m in zip(pair, lengths, strict=True) if not _is_rounded(end, m, min(lengths))]
        if wrong:
            near, far = fabric.blamed(pair, _cable)
            if far in wrong and near not in wrong:
                near, far = far, near
            message = f"cable length is {_cable(near)}, but the far end has {_cable(far)}"
            related = ((f"the far end, {far.switch.name}", _place(far)),)
            yield Defect(_place(near), message, "set the same length at both ends", related)


def _is_agreed(end: End) -> bool:
    """Whether no other length is known at the far end."""
    return end.far_role != OUTSIDE_ROLE and (end.far is None or _cable(end.far) in ("", _cable(end)))


def _is_rounded(end: End, configured_m: float, shortest_m: float) -> bool:
    """Whether the length of an end can be that of the cable: each SKU has other lengths in its headroom table. Without
    fabric.json, the cable is as long as the shorter of both ends' lengths."""
    if end.cable_m:
        return end.cable_m <= configured_m <= _longest_m(end)
    return configured_m in (shortest_m, _next_m(end, shortest_m))


def _next_m(end: End, length_m: float) -> float:
    """The next length of the SKU's headroom table at the speed of the port; 0 if the switch has none."""
    layout, speed = end.switch.layout, number(end.text("speed"))
    rows = layout.headroom if layout and not end.switch.is_dynamic else ()
    return min((row.cable_m for row in rows if row.speed_mbps == speed and row.cable_m >= length_m), default=0)


def _longest_m(end: End) -> float:
    """The length above which CABLE_LENGTH of a port is a mistake."""
    if not end.cable_m:
        return _LONGEST_HOST_CABLE_M if end.far_role == "host" else _LONGEST_CABLE_M
    return max(2 * end.cable_m, _SHORT_CABLE_M, _next_m(end, end.cable_m))


@rule("FG533", Severity.ERROR, "A lossless group uses a profile for another speed or cable length")
def profile_name(fabric: Fabric) -> Iterator[Defect]:
    """What: In the traditional model the lossless groups of a port use the profile for the port's speed and cable
    length.

    Why: A profile for another speed or cable has the wrong headroom, and buffermgrd replaces it at the next link event:
    the running configuration then differs from the file.

    Example: A 400G port with a cable of 40m uses pg_lossless_400000_5m_profile.

    Fix: Bind pg_lossless_<speed>_<cable>_profile.

    Source: sonic-swss pull requests 278 and 4004; sonic-mgmt tests/qos/test_buffer_traditional.py.
    """
    texts = cable_texts(fabric)
    for ports in port_classes(fabric):
        named = [(rest, str(row.get("profile"))) for rest, row in ports.rows["BUFFER_PG"].items()]
        headroom = [(rest, name) for rest, name in named if name.startswith("pg_lossless_")]
        for switch, port, end in ports.members if headroom and not ports.qos.is_dynamic else ():
            speed = (end.link.speed_mbps if end else 0) or switch.speed_mbps(port)
            cable = texts[switch].get(port, "")
            expected = f"pg_lossless_{speed}_{cable}_profile"
            for rest, name in headroom if speed and cable else ():
                if name == expected or (end and _is_length_doubtful(fabric, end)):
                    continue
                if not _has_no_row(ports, switch.speed_mbps(port), cable):
                    message = f"the headroom profile is {name}, but speed and cable length need {expected}"
                    related = (("the cable length", switch.place("CABLE_LENGTH", switch.cable_row(port), port)),)
                    place = switch.place("BUFFER_PG", f"{port}|{rest}", "profile")
                    yield Defect(place, message, f"bind {expected}", related)


def _is_length_doubtful(fabric: Fabric, end: End) -> bool:
    """Whether another rule reports the length: it is shorter than the cable, or unusual."""
    return _is_too_short(end) or fabric.is_unusual(end, _cable)


def _is_too_short(end: End) -> bool:
    configured_m = _length_m(_cable(end))
    return bool(configured_m and end.cable_m and configured_m < end.cable_m)


@rule("FG539", Severity.ERROR, "The SKU has no headroom for the speed and cable length of a port")
def no_headroom_row(fabric: Fabric) -> Iterator[Defect]:
    """What: In the traditional model the SKU's headroom table has a row for the speed and the cable length of each
    lossless port.

    Why: buffermgrd finds no profile ("No PG profile configured for speed … and cable length …") and leaves the group as
    it is, with the headroom of another cable or none.

    Example: CABLE_LENGTH has 2000m, the SKU's table ends at 300m.

    Fix: Use the next longer length of the table.

    Source: Measured with sonic-swss 6079a435; cfgmgr/buffermgr.cpp; sonic-buildimage device/…/pg_profile_lookup.ini.
    """
    texts = cable_texts(fabric)
    for ports in port_classes(fabric):
        for switch, port, end in ports.members if ports.is_used and ports.lossless else ():
            text = texts[switch].get(port, "")
            speed = number(end.text("speed")) if end else switch.speed_mbps(port)
            if _has_no_row(ports, speed, text) and not (end and _is_too_short(end)):
                length_m = _length_m(text) or 0
                lengths = sorted(m for mbps, m in ports.qos.headroom_keys if mbps == speed)
                longer = next((m for m in lengths if m >= length_m), None)
                message = f"hwsku {switch.hwsku} has no headroom for a cable of {text} at this speed"
                hint = f"set the length to {longer}m" if longer else f"use a cable of at most {lengths[-1]}m"
                yield Defect(switch.place("CABLE_LENGTH", switch.cable_row(port), port), message, hint)


def _has_no_row(ports: PortClass, speed: int | None, text: str) -> bool:
    """Whether the SKU's table has the speed of a port, but not with its cable length."""
    length_m = _length_m(text)
    if not length_m or (speed, length_m) in ports.qos.headroom_keys:
        return False
    return any(mbps == speed for mbps, _ in ports.qos.headroom_keys)


@rule("FG540", Severity.ERROR, "A port has two cable lengths")
def two_lengths(fabric: Fabric) -> Iterator[Defect]:
    """What: All rows of CABLE_LENGTH that have a port have one length for it.

    Why: The daemon applies each row that it reads, and the last one wins: the headroom of the port is that of any of
    the lengths. In the traditional model buffermgrd also writes another profile into BUFFER_PG.

    Example: CABLE_LENGTH|AZURE has 5m for Ethernet0, CABLE_LENGTH|AZURE2 has 40m.

    Fix: Keep one row with the length of the cable.

    Source: Measured with sonic-swss 6079a435; cfgmgr/buffermgr.cpp, buffermgrdyn.cpp (doCableTask).
    """
    for switch in fabric.switches.values():
        rows = switch.device.table("CABLE_LENGTH")
        for key, row in rows.items() if len(rows) > 1 else ():
            for port, text in row.items():
                first = switch.cable_row(port)
                if text != rows[first][port]:
                    message = f"the cable length is {text}, but {rows[first][port]} in the row {first}"
                    related = ((f"the row {first}", switch.place("CABLE_LENGTH", first, port)),)
                    hint = "keep the length of the cable in one row"
                    yield Defect(switch.place("CABLE_LENGTH", key, port), message, hint, related)


@rule("FG534", Severity.ERROR, "Headroom is below the physical minimum")
def below_floor(fabric: Fabric) -> Iterator[Defect]:
    """What: xoff of a lossless profile covers at least a round trip of the cable, a frame at each end and the pause
    frame.

    Why: This amount of data arrives after the switch decided to pause, on any chip. With less headroom every switch
    drops packets. Real hardware needs more: if the SKU's row is known, FG524 compares the profile with it.

    Example: xoff is 20480, 400G over 40 m needs at least 38284 bytes.

    Fix: Use the SKU's row for the speed and cable length.

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
                mtu = number(switch.device.row("PORT", port).get("mtu")) or DEFAULT_MTU_BYTES
                floor = headroom_floor_bytes(speed, length_m, mtu) if speed and length_m else 0
                if xoff < floor:
                    message = (
                        f"xoff of {name} is {xoff} bytes, but {length_m:g} m at this speed needs at least {floor} bytes"
                    )
                    related = (("a port that uses it", switch.place("BUFFER_PG", f"{port}|{rest}")),)
                    hint = f"set xoff to at least {floor}"
                    yield Defect(switch.place("BUFFER_PROFILE", name, "xoff"), message, hint, related)
                    break
