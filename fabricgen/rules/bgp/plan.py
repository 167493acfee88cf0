"""The ASN plan, and sessions that are shut or ignored."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.bgp.sessions import expected_asns
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric, Switch, number
from fabricgen.rules.view.peers import plural

_ASN = ("DEVICE_METADATA", "localhost", "bgp_asn")


@rule("FG337", Severity.WARNING, "The ASN plan is mixed", Basis.PEERS)
def asn_plan(fabric: Fabric) -> Iterator[Defect]:
    """What: the leaves of a plane have all different ASNs or all one; spines, or cores, above the same switches share
    one, or have all different ones.

    Why: BGP's loop check is what keeps traffic from bouncing down and up again. An ASN that only some switches of a
    tier share makes reachability after a failure depend on history.

    Example: fourteen leaves have ASNs of their own, leaf3 and leaf7 share 4200000003.

    Fix: number by RFC 7938: one per leaf, one for the spines of a pod, one for all cores.

    Source: RFC 7938; measured with FRR (a spine ASN shared by some of a tier lost routes after one failure).
    """
    for (role, _), switches in _equals(fabric).items():
        counts = Counter(switch.asn for switch in switches)
        if len(counts) in (1, len(switches)):
            continue
        shared_by_most = 2 * counts.most_common(1)[0][1] > len(switches)
        usual = "share one ASN" if shared_by_most else "have ASNs of their own"
        for switch in switches:
            if shared_by_most != (counts[switch.asn] > 1):
                message = f"bgp_asn {switch.asn} breaks the plan: most of its equals among the {plural(role)} {usual}"
                yield Defect(switch.place(*_ASN), message, "number the tier by RFC 7938")


def _equals(fabric: Fabric) -> dict[tuple[str, object], list[Switch]]:
    """Switches that do the same work: all leaves of a plane, and the switches above that have the same ones below."""
    found: dict[tuple[str, object], list[Switch]] = defaultdict(list)
    for switch in fabric.switches.values():
        if switch.device.wired and switch.asn:
            below = {end.far_name for end in fabric.ends_of[switch.name].values() if end.link.b[0] == switch.name}
            found[switch.role, switch.plane if switch.role == "leaf" else frozenset(below)].append(switch)
    return found


@rule("FG338", Severity.WARNING, "A session is shut")
def shut_session(fabric: Fabric) -> Iterator[Defect]:
    """What: sessions between active switches are up by admin_status or default_bgp_status.

    Why: a session that was shut for maintenance and forgotten costs a path, and nothing else shows it.

    Example: BGP_NEIGHBOR|10.128.0.1 has admin_status down.

    Fix: set admin_status up, or give the switch state drained in the inventory.

    Source: sonic-buildimage src/sonic-bgpcfgd; sonic-device_metadata.yang (default_bgp_status).
    """
    for switch in fabric.switches.values():
        if switch.device.wired and switch.device.wired.state != "active":
            continue
        place = switch.place("DEVICE_METADATA", "localhost", "default_bgp_status")
        is_down = switch.device.metadata.get("default_bgp_status") == "down"
        rows = switch.device.table("BGP_NEIGHBOR")
        if is_down and not all("admin_status" in row for row in rows.values()):
            yield Defect(place, "default_bgp_status is down: sessions without admin_status stay shut", "set it to up")
        for key, row in rows.items():
            if row.get("admin_status") == "down":
                place = switch.place("BGP_NEIGHBOR", key, "admin_status")
                yield Defect(place, "the session is shut (admin_status down)", "set it to up")


@rule("FG339", Severity.ERROR, "The BGP daemon in use ignores a neighbour")
def ignored_neighbor(fabric: Fabric) -> Iterator[Defect]:
    """What: BGP_NEIGHBOR keys are plain addresses, or VRF and address where frr_mgmt_framework_config is true.

    Why: SONiC has two BGP daemons, and each ignores the other's rows without a word. Both forms are legal.

    Example: BGP_NEIGHBOR|default|10.128.0.1 on a switch without frr_mgmt_framework_config.

    Fix: key the row as the daemon in use expects.

    Source: sonic-buildimage src/sonic-bgpcfgd, src/sonic-frr-mgmt-framework, sonic-bgp-neighbor.yang.
    """
    for switch in fabric.switches.values():
        framework = switch.device.metadata.get("frr_mgmt_framework_config") == "true"
        for key in switch.device.table("BGP_NEIGHBOR"):
            if framework != ("|" in key):
                daemon = "frrcfgd" if framework else "bgpcfgd"
                form = "VRF and address" if framework else "an address alone"
                message = f"{daemon} ignores this neighbour: it wants keys of {form}"
                yield Defect(switch.place("BGP_NEIGHBOR", key), message, "key it as the daemon in use expects")


@rule("FG345", Severity.ERROR, "The two ends of a link have one ASN")
def internal_session(fabric: Fabric) -> Iterator[Defect]:
    """What: switches at the two ends of a link in a fabric of external sessions have different ASNs.

    Why: a session inside one ASN passes on nothing that it learned from another: what lies behind the switch is lost
    for the rest. And BGP's loop check refuses every path that has been through that ASN.

    Example: leaf1 and spine1 have bgp_asn 4200000000.

    Fix: number by RFC 7938, each tier apart.

    Source: RFC 4271 section 9.2; RFC 7938 section 5.2.
    """
    told = set()
    expected = expected_asns(fabric)
    for near, far in fabric.pairs:
        one, other = near.switch, far.switch
        as_expected = all(expected.get(switch, (switch.asn,))[0] == switch.asn for switch in (one, other))
        if one.asn and one.asn == other.asn and one is not other and one not in told and as_expected:  # else FG331's
            told.add(one)
            message = f"bgp_asn {one.asn} is that of {other.name} at the other end of a link, too"
            related = ((other.name, other.place(*_ASN)),)
            yield Defect(one.place(*_ASN), message, "number each tier apart", related)


@rule("FG346", Severity.ERROR, "ECMP is narrower than the uplinks")
def narrow_ecmp(fabric: Fabric) -> Iterator[Defect]:
    """What: max_ebgp_paths of BGP_GLOBALS_AF is not below the number of links to the tier above, nor to any one switch;
    load_balance_mp_relax is true where neighbours above have ASNs of their own.

    Why: the paths beyond the limit carry nothing. The fabric is oversubscribed while all its links are up.

    Example: 16 uplinks and max_ebgp_paths 8.

    Fix: raise max_ebgp_paths.

    Source: sonic-buildimage sonic-bgp-global.yang; FRR (maximum-paths).
    """
    for switch in fabric.switches.values():
        ends = fabric.ends_of[switch.name].values()
        up = Counter(end.far_role for end in ends if end.far and end.link.a == (switch.name, end.port))
        width = max(up.values(), default=0)
        for key, row in switch.device.table("BGP_GLOBALS_AF").items():
            paths = number(row.get("max_ebgp_paths"))
            if paths is not None and paths < width:
                message = f"max_ebgp_paths is {paths}, the switch has {width} links to the tier above"
                yield Defect(
                    switch.place("BGP_GLOBALS_AF", key, "max_ebgp_paths"), message, f"set it to {width} or more"
                )
        above = {end.far.switch.asn for end in ends if end.far and end.link.a == (switch.name, end.port)}
        for key, row in switch.device.table("BGP_GLOBALS").items() if len(above) > 1 else ():
            if row.get("load_balance_mp_relax") != "true":
                message = f"the neighbours above have {len(above)} ASNs, and load_balance_mp_relax is not true"
                yield Defect(switch.place("BGP_GLOBALS", key, "load_balance_mp_relax"), message, "set it to true")
