"""ECMP: what the hash reads decides whether RoCE spreads."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.fabric import Fabric
from fabricgen.rules.registry import rule
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
