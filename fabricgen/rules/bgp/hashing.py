"""ECMP: what the hash reads decides whether RoCE spreads."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.sonic.hashing import ROCE_HASH_FIELDS

_ROW = ("SWITCH_HASH", "GLOBAL")


@rule("FG351", Severity.ERROR, "The ECMP hash does not tell RoCE flows apart")
def roce_entropy(fabric: Fabric) -> Iterator[Defect]:
    """What: SWITCH_HASH|GLOBAL.ecmp_hash, where it is set, has both addresses, the protocol and both ports, and no
    field that the platform does not take.

    Why: all RoCEv2 packets go to UDP port 4791, and two hosts keep their addresses. Without the source port all their
    queue pairs share one uplink, while others stay idle.

    Example: ecmp_hash is DST_IP, SRC_IP.

    Fix: set the five fields, or leave the table out and take the switch's own default.

    Source: sonic-yang-models sonic-hash.yang; sonic-mgmt tests/hash/generic_hash_helper.py (what platforms take).
    """
    for switch in fabric.switches.values():
        text = switch.device.text_of(*_ROW, "ecmp_hash")
        if not text:
            continue
        found = {name.strip() for name in text.split(",")}
        missing = [name for name in ROCE_HASH_FIELDS if name not in found]
        taken = switch.platform.capabilities.get("ecmp_hash_fields", ()) if switch.platform else ()
        refused = sorted(found.difference(taken)) if taken else []
        place = switch.place(*_ROW, "ecmp_hash")
        if missing:
            yield Defect(place, f"ecmp_hash lacks {', '.join(missing)}", f"add {', '.join(missing)}")
        if refused:
            message = f"ecmp_hash has {', '.join(refused)}, which the platform does not take"
            yield Defect(place, message, f"remove {', '.join(refused)}")


@rule("FG352", Severity.WARNING, "Switches at the two ends of a link hash alike")
def polarised(fabric: Fabric) -> Iterator[Defect]:
    """What: without fabric.json, switches that are linked to each other have different types in DEVICE_METADATA. With
    fabric.json FG227 judges the type by the tier.

    Why: SONiC sets the seed of the ECMP hash by type. A second switch that hashes like the first gets only the flows of
    one choice, and chooses the same link for all of them.

    Example: leaf1 and spine1 are both of type LeafRouter.

    Fix: leaf ToRRouter, spine LeafRouter, core SpineRouter.

    Source: sonic-buildimage dockers/docker-orchagent/switch.json.j2 (hash_seed by type).
    """
    told = set()
    for near, far in fabric.pairs if not fabric.bundle.wiring else ():
        kinds = [end.switch.device.text_of("DEVICE_METADATA", "localhost", "type") for end in (near, far)]
        one, other = near.switch, far.switch
        if kinds[0] and kinds[0] == kinds[1] and one is not other and one not in told:
            told.add(one)
            related = ((other.name, other.place("DEVICE_METADATA", "localhost", "type")),)
            message = f"type is {kinds[0]}, that of {other.name} at the other end of a link"
            yield Defect(one.place("DEVICE_METADATA", "localhost", "type"), message, "give each tier its type", related)
