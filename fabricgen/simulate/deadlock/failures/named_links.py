"""The ends of the links of a named failure."""

import re

from fabricgen.bundle.read import Bundle
from fabricgen.bundle.wiring import Endpoint

Wire = tuple[Endpoint, Endpoint]

_ENDS = re.compile(r"(.+):([^:]+)--(.+):([^:]+)")


def failed_links(bundle: Bundle, name: str) -> list[Wire]:
    """The ends of a link, given by its identity or as leaf1:Ethernet0--spine1:Ethernet4, or of all links of `cable ID`;
    empty for `switch NAME`."""
    cables = {f"cable {cable.id}": cable.links for cable in bundle.wiring.cables} if bundle.wiring else {}
    ids = set(cables.get(name, (name,)))
    known = [(link.a, link.b) for link in bundle.switch_links if link.id in ids]
    ends = _ENDS.fullmatch(name)
    return known or ([((ends[1], ends[2]), (ends[3], ends[4]))] if ends else [])
