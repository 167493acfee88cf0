"""Rules on the parameters from which the dynamic model computes buffers."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.qos import QosTables
from fabricgen.rules.view.qos_classes import port_classes, qos_tables
from fabricgen.rules.view.switch import number
from fabricgen.units import signed_number

_TABLE = "DEFAULT_LOSSLESS_BUFFER_PARAMETER"
_LEAST_SHARE = 0.5  # of the pool, when all lossless groups of the switch are full
_LARGEST_RATIO = 2


@rule("FG568", Severity.WARNING, "Alpha of lossless groups leaves most of the buffer unused")
def idle_pool(fabric: Fabric) -> Iterator[Defect]:
    """What: with default_dynamic_th all lossless groups of the wired ports can together fill half of the shared pool.

    Why: a group pauses at alpha/(1 + alpha n) of the pool, with alpha 2 to the power of default_dynamic_th and n full
    groups. With a small alpha the switch pauses its neighbors while most of its memory is free.

    Example: default_dynamic_th -8 with 64 lossless groups: all of them together pause at 20 % of the pool.

    Fix: set default_dynamic_th to 0, the value of SONiC's templates.

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

    Why: the switch divides the headroom of all ports by the ratio. With 2, half of the ports can receive at full speed
    after they sent a pause. With 8, an incast from more than an eighth of the ports overflows the shared headroom, and
    lossless packets drop.

    Example: over_subscribe_ratio 8.

    Fix: set the ratio to 2, or remove it: then each group has its own headroom.

    Source: SONiC HLD on shared headroom; sonic-swss cfgmgr/buffer_pool_mellanox.lua; sonic-buildimage device/mellanox
    templates (ratio 2).
    """
    for qos in qos_tables(fabric):
        for name in qos.tables[_TABLE] if qos.is_dynamic else ():
            ratio = number(qos.row(_TABLE, name).get("over_subscribe_ratio"))
            if ratio is not None and ratio > _LARGEST_RATIO:
                message = f"the shared headroom holds 1/{ratio} of what all ports need"
                yield from qos.defects(_TABLE, name, "over_subscribe_ratio", message, "set over_subscribe_ratio to 2")
