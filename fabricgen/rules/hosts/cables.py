"""The rule on the cable length that NICs are set to, compared with the cables of their plane."""

from collections.abc import Iterator
from math import ceil

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.hosts.qos import settings
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import number


@rule("FG912", Severity.ERROR, "CABLE_M is not the length of the cables", Basis.AGREEMENT)
def nic_cable(fabric: Fabric) -> Iterator[Defect]:
    """What: CABLE_M is the length of the longest cable of the plane's NICs, rounded up to whole meters.

    Why: The NIC derives the headroom of its receive buffer from this length. If it is too small, the NIC drops packets
    that arrive after it sends a pause frame.

    Example: CABLE_M is 1, but the cables have 5 m.

    Fix: Use the true length, rounded up.

    Source: Mellanox/mlnx-tools@8fbfd9c python/mlnx_qos (--cable_len).
    """
    lengths = fabric.bundle.cable_length_m
    for group, plane, file, found in settings(fabric):
        ends = [end for end in group.ends.values() if end.link.plane == plane.name]
        known = [(lengths[end.link.id], end) for end in ends if end.link.id in lengths]
        length = number(found.get("CABLE_M"))
        if length is None or not known:
            continue
        longest, end = max(known, key=lambda one: one[0])
        if length != ceil(longest):
            message = f"CABLE_M is {length} m, but the longest cable is {ceil(longest)} m"
            place = end.switch.place("CABLE_LENGTH", end.switch.cable_row(end.port), end.port)
            severity = None if length < longest else Severity.WARNING
            related = ((f"the switch, {end.switch.name}", place),)
            yield Defect(group.place(file, "CABLE_M"), message, f"set CABLE_M to {ceil(longest)}", related, severity)
