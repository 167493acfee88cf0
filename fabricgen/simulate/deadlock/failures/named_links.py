"""The links behind the names of what failed."""

import re

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint

Wire = tuple[Endpoint, Endpoint]

_ENDS = re.compile(r"(.+):([^:]+)--(.+):([^:]+)")


def links_that_fail(bundle: Bundle, name: str) -> list[Wire]:
    """The two ends of a link, by its identity or as leaf1:Ethernet0--spine1:Ethernet4, or of all links of `cable ID`;
    none of `switch NAME`."""
    cables = {f"cable {cable.id}": cable.links for cable in bundle.wiring.cables} if bundle.wiring else {}
    ids = set(cables.get(name, (name,)))
    known = [(link.a, link.b) for link in bundle.switch_links if link.id in ids]
    ends = _ENDS.fullmatch(name)
    return known or ([((ends[1], ends[2]), (ends[3], ends[4]))] if ends else [])
