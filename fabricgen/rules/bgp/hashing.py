"""Rules on ECMP hashing: the hash must spread RoCE flows over all links."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from fabricgen.engine.derived import derived
from fabricgen.findings import Severity
from fabricgen.platforms.hash_support import hash_support
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.device_types import DEVICE_TYPES
from fabricgen.sonic.hashing import FIELD_SINCE, ROCE_HASH_FIELDS, HashStart, hash_fields, hash_start
from fabricgen.sonic.releases import release_name
from fabricgen.vocabulary import Role

_ROW = ("SWITCH_HASH", "GLOBAL")
_META = ("DEVICE_METADATA", "localhost")
_ALGORITHM = "ecmp_hash_algorithm"
_RANDOM = "RANDOM"  # the one algorithm whose results are independent of each other
_HEIGHT: Mapping[str, int] = {Role.LEAF: 0, Role.SPINE: 1, Role.CORE: 2}


@rule("FG351", Severity.ERROR, "The ECMP hash does not spread RoCE flows")
def roce_entropy(fabric: Fabric) -> Iterator[Defect]:
    """What: If SWITCH_HASH|GLOBAL.ecmp_hash is set, it contains both addresses, the protocol and both ports, and only
    fields that the platform and the release support. The same applies to ecmp_hash_algorithm and the platform.

    Why: All RoCEv2 packets have UDP destination port 4791, and all packets between two hosts have the same addresses.
    Without the source port, all queue pairs of the two hosts share one uplink, and other uplinks are idle. orchagent
    applies nothing of a row with a field or algorithm that the switch does not have.

    Example: ecmp_hash is DST_IP, SRC_IP.

    Fix: Set the five fields, or remove the table to use the switch's default.

    Source: sonic-yang-models sonic-hash.yang; sonic-mgmt tests/hash/generic_hash_helper.py (fields and algorithms of
    each platform); sonic-swss orchagent/switchorch.cpp; sonic-buildimage pull request 21522 (IPV6_FLOW_LABEL).
    """
    for switch in fabric.switches.values():
        found = set(hash_fields(switch.device.row(*_ROW)) or ())
        place, support = switch.place(*_ROW, "ecmp_hash"), hash_support(switch.platform)
        missing = [name for name in ROCE_HASH_FIELDS if found and name not in found]
        refused = sorted(found.difference(support.fields)) if support and support.fields else []
        release = switch.device.release
        early = [name for name in sorted(found) if FIELD_SINCE.get(name, 0) > release and name not in refused]
        if missing:
            yield Defect(place, f"ecmp_hash does not contain {', '.join(missing)}", f"add {', '.join(missing)}")
        if refused:
            message = f"ecmp_hash contains {', '.join(refused)}, which the platform does not support"
            yield Defect(place, message, f"remove {', '.join(refused)}")
        for name in early:
            message = f"ecmp_hash contains {name}, which {release_name(release)} does not have"
            yield Defect(place, message, f"remove {name}; {release_name(FIELD_SINCE[name])} has it")
        algorithm = switch.device.text_of(*_ROW, _ALGORITHM)
        if algorithm and support and support.algorithms and algorithm not in support.algorithms:
            message = f"{_ALGORITHM} is {algorithm}, which the platform does not support"
            hint = f"set {_ALGORITHM} to {' or '.join(support.algorithms)}"
            yield Defect(switch.place(*_ROW, _ALGORITHM), message, hint)


@rule("FG367", Severity.WARNING, "The platform does not take SWITCH_HASH")
def not_settable(fabric: Fabric) -> Iterator[Defect]:
    """What: SWITCH_HASH is set only on platforms whose SAI can set the ECMP hash.

    Why: orchagent skips the row on other platforms, with a warning in its log. The switch keeps its default hash,
    and the file says something else.

    Example: SWITCH_HASH|GLOBAL on a switch with a Broadcom chip.

    Fix: Remove the table, or read SWITCH_CAPABILITY|switch ECMP_HASH_CAPABLE in the STATE_DB of the switch, and accept
    the finding if it is true.

    Source: sonic-swss orchagent/switchorch.cpp; sonic-mgmt pull request 15091 (no ECMP hash in the SAI of Broadcom).
    """
    for switch in fabric.switches.values():
        support = hash_support(switch.platform)
        if support and not support.fields and hash_fields(switch.device.row(*_ROW)):
            message = "the SAI of the platform cannot set the hash: orchagent skips the row"
            hint = "remove the table, or check ECMP_HASH_CAPABLE in the STATE_DB of the switch"
            yield Defect(switch.place(*_ROW, "ecmp_hash"), message, hint)


@rule("FG368", Severity.WARNING, "Switches of one tier have different hashes", Basis.PEERS)
def differs_in_tier(fabric: Fabric) -> Iterator[Defect]:
    """What: The switches of a tier of a plane hash the same fields with the same algorithm, also if their SKUs differ.
    FG592 compares switches of one SKU. Switches that do not take SWITCH_HASH are left out.

    Why: Flows between the same hosts spread over all links of one switch and over one link of another, and a rail is
    slower than its neighbors.

    Example: leaves of one SKU hash both ports, those of another SKU have no table.

    Fix: Set the same table on all switches of the tier.

    Source: sonic-yang-models sonic-hash.yang; orchagent/switchorch.cpp.
    """
    tiers: dict[object, list[Switch]] = defaultdict(list)
    for switch in fabric.switches.values():
        support = hash_support(switch.platform)
        if switch.role and support and support.fields:
            tiers[switch.network, switch.role].append(switch)
    for members in tiers.values():
        if len({switch.hwsku for switch in members}) == 1:
            continue
        usual = Counter(map(_shown_hash, members)).most_common(1)[0][0]
        example = next(switch for switch in members if _shown_hash(switch) == usual)
        for switch in members:
            if (found := _shown_hash(switch)) != usual:
                message = f"the hash is {found}, other switches of the tier have {usual}"
                related = ((example.name, example.place(*_ROW)),)
                yield Defect(switch.place(*_ROW), message, "set the same SWITCH_HASH on all of them", related)


def _shown_hash(switch: Switch) -> str:
    fields = hash_fields(switch.device.row(*_ROW))
    algorithm = switch.device.text_of(*_ROW, _ALGORITHM)
    return " ".join(filter(None, [", ".join(sorted(fields)) if fields else "the default", algorithm]))


@rule("FG352", Severity.ERROR, "Adjacent tiers use the same hash")
def polarized(fabric: Fabric) -> Iterator[Defect]:
    """What: Where a switch selects among several links, and the next switch does too, the ECMP hashes of the two have
    different seeds or offsets. SONiC derives both from DEVICE_METADATA.type. FG227 reports tiers of a plane with the
    same type. Without fabric.json this is a warning, and applies to the two ends of every link.

    Why: The second switch receives only flows with the same hash result, and sends all of them over the same link.
    Types with different names can have the same seed and offset: all names that contain SpineRouter have seed 25 and
    offset 0.

    Example: spines have type SpineRouter, cores UpperSpineRouter.

    Fix: Set the type to ToRRouter on leaves, LeafRouter on spines and SpineRouter on cores.

    Source: sonic-buildimage dockers/docker-orchagent/switch.json.j2 (hash_seed and ecmp_hash_offset by type).
    """
    reported, start = set(), _starts(fabric)
    for one, other in (_unusual_first(*pair) for pair in _selecting_pairs(fabric)):
        kind, far_kind = one.type, other.type
        if start[one] != start[other] or one in reported or (one.device.wired and kind == far_kind):
            continue
        reported.add(one)
        message = f"type is {kind}, the same as {other.name} at the far end of a link"
        if kind != far_kind:
            message = f"type is {kind}, and that of {other.name} at the far end of a link is {far_kind}: "
            message += f"both hash with {start[one].shown}"
        related = ((other.name, other.place(*_META, "type")),)
        severity = None if one.device.wired else Severity.WARNING
        yield Defect(one.place(*_META, "type"), message, "set a different type on each tier", related, severity)


@rule("FG369", Severity.WARNING, "Adjacent tiers polarize with a linear hash")
def equal_offsets(fabric: Fabric) -> Iterator[Defect]:
    """What: Where two adjacent switches both select among 2, 4, 8 or another power of two links, the offsets of their
    hashes differ, not only the seeds.

    Why: Chips hash with CRCs, which are linear. Another seed changes the results of all flows by the same XOR. So the
    second switch sends all flows of one link of the first switch over one link, as with an equal seed. An offset makes
    it use other bits. `simulate congestion` shows the links in use.

    Example: leaves have type ToRRouter (seed 0, offset 0), spines with two links to each core SpineRouter (25, 0).

    Fix: Set the type to ToRRouter on leaves, LeafRouter on spines and SpineRouter on cores.

    Source: sonic-buildimage dockers/docker-orchagent/switch.json.j2, pull requests 17215 and 18912 (offsets); "Hashing
    Linearity Enables Relative Path Control in Data Centers", USENIX ATC 2021.
    """
    reported, start = set(), _starts(fabric)
    for pair in _selecting_pairs(fabric):
        one, other = _unusual_first(*pair)
        near, far = start[one], start[other]
        if near.offset != far.offset or near == far or one in reported:
            continue
        if not _algorithm(one) == _algorithm(other) != _RANDOM:
            continue
        groups = _groups(fabric).get((pair[0].name, pair[1].name), (0, 0))
        if all(_is_power_of_two(size) for size in groups):
            reported.add(one)
            message = (
                f"the hash has {near.shown}, that of {other.name} {far.shown}: with {groups[0]} and {groups[1]} links "
            )
            message += "to select from, another seed alone does not separate the tiers"
            related = ((other.name, other.place(*_META, "type")),)
            hint = (
                "set types whose hashes have different offsets: ToRRouter, LeafRouter, SpineRouter from the leaves up"
            )
            yield Defect(one.place(*_META, "type"), message, hint, related)


def _unusual_first(one: Switch, other: Switch) -> tuple[Switch, Switch]:
    """The switch whose type is not the usual one of its tier first; else in the given order."""
    is_usual = [switch.type == DEVICE_TYPES.get(switch.role) for switch in (one, other)]
    return (other, one) if is_usual == [True, False] else (one, other)


@derived
def _starts(fabric: Fabric) -> Mapping[Switch, HashStart]:
    """The hash of each switch: it is in as many pairs as it has neighbors."""
    return {one: hash_start(one.device.row(*_META), one.device.release) for one in fabric.switches.values()}


def _algorithm(switch: Switch) -> str:
    return switch.device.text_of(*_ROW, _ALGORITHM)


def _is_power_of_two(size: int) -> bool:
    return size > 1 and size & (size - 1) == 0


def _selecting_pairs(fabric: Fabric) -> Iterator[tuple[Switch, Switch]]:
    """Adjacent switches with types: of fabric.json those that both select among several links, in the order of the
    packets; without it the two ends of each link."""
    if fabric.bundle.wiring:
        for near, far in _groups(fabric):
            if fabric.switches[near].type and fabric.switches[far].type:
                yield fabric.switches[near], fabric.switches[far]
        return
    for one, other in ((near.switch, far.switch) for near, far in fabric.pairs):
        if one.type and other.type and one is not other:
            yield one, other


@derived
def _groups(fabric: Fabric) -> dict[tuple[str, str], tuple[int, int]]:
    """(switch, next switch) -> the links that each selects from, where both have several: on the way up those to the
    tier above, and at the highest tier and on the way down the parallel links to one switch. By fabric.json."""
    height = {name: _height(switch) for name, switch in fabric.switches.items()}
    links = Counter((end.switch, far.switch) for end, far in fabric.pairs)
    parallel: Counter[tuple[str, str]] = Counter()
    for (near, far), count in links.items():
        parallel[near.name, far.name] += count
        parallel[far.name, near.name] += count
    upward: Counter[str] = Counter()
    downward: Counter[str] = Counter()
    for (one, other), count in parallel.items():
        if height[one] < height[other]:
            upward[one] += count
        elif height[other] < height[one]:
            downward[one] = max(downward[one], count)
    found = {}
    for (name, neighbor), count in parallel.items():
        up = height[name] < height[neighbor]
        first = upward[name] if up else count
        then = max(upward[neighbor], downward[neighbor]) if up else downward[neighbor]
        if first > 1 and then > 1:
            found[name, neighbor] = (first, then)
    return found


def _height(switch: Switch) -> int:
    return _HEIGHT.get(switch.role, -1)
