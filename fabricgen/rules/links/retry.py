"""Rules on link layer retry (LLR): what a sender may have outstanding, and both ends of a link.

The tables are those of SONiC's HLD doc/llr (sonic-net/SONiC pull request 2098, 2026-07-13). Its daemon and YANG models
are open (sonic-swss 4528, sonic-buildimage 27028), so no release reads them: FG401 says so.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fabricgen.findings import Severity
from fabricgen.physics import PROPAGATION_NS_PER_M, retry_floor_bytes
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import End, Fabric, far_end
from fabricgen.units import format_length, format_speed, whole_number

_PORTS, _PROFILES = "LLR_PORT", "LLR_PROFILE"
_ON = "enabled"
_FIELD, _TIMER = "max_outstanding_bytes", "max_replay_timer"


@rule("FG721", Severity.ERROR, "Link layer retry allows fewer bytes than the cable holds")
def outstanding_bytes(fabric: Fabric) -> Iterator[Defect]:
    """What: max_outstanding_bytes of the LLR_PROFILE of a port is at least what the port sends during one round trip of
    its cable: speed x 2 x length x 5 ns per metre. max_replay_timer, if it is not 0, is longer than the round trip.

    Why: The sender keeps each frame until its acknowledgement is back. With less room it stops and waits after each
    burst, so the link carries only a part of its speed. With a shorter timer it repeats frames whose acknowledgement is
    on the way.

    Example: max_outstanding_bytes is 8992 on a port of 400G with 40 m of cable, which needs 20000.

    Fix: Set max_outstanding_bytes to the value of `fabricgen handoff link-retry`, which also counts the time of the far
    end.

    Source: UEC specification 1.0, link layer retry; SONiC HLD doc/llr (pull request 2098), whose sample rows of
    llr_profile_lookup.ini are illustrative and add less for 35 m than a round trip of 35 m holds.
    """
    for end in _retrying(fabric):
        profile = _port(end).get("llr_profile", "")
        row = end.switch.device.row(_PROFILES, profile) if profile else {}
        allowed, length_m = whole_number(row.get(_FIELD)), fabric.bundle.cable_length_m.get(end.link.id)
        if not length_m:
            continue
        needed = retry_floor_bytes(end.link.speed_mbps, length_m)
        if allowed is not None and allowed < needed:
            message = (
                f"{_FIELD} is {allowed}, but {end.port} with {format_speed(end.link.speed_mbps)} and "
                f"{format_length(length_m)} of cable has {needed} bytes on the way in a round trip"
            )
            hint = f"set {_FIELD} to the value of `fabricgen handoff link-retry`"
            yield Defect(end.switch.place(_PROFILES, profile, _FIELD), message, hint)
        timer_ns, trip_ns = whole_number(row.get(_TIMER)), 2 * length_m * PROPAGATION_NS_PER_M
        if timer_ns and timer_ns <= trip_ns:
            message = (
                f"{_TIMER} is {timer_ns} ns, but a round trip of {format_length(length_m)} of cable at {end.port} "
                f"takes {trip_ns:g} ns"
            )
            hint = f"set {_TIMER} to the value of `fabricgen handoff link-retry`"
            yield Defect(end.switch.place(_PROFILES, profile, _TIMER), message, hint)


@rule("FG722", Severity.ERROR, "Link layer retry differs at the two ends of a link")
def retry_ends(fabric: Fabric) -> Iterator[Defect]:
    """What: llr_local of an end, its receiver, equals llr_remote of the other end, its sender.

    Why: A sender that numbers frames to a receiver without retry gets no acknowledgement, so it stops when its buffer
    is full. A receiver that waits for numbers drops frames without them.

    Example: llr_remote of Ethernet448 of a leaf is enabled, and the spine at the other end has no row in LLR_PORT.

    Fix: Enable llr_local and llr_remote at both ends.

    Source: SONiC HLD doc/llr (pull request 2098), LLR_PORT.
    """
    if not any(switch.device.table(_PORTS) for switch in fabric.switches.values()):
        return
    for pair in fabric.pairs:
        for sender, receiver in (pair, pair[::-1]):
            sends, takes = _port(sender).get("llr_remote", ""), _port(receiver).get("llr_local", "")
            if (sends == _ON) != (takes == _ON):
                message = (
                    f"llr_remote is {sends or 'missing'}, but llr_local of {receiver.switch.name} {receiver.port} is "
                    f"{takes or 'missing'}"
                )
                place = sender.switch.place(_PORTS, sender.port, "llr_remote")
                yield Defect(place, message, "enable llr_local and llr_remote at both ends", far_end(sender, _PORTS))


def _retrying(fabric: Fabric) -> Iterator[End]:
    """The wired ports that retry what they send."""
    if any(switch.device.table(_PORTS) for switch in fabric.switches.values()):
        yield from (end for end in fabric.ends if _port(end).get("llr_remote") == _ON)


def _port(end: End) -> Mapping[str, Any]:
    return end.switch.device.row(_PORTS, end.port)
