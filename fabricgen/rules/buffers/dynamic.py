"""Rules on the parameters from which the dynamic model computes buffers."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect, Place
from fabricgen.rules.rule import rule
from fabricgen.rules.view.computed_buffers import estimated_by_switch
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.qos import QosTables
from fabricgen.rules.view.qos_classes import port_classes, qos_tables
from fabricgen.rules.view.switch import Switch, number
from fabricgen.sonic.dynamic_buffers.headroom import FIRST_RELEASE
from fabricgen.sonic.dynamic_buffers.prediction import LOSSLESS_POOL, DynamicBuffers
from fabricgen.units import counted, format_length, signed_number

_TABLE = "DEFAULT_LOSSLESS_BUFFER_PARAMETER"
_LEAST_SHARE = 0.5  # of the pool, when all lossless groups of the switch are full
_LARGEST_RATIO = 2
_LARGEST_HEADROOM_SHARE = 0.5  # of the memory
_LONGEST_M = 300  # the last row of the headroom tables that all NVIDIA SKUs have


@rule("FG568", Severity.WARNING, "Alpha of lossless groups leaves most of the buffer unused")
def idle_pool(fabric: Fabric) -> Iterator[Defect]:
    """What: With default_dynamic_th all lossless groups of the wired ports can together fill half of the shared pool.

    Why: A group pauses at alpha/(1 + alpha n) of the pool, with alpha 2 to the power of default_dynamic_th and n full
    groups. With a small alpha the switch pauses its neighbors while most of its memory is free.

    Example: default_dynamic_th -8 with 64 lossless groups: all of them together pause at 20 % of the pool.

    Fix: Set default_dynamic_th to 0, the value of SONiC's templates.

    Source: sonic-buildimage files/build_templates/buffers_config.j2; sonic-swss cfgmgr/buffermgrdyn.cpp; Guo et al.,
    SIGCOMM 2016 (pause storms from a small alpha).
    """
    groups: dict[QosTables, int] = {}
    for ports in port_classes(fabric):
        if ports.qos.is_dynamic and ports.is_wired:
            count = len(ports.members) * len(ports.lossless_pgs)
            groups[ports.qos] = groups.get(ports.qos, 0) + count
    for qos, total in groups.items():
        each = total // len(qos.switches)
        for name in qos.tables[_TABLE]:
            exponent = signed_number(qos.row(_TABLE, name).get("default_dynamic_th"))
            if exponent is None or exponent >= 0 or not each:
                continue
            alpha = 2.0**exponent
            share = alpha * each / (1 + alpha * each)
            if share < _LEAST_SHARE:
                message = f"with default_dynamic_th {exponent}, {each} lossless groups pause at {share:.0%} of the pool"
                yield from qos.defects(_TABLE, name, "default_dynamic_th", message, "set default_dynamic_th to 0")


@rule("FG569", Severity.WARNING, "The shared headroom is much smaller than the headroom of all ports")
def thin_headroom(fabric: Fabric) -> Iterator[Defect]:
    """What: over_subscribe_ratio is at most 2.

    Why: The switch divides the headroom of all ports by the ratio. With 2, half of the ports can receive at full speed
    after they sent a pause. With 8, an incast from more than an eighth of the ports overflows the shared headroom, and
    lossless packets drop.

    Example: over_subscribe_ratio 8.

    Fix: Set the ratio to 2, or remove it: then each group has its own headroom.

    Source: SONiC HLD on shared headroom; sonic-swss cfgmgr/buffer_pool_mellanox.lua; sonic-buildimage device/mellanox
    templates (ratio 2).
    """
    for qos in qos_tables(fabric):
        for name in qos.tables[_TABLE] if qos.is_dynamic else ():
            ratio = number(qos.row(_TABLE, name).get("over_subscribe_ratio"))
            if ratio is not None and ratio > _LARGEST_RATIO:
                message = f"the shared headroom holds 1/{ratio} of what all ports need"
                yield from qos.defects(_TABLE, name, "over_subscribe_ratio", message, "set over_subscribe_ratio to 2")


@rule("FG519", Severity.ERROR, "The headroom of a dynamic switch does not fit its memory")
def impossible_headroom(fabric: Fabric) -> Iterator[Defect]:
    """What: On a switch of the dynamic model, what the ports that are up reserve leaves memory for the ingress pools.
    The headroom is what the switch's own script computes for speed, cable length, MTU and traffic pattern.

    Why: The switch gives the pools what the ports do not reserve. If they reserve more than there is, the pool has 0
    bytes, and the ASIC refuses part of the headroom: PFC is enabled, and packets drop. No daemon logs an error at boot.

    Example: 64 lossless ports of 800G with cables of 10 km need 690 MB, the memory has 158 MB.

    Fix: Shorten the cables of lossless ports, or reduce the lossless ports and classes. Traffic between buildings can
    use a plane without PFC (`lossless: none`).

    FG520 warns of headroom that leaves little. The traditional model has headroom tables, see FG539.

    Source: sonic-swss cfgmgr/buffer_headroom_mellanox.lua, buffer_pool_mellanox.lua.
    """
    for switch, own in _computed(fabric):
        rest = _rest_bytes(own)
        if rest > 0:
            continue
        stated = own.stated_pools_bytes
        needed = f"all ports reserve {own.sizes.reserved_bytes} bytes"
        needed += f" and the file states ingress pools of {stated} bytes" if stated else ""
        message = f"{_headroom(switch, own)}; {needed}, the memory has {own.mmu_bytes} ({own.memory_source})"
        shorter = own.with_cables_up_to(_LONGEST_M)
        hint = "reduce the lossless ports or classes"
        if _rest_bytes(shorter) > 0:
            hint = (
                f"shorten the cables: with at most {_LONGEST_M}m all ports reserve {shorter.sizes.reserved_bytes} bytes"
            )
            hint += ", or use a plane without PFC over this distance"
        yield Defect(_place(switch, own), message, hint)


@rule("FG520", Severity.WARNING, "The headroom of a dynamic switch leaves little shared memory")
def large_headroom(fabric: Fabric) -> Iterator[Defect]:
    """What: On a switch of the dynamic model, the headroom of all lossless groups is at most half of the memory, and no
    lossless cable is longer than 300 m.

    Why: Queues grow in the pool that is left. If it is small, groups pause after a few packets: PFC acts before ECN,
    and pauses spread. Beyond 300 m the round trip is longer than DCQCN's usual settings assume, and NVIDIA's headroom
    tables do not have the length for most SKUs: only the formula gives it. The message states the numbers.

    Example: 64 lossless ports of 800G over 1000 m: 78 MB of headroom, half of the memory of 158 MB.

    Fix: Shorten the cables of lossless ports, or reduce the lossless ports and classes. If the distance is intended,
    compare the numbers with `show buffer_pool watermark`, and suppress the finding with the reason.

    FG519 is the error if nothing is left. FG543 compares the pause threshold with ECN.

    Source: sonic-swss cfgmgr/buffer_headroom_mellanox.lua, buffer_pool_mellanox.lua; sonic-buildimage device/mellanox
    pg_profile_lookup.ini (rows of 5, 40 and 300 m).
    """
    for switch, own in _computed(fabric):
        if _rest_bytes(own) <= 0:
            continue
        is_large = own.headroom_bytes > _LARGEST_HEADROOM_SHARE * own.mmu_bytes
        length_m, _ = own.longest_cable
        if is_large or length_m > _LONGEST_M:
            share = own.headroom_bytes / own.mmu_bytes
            pool = own.sizes.bytes.get(LOSSLESS_POOL, 0)
            message = f"{_headroom(switch, own)}: {share:.0%} of the memory of {own.mmu_bytes} ({own.memory_source}); "
            message += f"{LOSSLESS_POOL} has {pool} bytes"
            hint = "reduce the lossless ports or classes"
            if length_m > _LONGEST_M:
                hint = f"use cables of at most {_LONGEST_M}m, or a plane without PFC over this distance"
            yield Defect(_place(switch, own), message, hint)


def _computed(fabric: Fabric) -> Iterator[tuple[Switch, DynamicBuffers]]:
    """Dynamic switches with lossless groups of which the headroom is known."""
    for name, own in estimated_by_switch(fabric).items():
        if own.longest_cable:
            yield fabric.switches[name], own


def _rest_bytes(own: DynamicBuffers) -> int:
    """What ports leave of the memory for pools that the switch computes."""
    return own.mmu_bytes - own.sizes.reserved_bytes - own.stated_pools_bytes


def _headroom(switch: Switch, own: DynamicBuffers) -> str:
    groups = counted(own.reserved.lossless_groups, "lossless group")
    text = f"the headroom of {groups} with cables of up to {format_length(own.longest_cable[0])} is "
    text += "about " if switch.device.release < FIRST_RELEASE else ""
    return f"{text}{own.headroom_bytes} bytes"


def _place(switch: Switch, own: DynamicBuffers) -> Place:
    port = own.longest_cable[1]
    return switch.place("CABLE_LENGTH", switch.cable_row(port), port)
