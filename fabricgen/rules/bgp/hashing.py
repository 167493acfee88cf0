"""Rules on ECMP hashing: the hash must spread RoCE flows over all links."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.sonic.hashing import ROCE_HASH_FIELDS

_ROW = ("SWITCH_HASH", "GLOBAL")


@rule("FG351", Severity.ERROR, "The ECMP hash does not spread RoCE flows")
def roce_entropy(fabric: Fabric) -> Iterator[Defect]:
    """What: if SWITCH_HASH|GLOBAL.ecmp_hash is set, it contains both addresses, the protocol and both ports, and only
    fields that the platform supports.

    Why: all RoCEv2 packets have UDP destination port 4791, and all packets between two hosts have the same addresses.
    Without the source port, all queue pairs of the two hosts share one uplink, and other uplinks are idle.

    Example: ecmp_hash is DST_IP, SRC_IP.

    Fix: set the five fields, or remove the table to use the switch's default.

    Source: sonic-yang-models sonic-hash.yang; sonic-mgmt tests/hash/generic_hash_helper.py (fields of each platform).
    """
    for switch in fabric.switches.values():
        text = switch.device.text_of(*_ROW, "ecmp_hash")
        if not text:
            continue
        found = {name.strip() for name in text.split(",")}
        missing = [name for name in ROCE_HASH_FIELDS if name not in found]
        supported = switch.platform.capabilities.get("ecmp_hash_fields", ()) if switch.platform else ()
        refused = sorted(found.difference(supported)) if supported else []
        place = switch.place(*_ROW, "ecmp_hash")
        if missing:
            yield Defect(place, f"ecmp_hash does not contain {', '.join(missing)}", f"add {', '.join(missing)}")
        if refused:
            message = f"ecmp_hash contains {', '.join(refused)}, which the platform does not support"
            yield Defect(place, message, f"remove {', '.join(refused)}")


@rule("FG352", Severity.WARNING, "Switches at the two ends of a link use the same hash seed")
def polarized(fabric: Fabric) -> Iterator[Defect]:
    """What: without fabric.json, switches with a common link have different types in DEVICE_METADATA. With fabric.json,
    FG227 checks the type of each tier.

    Why: SONiC derives the seed of the ECMP hash from the type. If two switches in a row use the same seed, the second
    one receives only flows with the same hash result and sends all of them over the same link.

    Example: leaf1 and spine1 both have type LeafRouter.

    Fix: set the type to ToRRouter on leaves, LeafRouter on spines and SpineRouter on cores.

    Source: sonic-buildimage dockers/docker-orchagent/switch.json.j2 (hash_seed by type).
    """
    reported = set()
    for near, far in fabric.pairs if not fabric.bundle.wiring else ():
        one, other = near.switch, far.switch
        kind, far_kind = (each.device.text_of("DEVICE_METADATA", "localhost", "type") for each in (one, other))
        if kind and kind == far_kind and one is not other and one not in reported:
            reported.add(one)
            related = ((other.name, other.place("DEVICE_METADATA", "localhost", "type")),)
            message = f"type is {kind}, the same as {other.name} at the far end of a link"
            hint = "set a different type on each tier"
            yield Defect(one.place("DEVICE_METADATA", "localhost", "type"), message, hint, related)
