"""Rules on the timers and options of BGP sessions."""

from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch, number
from fabricgen.sonic.tables import Row

_TABLES = ("BGP_NEIGHBOR", "BGP_PEER_GROUP")
_HOLDTIME_S, _KEEPALIVE_S = 180, 60  # of bgpcfgd and FRR
_LEAST_HOLDTIME_S = 3  # RFC 4271 section 4.2
_LONGEST_S = 600


@rule("FG355", Severity.WARNING, "The timers of a BGP session do not fit each other")
def session_timers(fabric: Fabric) -> Iterator[Defect]:
    """What: holdtime is at least three times keepalive, and not above 600 s. It is not 0. A holdtime of 1 or 2 s is an
    error. A missing timer has the default of SONiC, 60 s for keepalive and 180 s for holdtime.

    Why: A session ends if no message arrives for the hold time. If the keepalive interval is not much shorter, one lost
    message ends the session, and FRR uses another interval than the file says. With holdtime 0 a session never ends,
    and with a long one a dead path gets traffic for minutes. BGP rejects a hold time of 1 or 2 s.

    Example: keepalive 60, holdtime 30.

    Fix: keepalive 3 and holdtime 9, or remove both.

    Source: RFC 4271 sections 4.2, 4.4 and 10; FRR bgpd (peer_timers_set); sonic-buildimage src/sonic-bgpcfgd.
    """
    for switch in fabric.switches.values():
        for table in _TABLES:
            for key, row in switch.device.table(table).items():
                if "holdtime" in row or "keepalive" in row:
                    yield from _of_row(switch, table, key, row)


def _of_row(switch: Switch, table: str, key: str, row: Row) -> Iterator[Defect]:
    holdtime, keepalive = (
        number(row.get(field, str(default)))
        for field, default in (("holdtime", _HOLDTIME_S), ("keepalive", _KEEPALIVE_S))
    )
    if holdtime is None or keepalive is None:
        return
    field = "holdtime" if "holdtime" in row else "keepalive"
    place = switch.place(table, key, field)
    if 0 < holdtime < _LEAST_HOLDTIME_S:
        message = f"holdtime is {holdtime} s, BGP needs 0 or at least {_LEAST_HOLDTIME_S} s"
        yield Defect(place, message, "set holdtime to 9 and keepalive to 3", (), Severity.ERROR)
    elif holdtime == 0:
        yield Defect(place, "holdtime is 0: the session never ends when its peer is gone", "set holdtime to 9")
    elif holdtime < 3 * keepalive:
        message = f"holdtime is {holdtime} s, less than three times the keepalive interval of {keepalive} s"
        yield Defect(place, message, f"set keepalive to {max(1, holdtime // 3)}, or holdtime to {3 * keepalive}")
    elif holdtime > _LONGEST_S:
        message = f"holdtime is {holdtime} s: a dead path gets traffic for this time"
        yield Defect(place, message, "set holdtime in seconds, to at most 180")


@rule("FG356", Severity.ERROR, "A session between ASNs is configured as one within an ASN", breaks=Breaks.SESSION)
def reflected_session(fabric: Fabric) -> Iterator[Defect]:
    """What: No neighbor with another ASN has rrclient 1.

    Why: Only a session within one ASN can have a route reflector's client. FRR rejects the command, and with it the
    session's other settings of the same batch.

    Example: leaf1 has bgp_asn 4200000001, and its neighbor with asn 4200000000 has rrclient 1.

    Fix: Remove rrclient.

    Source: RFC 4456; FRR bgpd ("Invalid command. Not an internal neighbor").
    """
    for switch in fabric.switches.values():
        for key, row in switch.device.table("BGP_NEIGHBOR").items():
            if row.get("rrclient") in ("1", "true") and row.get("asn") and switch.asn and row["asn"] != switch.asn:
                place = switch.place("BGP_NEIGHBOR", key, "rrclient")
                message = f"asn is {row['asn']}, but only a neighbor with ASN {switch.asn} can be a client"
                yield Defect(place, message, "remove rrclient")
