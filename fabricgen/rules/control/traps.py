"""The rule on CoPP: the packets of the protocols in use reach the processor of the switch."""

from collections.abc import Iterator, Mapping

from fabricgen.findings import Severity
from fabricgen.rules.defects import Defect
from fabricgen.rules.rule import rule
from fabricgen.rules.view.fabric import Fabric
from fabricgen.rules.view.switch import Switch
from fabricgen.sonic.copp import blocked

_ARP = "ARP and neighbor discovery"
_PROTOCOLS: Mapping[str, str] = {
    "bgp": "BGP",
    "bgpv6": "BGP",
    "lacp": "LACP",
    "arp_req": _ARP,
    "arp_resp": _ARP,
    "neigh_discovery": _ARP,
    "ip2me": "packets to the switch's own addresses",
    "neighbor_miss": "packets to hosts whose MAC address is not known",
    "lldp": "LLDP",
    "eapol": "the key exchange of MACsec",
    "dhcp": "DHCP relay",
    "dhcpv6": "DHCP relay",
}
_USED_BY = {
    "BGP": "BGP_NEIGHBOR",
    "LACP": "PORTCHANNEL_MEMBER",
    "the key exchange of MACsec": "MACSEC_PROFILE",
    "DHCP relay": "DHCP_RELAY",
}
_ONLY_WATCHES = frozenset({"LLDP"})


@rule("FG300", Severity.ERROR, "CoPP drops packets of a protocol that the fabric needs")
def dropped_protocols(fabric: Fabric) -> Iterator[Defect]:
    """What: COPP_GROUP and COPP_TRAP, merged with the image's own rows, send BGP, ARP, neighbor discovery and packets
    to the switch's own addresses to the processor, LACP where there are port channels, and EAPOL where there is MACsec.
    A rate below 100 packets per second and LLDP are warnings.

    Why: The chip drops the packets before the processor sees them. Sessions end after their hold time, port channels go
    down, and neighbors are not resolved, although all daemons run and each table is valid.

    Example: COPP_GROUP|queue4_group1 has trap_action drop: the group carries BGP and LACP.

    Fix: Remove the row, so that the image's own row holds, or set trap_action to trap and a rate of at least 100.

    Source: sonic-swss cfgmgr/coppmgr.cpp (mergeConfig); sonic-buildimage files/image_config/copp/copp_cfg.j2.
    """
    for switch in fabric.switches.values():
        found: dict[tuple[tuple[str, str, str], str, bool], dict[str, None]] = {}
        for trap_id, cause in blocked(switch.device.config):
            word = _PROTOCOLS[trap_id]
            if _is_used(switch, word):
                found.setdefault((cause.place, cause.reason, cause.is_slow), {})[word] = None
        for (place, reason, is_slow), words in found.items():
            effect = "may lose packets" if is_slow else "does not reach the processor"
            is_mild = is_slow or words.keys() <= _ONLY_WATCHES
            hint = "remove the row: the image's own row then holds"
            message = f"{' and '.join(words)} {effect}: {reason}"
            yield Defect(switch.place(*place), message, hint, severity=Severity.WARNING if is_mild else None)


def _is_used(switch: Switch, word: str) -> bool:
    table = _USED_BY.get(word)
    return table is None or bool(switch.device.table(table))
