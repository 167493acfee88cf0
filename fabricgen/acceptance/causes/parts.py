"""A part of the fabric that is common to slow tests: a NIC, a host, a leaf, its uplinks, a rail, or one direction."""

from collections.abc import Sequence

from fabricgen.acceptance.causes.cause import ALIKE, Cause, CauseKind, Evidence, risen, share, worst
from fabricgen.acceptance.causes.links import damaged_cable, damaged_uplinks
from fabricgen.acceptance.culprits import Culprit, PartKind
from fabricgen.acceptance.host_counters import NicRise
from fabricgen.acceptance.reported import ALONE
from fabricgen.acceptance.slow import name_of
from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint
from fabricgen.units import counted, listed

_OF_UPLINKS = (PartKind.UPLINKS, PartKind.UPLINKS_SENDING, PartKind.UPLINKS_RECEIVING)


def blamed(evidence: Evidence, culprit: Culprit) -> Cause:
    """The cause behind a part that is common to slow tests."""
    tests = [one for one in evidence.found if one.test.id in set(culprit.tests)]
    part, name = culprit.part, name_of(culprit.part)
    shown = (worst(tests), f"{len(tests)} of {counted(culprit.total, 'test')} with {name} slow")
    ends = {(part.name, part.port), *((other.name, other.port) for other in culprit.or_else)}
    damaged = [one for one in evidence.seen.damaged if one.link.a in ends]
    held = [(end, rise) for end, rise in evidence.seen.nics.items() if end in ends and rise.holds]
    if len(damaged) == 1:
        return damaged_cable(damaged[0], shown)
    if len(held) == 1 and not damaged:
        return _held(*held[0], shown)
    if part.kind is PartKind.HOST_RECEIVING:
        of_host = evidence.seen.nics.items()
        if holding := [(end, rise) for end, rise in of_host if end[0] == part.name and rise.holds]:
            return _held_host(part.name, holding, shown)
    if part.kind in _OF_UPLINKS and (cause := damaged_uplinks(evidence, part.name, shown)):
        return cause
    if culprit.or_else:
        names = " or ".join(sorted(map(name_of, (part, *culprit.or_else))))
        text = f"cannot tell whether {names} is slow: every slow test has both"
        return Cause(CauseKind.UNKNOWN, "", text, shown, _with_a_third(culprit, evidence.bundle))
    return _of_part(evidence, culprit, shown)


def good_peers(evidence: Evidence) -> tuple[str, ...]:
    """The tests that are good."""
    bad = {test for culprit in evidence.slow.blamed for test in culprit.tests}
    good = [one for one in evidence.found if one.test.stage in ALONE and one.value and one.test.id not in bad]
    if not good:
        return ()
    return (f"{counted(len(good), 'test')} without it: {min(map(share, good)):.0%} or more",)


def all_slow(evidence: Evidence) -> Cause:
    """No part differs from the others."""
    tests = [one for one in evidence.found if one.test.stage in ALONE and one.value is not None]
    shares = sorted(map(share, tests))
    alike = "alike" if shares[0] > ALIKE * shares[-1] else "and no part is good"
    text = (
        f"cannot tell which part is slow: all {counted(len(tests), 'test')} are slow {alike}, at "
        f"{shares[0]:.0%} to {shares[-1]:.0%} of what the files promise"
    )
    command = (
        "check what all have in common: the speed of the ports (show interfaces status), the MTU, --unit, and the "
        "settings of the NICs"
    )
    return Cause(CauseKind.UNKNOWN, "", text, (worst(tests),), command)


def _of_part(evidence: Evidence, culprit: Culprit, shown: tuple[str, ...]) -> Cause:
    part, name = culprit.part, name_of(culprit.part)
    shown = (*shown, *good_peers(evidence))
    at = evidence.switch_port((part.name, part.port))
    if part.kind is PartKind.NIC:
        text = f"{name} is slow with every partner, and other NICs are not"
        return Cause(
            CauseKind.NIC,
            name,
            text,
            shown,
            f"on {part.name}: ethtool -S {part.port}; at {at}: show interfaces counters errors",
        )
    if part.kind in (PartKind.NIC_SENDING, PartKind.NIC_RECEIVING):
        way = (
            "sends slowly and receives well" if part.kind is PartKind.NIC_SENDING else "receives slowly and sends well"
        )
        nic = f"{part.name} {part.port}"
        text = f"one direction is slow: {nic} {way}"
        return Cause(CauseKind.DIRECTION, nic, text, shown, f"at {at}: show queue counters, show pfc counters")
    if part.kind in (PartKind.HOST_SENDING, PartKind.HOST_RECEIVING):
        sends = part.kind is PartKind.HOST_SENDING
        way = "sends slowly and receives well" if sends else "receives slowly and sends well"
        text = f"one direction is slow: {part.name} {way}, over all its NICs"
        command = f"on {part.name}: ethtool -S of its NICs, lspci -vv | grep LnkSta:; compare with a good host"
        return Cause(CauseKind.DIRECTION, part.name, text, shown, command)
    if part.kind in (PartKind.UPLINKS_SENDING, PartKind.UPLINKS_RECEIVING):
        way = "from" if part.kind is PartKind.UPLINKS_SENDING else "to"
        text = f"one direction is slow: what goes {way} {part.name} over the spines; the other direction is not"
        return Cause(
            CauseKind.DIRECTION,
            part.name,
            text,
            shown,
            f"on {part.name}: show queue counters, show pfc counters of the uplinks",
        )
    if part.kind is PartKind.HOST:
        of_host = [(end, rise) for end, rise in evidence.seen.nics.items() if end[0] == part.name]
        shown = (*shown, *(line for end, rise in of_host for line in risen(end, rise)))
        text = f"one host is slow: all NICs of {part.name}, with every partner"
        command = f"on {part.name}: lspci -vv | grep -E 'LnkSta:|MaxPayload|MaxReadReq', and compare with a good host"
        return Cause(CauseKind.HOST, part.name, text, shown, command)
    if part.kind is PartKind.RAIL:
        text = f"one rail is slow: {part.port} of all hosts, at every leaf; the other rails are not"
        command = f"compare the NIC settings and the leaves of {part.port} with those of another rail"
        return Cause(CauseKind.RAIL, part.port, text, shown, command)
    if part.kind is PartKind.SWITCH:
        text = f"one leaf is slow: all NICs at {part.name}; other leaves are not"
        return Cause(
            CauseKind.LEAF,
            part.name,
            text,
            shown,
            f"fabricgen diff RUNNING BUNDLE, for {part.name}",
        )
    text = f"the uplinks of {part.name} are slow: its NICs reach each other at full speed, but not other leaves"
    return Cause(CauseKind.UPLINKS, part.name, text, shown, f"on {part.name}: show interfaces status, show ip route")


def _held(end: Endpoint, rise: NicRise, shown: tuple[str, ...]) -> Cause:
    text = f"{end[0]} does not take what arrives at {end[1]}: its NIC pauses the leaf, so the link is not the cause"
    command = f"on {end[0]}: lspci -vv | grep -E 'LnkSta:|MaxPayload|MaxReadReq'; check the NUMA node, IOMMU and ACS"
    return Cause(CauseKind.HOST, f"{end[0]} {end[1]}", text, (*shown, *risen(end, rise)), command)


def _held_host(host: str, holding: Sequence[tuple[Endpoint, NicRise]], shown: tuple[str, ...]) -> Cause:
    nics = listed([nic for (_, nic), _ in holding], 8)
    text = f"{host} does not take what arrives at {nics}: its NICs pause the leaves, so links are not the cause"
    command = f"on {host}: lspci -vv | grep -E 'LnkSta:|MaxPayload|MaxReadReq'; check the NUMA nodes, IOMMU and ACS"
    lines = [line for end, rise in holding for line in risen(end, rise)]
    return Cause(CauseKind.HOST, host, text, (*shown, *lines[:4]), command)


def _with_a_third(culprit: Culprit, bundle: Bundle) -> str:
    part = culprit.part
    ends = {(one.name, one.port) for one in (part, *culprit.or_else)}
    link = bundle.link_at.get((part.name, part.port))
    if link is None:
        return "measure each with a third partner"
    third = next((one.a for one in bundle.host_links if one.b[0] == link.b[0] and one.a not in ends), None)
    return "measure each with a third NIC" + (f", for example {third[0]} {third[1]}" if third else "")
