"""Rules on the ASN plan, the state of sessions and the width of ECMP."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from fabricgen.findings import Severity
from fabricgen.rules.bgp.reachability import routed_fabrics
from fabricgen.rules.bgp.sessions import reviewed
from fabricgen.rules.breaks import Breaks
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import Basis, rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.peers import plural
from fabricgen.rules.view.switch import Switch, number
from fabricgen.sonic.image import is_split
from fabricgen.vocabulary import DeviceState, Role

_RELAX = "load_balance_mp_relax"
_ASN = ("DEVICE_METADATA", "localhost", "bgp_asn")


@rule("FG337", Severity.WARNING, "The ASN plan is inconsistent", Basis.PEERS)
def asn_plan(fabric: Fabric) -> Iterator[Defect]:
    """What: The leaves of a plane all have different ASNs, or they all have the same one. This holds for the spines and
    cores above the same switches, too.

    Why: BGP's loop check keeps traffic from going down and up again. If only some switches of a tier share an ASN,
    reachability after a failure depends on the order of events.

    Example: Fourteen leaves have unique ASNs, but leaf3 and leaf7 share 4200000003.

    Fix: Number by RFC 7938: one ASN per leaf, one for the spines of a pod, one for all cores.

    Source: RFC 7938; measured with FRR (a spine ASN shared by some of a tier lost routes after one failure).
    """
    for (role, _), switches in _groups(fabric).items():
        counts = Counter(switch.asn for switch in switches)
        if len(counts) in (1, len(switches)):
            continue
        shared_by_most = 2 * counts.most_common(1)[0][1] > len(switches)
        usual = "share one ASN" if shared_by_most else "have unique ASNs"
        for switch in switches:
            if shared_by_most != (counts[switch.asn] > 1):
                message = f"bgp_asn is {switch.asn}, but most {plural(role)} with the same links {usual}"
                yield Defect(switch.place(*_ASN), message, "number the tier by RFC 7938")


def _groups(fabric: Fabric) -> dict[tuple[str, object], list[Switch]]:
    """Groups of equal switches: all leaves of a plane, and higher switches with links to the same lower switches."""
    found: dict[tuple[str, object], list[Switch]] = defaultdict(list)
    for switch in fabric.switches.values():
        if switch.device.wired and switch.asn:
            below = {end.far_name for end in fabric.ends_of[switch.name].values() if end.link.b[0] == switch.name}
            found[switch.role, switch.plane if switch.role == Role.LEAF else frozenset(below)].append(switch)
    return found


@rule("FG338", Severity.WARNING, "A BGP session is shut down", breaks=Breaks.SESSION)
def shut_session(fabric: Fabric) -> Iterator[Defect]:
    """What: admin_status or default_bgp_status enables each session of an active switch.

    Why: The fabric loses a path if a session stays shut down after maintenance, and no alarm shows it.

    Example: BGP_NEIGHBOR|10.128.0.1 has admin_status down.

    Fix: Set admin_status to up, or set the state of the switch to drained in the inventory.

    Source: sonic-buildimage src/sonic-bgpcfgd; sonic-device_metadata.yang (default_bgp_status).
    """
    for switch in fabric.switches.values():
        if switch.device.wired and switch.device.wired.state != DeviceState.ACTIVE:
            continue
        place = switch.place("DEVICE_METADATA", "localhost", "default_bgp_status")
        is_down = switch.device.metadata.get("default_bgp_status") == "down"
        rows = switch.device.table("BGP_NEIGHBOR")
        if is_down and not all("admin_status" in row for row in rows.values()):
            message = "default_bgp_status is down: sessions without admin_status stay shut down"
            yield Defect(place, message, "set default_bgp_status to up")
        for key, row in rows.items():
            if row.get("admin_status") == "down":
                place = switch.place("BGP_NEIGHBOR", key, "admin_status")
                yield Defect(place, "the session is shut down by admin_status", "set admin_status to up")


@rule("FG339", Severity.ERROR, "The BGP daemon ignores a neighbor", breaks=Breaks.SESSION)
def ignored_neighbor(fabric: Fabric) -> Iterator[Defect]:
    """What: A BGP_NEIGHBOR key is an address, or VRF and address if frr_mgmt_framework_config is true.

    Why: SONiC has two BGP daemons, and each silently ignores the rows of the other one. Both forms are valid.

    Example: BGP_NEIGHBOR|default|10.128.0.1 on a switch without frr_mgmt_framework_config.

    Fix: Write the key in the form that the daemon expects.

    Source: sonic-buildimage src/sonic-bgpcfgd, src/sonic-frr-mgmt-framework, sonic-bgp-neighbor.yang.
    """
    for switch in fabric.switches.values():
        framework = switch.device.metadata.get("frr_mgmt_framework_config") == "true"
        for key in switch.device.table("BGP_NEIGHBOR"):
            if framework != ("|" in key):
                daemon = "frrcfgd" if framework else "bgpcfgd"
                form = "VRF|address" if framework else "address"
                message = f"{daemon} ignores this neighbor: its keys have the form {form}"
                yield Defect(switch.place("BGP_NEIGHBOR", key), message, f"write the key in the form {form}")


def _has_other_sessions(switch: Switch) -> bool:
    """Whether FRR's own files or those of a chassis make the sessions of the switch."""
    return is_split(switch.device.config) or switch.device.metadata.get("switch_type") == "voq"


@rule("FG345", Severity.ERROR, "The two ends of a link have the same ASN", breaks=Breaks.SESSION)
def internal_session(fabric: Fabric) -> Iterator[Defect]:
    """What: In a fabric of eBGP sessions, switches at the two ends of a link have different ASNs. With
    docker_routing_config_mode split, FRR's own files have the ASN, and bgp_asn is not judged. Line cards of one
    chassis (switch_type voq) have one ASN and iBGP sessions over the in-band port.

    Why: An iBGP speaker does not pass on routes from another iBGP speaker, so the other switches do not learn the
    prefixes behind the switch. BGP's loop check also rejects every path that contains this ASN.

    Example: leaf1 and spine1 both have bgp_asn 4200000000.

    Fix: Number by RFC 7938, with different ASNs on each tier.

    Source: RFC 4271 section 9.2; RFC 7938 section 5.2; SONiC doc/voq/voq_hld.md (iBGP between line cards).
    """
    reported = set()
    expected = reviewed(fabric).expected
    for near, far in fabric.pairs:
        one, other = near.switch, far.switch
        if one.asn != other.asn or any(map(_has_other_sessions, (one, other))):
            continue
        surprises = any(switch in expected and expected[switch].asn != switch.asn for switch in (one, other))  # FG331
        if one.asn and one is not other and one not in reported and not surprises:
            reported.add(one)
            message = f"bgp_asn is {one.asn}, the same as {other.name} at the far end of a link"
            related = ((other.name, other.place(*_ASN)),)
            yield Defect(one.place(*_ASN), message, "use different ASNs on each tier", related)


@rule("FG346", Severity.ERROR, "ECMP is narrower than the uplinks", breaks=Breaks.ROUTES)
def narrow_ecmp(fabric: Fabric) -> Iterator[Defect]:
    """What: max_ebgp_paths of BGP_GLOBALS_AF is at least the number of links to the tier above. load_balance_mp_relax
    is true if neighbors with different ASNs are in the tier above, or announce the same prefix.

    Why: Paths beyond the limit carry no traffic. The fabric is oversubscribed although all its links are up.

    Example: A switch with 16 uplinks has max_ebgp_paths 8.

    Fix: Raise max_ebgp_paths.

    Source: sonic-buildimage sonic-bgp-global.yang; FRR (maximum-paths).
    """
    for switch in fabric.switches.values():
        ends = fabric.ends_of[switch.name].values()
        up = Counter(end.far_role for end in ends if end.far and end.link.a == (switch.name, end.port))
        width = max(up.values(), default=0)
        for key, row in switch.device.table("BGP_GLOBALS_AF").items():
            paths = number(row.get("max_ebgp_paths"))
            if paths is not None and paths < width:
                message = f"max_ebgp_paths is {paths}, but the switch has {width} links to the tier above"
                hint = f"set max_ebgp_paths to at least {width}"
                yield Defect(switch.place("BGP_GLOBALS_AF", key, "max_ebgp_paths"), message, hint)
        above = {end.far.switch.asn for end in ends if end.far and end.link.a == (switch.name, end.port)}
        for key, row in switch.device.table("BGP_GLOBALS").items() if len(above) > 1 else ():
            if row.get(_RELAX) != "true":
                message = f"the neighbors above have {len(above)} ASNs, but {_RELAX} is not true"
                yield Defect(switch.place("BGP_GLOBALS", key, _RELAX), message, f"set {_RELAX} to true")
    for switch, prefix, names in _common_prefixes(fabric):
        message = f"{' and '.join(names)} announce {prefix} with different ASNs, but {_RELAX} is not true"
        yield Defect(switch.place("BGP_GLOBALS", "default", _RELAX), message, f"set {_RELAX} to true")


def _common_prefixes(fabric: Fabric) -> Iterator[tuple[Switch, str, tuple[str, str]]]:
    """The switches without load_balance_mp_relax, with a prefix that two neighbors of different ASNs announce."""
    strict = {name for name, one in fabric.switches.items() if one.device.table("BGP_GLOBALS") and not _is_relaxed(one)}
    for routed in routed_fabrics(fabric) if strict else ():
        shared = [one for one in routed.destinations if len(one.origins) > 1]
        for switch in (fabric.switches[name] for name in routed.names if name in strict):
            asns = {end.far.switch.name: end.far.switch.asn for end in fabric.ends_of[switch.name].values() if end.far}
            for one in shared:
                near = [name for name in map(routed.names.__getitem__, one.origins) if name in asns]
                other = next((name for name in near if asns[name] != asns[near[0]]), None)
                if other is not None:
                    yield switch, one.prefixes[0], (near[0], other)
                    break


def _is_relaxed(switch: Switch) -> bool:
    return switch.device.row("BGP_GLOBALS", "default").get(_RELAX) == "true"
