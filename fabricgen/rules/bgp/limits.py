"""The rule on limits of prefixes: a session may announce at least all prefixes of its plane."""

from collections import Counter
from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Network, number
from fabricgen.sonic.tables import split_key

_TABLES = ("BGP_PEER_GROUP_AF", "BGP_NEIGHBOR_AF")


@rule("FG281", Severity.ERROR, "A session may announce fewer prefixes than its plane has", breaks=Breaks.SESSION)
def prefix_limits(fabric: Fabric) -> Iterator[Defect]:
    """What: max_prefix_limit of a session, or of its peer group, is at least the number of prefixes that the switches
    of the plane announce in this family. With more than 90 % of the limit it is a warning. With max_prefix_warning_only
    the session stays, and nothing is reported.

    Why: a spine announces the prefixes of all others. When the limit is passed, FRR ends the session, on all switches
    at once, because all of them get the same prefixes.

    Example: 40 switches announce 80 prefixes, and max_prefix_limit is 64.

    Fix: set a limit of at least twice the number of prefixes.

    Source: FRR bgpd (bgp_maximum_prefix_overflow); sonic-buildimage src/sonic-frr-mgmt-framework frrcfgd.py
    (max_prefix_limit).
    """
    announced: Counter[tuple[Network, str]] = Counter()
    for switch in fabric.switches.values():
        for key in switch.device.table("BGP_GLOBALS_AF_NETWORK"):
            if len(parts := split_key(key)) == 3:
                announced[switch.network, parts[1]] += 1
    for switch in fabric.switches.values():
        for table in _TABLES:
            for key, row in switch.device.table(table).items():
                limit, parts = number(row.get("max_prefix_limit")), split_key(key)
                if limit is None or len(parts) != 3 or row.get("max_prefix_warning_only") == "true":
                    continue
                count = announced[switch.network, parts[2]]
                place, hint = (
                    switch.place(table, key, "max_prefix_limit"),
                    f"set max_prefix_limit to {2 * count} or more",
                )
                if count > limit:
                    message = f"the limit is {limit} prefixes, but the switches of the plane announce {count}"
                    yield Defect(place, message, hint)
                elif 10 * count > 9 * limit:
                    message = f"the switches of the plane announce {count} of {limit} prefixes: growth ends the session"
                    yield Defect(place, message, hint, severity=Severity.WARNING)
