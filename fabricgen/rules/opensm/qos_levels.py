"""Rules on service levels: what partitions, the QoS policy and the arbitration of lanes make of an SL together."""

from collections.abc import Iterator, Mapping

from fabricgen.c_numbers import c_number
from fabricgen.findings import Severity
from fabricgen.opensm.options import FIRST_LIFETIME, LAST_SL, MTU_CODES, MTU_OF, RATE_OF, VL_CODES, lifetime_ms
from fabricgen.opensm.partitions_conf import key_of, number_of
from fabricgen.opensm.qos_policy_conf import DEFAULT_LEVEL, PolicyBlock, PolicyFile, level_for, read_policy
from fabricgen.rules.defects import Defect
from fabricgen.rules.opensm.partitions import with_partitions
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.subnet_managers import ManagedSubnet, ManagerFile, managed_subnets

_PORTS = {"": "ports", "ca_": "adapters", "sw0_": "switch ports 0", "swe_": "switch ports", "rtr_": "routers"}
_UNLIMITED = 255
_LIFE_BITS = 0x3F  # of the lifetime in a path record


@rule("FG860", Severity.ERROR, "The QoS policy gives a partition another SL", Basis.AGREEMENT)
def level_of_partition(fabric: Fabric) -> Iterator[Defect]:
    """What: With qos TRUE, the SL of a partition in partitions.conf is the SL that qos-policy.conf gives to path
    queries with its P_Key: that of the first rule with this key, else that of the level DEFAULT.

    Why: The SL of a partition counts for its multicast group only if a QoS level gives another one. The level DEFAULT,
    without which OpenSM rejects the policy, gives one to every query. IPoIB and rdma_cm then send on the SL of the
    policy, without a message in the log.

    Example: blue=0x8001, sl=1 with a policy that has only the level DEFAULT with sl: 0.

    Fix: Add a level with this SL and a rule with the P_Key, as fabricgen renders them.

    Source: opensm 3.3.23, osm_sa_path_record.c and osm_qos_policy.c; measured with opensm 3.3.23: SL 0 with DEFAULT
    alone, SL 1 with the rule.
    """
    for subnet, file in with_partitions(fabric):
        policy = _policy(subnet)
        for partition in subnet.partitions if policy else ():
            flag, key = partition.flag("sl"), key_of(partition)
            own = number_of(partition, "sl")
            if not policy or not key or own is None or not 0 <= own <= LAST_SL:
                continue
            level = level_for(policy[1], key)
            given = c_number(level.text) if level else None
            if level and given is not None and given != own:
                message = f"{partition.name} has sl={own}, but {policy[0]} gives its paths SL {given}"
                place = subnet.place(file, flag.value if flag else None)
                related = (("the level in the policy", subnet.place(policy[0], level)),)
                hint = f"add a level with SL {own} and a rule with pkey 0x{key | 0x8000:04x} to {policy[0]}"
                yield Defect(place, message, hint, related)


def _policy(subnet: ManagedSubnet) -> tuple[str, PolicyFile] | None:
    """The policy that OpenSM reads, and its file."""
    name = subnet.named("qos_policy_file", "qos-policy.conf")
    if name is None or not subnet.master.content.is_true("qos"):
        return None
    policy = read_policy(subnet.text(name) or "")
    return None if policy.faults else (name, policy)


@rule("FG861", Severity.ERROR, "No arbitration table serves a lane that is used")
def served_lanes(fabric: Fabric) -> Iterator[Defect]:
    """What: The lane of SL 0, and of each SL of a partition or of a QoS level, has a weight above 0 in qos_vlarb_high
    or qos_vlarb_low. If qos_high_limit is 255, it has one in qos_vlarb_high (a warning).

    Why: A port sends packets of a lane only in its turns. A lane without a weight has no turn, and the tenant has no
    connectivity. With limit 255 the low table has no turn while the high table has packets.

    Example: qos_sl2vl 0,1,… with qos_vlarb_high 0:64 and qos_vlarb_low 0:64.

    Fix: Add the lane with a weight to one of the tables.

    Source: InfiniBand Architecture Specification, volume 1, section 7.6.9; opensm 3.3.23, osm_qos.c.
    """
    for subnet in managed_subnets(fabric):
        for manager in subnet.managers:
            if manager.content.is_true("qos"):
                yield from _unserved(manager, _levels(subnet))


def _levels(subnet: ManagedSubnet) -> Mapping[int, str]:
    """SL -> who uses it."""
    used = {0: "all packets without a level"}
    for partition in subnet.partitions:
        if (level := number_of(partition, "sl")) is not None:
            used.setdefault(level, f"partition {partition.name}")
    policy = _policy(subnet)
    for one in policy[1].levels if policy else ():
        if (sl := one.values.get("sl")) and (level := c_number(sl.text)) is not None:
            used.setdefault(level, f"QoS level {one.values.get('name', '')}")
    return used


def _unserved(manager: ManagerFile, used: Mapping[int, str]) -> Iterator[Defect]:
    for ports, whose in _PORTS.items():
        names = [f"qos_{ports}vlarb_{table}" for table in ("high", "low")]
        if not any(manager.content.text(name) for name in names):
            continue
        high = _weights(manager, names[0], "qos_vlarb_high")
        low = _weights(manager, names[1], "qos_vlarb_low")
        if high is None or low is None:
            continue
        own_limit = f"qos_{ports}high_limit"
        limit = manager.content.number(own_limit if own_limit in manager.content.options else "qos_high_limit")
        for level, who in used.items():
            lane = _lane(manager, ports, level)
            if lane is None:
                continue
            place = manager.place(names[1] if names[1] in manager.content.options else names[0])
            if not high.get(lane) and not low.get(lane):
                message = f"{whose} never send on lane {lane}, which is that of SL {level} ({who})"
                yield Defect(place, message, f"add {lane}:64 to {names[1]}")
            elif limit == _UNLIMITED and not high.get(lane):
                message = f"{own_limit} is 255, and lane {lane} of SL {level} ({who}) is in the low table only"
                yield Defect(place, message, f"set {own_limit} to 254 or less", severity=Severity.WARNING)


def _lane(manager: ManagerFile, ports: str, level: int) -> int | None:
    """The lane of an SL; None if the table is wrong, which FG816 reports."""
    text = manager.content.text(f"qos_{ports}sl2vl") or manager.content.text("qos_sl2vl")
    lanes = [c_number(one.strip()) for one in text.split(",")] if text else [*range(LAST_SL), 7]
    lane = lanes[level] if 0 <= level < len(lanes) else None
    code = manager.content.number("max_op_vls")
    most = next((lanes for lanes, known in VL_CODES.items() if known == code), None)
    return lane % most if lane is not None and 0 <= lane < LAST_SL and most else None


def _weights(manager: ManagerFile, name: str, general: str) -> Mapping[int, int] | None:
    """Lane -> weight; None for OpenSM's default, which serves every lane, and for a table that FG816 reports."""
    text = manager.content.text(name) or manager.content.text(general)
    found: dict[int, int] = {}
    for pair in text.split(",") if text else ():
        lane, weight = (c_number(part.strip()) for part in pair.partition(":")[::2])
        if lane is None or weight is None:
            return None
        found[lane] = found.get(lane, 0) + weight
    return found or None


@rule("FG855", Severity.WARNING, "The level DEFAULT limits all paths, or a packet-life is too short")
def limited_paths(fabric: Fabric) -> Iterator[Defect]:
    """What: With qos TRUE, the level DEFAULT of qos-policy.conf has no mtu-limit below 5 (4096 bytes) and no rate-limit
    below the speed of the fastest adapter. No level has a packet-life below 0x0c or above 0x3f. Limits of other levels
    are those of the site.

    Why: OpenSM answers path queries with these limits. Queue pairs that rdma_cm sets up then have small packets, or
    send no faster than the limit. packet-life replaces subnet_timeout in the answer, and the timeout of a connection
    follows from it: 0x0c is 17 ms, and with less packets that only wait for their turn are sent again. OpenSM writes
    six bits of it.

    Example: name: DEFAULT, sl: 0, rate-limit: 2 gives 2.5 Gb/s to all paths of a subnet of 400 Gb/s.

    Fix: Remove the limit, or set it to what the adapters have.

    Source: opensm 3.3.23, osm_sa_path_record.c (mtu_limit, rate_limit, pkt_life) and ib_types.h
    (ib_path_rec_pkt_life); torvalds/linux drivers/infiniband/core/cm.c, cm_ack_timeout.
    """
    for subnet in managed_subnets(fabric):
        fastest = max((nic.speed_mbps for _, nic in subnet.adapters.values()), default=0)
        file, content = _policy(subnet) or ("", PolicyFile())
        for level in content.levels:
            for key, effect, hint in _limits(level, fastest):
                message = f"level {level.values['name'].text}: {key} is {level.values[key].text}: {effect}"
                yield Defect(subnet.place(file, level.values[key]), message, hint)


def _limits(level: PolicyBlock, fastest_mbps: int) -> Iterator[tuple[str, str, str]]:
    """(key, effect, hint) of each limit that slows the paths of a level."""
    mtu, rate, life = (
        c_number(level.values[key].text) if key in level.values else None
        for key in ("mtu-limit", "rate-limit", "packet-life")
    )
    if level.name() == DEFAULT_LEVEL:
        largest = max(MTU_CODES)
        if (size := MTU_OF.get(mtu or 0, largest)) < largest:
            hint = f"remove mtu-limit, or set it to {MTU_CODES[largest]}"
            yield "mtu-limit", f"packets have at most {size} bytes", hint
        if (rate_mbps := RATE_OF.get(rate or 0, fastest_mbps)) < fastest_mbps:
            effect = f"paths have {rate_mbps / 1000:g} of {fastest_mbps / 1000:g} Gb/s"
            yield "rate-limit", effect, "remove rate-limit, or set it to the speed of the adapters"
    if life is not None and ((written := life & _LIFE_BITS) < FIRST_LIFETIME or written != life):
        effect = f"connections send packets again after {lifetime_ms(written):.3g} ms"
        yield "packet-life", effect, "remove packet-life: subnet_timeout counts then"
