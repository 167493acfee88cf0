"""Rules on pools and profiles that hold for every platform."""

from collections import defaultdict
from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.qos import QosTables
from fabricgen.rules.view.qos_classes import port_classes, qos_tables
from fabricgen.rules.view.switch import number

_POOL, _PROFILE, _DEFAULT = "BUFFER_POOL", "BUFFER_PROFILE", "DEFAULT_LOSSLESS_BUFFER_PARAMETER"

_VIRTUAL = "x86_64-kvm_"  # sonic-buildimage device/virtual/x86_64-kvm_x86_64-r0


def _is_voq(qos: QosTables) -> bool:
    about = qos.switches[0].device.metadata
    return about.get("switch_type") == "voq" and not str(about.get("platform")).startswith(_VIRTUAL)


@rule("FG528", Severity.WARNING, "Alpha of lossless groups differs within a tier")
def alpha_of_tier(fabric: Fabric) -> Iterator[Defect]:
    """What: The switches of a plane and role have one dynamic_th in their headroom profiles, even if their SKUs differ.
    If both values come from the SKUs' own tables, the finding is a note.

    Why: alpha determines how much of the pool a group uses before it pauses. A new model with a smaller alpha pauses
    much earlier than the old model, and pauses spread.

    Example: The old leaves have alpha 1/16, those of the new SKU 1/64.

    Fix: Give all of them the same dynamic_th.

    Source: Guo et al., SIGCOMM 2016 (buffer misconfiguration after a hardware refresh).
    """
    tiers: dict[tuple[object, str], dict[str, list[tuple[QosTables, str, str]]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for qos in qos_tables(fabric):
        for name, row in qos.tables[_PROFILE].items() if qos.role and not qos.is_dynamic else ():
            alpha = row.get("dynamic_th")
            if name.startswith("pg_lossless_") and isinstance(alpha, str):
                tiers[qos.switches[0].network, qos.role][qos.switches[0].hwsku].append((qos, name, alpha))
    for skus in tiers.values():
        most = max(skus, key=lambda sku: sum(len(qos.switches) for qos, _, _ in skus[sku]))
        usual, example, its_profile = {alpha for _, _, alpha in skus[most]}, *skus[most][0][:2]
        for qos, name, alpha in (one for rows in skus.values() for one in rows if one[2] not in usual):
            severity = Severity.NOTE if qos.layout and example.layout else None
            message = f"dynamic_th is {alpha}, but {most} in the same tier has {', '.join(sorted(usual))}"
            for switch in qos.switches:
                related = ((most, example.switches[0].place(_PROFILE, its_profile, "dynamic_th")),)
                place = switch.place(_PROFILE, name, "dynamic_th")
                yield Defect(place, message, "use one dynamic_th in the tier", related, severity)


@rule("FG529", Severity.WARNING, "A static threshold limits a group of a dynamic pool")
def static_cap(fabric: Fabric) -> Iterator[Defect]:
    """What: A profile of a dynamic pool has no static_th below the pool's size, unless the SKU's own profile has it.

    Why: The group stops at the limit while the pool is empty: lossy traffic drops, lossless traffic pauses, and no
    counter shows the cause.

    Example: static_th 1048576 in a dynamic pool of 40 MB.

    Fix: Use dynamic_th, or raise static_th to the pool's size.

    Source: sonic-buildimage pull request 28277.
    """
    for qos in qos_tables(fabric):
        for name in qos.tables[_PROFILE] if not qos.defaults else ():
            row = qos.row(_PROFILE, name)
            pool = qos.row(_POOL, str(row.get("pool")))
            cap, size = number(row.get("static_th")), number(pool.get("size"))
            if pool.get("mode") == "dynamic" and cap is not None and size is not None and cap < size:
                message = f"static_th of {name} is {cap} bytes, but its dynamic pool has {size} bytes"
                yield from qos.defects(_PROFILE, name, "static_th", message, "replace static_th by dynamic_th")


@rule("FG535", Severity.WARNING, "The shared headroom is configured twice")
def headroom_twice(fabric: Fabric) -> Iterator[Defect]:
    """What: Only one of xoff of ingress_lossless_pool and over_subscribe_ratio is set.

    Why: xoff overrides the ratio, which then has no effect.

    Example: xoff 3000000 in the pool and over_subscribe_ratio 2.

    Fix: Remove one of the two.

    Source: sonic-swss pull request 1581, cfgmgr/buffermgrdyn.cpp.
    """
    table = _DEFAULT
    for qos in qos_tables(fabric):
        xoff = number(qos.row(_POOL, "ingress_lossless_pool").get("xoff"))
        for name in qos.tables[table] if xoff else ():
            ratio = number(qos.row(table, name).get("over_subscribe_ratio"))
            if ratio:
                message = f"over_subscribe_ratio is {ratio}, but the pool's xoff of {xoff} bytes overrides it"
                related = (("the pool", _POOL, "ingress_lossless_pool"),)
                hint = "remove over_subscribe_ratio, or xoff of the pool"
                yield from qos.defects(table, name, "over_subscribe_ratio", message, hint, related)


@rule("FG536", Severity.ERROR, "A profile needs shared headroom that its pool does not have")
def no_shared_headroom(fabric: Fabric) -> Iterator[Defect]:
    """What: If a headroom profile's size equals its xon, its xoff comes from the shared headroom. The pool then has an
    xoff.

    Why: Without it the switch cannot store the data that arrives after the pause. The SAI rejects the profile, and
    orchagent stops.

    Example: size 18432, xon 18432, xoff 165888, and no xoff in ingress_lossless_pool.

    Fix: Set xoff of the pool, or size of the profile to xon plus xoff.

    Source: sonic-swss pull request 3387.
    """
    for qos in qos_tables(fabric):
        for name in qos.tables[_PROFILE] if not qos.is_dynamic and not qos.layout else ():
            row = qos.row(_PROFILE, name)
            pool = qos.row(_POOL, str(row.get("pool")))
            shares = row.get("size") == row.get("xon") and number(row.get("xoff"))
            if shares and pool and not number(pool.get("xoff")):
                message = f"size of {name} equals its xon, but its pool has no xoff"
                yield from qos.defects(_PROFILE, name, "size", message, "set size to xon plus xoff")


@rule("FG537", Severity.ERROR, "A pool has a type that the chip does not support")
def voq_pool(fabric: Fabric) -> Iterator[Defect]:
    """What: On switches with virtual output queues (switch_type voq) pools are of type both. SONiC's virtual
    switch (platform x86_64-kvm) has no chip, and takes each type.

    Why: Such a chip has one buffer for both directions, and its SAI rejects ingress and egress pools.

    Example: BUFFER_POOL type ingress, switch_type voq.

    Fix: Set type to both.

    Source: sonic-buildimage issue 7497; sonic-swss pull request 1735.
    """
    for qos in qos_tables(fabric):
        for name in qos.tables[_POOL] if _is_voq(qos) else ():
            kind = qos.row(_POOL, name).get("type")
            if kind != "both":
                yield from qos.defects(
                    _POOL,
                    name,
                    "type",
                    f"type is {kind}, but this chip has one buffer for both directions",
                    "set type to both",
                )


_LOOKUP = "take the row of this speed and length from pg_profile_lookup.ini of the SKU"


@rule("FG538", Severity.ERROR, "A headroom profile is unusable or unused")
def empty_headroom(fabric: Fabric) -> Iterator[Defect]:
    """What: A profile with xoff has a size and an xoff above zero. In the dynamic model it has xon, and size covers xon
    and xoff unless a shared headroom is configured. A priority group uses each static profile of the traditional model
    (else a warning); those that buffermgrd makes, pg_lossless_SPEED_LENGTH_profile, may wait for their ports.

    Why: Such rows remain from tests. The SAI rejects them, and orchagent retries or stops. In the dynamic model a
    profile without xon keeps all ports down; one with a smaller size turns the shared headroom on for the whole switch.
    In the traditional model a size below xon is not a fault: rows of several pg_profile_lookup.ini of SONiC have it.

    Example: BUFFER_PROFILE|test_profile with size 0 and xoff 1000000.

    Fix: Remove a row that no priority group uses. Else take the values from pg_profile_lookup.ini of the SKU.

    Source: sonic-mgmt issue 25395; measured with sonic-swss 6079a435 ("stoul", shared headroom of 655360 bytes);
    sonic-buildimage device/nokia/x86_64-nokia_ixr7220_d4-r0/Nokia-IXR7220-D4-36D/pg_profile_lookup.ini.
    """
    used: dict[QosTables, set[str]] = defaultdict(set)
    for ports in port_classes(fabric):
        used[ports.qos].update(profile for _, profile in ports.profiles("BUFFER_PG").values())
    for qos in qos_tables(fabric):
        for name in qos.tables[_PROFILE]:
            row = qos.row(_PROFILE, name)
            xoff, xon, size = (number(row.get(field)) for field in ("xoff", "xon", "size"))
            is_skus = not qos.is_dynamic and name.startswith("pg_lossless_")
            is_judged_by_sku = is_skus and qos.layout is not None
            if is_judged_by_sku or "xoff" not in row or (qos.defaults and name in qos.defaults.profiles):
                continue
            if 0 in (xoff, size):
                field = "xoff" if xoff == 0 else "size"
                hint = _LOOKUP if name in used[qos] else "remove the row"
                yield from qos.defects(_PROFILE, name, field, f"{field} of {name} is {row[field]}", hint)
            elif qos.is_dynamic and "xon" not in row:
                hint = "set xon" if name in used[qos] else "set xon, or remove the row"
                yield from qos.defects(_PROFILE, name, "xon", f"{name} has xoff, but no xon", hint)
            elif qos.is_dynamic and size is not None and size < (needed := (xon or 0) + (xoff or 0)):
                if not _shares_headroom(qos):
                    message = f"size of {name} is {size} bytes, its xon and xoff need {needed}"
                    yield from qos.defects(_PROFILE, name, "size", message, f"set size to {needed}")
            elif name not in used[qos] and not qos.is_dynamic and not is_skus:
                message = f"no priority group uses {name}"
                yield from qos.defects(_PROFILE, name, "", message, "remove the row", (), Severity.WARNING)


def _shares_headroom(qos: QosTables) -> bool:
    """Whether a dynamic switch has a shared headroom, so that size of a profile may leave xoff out."""
    rows = (qos.row(_DEFAULT, name) for name in qos.tables[_DEFAULT])
    ratios = any(number(row.get("over_subscribe_ratio")) for row in rows)
    return ratios or bool(number(qos.row(_POOL, "ingress_lossless_pool").get("xoff")))


@rule("FG517", Severity.ERROR, "A profile of lossless traffic trims packets")
def trimmed(fabric: Fabric) -> Iterator[Defect]:
    """What: Profiles of lossless groups and queues do not have packet_discard_action trim.

    Why: A trimmed RDMA packet has no payload, so the receiver requests it again.

    Example: egress_lossless_profile with packet_discard_action trim.

    Fix: Remove the field from the profile, or bind another profile to the lossless queue.

    Source: SONiC HLD packet trimming; sonic-buildimage sonic-buffer-profile.yang.
    """
    reported = set()
    for ports in port_classes(fabric):
        wanted = {"BUFFER_PG": map(ports.group_of, ports.lossless), "BUFFER_QUEUE": map(ports.queue_of, ports.lossless)}
        for table, numbers in wanted.items():
            profiles = ports.profiles(table)
            for name in sorted({profiles[n][1] for n in numbers if n in profiles}):
                is_trimmed = ports.qos.row(_PROFILE, name).get("packet_discard_action") == "trim"
                if is_trimmed and (ports.qos, name) not in reported:
                    reported.add((ports.qos, name))
                    message = f"{name} trims packets, but lossless traffic uses it"
                    hint = "remove packet_discard_action"
                    yield from ports.qos.defects(_PROFILE, name, "packet_discard_action", message, hint)
