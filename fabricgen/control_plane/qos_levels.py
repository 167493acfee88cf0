"""The service levels (SLs) of an InfiniBand plane: a virtual lane for each, its arbitration, and their mistakes.

SL 0 is on VL 0, each level of the inventory on the next lane. Measured with opensm 3.3.23: the SL of a partition is the
answer to path queries only if no QoS level gives another one, and the level DEFAULT gives SL 0; so a rule of the policy
repeats it. dfsssp, lash, torus-2QoS, and nue on several lanes put the SL of their path in its place.
"""

from collections.abc import Iterator, Mapping

from fabricgen.control_plane.engines import LAYERED
from fabricgen.design.model import PlaneDesign
from fabricgen.findings import Finding, Related
from fabricgen.inventory.infiniband import DEFAULT_WEIGHT, InfinibandSpec, PartitionSpec, QosLevel, RoutingEngine
from fabricgen.inventory.mistakes import error
from fabricgen.opensm.options import LAST_SL, RATE_CODES
from fabricgen.opensm.qos_policy_conf import DEFAULT_LEVEL, name_problem


def level_of(spec: InfinibandSpec, partition: PartitionSpec) -> QosLevel | None:
    """The level of a partition."""
    return next((level for level in spec.qos.levels if level.name == partition.qos_level), None)


def lanes_of(spec: InfinibandSpec) -> list[int]:
    """The virtual lane of each of the 16 SLs; those without a level are on the lane of SL 0."""
    lanes = [0] * (LAST_SL + 1)
    for lane, level in enumerate(spec.qos.levels, 1):
        lanes[level.sl] = lane
    return lanes


def weights(spec: InfinibandSpec) -> tuple[Mapping[int, int], Mapping[int, int]]:
    """Lane -> weight in the high and in the low table. Without a level that is `high` both tables are equal."""
    every = {0: DEFAULT_WEIGHT, **{lane: level.weight for lane, level in enumerate(spec.qos.levels, 1)}}
    high = {lane for lane, level in enumerate(spec.qos.levels, 1) if level.is_high}
    if not high:
        return every, every
    return (
        {lane: every[lane] for lane in every if lane in high},
        {one: every[one] for one in every if one not in high},
    )


def check_levels(design: PlaneDesign, engines: tuple[RoutingEngine, ...], nue_vls: int) -> Iterator[Finding]:
    """FG863: levels that cannot be rendered. FG864: engines that choose the SLs themselves."""
    spec = design.plane.infiniband
    names = ", ".join(level.name for level in spec.qos.levels) or "none: add `infiniband: {qos: {levels: …}}`"
    for partition in design.plane.partitions:
        if partition.qos_level is not None and level_of(spec, partition) is None:
            message = f"tenant {partition.name}: no QoS level has the name {partition.qos_level!r}"
            yield error("FG863", message, partition, "qos_level", hint=f"known: {names}")
    if not spec.qos.levels:
        return
    yield from _check_each(spec)
    if len(spec.qos.levels) >= spec.vls:
        message = (
            f"{len(spec.qos.levels)} QoS levels and SL 0 need {len(spec.qos.levels) + 1} lanes, `vls` is {spec.vls}"
        )
        yield error("FG863", message, spec, "qos", "levels", hint="use fewer levels, or raise `vls`")
    taken = [one for one in engines if one in LAYERED or (one is RoutingEngine.NUE and nue_vls > 1)]
    if taken:
        message = f"{taken[0]} chooses the SL of each path against credit loops: QoS levels cannot have separate SLs"
        hint = "set `engine` to updn or ftree on a tree, or to nue on a compute plane; or remove `qos`"
        yield error("FG864", message, spec, "qos", hint=hint)


def _check_each(spec: InfinibandSpec) -> Iterator[Finding]:
    names: dict[str, QosLevel] = {}
    levels: dict[int, QosLevel] = {}
    for level in spec.qos.levels:
        name = level.name.lower()  # OpenSM compares names without regard to case
        if name == DEFAULT_LEVEL or (first := names.setdefault(name, level)) is not level:
            related = () if name == DEFAULT_LEVEL else (Related("the other level", first.at("name")),)
            message = f"the QoS level {level.name!r} is defined already"
            yield error("FG863", message, level, "name", hint="use a unique name", related=related)
        if problem := name_problem(level.name):
            yield error(
                "FG863",
                f"OpenSM cannot have a QoS level {level.name!r}: {problem}",
                level,
                "name",
                hint="use another name",
            )
        if (first := levels.setdefault(level.sl, level)) is not level:
            message = f"the levels {first.name} and {level.name} have one SL, {level.sl}"
            related = (Related(f"level {first.name}", first.at("sl")),)
            yield error("FG863", message, level, "sl", hint="use a different SL for each level", related=related)
        if level.rate_mbps is not None and level.rate_mbps not in RATE_CODES:
            known = ", ".join(f"{rate // 1000}G" for rate in sorted(RATE_CODES) if rate >= 10_000)
            message = f"level {level.name}: OpenSM has no code for a rate of {level.rate_mbps // 1000}G"
            yield error("FG863", message, level, "rate", hint=f"known: {known}")
