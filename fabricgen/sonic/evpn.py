"""EVPN type 5 over VXLAN in CONFIG_DB: the VTEP of a switch, the L3 VNI of a VRF, and who imports whose routes.

A VRF has routes of another switch if it imports a route target that the VRF there exports. Where the tables have none,
FRR exports ASN:VNI and imports the VNI of any ASN, or a number that RFC 8365 makes of the VNI. Routes are exported if
the VRF has an L3 VNI, and the VLAN of the VNI is in this VRF (SONiC HLD EVPN_VXLAN_HLD.md, 4.3.9).

Source: sonic-swss cfgmgr/vxlanmgr.cpp, orchagent/vrforch.cpp; FRRouting bgpd/bgp_evpn.c (form_auto_rt,
map_vrf_to_rt, mask_ecom_global_admin: a wildcard compares only the number, of all types of route targets);
sonic-buildimage src/sonic-frr-mgmt-framework frrcfgd.py.
"""

from collections.abc import Iterator
from functools import cached_property

from fabricgen.sonic.addresses import Address, parse_address
from fabricgen.sonic.frr_framework import filter_of, is_active
from fabricgen.sonic.image import has_frr_files, parse_asn, rows, text
from fabricgen.sonic.tables import ConfigDb, Row, split_key
from fabricgen.units import whole_number

FAMILY = "l2vpn_evpn"
ANY = "*"  # the ASN of a route target that FRR imports by its VNI
WIRE_BYTES = 50  # that VXLAN over IPv4 adds: Ethernet 14, IPv4 20, UDP 8, VXLAN 8 (RFC 7348)

_RFC8365_VXLAN = 1 << 28  # of the number that `autort rfc8365-compatible` makes of a VNI

RouteTarget = tuple[str, str]  # ASN and number


def vteps_of(config: ConfigDb) -> Iterator[tuple[str, Address]]:
    """(VRF, source address of the VTEP) of each VRF with an L3 VNI."""
    overlay = Overlay(config)
    if source := parse_address(overlay.vtep[1]):
        yield from ((vrf, source.host) for vrf in rows(config, "VRF") if overlay.is_complete(vrf))


class Overlay:
    """The rows of EVPN and VXLAN of one switch."""

    def __init__(self, config: ConfigDb) -> None:
        self._config = config

    @cached_property
    def vtep(self) -> tuple[str, str]:
        """The key of VXLAN_TUNNEL that EVPN uses, and its source address; "" where one is missing."""
        for row in rows(self._config, "VXLAN_EVPN_NVO").values():
            name = text(row, "source_vtep")
            return name, text(rows(self._config, "VXLAN_TUNNEL").get(name, {}), "src_ip")
        return "", ""

    @cached_property
    def vlan_of_vni(self) -> dict[str, str]:
        """VNI -> the VLAN that it is mapped to, by the tunnel that EVPN uses."""
        found = {}
        for key, row in rows(self._config, "VXLAN_TUNNEL_MAP").items():
            if key.partition("|")[0] == self.vtep[0] and text(row, "vlan") in rows(self._config, "VLAN"):
                found[text(row, "vni")] = text(row, "vlan")
        return found

    def vni(self, vrf: str) -> str:
        """The L3 VNI of a VRF; "" without one."""
        found = text(rows(self._config, "VRF").get(vrf, {}), "vni")
        return "" if found == "0" else found

    def is_complete(self, vrf: str) -> bool:
        """Whether the VRF has an L3 VNI whose VLAN is in it."""
        vlan = self.vlan_of_vni.get(self.vni(vrf), "")
        return bool(vlan) and text(rows(self._config, "VLAN_INTERFACE").get(vlan, {}), "vrf_name") == vrf

    def imports(self, vrf: str) -> frozenset[RouteTarget]:
        """The route targets whose routes a VRF has."""
        if not self.is_complete(vrf) or not self._asn(vrf):
            return frozenset()
        return frozenset(self.targets(vrf, "import")) or frozenset([(ANY, self._number(vrf))])

    def exports(self, vrf: str, source: str, version: int) -> frozenset[RouteTarget]:
        """The route targets of the VRF's routes of a source, connected or static. Each is among them in the form by
        which FRR imports it without own route targets, too."""
        key = f"{vrf}|{source}|bgp|ipv{version}"
        if not self.is_complete(vrf) or not self._advertises(vrf, version):
            return frozenset()
        if key not in rows(self._config, "ROUTE_REDISTRIBUTE") or not (asn := self._asn(vrf)):
            return frozenset()
        own = list(self.targets(vrf, "export")) or [(str(asn & 0xFFFF), self._number(vrf))]
        return frozenset(own) | {(ANY, number) for _, number in own}

    def speaks(self, port: str) -> bool:
        """Whether the BGP session of a port carries EVPN routes both ways."""
        neighbor = rows(self._config, "BGP_NEIGHBOR").get(f"default|{port}", {})
        group = rows(self._config, "BGP_PEER_GROUP_AF").get(f"default|{text(neighbor, 'peer_group_name')}|{FAMILY}", {})
        family: Row = {**group, **rows(self._config, "BGP_NEIGHBOR_AF").get(f"default|{port}|{FAMILY}", {})}
        instance = rows(self._config, "BGP_GLOBALS").get("default", {})
        # FRR has no statement for a prefix list in this family, so only route maps let routes pass.
        return is_active(FAMILY, family, instance) and all(filter_of(family, way).maps for way in ("in", "out"))

    def _asn(self, vrf: str) -> int | None:
        return parse_asn(text(rows(self._config, "BGP_GLOBALS").get(vrf, {}), "local_asn"))

    def _advertises(self, vrf: str, version: int) -> bool:
        """Whether FRR announces routes of the VRF in EVPN: frr.conf of a switch with split-unified has the
        statement."""
        own = rows(self._config, "BGP_GLOBALS_AF").get(f"{vrf}|{FAMILY}", {})
        return has_frr_files(self._config) or text(own, f"advertise-ipv{version}-unicast") == "true"

    def _number(self, vrf: str) -> str:
        """The number of the route target that FRR makes of the VNI."""
        own, vni = rows(self._config, "BGP_GLOBALS_AF").get(f"{vrf}|{FAMILY}", {}), whole_number(self.vni(vrf)) or 0
        return str(vni | _RFC8365_VXLAN if text(own, "autort") == "rfc8365-compatible" else vni)

    def targets(self, vrf: str, way: str) -> Iterator[RouteTarget]:
        """The route targets of a VRF in the tables, to import or export."""
        own = rows(self._config, "BGP_GLOBALS_AF").get(f"{vrf}|{FAMILY}", {}).get(f"{way}-rts", ())
        listed = own.split(",") if isinstance(own, str) else own if isinstance(own, list) else ()
        rows_of = rows(self._config, "BGP_GLOBALS_EVPN_RT").items()
        keyed = [
            split_key(key)[-1]
            for key, row in rows_of
            if key.startswith(f"{vrf}|") and text(row, "route-target-type") in (way, "both")
        ]
        for target in (*map(str, listed), *keyed):
            asn, _, number = target.removeprefix("route-target:").rpartition(":")
            yield asn, number
