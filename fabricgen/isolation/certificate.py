"""The certificate of the proof that tenants are apart: classes of addresses, and why packets do not pass between them.

`docs/isolation_check.py` verifies it against the files, without any part of fabricgen.
"""

from typing import Any

from fabricgen.bundle.read import Bundle
from fabricgen.isolation.attachments import attachments
from fabricgen.isolation.verdict import (
    AddressClass,
    address_classes,
    decisive_rule,
    may_reach,
    planes_of_tenants,
    tenants_that_share,
)

FORMAT = "fabricgen-isolation/1"


def certificate(bundle: Bundle) -> dict[str, Any]:
    """The classes of each plane with tenants, and for each ordered pair of classes that must be apart the reason:
    `vrf`, `unconnected`, or the rule at the port of the source (ingress) or the target (egress). Pairs that reach each
    other have no reason, so a certificate of such a fabric is not valid."""
    wiring = bundle.wiring
    planes = list(planes_of_tenants(wiring)) if wiring else []
    found: list[dict[str, Any]] = []
    for plane in planes:
        assert wiring is not None
        shared, classes = tenants_that_share(wiring), list[AddressClass]()
        all_ends = attachments(bundle, wiring, plane.name)
        for ends in all_ends.by_version.values():
            classes += address_classes(ends, all_ends.vteps)
        reasons = [
            [first, last, *reason]
            for first, source in enumerate(classes)
            for last, target in enumerate(classes)
            if source.version == target.version
            and not may_reach(source.tenant, target.tenant, shared)
            and (source is not target or len(source.members) > 1)
            and (reason := _reason(source, target))
        ]
        found.append({"name": plane.name, "classes": list(map(_class, classes)), "apart": reasons})
    return {"format": FORMAT, "planes": found}


def _class(one: AddressClass) -> dict[str, Any]:
    ends = [[end.end.host, end.end.nic, end.end.address, end.end.switch, end.end.port] for end in one.members]
    return {"tenant": one.tenant, "members": ends}


def _reason(source: AddressClass, target: AddressClass) -> list[str]:
    if source.vtep_to(target):
        return []
    if not source.has_route_to(target):
        return ["unconnected" if source.part != target.part else "vrf"]
    return list(decisive_rule(source, target) or ())
